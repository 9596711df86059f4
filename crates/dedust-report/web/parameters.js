// Which parameters matter where: parameters down, sections across.
import { el } from "./dom.js";
import { count, counted, partName, percent } from "./format.js";

// What is known of a parameter in a section.
function verdict(cell) {
  const votes = cell.same + cell.different;
  const isIgnored = cell.ignored * 2 > cell.urls;
  if (isIgnored) return cell.different > cell.same && votes > 2 ? ["doubt", "ignored, but pages differ"] : ["ignored", "ignored by rules"];
  if (votes === 0) return ["unknown", "kept; no pair tells"];
  if (cell.different === 0) return ["same", "kept, but pages are the same"];
  if (cell.same > cell.different) return ["mixed", "kept; matters at times"];
  return ["matters", "matters"];
}

const SIGNS = { ignored: "×", doubt: "!", same: "=", mixed: "≈", matters: "●", unknown: "·" };
const NAMES = [
  ["matters", "matters: pages differ"], ["mixed", "matters at times"], ["same", "seems not to matter, yet kept"],
  ["unknown", "kept, no pair tells"], ["ignored", "ignored by the rules"], ["doubt", "ignored, though pages differ"],
];

export function parametersSection(whatif, place) {
  const { params, sections, cells, more_params: more } = whatif.data.details[place].params;
  const title = el("h2", { id: "params-title" }, "Which parameters matter where");
  if (params.length === 0) {
    return el("section", { id: "parameters", "aria-labelledby": "params-title" }, title,
      el("p", { class: "empty" }, whatif.data.total.crawl ? "The URLs of this site have no parameters." : "This map needs the URLs of a crawl."));
  }
  const byPlace = new Map(cells.map((cell) => [`${cell.param} ${cell.section}`, cell]));
  const row = (name, at) => el("tr", {},
    el("th", { scope: "row" }, el("code", {}, partName(name))),
    sections.map((section, column) => {
      const cell = byPlace.get(`${at} ${column}`);
      if (!cell) return el("td", { class: "cell none" });
      const [kind, text] = verdict(cell);
      const votes = cell.same + cell.different;
      const told = `${text}. ${counted(cell.urls, "URL has", "URLs have")} it in ${section}; rules ignore it in ${percent(cell.ignored, cell.urls)} of them. ` +
        (votes > 0 ? `Of ${counted(votes, "pair", "pairs")} that differ in it alone, ${count(cell.different)} show different pages.` : "No two URLs differ in it alone.");
      return el("td", { class: `cell ${kind}`, title: told },
        el("span", { "aria-hidden": "true" }, SIGNS[kind]), el("span", { class: "amount" }, count(cell.urls)), el("span", { class: "unseen" }, ` ${told}`));
    }),
  );
  return el(
    "section",
    { id: "parameters", "aria-labelledby": "params-title" },
    title,
    el("p", { class: "lead" }, "Numbers are URLs that have the parameter, by the first segment of their path. Whether it matters is told by pairs of URLs that differ in it alone."),
    el("div", { class: "legend" }, NAMES.map(([kind, name]) => el("span", {}, el("i", { class: `cell ${kind}`, "aria-hidden": "true" }, SIGNS[kind]), name))),
    el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Parameters by section" },
      el("table", { class: "params" },
        el("thead", {}, el("tr", {}, el("td", {}), sections.map((section) => el("th", { scope: "col" }, el("code", {}, section))))),
        el("tbody", {}, params.map(row)))),
    more > 0 && el("p", { class: "note" }, `${counted(more, "rarer parameter is", "rarer parameters are")} not shown.`),
  );
}
