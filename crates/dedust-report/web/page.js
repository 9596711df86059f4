// Starts the page: takes the data that came with it, or asks the server for them, starts the normalizer and shows what is chosen.
import { el, replace } from "./dom.js";
import { count, counted } from "./format.js";
import { Normalizer, UrlTable, fromBase64, inflated } from "./normalizer.js";
import { WhatIf } from "./whatif.js";
import { learningCharts, overviewSection, remainingSection, visitsChart } from "./overview.js";
import { rulesSection, whatifBar } from "./rules.js";
import { treeSection } from "./tree.js";
import { groupsSection } from "./groups.js";
import { parametersSection } from "./parameters.js";
import { trySection } from "./try.js";
import { sitesSection } from "./sites.js";
import { servedRules, serverSection, watchRules } from "./live.js";
import { stored } from "./stored.js";

const THEME = "dedust-theme";

async function loadData() {
  const inline = document.getElementById("report-data");
  if (inline) {
    const data = JSON.parse(inline.textContent);
    inline.textContent = "";
    return data;
  }
  // Before the data: should the rules change in between, they count as changed.
  const served = await servedRules();
  const answer = await fetch("/v1/report");
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(data.error ?? `the server answered ${answer.status}`);
  return { ...data, isLive: true, served };
}

// Empty if dedust was built without it.
async function loadModule() {
  const inline = document.getElementById("normalizer");
  if (!inline) return new Uint8Array(await (await fetch("dedust.wasm")).arrayBuffer());
  const bytes = await inflated(fromBase64(inline.textContent));
  inline.textContent = "";
  return bytes;
}

const NOT_BUILT = "This build of dedust has no normalizer for the page: rules cannot be switched off, and no URL can be tried. Run .ci/wasm in the sources of dedust, which makes one, and build it again.";
const NOT_STARTED = "The normalizer could not be started here, or the rules are too large to be part of this page.";

// The normalizer with the rules; else null, and why.
async function loadNormalizer(data) {
  try {
    const bytes = await loadModule();
    if (bytes.length === 0) return [null, NOT_BUILT];
    const normalizer = await Normalizer.make(bytes);
    if (data.compiled) normalizer.loadCompiled(fromBase64(data.compiled), data.trusts_mirrors);
    else if (data.rules) normalizer.loadRules(data.rules, data.trusts_mirrors);
    else return [null, NOT_STARTED];
    return [normalizer, ""];
  } catch {
    return [null, NOT_STARTED];
  }
}

async function loadTable(data, normalizer) {
  if (!data.urls || !normalizer) return null;
  try {
    const table = new UrlTable(await inflated(fromBase64(data.urls.bytes)), data.urls.count);
    normalizer.loadUrls(table.lines);
    delete data.urls.bytes;
    return table;
  } catch {
    return null;
  }
}

function themeButton() {
  const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = el("button", { type: "button", class: "quiet", id: "theme", onclick: () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    stored("localStorage", THEME, document.documentElement.dataset.theme);
    say();
  } });
  const say = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  };
  const theme = stored("localStorage", THEME);
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();
  return button;
}

const SECTIONS = [
  ["overview", "Overview"], ["sites", "Sites"], ["rules", "Rules"], ["left", "Left"], ["tree", "Tree"],
  ["groups", "Groups"], ["parameters", "Parameters"], ["try", "Try a URL"], ["server", "Change"],
];

function header(data, place, choose) {
  const many = data.details.length > 1;
  const picker = many && el("label", { class: "picker" }, el("span", { class: "unseen" }, "Site "),
    el("select", { id: "site", onchange: (event) => choose(Number(event.target.value)) },
      data.details.map((detail, at) => el("option", { value: at }, detail.site))));
  if (picker) picker.querySelector("select").value = String(place);
  return [
    el("div", { class: "brand" }, el("b", {}, "dedust"), el("span", {}, " report"),
      !many && data.details[0] && el("span", { class: "soft" }, ` · ${data.details[0].site}`)),
    picker,
    el("nav", { "aria-label": "Sections" }, SECTIONS.filter(([id]) => document.getElementById(id)).map(([id, name]) => el("a", { href: `#${id}` }, name))),
    el("div", { class: "tools" }, el("button", { type: "button", class: "quiet", onclick: () => print() }, "Print"), themeButton()),
  ];
}

function footer(data) {
  const crawl = data.total.crawl;
  const from = crawl ? `a crawl of ${counted(crawl.urls, "URL", "URLs")}` : "the rule file alone";
  return el("p", {}, `Made by dedust ${data.version} from ${counted(data.total.rules.all, "rule", "rules")}${data.method ? ` of ${data.method}` : ""} and ${from}. `,
    data.urls?.left_out > 0 && `${count(data.urls.left_out)} URLs that no rule changes are counted, and not part of this page. `,
    "A key is for comparing, a canonical URL for fetching. A rule that is not proven is not applied.");
}

// Shows what the data of now say. `last` is what is to be shown as before: the site, and the rule that was decided about.
async function show(last) {
  const main = document.getElementById("main");
  const data = await loadData();
  const [normalizer, whyNot] = await loadNormalizer(data);
  const whatif = new WhatIf(data, normalizer, await loadTable(data, normalizer));
  whatif.whyNot = whyNot;
  let place = Math.max(0, data.details.findIndex((detail) => detail.site === last.site));
  Object.assign(data, { written: last.written, learned: last.learned, refresh: (next) => start({ site: data.details[place]?.site, ...next }) });
  const several = data.sites.length + data.more_sites > 1;
  const choose = (chosen, focus = true) => {
    place = chosen;
    whatif.forget();
    const detail = data.details[place];
    document.title = several ? "dedust report" : `dedust report · ${detail?.site ?? ""}`;
    const figures = detail ? whatif.siteRow(place).crawl : null;
    replace(main,
      overviewSection(whatif, several ? null : place),
      several && sitesSection(data, (next) => choose(next)),
      detail && several && el("div", { class: "site-head", id: "site-detail", tabindex: "-1" }, el("p", {}, "Site"), el("h2", {}, detail.site)),
      detail && several && overviewSection(whatif, place, "h3", "site-overview"),
      detail && rulesSection(whatif, place, figures && [visitsChart(detail, figures), learningCharts(detail)]),
      figures && remainingSection(detail),
      detail && treeSection(whatif, place),
      figures && groupsSection(whatif, place),
      detail && parametersSection(whatif, place),
      trySection(whatif, () => place),
      serverSection(data));
    replace(document.getElementById("top"), header(data, place, choose));
    if (several && focus) document.getElementById("site-detail")?.focus();
  };
  choose(place, false);
  replace(document.getElementById("foot"), footer(data));
  whatifBar(whatif, document.getElementById("whatif"));
  await whatif.update();
  if (last.written) {
    const decided = [...main.querySelectorAll(".rule")].find((rule) => rule.dataset.id === last.written.id)?.querySelector(".sentence");
    decided?.click();
    decided?.focus();
  }
  return data;
}

// The data that are shown; null before the first, and if they cannot be shown.
let current = null;

async function start(last) {
  const isFirst = current === null;
  try {
    current = await show(last);
    if (isFirst && current.isLive) watchRules(() => current, document.getElementById("notice"));
  } catch (error) {
    replace(document.getElementById("main"), el("p", { class: "loading", role: "alert" }, `The report cannot be shown: ${error.message}.`));
  }
  document.documentElement.dataset.ready = "true";
}

start({});
