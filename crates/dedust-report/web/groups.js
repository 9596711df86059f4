// Groups of URLs that are taken for one page, with search.
import { disclosure, el, paged, replace } from "./dom.js";
import { bytes, count, counted } from "./format.js";
import { difference, urlText } from "./difference.js";

const GROUPS_SHOWN = 20;
const MEMBERS = 12;
// URLs of a group whose canonical URLs are compared.
const ASKED = 200;

// The groups of a site by the normalizer in the page, those that save most first.
function groupsOf(whatif, place) {
  const [start, end] = whatif.table.range(place);
  const byGroup = new Map();
  for (let at = start; at < end; at += 1) {
    const members = byGroup.get(whatif.groups[at]);
    if (members) members.push(at);
    else byGroup.set(whatif.groups[at], [at]);
  }
  const { sizes, pages } = whatif.table;
  const groups = [];
  for (const members of byGroup.values()) {
    if (members.length < 2) continue;
    let saved = 0;
    if (sizes) for (const number of members.slice(1)) saved += Math.max(0, sizes[number] - 1);
    const known = new Set(members.map((number) => pages[number]).filter((page) => page >= 0));
    groups.push({ members, saved, pages: known.size });
  }
  return groups.sort((a, b) => b.saved - a.saved || b.members.length - a.members.length);
}

// The canonical URL of most of them; of several that as many have, the shortest, then the first by its letters.
function mostCommon(urls) {
  const counts = new Map();
  for (const url of urls) counts.set(url, (counts.get(url) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.length - b.length || (a < b ? -1 : 1))[0][0];
}

function groupItem(group) {
  const members = () => {
    const canonical = group.canonical();
    const show = (at) => {
      const parts = difference(canonical, group.url(at))[1];
      return el("li", {}, urlText(parts, at === 0 ? "first" : ""), at === 0 && el("span", { class: "badge plain-badge" }, "met first"));
    };
    const list = paged(Array.from({ length: group.known }, (_, at) => at), MEMBERS, show);
    return group.known < group.size ? [...list, el("p", { class: "note" }, `and ${count(group.size - group.known)} more`)] : list;
  };
  const id = `group-${Math.random().toString(36).slice(2)}`;
  const [toggle, body] = disclosure(id, "members", el("code", { class: "url" }, group.canonical()), members);
  return el(
    "li",
    { class: "group" },
    el("div", { class: "group-head" },
      el("div", { class: "amount" }, el("b", {}, count(group.size)), el("span", {}, "URLs")),
      el("div", { class: "what" }, group.title && el("p", { class: "page-title" }, group.title), toggle),
      el("div", { class: "end" }, group.saved > 0 && el("span", { class: "soft" }, `${bytes(group.saved)} saved`),
        group.pages > 1 && el("span", { class: "badge bad" }, counted(group.pages, "page", "pages")))),
    body,
  );
}

export function groupsSection(whatif, place) {
  const detail = whatif.data.details[place];
  const titles = new Map(detail.groups.filter((group) => group.title).map((group) => [group.urls[0], group.title]));
  const list = el("div", {});
  const search = el("input", { type: "search", id: `groups-${place}`, placeholder: "part of a URL or title", oninput: () => schedule() });
  const wrong = el("input", { type: "checkbox", onchange: () => draw() });
  const found = el("p", { class: "soft found", role: "status" });
  let groups = [];
  let timer = 0;
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(draw, 150);
  };

  const load = () => {
    if (whatif.isExact && whatif.groups) {
      groups = groupsOf(whatif, place).map((group) => {
        const url = (at) => whatif.table.url(group.members[at]);
        let canonical;
        return {
          size: group.members.length, known: group.members.length, saved: group.saved, pages: group.pages, url,
          title: titles.get(url(0)),
          canonical: () => {
            canonical ??= mostCommon(whatif.normalizer.canonical(group.members.slice(0, ASKED).map((_, at) => url(at)).join("\n")).trimEnd().split("\n"));
            return canonical;
          },
        };
      });
    } else {
      groups = detail.groups.map((group) => ({
        size: group.size, known: group.urls.length, saved: group.saved_bytes, pages: group.pages, title: group.title,
        url: (at) => group.urls[at], canonical: () => group.canonical,
      }));
    }
    draw();
  };

  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (group) => {
      if (wrong.checked && group.pages < 2) return false;
      if (words.length === 0) return true;
      const texts = [group.title ?? ""];
      for (let at = 0; at < Math.min(group.known, 400); at += 1) texts.push(group.url(at));
      const text = texts.join("\n").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const shown = groups.filter(matches);
    const all = whatif.isExact ? counted(groups.length, "group", "groups") : `the ${counted(groups.length, "largest group", "largest groups")}`;
    found.textContent = shown.length === groups.length ? all : `${count(shown.length)} of ${all}`;
    const none = groups.length === 0 ? "No two URLs of this site have one key." : "No group matches.";
    replace(list, shown.length > 0 ? paged(shown, GROUPS_SHOWN, groupItem, el("ol", { class: "plain groups" })) : el("p", { class: "empty" }, none));
  };

  let drawnGroups = null;
  whatif.listen(() => {
    if (!whatif.isBusy && whatif.groups !== drawnGroups) {
      drawnGroups = whatif.groups;
      load();
    }
  });
  load();
  return el(
    "section",
    { id: "groups", "aria-labelledby": "groups-title" },
    el("h2", { id: "groups-title" }, "Duplicate groups"),
    el("p", { class: "lead" }, "All URLs of one key. A crawler fetches the one it met first, and none of the others. Marked is what differs from the canonical URL."),
    el("div", { class: "controls" }, el("label", {}, "Search ", search),
      el("label", { class: "check" }, wrong, " only those of several known pages"), found),
    list,
  );
}
