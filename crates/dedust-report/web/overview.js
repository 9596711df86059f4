// The headline, what is saved, and what is left: for the person who decides.
import { drawn, el, replace } from "./dom.js";
import { bytes, count, counted, percent, prose } from "./format.js";
import { lineChart, shares } from "./charts.js";
import { pair } from "./difference.js";

// What follows from the figures of a crawl.
export function conclusions(figures) {
  const duplicates = figures.labelled - figures.pages;
  const left = figures.labelled_keys - figures.covered;
  return {
    knowsPages: figures.labelled > 0,
    duplicates,
    left,
    removed: duplicates - left,
    saved: figures.urls - figures.keys,
    byRules: figures.urls - figures.keys - figures.safe_duplicates,
    // Pages are compared by what they show in the report alone, not when rules are switched: then labels are all that is known.
    lost: figures.lost ?? figures.pages - figures.covered,
    isByLabels: figures.lost === undefined,
    unclear: figures.lost === undefined ? 0 : figures.pages - figures.covered - figures.lost,
  };
}

const strong = (text) => el("strong", {}, text);

// One sentence with the numbers that matter. What is said holds for the URLs whose pages are known.
export function headline(figures, row, applied) {
  const rules = counted(applied, "rule", "rules");
  const verb = applied === 1 ? "removes" : "remove";
  const risk = row.promise
    ? ["; at most ", strong(counted(row.promise.lost, "page", "pages")), row.promise.lost === 1 ? " is at risk." : " are at risk."]
    : ["."];
  if (!row.crawl) {
    const duplicates = row.learned_labelled - row.learned_pages;
    if (row.learned_labelled === 0) return [strong(rules), applied === 1 ? " is applied" : " are applied", risk];
    return [
      strong(percent(duplicates, row.learned_labelled)), " of the ", strong(count(row.learned_labelled)),
      " URLs that these rules were learned from are duplicates; ", strong(rules), applied === 1 ? " was learned" : " were learned", risk,
    ];
  }
  const found = conclusions(figures);
  if (!found.knowsPages) {
    return [
      strong(rules), applied === 1 ? " takes " : " take ", strong(count(figures.urls)), " URLs for ",
      strong(counted(figures.keys, "page", "pages")), ": ", strong(percent(found.saved, figures.urls)), " need not be fetched", risk,
    ];
  }
  const known = figures.labelled === figures.urls
    ? ["your ", strong(count(figures.urls)), " URLs are duplicates"]
    : [strong(count(figures.labelled)), " URLs whose pages are known are duplicates"];
  if (found.duplicates === 0) return ["None of ", known, "; ", strong(rules), ` ${applied === 1 ? "is" : "are"} applied`, risk];
  return [
    strong(percent(found.duplicates, figures.labelled)), " of ", known, "; ", strong(rules), ` ${verb} `,
    strong(percent(found.removed, found.duplicates)), " of them", risk,
  ];
}

function tile(value, name, note, className) {
  return el("div", { class: `tile ${className ?? ""}` }, el("dt", {}, name), el("dd", {}, el("b", {}, value), el("span", {}, note)));
}

// What the crawl that was learned from knows of canonical URLs.
function canonicalTile({ alive, unmet, wrong }) {
  return tile(count(alive), "Canonical URLs alive", `${count(unmet)} unmet, ${count(wrong)} wrong, where the rules were learned`, wrong > 0 ? "bad" : unmet > alive ? "warn" : "good");
}

function tiles(figures, row) {
  const found = conclusions(figures);
  const out = [
    tile(
      count(found.saved), "Requests saved",
      `${percent(found.saved, figures.urls)} of all; ${count(figures.safe_duplicates)} by safe normalization alone`, "good",
    ),
  ];
  if (figures.sized > 0) {
    const unknown = figures.urls - figures.sized;
    const note = unknown > 0 ? `; ${counted(unknown, "size", "sizes")} unknown` : "";
    out.push(tile(bytes(figures.saved_bytes), "Bytes saved", `${percent(figures.saved_bytes, figures.bytes)} of ${bytes(figures.bytes)}${note}`, "good"));
  }
  if (found.knowsPages) {
    out.push(tile(count(found.left), "Duplicates left", `${percent(found.left, Math.max(1, figures.labelled_keys))} of what is still fetched`, "warn"));
    const note = found.isByLabels ? ", by labels alone" : found.unclear > 0 ? `; ${count(found.unclear)} more by labels alone` : "";
    out.push(tile(count(found.lost), "Pages lost here", `of ${count(figures.pages)} that the crawl knows${note}`, found.lost > 0 ? "bad" : "good"));
  }
  if (row.promise) {
    out.push(tile(`≤ ${count(row.promise.lost)}`, "Pages at risk", `of ${count(row.promise.pages)} learned from, with 95 % confidence`, "bad"));
  }
  if (row.canonical) out.push(canonicalTile(row.canonical));
  // Shares are compared: the crawl may be another than the one that was learned from.
  const isBroken = row.promise && !found.isByLabels && found.lost * row.promise.pages > row.promise.lost * figures.pages;
  return [
    el("dl", { class: "tiles" }, out),
    isBroken && el("p", { class: "note" }, "More pages are lost here than the rules promise: look at the groups of several known pages below."),
    found.unclear > 0 && el("p", { class: "note" }, "By labels alone: too little is known of what these pages show, or they differ from what is fetched instead no more than two fetches of one page."),
  ];
}

