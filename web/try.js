// A box to try a URL: every step from input to key, as the normalizer makes it.
import { el, replace } from "./dom.js";
import { difference, urlText } from "./difference.js";

function step(name, parts, note, className) {
  return el("li", { class: className }, el("h3", {}, name), note && el("p", { class: "note" }, note), urlText(parts));
}

function steps(url, explained, details) {
  const out = [step("Input", [{ text: url, marked: false }])];
  let before = url;
  const next = (name, text, note, className) => {
    const [, parts] = difference(before, text);
    const isSame = before === text;
    out.push(step(name, parts, isSame ? `${note ? `${note} ` : ""}Unchanged.` : note, `${className ?? ""} ${isSame ? "same" : ""}`));
    before = text;
  };
  next("Safe normalization", explained.safe, "Never changes which page is meant, on any site.");
  if (explained.mirror) out.push(step("Mirror", [{ text: `${explained.mirror} shows the pages of ${explained.site}`, marked: false }]));
  const known = details.find((detail) => detail.site === explained.site);
  for (const made of explained.steps) {
    const edit = known?.edits[made.edit];
    const name = `Edit ${made.edit}${edit ? ` · ${edit.id}` : ""}`;
    if (made.key === undefined) out.push(step(name, [{ text: made.sentence ?? "compiled rules do not say what it does", marked: false }]));
    else next(name, made.key, made.sentence);
  }
  if (explained.steps.length === 0) {
    const why = explained.site ? "No rule of this site concerns it." : "There are no rules for this site: only safe normalization applies.";
    out.push(el("li", { class: "same" }, el("h3", {}, "Rules"), el("p", { class: "note" }, why)));
  }
  out.push(step("Key", difference(explained.safe, explained.key)[1], "For comparing: equal keys, equal pages, as far as proven.", "result"));
  out.push(step("Canonical URL", difference(explained.safe, explained.canonical)[1], "For fetching.", "result"));
  return el("ol", { class: "plain steps" }, out);
}

export function trySection(whatif, getPlace) {
  const output = el("div", { class: "try-output", "aria-live": "polite" });
  const input = el("input", {
    type: "text", id: "try-url", inputmode: "url", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    placeholder: "http://…", "aria-describedby": "try-note", oninput: () => run(),
  });
  const run = () => {
    const url = input.value.trim();
    if (!url) return replace(output);
    try {
      replace(output, steps(url, whatif.normalizer.explain(url), whatif.data.details));
    } catch (error) {
      replace(output, el("p", { class: "empty" }, `This is no URL: ${error.message}.`));
    }
    return undefined;
  };
  whatif.listen(() => !whatif.isBusy && run());
  const detail = whatif.data.details[getPlace()];
  const examples = (detail?.edits ?? []).filter((edit) => edit.applied && edit.examples.length > 0)
    .sort((a, b) => (b.saves ?? 0) - (a.saves ?? 0)).slice(0, 3).map((edit) => edit.examples[0][0]);
  const body = whatif.normalizer
    ? [
        el("form", { class: "try-form", onsubmit: (event) => { event.preventDefault(); run(); } },
          el("label", { for: "try-url" }, "URL"), input, el("button", { type: "submit" }, "Explain")),
        examples.length > 0 && el("p", { class: "note", id: "try-note" }, "For example ", examples.map((url, at) => [at > 0 && ", ",
          el("button", { type: "button", class: "link", onclick: () => { input.value = url; run(); input.focus(); } }, url)])),
        output,
      ]
    : el("p", { class: "empty" }, "The normalizer could not be started here, or the rules are too large to be part of this page.");
  return el("section", { id: "try", "aria-labelledby": "try-title" },
    el("h2", { id: "try-title" }, "Try a URL"),
    el("p", { class: "lead" }, "The normalizer in this page is the one that crawlers use, compiled to WebAssembly. It follows the switches above. Nothing leaves this page."),
    body);
}
