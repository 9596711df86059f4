// What differs between two URLs, marked.
import { el } from "./dom.js";

const MAX_TOKENS = 160;

function tokens(url) {
  return url.match(/[/?&=;#:.]|[^/?&=;#:.]+/g) ?? [];
}

// For each of two lists, which of its tokens are not in their longest common subsequence.
function changed(a, b) {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      rows[i][j] = a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
    }
  }
  const inA = a.map(() => true);
  const inB = b.map(() => true);
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      inA[i] = false;
      inB[j] = false;
      i += 1;
      j += 1;
    } else if (rows[i + 1][j] >= rows[i][j + 1]) i += 1;
    else j += 1;
  }
  return [inA, inB];
}

// Runs of text, each marked or not.
function runs(list, marks) {
  const out = [];
  list.forEach((text, at) => {
    const last = out.at(-1);
    if (last && last.marked === marks[at]) last.text += text;
    else out.push({ text, marked: marks[at] });
  });
  return out;
}

export function difference(first, other) {
  const [a, b] = [tokens(first), tokens(other)];
  if (a.length > MAX_TOKENS || b.length > MAX_TOKENS) {
    return [[{ text: first, marked: false }], [{ text: other, marked: false }]];
  }
  const [inA, inB] = changed(a, b);
  return [runs(a, inA), runs(b, inB)];
}

// One text after another, with what is gone and what is new.
export function change(first, other) {
  const [a, b] = difference(first, other);
  const out = [];
  let at = 0;
  for (const part of b) {
    if (part.marked) out.push({ text: part.text, kind: "new" });
    else {
      // What is the same is told by its text: runs of the two may be cut at other places.
      let left = part.text;
      while (left.length > 0 && at < a.length) {
        if (a[at].marked) {
          out.push({ text: a[at].text, kind: "gone" });
          at += 1;
          continue;
        }
        const same = a[at].text.slice(0, left.length);
        out.push({ text: same, kind: "same" });
        left = left.slice(same.length);
        if (same.length === a[at].text.length) at += 1;
        else a[at] = { text: a[at].text.slice(same.length), marked: false };
      }
    }
  }
  for (; at < a.length; at += 1) if (a[at].marked) out.push({ text: a[at].text, kind: "gone" });
  return el("code", { class: "url" }, out.map((part) =>
    part.kind === "same" ? part.text : el(part.kind === "gone" ? "del" : "mark", {}, part.text)));
}

export function urlText(parts, className) {
  return el(
    "code",
    { class: `url ${className ?? ""}` },
    parts.map((part) => (part.marked ? el("mark", {}, part.text) : part.text)),
  );
}

// Two URLs of one page, one below the other.
export function pair(first, other) {
  const [a, b] = difference(first, other);
  return el("div", { class: "pair" }, urlText(a), urlText(b));
}
