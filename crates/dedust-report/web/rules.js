// The rules of a site: what each saves and risks, why it is trusted, and what if it were off. For the engineer.
import { disclosure, drawn, el, paged, replace } from "./dom.js";
import { bytes, count, counted, decided, listed, percent, prose } from "./format.js";
import { boundsChart, lineChart, whisker } from "./charts.js";
import { pair } from "./difference.js";
import { decisionControls } from "./live.js";

const BOUNDS_SHOWN = 24;
const RULES_SHOWN = 40;

function risk(rule) {
  return rule.evidence ? rule.evidence.bound : 1;
}

const ORDERS = {
  saves: ["What it saves", (a, b) => (b.saves ?? -1) - (a.saves ?? -1) || (b.changed ?? 0) - (a.changed ?? 0) || (b.evidence?.urls ?? 0) - (a.evidence?.urls ?? 0)],
  risk: ["What it risks", (a, b) => (b.hides ?? 0) - (a.hides ?? 0) || risk(b) - risk(a)],
  changed: ["URLs it changes", (a, b) => (b.changed ?? b.evidence?.urls ?? 0) - (a.changed ?? a.evidence?.urls ?? 0)],
  file: ["Order of the file", (a, b) => a.index - b.index],
};

function verdictText(verdict) {
  const date = verdict.date ? ` on ${verdict.date}` : "";
  return `${verdict.outcome} by fetching${date}: ${counted(verdict.same, "pair", "pairs")} showed the same page, ${count(verdict.different)} different ones`;
}

function evidenceText(rule) {
  const seen = rule.evidence;
  if (!seen) return ["Written by hand: whoever wrote it vouches for it."];
  const fetched = rule.trust === "fetched" ? "that were fetched" : "held out";
  const out = [
    `${counted(seen.urls, "URL", "URLs")} changed in training; ${count(seen.failed_groups)} of ${counted(seen.groups, "group", "groups")} ${fetched} failed; at most ${percent(seen.bound, 1)} wrong, with 95 % confidence.`,
  ];
  if (seen.kinds.length > 0) out.push(`Duplicates were known by ${listed(seen.kinds)}${seen.until ? `, until ${seen.until}` : ""}.`);
  return out;
}

// The URLs that a rule changes, with what they become.
function changedList(whatif, place, rule) {
  const box = el("div", { class: "changed" });
  const button = el(
    "button",
    {
      type: "button",
      class: "quiet",
      onclick: async () => {
        button.disabled = true;
        button.textContent = "Asking the normalizer …";
        const numbers = await whatif.changedBy(place, rule);
        const show = (number) => {
          const url = whatif.table.url(number);
          return el("li", {}, pair(url, whatif.normalizer.keys(url).trimEnd()));
        };
        const title = el("p", { class: "note", tabindex: "-1" }, `${counted(numbers.length, "URL", "URLs")}, each above its key.`);
        replace(box, title, paged(numbers, 10, show));
        title.focus({ preventScroll: true });
      },
    },
    `List the ${counted(rule.changed, "URL", "URLs")} that it changes`,
  );
  return replace(box, button);
}

function details(whatif, place, rule, site) {
  const facts = [];
  const fact = (name, ...value) => facts.push(el("dt", {}, name), el("dd", {}, value));
  fact("Evidence", evidenceText(rule).map((text) => el("p", {}, text)));
  if (rule.verdict) fact("Verdict", verdictText(rule.verdict));
  if (rule.off) fact("Off", `turned off${decided(rule.off)}`);
  if (rule.pinned) fact("Pinned", `pinned${decided(rule.pinned)}`);
  if (!rule.fetchable) fact("Writes", "in the key only: what it writes is not known to be a URL that can be fetched");
  if (rule.changed !== undefined) {
    const hides = rule.hides > 0 ? `; ${counted(rule.hides, "page", "pages")} of the crawl would be met again` : "";
    fact("In this crawl", `changes ${counted(rule.changed, "URL", "URLs")}; without it alone, ${counted(rule.saves ?? 0, "URL more", "URLs more")} would be fetched`,
      rule.saves_bytes > 0 ? ` (${bytes(rule.saves_bytes)})` : "", hides, ".");
  }
  fact("Name", el("code", {}, rule.id), `, rule ${rule.index} of ${site}. `, el("code", {}, `dedust rules off rules.json ${site} ${rule.id}`));
  return el(
    "div",
    { class: "details" },
    el("dl", { class: "facts" }, facts),
    decisionControls(whatif.data, site, rule),
    rule.examples.length > 0 && [
      el("h4", {}, rule.examples.length === 1 ? "Example" : "Examples"),
      el("ul", { class: "plain pairs" }, rule.examples.map((example) => el("li", {}, pair(example[0], example[1])))),
    ],
    whatif.isExact && rule.changed > 0 && rule.applied && changedList(whatif, place, rule),
  );
}

