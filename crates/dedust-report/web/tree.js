// The site as a tree of patterns: width is URLs, colour the share of duplicates. Zoomed by clicks and by keys. For the explorer.
import { el, drawn, replace, svg } from "./dom.js";
import { counted, isQueryText, partName, percent } from "./format.js";

const ROW = 36;
const LEVELS = 7;

// Nodes with their children, widths and places; a child is as wide as its share of the URLs. URLs that lack a part are most URLs, split
// after split: unless every split is wanted, those that follow stand beside the one that has it.
function arranged(list, hasAllSplits) {
  const nodes = list.map((node, at) => ({ ...node, at, children: [], depth: 0 }));
  const isPassedOver = list.map(() => false);
  if (!hasAllSplits) {
    const hasChildren = new Set(list.map((node) => node.parent));
    list.forEach((node, at) => {
      isPassedOver[at] = node.parent !== undefined && node.value === undefined && hasChildren.has(at);
    });
  }
  for (const node of nodes) {
    if (node.parent === undefined || isPassedOver[node.at]) continue;
    let at = node.parent;
    while (isPassedOver[at]) at = list[at].parent;
    node.parent = at;
    node.depth = nodes[at].depth + 1;
    nodes[at].children.push(node);
  }
  for (const node of nodes) node.children.sort((a, b) => b.urls - a.urls || a.at - b.at);
  const place = (node, start) => {
    node.start = start;
    let at = start;
    for (const child of node.children) {
      place(child, at);
      at += child.urls;
    }
  };
  place(nodes[0], 0);
  return nodes.filter((node) => !isPassedOver[node.at]);
}

function nameOf(node, site) {
  if (node.key === undefined) return site;
  const key = partName(node.key);
  if (key === "tslash") return node.value === undefined ? "no slash at the end" : "slash at the end";
  if (node.value === undefined) return `no ${key}`;
  if (isQueryText(node.key)) return `?${node.value}`;
  if (key === "scheme") return `${node.value}:`;
  if (key.startsWith("sub_")) return `${node.value}.`;
  return key.startsWith("path_") ? `/${node.value}` : `${key}=${node.value}`;
}

function shareOf(node) {
  return node.labelled > 0 ? (node.labelled - node.pages) / node.labelled : (node.urls - node.keys) / node.urls;
}

function colour(node) {
  return `heat-${Math.min(5, Math.ceil(shareOf(node) * 5))}`;
}

function facts(node) {
  const duplicates = node.labelled > 0
    ? `${percent(node.labelled - node.pages, node.labelled)} duplicates`
    : "pages unknown";
  const left = node.labelled === node.urls && node.keys > node.pages ? `, ${counted(node.keys - node.pages, "key", "keys")} too many` : "";
  return `${counted(node.urls, "URL", "URLs")}, ${duplicates}; rules leave ${counted(node.keys, "key", "keys")}${left}`;
}

