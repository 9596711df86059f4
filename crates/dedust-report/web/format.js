// Numbers and words as people read them.
import { el } from "./dom.js";

export function count(number) {
  return Math.round(number).toLocaleString("en");
}

export function counted(number, one, many) {
  return `${count(number)} ${Math.abs(Math.round(number)) === 1 ? one : many}`;
}

// A share in percent. Never rounded to all or nothing where it is neither.
export function percent(part, whole) {
  if (!whole) return "0 %";
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.1) return "< 0.1 %";
  if (share < 100 && share > 99.9) return "> 99.9 %";
  const digits = share < 10 || share > 90 ? 1 : 0;
  const text = share.toFixed(digits);
  return `${text.replace(/\.0$/, "")} %`;
}

export function bytes(number) {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  let at = 0;
  let value = Math.abs(number);
  while (value >= 1000 && at + 1 < units.length) {
    value /= 1000;
    at += 1;
  }
  const text = at === 0 || value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1);
  return `${number < 0 ? "−" : ""}${text} ${at === 0 && value === 1 ? "byte" : units[at]}`;
}

// `a`, `a and b`, `a, b and c`.
export function listed(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

// A sentence in which what stands between backticks is code.
export function prose(sentence) {
  return sentence.split("`").map((text, at) => (at % 2 === 1 ? el("code", {}, text) : text));
}

// What people decided: ` by anna on 2026-11-16: breaks the search`.
export function decided(decision) {
  const by = decision.by ? ` by ${decision.by}` : "";
  const at = decision.at ? ` on ${decision.at.slice(0, 10)}` : "";
  return `${by}${at}${decision.why ? `: ${decision.why}` : ""}`;
}

// A part of a URL as people call it: `?id` for `q.id`.
export function partName(key) {
  if (isQueryText(key)) return "text in the query";
  return key.replace(/^q\./, "?").replace(/^mp\./, ";");
}

// Whether a part is a text in place of a parameter.
export function isQueryText(key) {
  return /^q\.=(#\d+)?$/.test(key);
}
