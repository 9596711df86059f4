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