export function treeSection(whatif, place) {
  const detail = whatif.data.details[place];
  const title = el("h2", { id: "tree-title" }, "The site as a tree");
  if (detail.tree.length === 0) {
    return el("section", { id: "tree", "aria-labelledby": "tree-title" }, title, el("p", { class: "empty" }, "A tree needs the URLs of a crawl."));
  }
  let nodes = arranged(detail.tree, false);
  let root = nodes[0];
  let current = nodes[0];
  const byPlace = () => new Map(nodes.map((node) => [node.at, node]));
  let places = byPlace();
  const splits = el("input", { type: "checkbox", onchange: () => {
    nodes = arranged(detail.tree, splits.checked);
    places = byPlace();
    [root, current] = [nodes[0], nodes[0]];
    draw();
  } });
  const crumbs = el("nav", { class: "crumbs", "aria-label": "Where the tree is zoomed to" });
  const info = el("p", { class: "tree-info", role: "status" });
  const shown = () => nodes.filter((node) => node.depth >= root.depth && node.depth < root.depth + LEVELS && isWithin(node, root));
  const isWithin = (node, ancestor) => {
    let at = node;
    while (at && at !== ancestor) at = parentOf(at);
    return at === ancestor;
  };
  const parentOf = (node) => (node.parent === undefined ? null : places.get(node.parent));

  const zoom = (node, focus = false) => {
    root = node.children.length > 0 ? node : (parentOf(node) ?? node);
    current = node;
    draw();
    if (focus) box.querySelector(`[data-at="${current.at}"]`)?.focus();
  };
  const point = (node) => {
    current = node;
    const path = [];
    for (let at = node; at; at = parentOf(at)) path.unshift(nameOf(at, detail.site));
    replace(info, el("b", {}, path.join(" › ")), el("span", {}, facts(node)), el("code", { class: "url" }, node.example));
  };
  const move = (node, event) => {
    const siblings = parentOf(node)?.children ?? [node];
    const at = siblings.indexOf(node);
    const next = {
      ArrowRight: siblings[at + 1], ArrowLeft: siblings[at - 1], ArrowDown: node.children[0],
      ArrowUp: node === root ? null : parentOf(node), Home: root, End: siblings.at(-1),
    }[event.key];
    if (event.key === "Enter" || event.key === " ") zoom(node, true);
    else if (event.key === "Escape" || event.key === "Backspace") zoom(parentOf(root) ?? root, true);
    else if (next && isWithin(next, root)) {
      const target = box.querySelector(`[data-at="${next.at}"]`);
      if (target) target.focus();
      else zoom(parentOf(next) ?? next, true);
    } else return;
    event.preventDefault();
  };

  const box = drawn("tree-box", (width) => {
    const list = shown();
    const depth = Math.max(...list.map((node) => node.depth)) - root.depth + 1;
    const height = depth * ROW;
    const x = (url) => ((url - root.start) / root.urls) * width;
    const visible = list.filter((node) => (node.urls / root.urls) * width >= 2);
    if (!visible.includes(current)) current = root;
    return svg(
      "svg",
      { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, role: "tree", "aria-label": `Pattern tree of ${detail.site}` },
      visible.map((node) => {
        const [left, right] = [x(node.start), x(node.start + node.urls)];
        const top = (node.depth - root.depth) * ROW;
        const room = Math.floor((right - left - 14) / 7);
        const name = nameOf(node, detail.site);
        const text = room < 3 ? "" : name.length > room ? `${name.slice(0, room - 1)}…` : name;
        const group = svg(
          "g",
          {
            class: `node ${colour(node)}`,
            role: "treeitem",
            tabindex: node === current ? 0 : -1,
            "data-at": node.at,
            "aria-level": node.depth + 1,
            "aria-expanded": node.children.length > 0 ? String(node.depth - root.depth + 1 < LEVELS) : undefined,
            "aria-label": `${name}: ${facts(node)}`,
            onclick: () => zoom(node, true),
            onkeydown: (event) => move(node, event),
            onfocus: () => {
              box.querySelectorAll("[tabindex='0']").forEach((other) => other.setAttribute("tabindex", "-1"));
              group.setAttribute("tabindex", "0");
              point(node);
            },
            onmouseenter: () => point(node),
          },
          svg("title", {}, `${name}\n${facts(node)}`),
          svg("rect", { x: left + 0.5, y: top + 1, width: Math.max(1, right - left - 1), height: ROW - 2, rx: 2 }),
          text && svg("text", { x: left + 8, y: top + 23 }, text),
        );
        return group;
      }),
    );
  });

  const draw = () => {
    const path = [];
    for (let at = root; at; at = parentOf(at)) path.unshift(at);
    replace(crumbs, path.map((node, at) => [
      at > 0 && el("span", { "aria-hidden": "true" }, "›"),
      node === root
        ? el("span", { "aria-current": "location" }, nameOf(node, detail.site))
        : el("button", { type: "button", class: "quiet", onclick: () => zoom(node, true) }, nameOf(node, detail.site)),
    ]).flat(3).filter(Boolean));
    point(current);
    box.redraw();
  };
  const more = nodes.reduce((sum, node) => sum + (node.more ?? 0), 0);
  const section = el(
    "section",
    { id: "tree", "aria-labelledby": "tree-title" },
    title,
    el("p", { class: "lead" }, "How the site builds its URLs: each level splits by the part whose values are most regular. Width is URLs, colour the share of duplicates. Click a part to zoom in; with the keyboard, arrows move, Enter zooms in and Escape out."),
    el("div", { class: "controls" }, el("label", { class: "check" }, splits, " every split, as the tree was built")),
    el("div", { class: "legend heat" }, el("span", {}, "no duplicates"), [0, 1, 2, 3, 4, 5].map((step) => el("i", { class: `heat-${step}`, "aria-hidden": "true" })), el("span", {}, "mostly duplicates")),
    crumbs,
    box,
    info,
    more > 0 && el("p", { class: "note" }, `${counted(more, "smaller part is", "smaller parts are")} not drawn.`),
  );
  draw();
  return section;
}