function bar(figures) {
  const found = conclusions(figures);
  const parts = found.knowsPages
    ? [
        { name: "Pages", value: figures.covered, className: "is-page" },
        { name: "Page unknown", value: figures.keys - figures.labelled_keys, className: "is-unknown" },
        { name: "Duplicates left", value: found.left, className: "is-left" },
        { name: "Removed by rules", value: found.byRules, className: "is-removed" },
        { name: "Removed by safe normalization", value: figures.safe_duplicates, className: "is-safe" },
      ]
    : [
        { name: "Still fetched", value: figures.keys, className: "is-page" },
        { name: "Removed by rules", value: found.byRules, className: "is-removed" },
        { name: "Removed by safe normalization", value: figures.safe_duplicates, className: "is-safe" },
      ];
  const label = parts.map((part) => `${part.name}: ${count(part.value)}`).join(", ");
  return el(
    "figure",
    { class: "whole" },
    drawn("shares-box", (width) => shares(width, `All URLs. ${label}`, parts)),
    el(
      "figcaption",
      { class: "legend" },
      parts.filter((part) => part.value > 0).map((part) =>
        el("span", {}, el("i", { class: part.className, "aria-hidden": "true" }), `${part.name} `, el("b", {}, count(part.value))),
      ),
    ),
  );
}

const REASONS = {
  unproven: ["Lacks votes", "a rule would join them that too few groups have voted on"],
  refused: ["Seen to fail", "a rule would join them, and different pages too"],
  off: ["Turned off", "a rule that somebody turned off would join them"],
  refuted: ["Refuted", "a rule that fetching refuted would join them"],
  no_rule: ["No rule", "no rule is known that would join them"],
};

export function remainingSection(detail) {
  const list = detail.remaining;
  const body = list.length === 0
    ? el("p", { class: "empty" }, "No duplicates are left that this crawl knows of.")
    : el(
        "ul",
        { class: "remaining plain" },
        list.map((kind) => {
          const [name, why] = REASONS[kind.reason];
          return el(
            "li",
            {},
            el("div", { class: "amount" }, el("b", {}, count(kind.duplicates)), el("span", {}, kind.duplicates === 1 ? "URL" : "URLs")),
            el(
              "div",
              {},
              el("p", {}, el("span", { class: `badge ${kind.reason}`, title: why }, name), " ",
                kind.rule ? prose(kind.rule) : ["differ in ", kind.parts.map((part, at) => [at > 0 && ", ", el("code", {}, part)])]),
              pair(kind.example[0], kind.example[1]),
            ),
          );
        }),
      );
  return el(
    "section",
    { id: "left", "aria-labelledby": "left-title" },
    el("h2", { id: "left-title" }, "What is left, and why"),
    el("p", { class: "lead" }, "URLs that show one page, as the crawl knows, and still have several keys. Each is compared with the first of its page."),
    body,
  );
}

export function visitsChart(detail, figures) {
  const all = detail.visits;
  if (all.length < 2) return null;
  const knows = figures.labelled === figures.urls;
  const series = [
    { name: "without rules", className: "is-grey", points: all.map((point) => [point.met, point.met]) },
    { name: "with these rules", className: "is-good", points: all.map((point) => [point.met, point.fetched]) },
  ];
  if (knows) series.push({ name: "pages", className: "is-dash", points: all.map((point) => [point.met, point.pages]) });
  const last = all.at(-1);
  const label = `Of ${count(last.met)} URLs in the order of the crawl, ${count(last.fetched)} are fetched with these rules${knows ? `; they show ${count(last.pages)} pages` : ""}.`;
  return el(
    "figure",
    { class: "panel" },
    el("h3", {}, "The crawl, fetched again"),
    drawn("chart-box", (width) => lineChart(width, { label, xLabel: "URLs met", yLabel: "fetched", series })),
    el("figcaption", { class: "legend" }, series.map((line) => el("span", {}, el("i", { class: line.className, "aria-hidden": "true" }), line.name))),
  );
}