function ruleRow(whatif, place, site, rule, most, bound) {
  const [toggle, body] = disclosure(`rule-${place}-${rule.index}`, "rule-body", prose(rule.sentence), () => [details(whatif, place, rule, site)]);
  const canSwitch = Boolean(whatif.normalizer) && !whatif.data.compiled;
  const box = el("input", {
    type: "checkbox",
    role: "switch",
    checked: whatif.isOn(site, rule),
    disabled: !canSwitch,
    "aria-label": `Apply: ${rule.sentence.replaceAll("`", "")}`,
    onchange: () => whatif.set(site, rule, box.checked),
  });
  const row = el(
    "li",
    { class: "rule", "data-id": rule.id },
    el(
      "div",
      { class: "rule-head" },
      el("label", { class: "switch" }, box, el("span", { "aria-hidden": "true" })),
      el("div", { class: "what" }, toggle, el("p", { class: "tags" },
        rule.state.split(", ").map((state) => el("span", { class: `badge ${state}` }, state)),
        el("span", { class: "badge plain-badge" }, rule.trust),
        rule.verdict && el("span", { class: `badge ${rule.verdict.outcome}` }, rule.verdict.outcome === "unknown" ? "fetched, undecided" : `${rule.verdict.outcome} by fetching`),
      )),
      el("div", { class: "saves" }, rule.saves === undefined
        ? el("span", { class: "soft" }, `${counted(rule.evidence?.urls ?? 0, "URL", "URLs")} in training`)
        : [el("b", {}, count(rule.saves)), el("span", { class: "soft" }, ` of ${count(rule.changed)} changed`), meter(rule.saves, most)]),
      el("div", { class: "bound" }, rule.evidence
        ? [whisker(rule.evidence, bound), el("span", { class: "soft" }, `≤ ${percent(rule.evidence.bound, 1)} of ${counted(rule.evidence.groups, "group", "groups")}`)]
        : el("span", { class: "soft" }, "no evidence")),
    ),
    body,
  );
  whatif.listen(() => {
    const isOn = whatif.isOn(site, rule);
    box.checked = isOn;
    row.classList.toggle("is-off", !isOn);
    row.classList.toggle("is-switched", isOn !== rule.applied);
  });
  row.classList.toggle("is-off", !whatif.isOn(site, rule));
  return row;
}

function meter(value, most) {
  const bar = el("i", { class: "meter", "aria-hidden": "true" }, el("i", {}));
  bar.firstChild.style.width = `${most > 0 ? Math.max(0, (100 * value) / most) : 0}%`;
  return bar;
}

function curve(detail) {
  const points = detail.curve;
  if (points.length < 2) return null;
  const name = (point) => detail.rules.find((rule) => rule.index === point.rule)?.sentence ?? "safe normalization alone";
  const last = points.at(-1);
  const label = `With ${points.map((point) => `${point.rules} rules ${count(point.saved)}`).slice(0, 6).join(", ")} … ${last.rules} rules ${count(last.saved)} URLs need not be fetched.`;
  return el(
    "figure",
    { class: "panel" },
    el("h3", {}, "Savings, rule by rule"),
    drawn("chart-box", (width) =>
      lineChart(width, {
        label,
        xLabel: "rules, those that save most first",
        yLabel: "URLs saved",
        series: [{ className: "is-good", isStepped: false, isArea: true, points: points.map((point) => [point.rules, point.saved]) }],
        marks: points.map((point) => ({ x: point.rules, y: point.saved, text: `${point.rules}: ${name(point)}; ${count(point.saved)} saved` })),
      }),
    ),
    el("figcaption", { class: "note" }, halfway(points)),
  );
}

function halfway(points) {
  const half = points.at(-1).saved / 2;
  const rules = Math.max(1, points.find((point) => point.saved >= half)?.rules ?? 1);
  return rules === 1 ? "One rule saves half of all that is saved." : `${count(rules)} rules save half of all that is saved.`;
}

function bounds(detail) {
  const known = detail.rules.filter((rule) => rule.evidence && rule.applied).sort((a, b) => risk(b) - risk(a));
  if (known.length === 0) return null;
  return el(
    "figure",
    { class: "panel across" },
    el("h3", {}, "How wrong may each rule be?"),
    drawn("chart-box", (width) => boundsChart(width, known.slice(0, BOUNDS_SHOWN))),
    el("figcaption", { class: "note" }, "Dot: share of groups that failed. Whisker: at most so many fail, with 95 % confidence.",
      known.length > BOUNDS_SHOWN && ` The riskiest ${BOUNDS_SHOWN} of ${count(known.length)}.`),
  );
}

