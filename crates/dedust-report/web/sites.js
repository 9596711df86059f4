// Several sites: a table that sorts and filters, the worst first.
import { el, paged, replace } from "./dom.js";
import { count, counted, percent } from "./format.js";
import { conclusions } from "./overview.js";

function valuesOf(row) {
  const crawl = row.figures.crawl;
  const found = crawl ? conclusions(crawl) : null;
  const known = found?.knowsPages;
  return {
    site: row.site,
    urls: crawl?.urls ?? row.figures.learned_urls,
    duplicates: known ? found.duplicates / crawl.labelled : null,
    saved: crawl ? found.saved / crawl.urls : null,
    left: known ? found.left : null,
    risk: row.figures.promise?.lost ?? null,
    rules: row.figures.rules.applied,
  };
}

const share = (value) => (value === null ? "–" : percent(value, 1));
const number = (value) => (value === null ? "–" : count(value));
const COLUMNS = [
  ["site", "Site", (values) => values.site],
  ["urls", "URLs", (values) => number(values.urls)],
  ["duplicates", "Duplicates", (values) => share(values.duplicates)],
  ["saved", "Saved", (values) => share(values.saved)],
  ["left", "Duplicates left", (values) => number(values.left)],
  ["risk", "Pages at risk", (values) => number(values.risk)],
  ["rules", "Rules", (values) => number(values.rules)],
];

export function sitesSection(data, choose) {
  const rows = data.sites.map((row) => ({ row, values: valuesOf(row), place: data.details.findIndex((detail) => detail.site === row.site) }));
  let [by, isDown] = [null, true];
  const filter = el("input", { type: "search", id: "site-filter", placeholder: "part of a name", oninput: () => draw() });
  const found = el("p", { class: "soft found", role: "status" });
  const box = el("div", {});
  const heads = COLUMNS.map(([name, text]) => {
    const button = el("button", { type: "button", onclick: () => {
      isDown = by === name ? !isDown : name !== "site";
      by = name;
      draw();
    } }, text);
    return el("th", { scope: "col", class: name === "site" ? "" : "number" }, button);
  });
  const draw = () => {
    const words = filter.value.toLowerCase().trim();
    const shown = rows.filter(({ row }) => row.site.toLowerCase().includes(words));
    if (by) {
      const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : (a ?? -1) - (b ?? -1));
      shown.sort((a, b) => (isDown ? -1 : 1) * compare(a.values[by], b.values[by]));
    }
    heads.forEach((head, at) => {
      const isSorted = COLUMNS[at][0] === by;
      if (isSorted) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    found.textContent = shown.length === rows.length ? counted(rows.length + data.more_sites, "site", "sites") : `${count(shown.length)} of ${counted(rows.length, "site", "sites")}`;
    const line = ({ row, values, place }) => el("tr", {}, COLUMNS.map(([name, , show]) => name === "site"
      ? el("th", { scope: "row" }, place >= 0 ? el("button", { type: "button", class: "link", onclick: () => choose(place) }, row.site) : row.site,
          row.mirror_of && el("span", { class: "soft" }, ` mirror of ${row.mirror_of}`))
      : el("td", { class: "number" }, show(values))));
    replace(box, el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Sites" },
      el("table", { class: "sites" }, el("thead", {}, el("tr", {}, heads)), el("tbody", { id: "site-rows" }))));
    if (shown.length === 0) box.append(el("p", { class: "empty" }, "No site matches."));
    else box.append(...paged(shown, 50, line, box.querySelector("tbody")).slice(1));
  };
  draw();
  return el("section", { id: "sites", "aria-labelledby": "sites-title" },
    el("h2", { id: "sites-title" }, "Sites"),
    el("p", { class: "lead" }, "The worst first: most duplicates left, then most pages at risk. Choose a site to see its rules, tree and groups."),
    el("div", { class: "controls" }, el("label", {}, "Filter ", filter), found),
    box,
    data.more_sites > 0 && el("p", { class: "note" }, `${counted(data.more_sites, "site is", "sites are")} not listed.`));
}
