// Charts: numbers in, SVG out. Each has a text that says what it shows, for those who do not see it.
import { svg } from "./dom.js";
import { count, percent } from "./format.js";

// Round numbers from 0 to at least `most`, whole ones if they count something.
export function ticks(most, wanted, areWhole = false) {
  if (most <= 0) return [0, 1];
  const rough = areWhole ? Math.max(1, most / wanted) : most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power);
  const step = steps.find((candidate) => candidate >= rough && (!areWhole || Number.isInteger(candidate)));
  const out = [];
  for (let at = 0; at < most + step * 0.999; at += step) out.push(at);
  return out;
}

function short(number) {
  if (number >= 1e6) return `${+(number / 1e6).toFixed(1)}M`;
  if (number >= 1e4) return `${+(number / 1e3).toFixed(0)}k`;
  return count(number);
}

// Lines over numbers, or over shares if `areShares`. `series`: { name, className, points: [[x, y], ...], isStepped, isArea }.
export function lineChart(width, { label, xLabel, yLabel, series, yMost, areShares = false, marks = [], markClass = "" }) {
  const height = 250;
  const frame = { left: 52, right: 16, top: 14, bottom: 42 };
  const text = areShares ? (share) => percent(share, 1) : short;
  const xMost = Math.max(1, ...series.flatMap((line) => line.points.map(([x]) => x)));
  const yTicks = ticks(yMost ?? Math.max(areShares ? 0.01 : 1, ...series.flatMap((line) => line.points.map(([, y]) => y))), 5, !areShares);
  const top = yTicks.at(-1);
  const x = (value) => frame.left + (value / xMost) * (width - frame.left - frame.right);
  const y = (value) => height - frame.bottom - (value / top) * (height - frame.top - frame.bottom);
  const xTicks = ticks(xMost, Math.max(2, Math.floor(width / 130)), !areShares).filter((tick) => tick <= xMost * 1.001);
  const path = (line) =>
    line.points
      .map(([px, py], at) => {
        if (at === 0) return `M${x(px)} ${y(py)}`;
        return line.isStepped ? `H${x(px)} V${y(py)}` : `L${x(px)} ${y(py)}`;
      })
      .join(" ");
  return svg(
    "svg",
    { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    yTicks.map((tick) => [
      svg("line", { class: "grid", x1: frame.left, x2: width - frame.right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: frame.left - 8, y: y(tick) + 4, "text-anchor": "end" }, text(tick)),
    ]),
    xTicks.map((tick) =>
      svg("text", { class: "tick", x: x(tick), y: height - frame.bottom + 18, "text-anchor": "middle" }, text(tick)),
    ),
    svg("text", { class: "axis", x: width - frame.right, y: height - 6, "text-anchor": "end" }, xLabel),
    svg("text", { class: "axis", x: frame.left, y: 10 }, yLabel),
    series.filter((line) => line.isArea).map((line) =>
      svg("path", {
        class: `area ${line.className}`,
        d: `${path(line)} L${x(line.points.at(-1)[0])} ${y(0)} L${x(line.points[0][0])} ${y(0)} Z`,
      }),
    ),
    series.map((line) => svg("path", { class: `line ${line.className}`, d: path(line) })),
    marks.map((mark) =>
      svg("circle", { class: `dot ${markClass}`, cx: x(mark.x), cy: y(mark.y), r: 3.5 }, svg("title", {}, mark.text)),
    ),
  );
}

// What groups said of rules: the share that failed as a dot, and how much it may be, with 95 % confidence, as a whisker.
export function boundsChart(width, rules) {
  const row = 22;
  const frame = { left: Math.min(460, width * 0.45), right: 56, top: 20, bottom: 24 };
  const height = frame.top + frame.bottom + rules.length * row;
  const most = Math.max(0.02, ...rules.map((rule) => rule.evidence.bound));
  const steps = ticks(most, Math.max(2, Math.floor((width - frame.left) / 90)));
  const top = steps.at(-1);
  const x = (share) => frame.left + (share / top) * (width - frame.left - frame.right);
  const label = `The bounds of ${rules.length} rules, the riskiest first: ${rules
    .slice(0, 3)
    .map((rule) => `${rule.sentence.replaceAll("`", "")}, at most ${percent(rule.evidence.bound, 1)}`)
    .join("; ")}`;
  const room = Math.floor((frame.left - 12) / 6.4);
  const clipped = (text) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);
  return svg(
    "svg",
    { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    steps.map((tick) => [
      svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: frame.top - 4, y2: height - frame.bottom }),
      svg("text", { class: "tick", x: x(tick), y: height - 8, "text-anchor": "middle" }, percent(tick, 1)),
    ]),
    rules.map((rule, at) => {
      const y = frame.top + at * row + row / 2;
      const { groups, failed_groups: failed, bound } = rule.evidence;
      const share = groups > 0 ? failed / groups : 0;
      return svg(
        "g",
        {},
        svg("title", {}, `${rule.sentence}: ${count(failed)} of ${count(groups)} groups failed, at most ${percent(bound, 1)} wrong`),
        svg("text", { class: "tick label", x: frame.left - 10, y: y + 4, "text-anchor": "end" }, clipped(rule.sentence.replaceAll("`", ""))),
        svg("line", { class: "whisker", x1: x(share), x2: x(bound), y1: y, y2: y }),
        svg("line", { class: "whisker", x1: x(bound), x2: x(bound), y1: y - 4, y2: y + 4 }),
        svg("circle", { class: failed > 0 ? "dot warn" : "dot", cx: x(share), cy: y, r: 3.5 }),
        svg("text", { class: "tick", x: x(bound) + 8, y: y + 4 }, percent(bound, 1)),
      );
    }),
  );
}

// The same for one rule, in a cell of a table.
export function whisker(evidence, most) {
  const [width, height] = [92, 16];
  const x = (share) => 4 + (Math.min(share, most) / most) * (width - 8);
  const share = evidence.groups > 0 ? evidence.failed_groups / evidence.groups : 0;
  return svg(
    "svg",
    { class: "inline-chart", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    svg("line", { class: "grid", x1: 4, x2: width - 4, y1: height / 2, y2: height / 2 }),
    svg("line", { class: "whisker", x1: x(share), x2: x(evidence.bound), y1: height / 2, y2: height / 2 }),
    svg("line", { class: "whisker", x1: x(evidence.bound), x2: x(evidence.bound), y1: 3, y2: height - 3 }),
    svg("circle", { class: evidence.failed_groups > 0 ? "dot warn" : "dot", cx: x(share), cy: height / 2, r: 3.5 }),
  );
}

// Parts of a whole, side by side.
export function shares(width, label, parts) {
  const height = 34;
  const whole = parts.reduce((sum, part) => sum + part.value, 0) || 1;
  let at = 0;
  return svg(
    "svg",
    { class: "shares", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    parts
      .filter((part) => part.value > 0)
      .map((part) => {
        const left = at;
        at += (part.value / whole) * width;
        const room = at - left;
        const text = percent(part.value, whole);
        return svg(
          "g",
          {},
          svg("title", {}, `${part.name}: ${count(part.value)} (${text})`),
          svg("rect", { class: part.className, x: left, y: 0, width: Math.max(1, room - 1.5), height }),
          room > 62 && svg("text", { class: `on ${part.className}`, x: left + 10, y: 22 }, text),
        );
      }),
  );
}