function refusedTable(detail) {
  if (detail.refused.length === 0) return null;
  const kinds = [
    ["Unproven", "Too few groups have voted. More crawling, or dedust validate --unproven, would settle them.", detail.refused.filter((rule) => rule.missing !== undefined)],
    ["Refused", "Seen to fail, or not worth it. Never applied.", detail.refused.filter((rule) => rule.missing === undefined)],
  ];
  return kinds.filter(([, , rules]) => rules.length > 0).map(([name, why, rules]) =>
    el(
      "details",
      { class: "candidates" },
      el("summary", {}, `${name} candidates`, el("span", { class: "soft" }, ` ${count(rules.length)}`)),
      el("p", { class: "note" }, why),
      el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `${name} candidates` },
        el("table", {},
          el("thead", {}, el("tr", {}, ["Rule", "Votes", "Against", "Missing", "Would join", "Why not"].map((heading, at) =>
            el("th", { scope: "col", class: at > 0 && at < 5 ? "number" : "" }, heading)))),
          el("tbody", {}, rules.map((rule) => el("tr", {},
            el("td", { class: "prose" }, prose(rule.sentence)),
            el("td", { class: "number" }, count(rule.votes)),
            el("td", { class: "number" }, count(rule.against)),
            el("td", { class: "number" }, rule.missing === undefined ? "–" : count(rule.missing)),
            el("td", { class: "number" }, rule.merged === undefined ? "–" : count(rule.merged)),
            el("td", { class: "prose" }, rule.reason, rule.verdict && `; ${verdictText(rule.verdict)}`),
          ))),
        ),
      ),
    ),
  );
}

export function rulesSection(whatif, place, charts) {
  const detail = whatif.data.details[place];
  const most = Math.max(0, ...detail.rules.map((rule) => rule.saves ?? 0));
  const bound = Math.max(0.02, ...detail.rules.filter((rule) => rule.evidence).map(risk));
  const list = el("div", {});
  const order = el("select", { id: `order-${place}`, onchange: () => draw() },
    Object.entries(ORDERS).map(([name, [text]]) => el("option", { value: name }, text)));
  const filter = el("input", { type: "search", id: `filter-${place}`, placeholder: "sid, scheme, off …", oninput: () => draw() });
  const found = el("p", { class: "soft found", role: "status" });
  const draw = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (rule) => `${rule.sentence} ${rule.id} ${rule.state} ${rule.trust}`.toLowerCase();
    const shown = detail.rules.filter((rule) => words.every((word) => text(rule).includes(word))).sort(ORDERS[order.value][1]);
    found.textContent = words.length > 0 ? `${count(shown.length)} of ${counted(detail.rules.length, "rule", "rules")}` : "";
    replace(list, shown.length > 0
      ? paged(shown, RULES_SHOWN, (rule) => ruleRow(whatif, place, detail.site, rule, most, bound), el("ol", { class: "plain rules" }))
      : el("p", { class: "empty" }, detail.rules.length > 0 ? "No rule matches." : !whatif.data.rules ? "Compiled rules say no more than what they do: there are no rules to list." : "This site has no rules: only safe normalization is applied."));
  };
  draw();
  const hosts = detail.hosts.length > 0 && el("p", { class: "note hosts" }, `They hold on ${listed(detail.hosts.slice(0, 6))}${detail.hosts.length > 6 ? ` and ${detail.hosts.length - 6} more hosts` : ""}.`);
  return el(
    "section",
    { id: "rules", "aria-labelledby": "rules-title" },
    el("h2", { id: "rules-title" }, "Rules"),
    el("p", { class: "lead" }, "Each is a rule that is made to every URL it concerns. ", whatif.whyNot || ["Switch one off to see what it saves",
      whatif.isExact ? ": all URLs of the crawl are normalized again, in this page, so the figures are exact." : ". The URLs are not part of this page, so the figures are estimates: each rule is counted as if it alone were off."]),
    hosts,
    el("div", { class: "panels" }, curve(detail), charts, bounds(detail)),
    detail.rules.length > 0 && el("div", { class: "controls" },
      el("label", {}, "Order ", order), el("label", {}, "Filter ", filter), found),
    detail.rules.length > 0 && el("div", { class: "rule-columns", "aria-hidden": "true" },
      el("span", {}, "On"), el("span", {}, "What it does"), el("span", {}, "Saves"), el("span", {}, "Wrong at most")),
    list,
    refusedTable(detail),
  );
}

// The bar at the foot of the page while rules are switched.
export function whatifBar(whatif, box) {
  const draw = () => {
    box.hidden = whatif.changes === 0;
    if (whatif.changes === 0) return;
    const before = whatif.data.total.crawl;
    const after = whatif.figures();
    const parts = [];
    if (whatif.error) parts.push(`These rules cannot stand together: ${whatif.error}`);
    else if (whatif.isBusy) parts.push("Counting …");
    else if (before) {
      const urls = after.keys - before.keys;
      const more = urls >= 0 ? "more" : "fewer";
      parts.push(el("b", {}, counted(Math.abs(urls), `request ${more}`, `requests ${more}`)));
      const size = before.saved_bytes - after.saved_bytes;
      if (size !== 0) parts.push(`, ${bytes(Math.abs(size))} ${size > 0 ? "more" : "less"}`);
      const pages = after.covered - before.covered;
      if (pages !== 0) parts.push(`; ${counted(Math.abs(pages), "page", "pages")} ${pages > 0 ? "met again" : "hidden"}`);
      parts.push(whatif.isExact ? "" : " (estimate)");
    }
    replace(box,
      el("span", {}, el("span", { class: "badge" }, "What if"), ` ${counted(whatif.changes, "rule", "rules")} switched: `, parts),
      el("button", { type: "button", onclick: () => whatif.reset() }, "Undo all"));
  };
  whatif.addEventListener("change", draw);
  draw();
}
