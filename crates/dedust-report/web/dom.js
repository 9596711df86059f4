// Elements out of names, attributes and children. Children that are texts become text nodes: no text is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(4)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Draws into a box at its width, again whenever that changes.
export function drawn(className, draw) {
  const box = el("div", { class: className });
  let width = 0;
  const redraw = () => {
    const now = Math.floor(box.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      replace(box, draw(now));
    }
  };
  new ResizeObserver(redraw).observe(box);
  box.redraw = () => {
    width = 0;
    redraw();
  };
  return box;
}

// A button that opens and closes a box. What is in the box is made when it is opened first.
export function disclosure(id, className, label, make) {
  const body = el("div", { id, class: className, hidden: true });
  const toggle = el("button", {
    type: "button",
    class: "sentence",
    "aria-expanded": "false",
    "aria-controls": id,
    onclick: () => {
      body.hidden = !body.hidden;
      toggle.setAttribute("aria-expanded", String(!body.hidden));
      if (!body.hidden && body.childElementCount === 0) body.append(...make());
    },
  }, label);
  return [toggle, body];
}

// A list of which some are shown, and a button for more.
export function paged(items, size, show, list = el("ol", { class: "plain" })) {
  let shown = 0;
  const button = el("button", { class: "quiet", type: "button" });
  const more = () => {
    const next = items.slice(shown, shown + size);
    const first = next.map((item, at) => show(item, shown + at));
    list.append(...first);
    shown += next.length;
    const left = items.length - shown;
    button.hidden = left === 0;
    button.textContent = `Show ${Math.min(left, size).toLocaleString("en")} of ${left.toLocaleString("en")} more`;
    return first[0];
  };
  button.addEventListener("click", () => {
    const first = more();
    first?.querySelector("button, a, [tabindex]")?.focus({ preventScroll: true });
  });
  more();
  return [list, button];
}