// What would be learned from less of the crawl: what it removes, and what it promises to lose and loses.
export function learningCharts(detail) {
  const points = detail.learning;
  if (points.length < 2 || points[0].duplicates === 0) return null;
  const line = (name, className, value) => ({ name, className, points: points.map((point) => [point.share, value(point)]) });
  const marks = (value, text) => points.map((point) => ({ x: point.share, y: value(point), text: text(point) }));
  const removed = (point) => point.removed / point.duplicates;
  const lost = (point) => point.lost / point.pages;
  const promised = (point) => point.promise.lost / Math.max(1, point.promise.pages);
  const xLabel = "share of the URLs that was learned from";
  const spoken = (value) => points.map((point) => `${percent(point.share, 1)}: ${percent(value(point), 1)}`).join(", ");
  const risks = [line("pages lost", "is-warn", lost)];
  if (points.every((point) => point.promise)) risks.push(line("promised at most", "is-dash", promised));
  const figure = (title, chart, ...caption) => el("figure", { class: "panel" }, el("h3", {}, title), drawn("chart-box", (width) => lineChart(width, chart)), caption);
  return [
    figure("Learning curve", {
      label: `Duplicates removed by rules learned from a share of the URLs. ${spoken(removed)}.`, areShares: true, yMost: 1, xLabel, yLabel: "duplicates removed",
      series: [{ ...line("removed", "is-good", removed), isArea: true }],
      marks: marks(removed, (point) => `${counted(point.rules, "rule", "rules")} learned from ${counted(point.urls, "URL", "URLs")} remove ${count(point.removed)} of ${counted(point.duplicates, "duplicate", "duplicates")}`),
    }, el("figcaption", { class: "note" }, "Rules learned again by canonfd from a part of this crawl, and tried on all of it. Where the curve still rises, more crawling may find more.")),
    figure("What is promised, and what is lost", {
      label: `Pages that rules learned from a share of the URLs lose. ${spoken(lost)}.`, areShares: true, xLabel, yLabel: "of all pages",
      series: risks,
      markClass: "warn",
      marks: marks(lost, (point) => `${count(point.lost)} of ${counted(point.pages, "page", "pages")} lost${point.promise ? `, at most ${count(point.promise.lost)} of ${count(point.promise.pages)} promised` : ""}`),
    }, el("figcaption", { class: "legend" }, risks.map((risk) => el("span", {}, el("i", { class: risk.className, "aria-hidden": "true" }), risk.name))),
      el("p", { class: "note" }, "Lost: what is fetched instead is known to show something else. A promise is about the URLs that were learned from; what is lost is counted on all.")),
  ];
}

// The top of the page, which follows the switches.
export function overviewSection(whatif, place, heading = "h1", id = "overview") {
  const row = place === null ? whatif.data.total : whatif.siteRow(place);
  const title = el(heading, { id: `${id}-title`, class: "headline" });
  const body = el("div", {});
  const draw = () => {
    const figures = whatif.figures(place);
    const switched = Array.from(whatif.switches).filter(([name]) => place === null || name.startsWith(`${whatif.data.details[place].site}\t`));
    const applied = row.rules.applied + switched.reduce((sum, [, isOn]) => sum + (isOn ? 1 : -1), 0);
    replace(title, headline(figures, row, applied).flat(4).map((part) => (part instanceof Node ? part : document.createTextNode(part))));
    replace(body, row.crawl ? [bar(figures), tiles(figures, row)] : tilesOfRules(row));
  };
  whatif.listen(draw);
  draw();
  return el("section", { id, class: "hero", "aria-labelledby": `${id}-title` }, title, body);
}

function tilesOfRules(row) {
  const out = [
    tile(count(row.rules.applied), "Rules applied", `of ${count(row.rules.all)} in the file`, "good"),
    tile(count(row.rules.unproven), "Unproven", "kept in the file, not applied", "warn"),
    tile(count(row.learned_urls), "URLs learned from", `${count(row.learned_pages)} pages`, ""),
  ];
  if (row.promise) out.push(tile(`≤ ${count(row.promise.lost)}`, "Pages at risk", `of ${count(row.promise.pages)}, with 95 % confidence`, "bad"));
  if (row.canonical) out.push(canonicalTile(row.canonical));
  return [
    el("dl", { class: "tiles" }, out),
    el("p", { class: "note" }, "No crawl was given: what the rules save is not known. Name one, as in ", el("code", {}, "dedust report rules.json crawl.jsonl.gz -o report.html"), "."),
  ];
}
