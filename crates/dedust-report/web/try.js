// A box to try a URL: every step from input to key, as the normalizer makes it.
import { el, paged, replace } from "./dom.js";
import { change, pair } from "./difference.js";
import { count, counted, prose } from "./format.js";
import { normalizeByServer } from "./live.js";

function step(name, text, note, className, before = text) {
  return el("li", { class: className }, el("h3", {}, name), note && el("p", { class: "note" }, note), change(before, text));
}

function steps(url, explained, details) {
  const out = [step("Input", url)];
  let before = url;
  const next = (name, text, note) => {
    const isSame = before === text;
    out.push(step(name, text, isSame ? [note, note && " ", "Unchanged."] : note, isSame ? "same" : "", before));
    before = text;
  };
  next("Safe normalization", explained.safe, "Never changes which page is meant, on any site.");
  if (explained.mirror) out.push(step("Mirror", `${explained.mirror} shows the pages of ${explained.site}`));
  const known = details.find((detail) => detail.site === explained.site);
  for (const made of explained.steps) {
    const rule = known?.rules[made.rule];
    const name = `Rule ${made.rule}${rule ? ` · ${rule.id}` : ""}`;
    if (made.key === undefined) out.push(step(name, made.sentence ?? "compiled rules do not say what it does"));
    else next(name, made.key, prose(made.sentence));
  }
  if (explained.steps.length === 0) {
    const why = explained.site ? "No rule of this site concerns it." : "There are no rules for this site in this page: only safe normalization applies.";
    out.push(el("li", { class: "same" }, el("h3", {}, "Rules"), el("p", { class: "note" }, why)));
  }
  out.push(step("Key", explained.key, "For comparing: equal keys, equal pages, as far as proven.", "result"));
  out.push(step("Canonical URL", explained.canonical, "For fetching.", "result"));
  return el("ol", { class: "plain steps" }, out);
}

const LINES_SHOWN = 8;

// A list of URLs in, their canonical URLs out, as a file; the first that have changed are shown.
function listBox(whatif) {
  const said = el("p", { class: "note", role: "status" }, "Each line is a URL. What comes out is a file with their canonical URLs, in the same order.");
  const shown = el("div", { class: "changed" });
  const normalize = async (text, name) => {
    const before = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
    const progress = (at) => { said.textContent = `${count(at)} of ${counted(before.length, "line", "lines")} …`; };
    try {
      replace(shown);
      const after = whatif.data.isLive
        ? await normalizeByServer(before, progress)
        : whatif.normalizer.canonical(before.join("\n")).replace(/\n$/, "").split("\n");
      const changed = before.map((_, at) => at).filter((at) => after[at] && after[at] !== before[at]);
      const bad = before.filter((_, at) => !after[at]).length;
      const link = el("a", { href: URL.createObjectURL(new Blob([`${after.join("\n")}\n`], { type: "text/plain" })), download: `canonical-${name}` }, "Save the canonical URLs");
      replace(said, document.createTextNode(`${counted(before.length, "line", "lines")}, ${count(changed.length)} changed${bad > 0 ? `, ${count(bad)} no URLs` : ""}. `), link);
      replace(shown, changed.length > 0 && paged(changed, LINES_SHOWN, (at) => el("li", {}, pair(before[at], after[at]))));
    } catch (error) {
      said.textContent = `The list cannot be normalized: ${error.message}`;
    }
  };
  const take = async (file) => {
    const text = await file.text().catch((error) => { said.textContent = `The list cannot be read: ${error.message}`; });
    if (text !== undefined) await normalize(text, file.name);
  };
  const input = el("input", { type: "file", id: "try-list", onchange: () => input.files[0] && take(input.files[0]) });
  const box = el("div", {
    class: "drop",
    ondragover: (event) => { event.preventDefault(); box.classList.add("is-over"); },
    ondragleave: () => box.classList.remove("is-over"),
    ondrop: (event) => {
      event.preventDefault();
      box.classList.remove("is-over");
      const [file, text] = [event.dataTransfer.files[0], event.dataTransfer.getData("text/plain")];
      if (file) take(file);
      else if (text) normalize(text, "list.txt");
    },
  }, el("label", { for: "try-list" }, "Or a list of URLs: drop it here, paste it above, or choose a file "), input, said, shown);
  return { box, normalize };
}

export function trySection(whatif, getPlace) {
  const output = el("div", { class: "try-output", "aria-live": "polite" });
  const input = el("input", {
    type: "text", id: "try-url", inputmode: "url", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    placeholder: "http://…", "aria-describedby": "try-note", oninput: () => run(),
    // A field of one line would take several for one.
    onpaste: (event) => {
      const text = event.clipboardData.getData("text/plain").trim();
      if (!/[\r\n]/.test(text)) return;
      event.preventDefault();
      list.normalize(text, "list.txt");
    },
  });
  const list = listBox(whatif);
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
  const examples = (detail?.rules ?? []).filter((rule) => rule.applied && rule.examples.length > 0)
    .sort((a, b) => (b.saves ?? 0) - (a.saves ?? 0)).slice(0, 3).map((rule) => rule.examples[0][0]);
  const body = whatif.normalizer
    ? [
        el("form", { class: "try-form", onsubmit: (event) => { event.preventDefault(); run(); } },
          el("label", { for: "try-url" }, "URL"), input, el("button", { type: "submit" }, "Explain")),
        examples.length > 0 && el("p", { class: "note", id: "try-note" }, "For example ", examples.map((url, at) => [at > 0 && ", ",
          el("button", { type: "button", class: "link", onclick: () => { input.value = url; run(); input.focus(); } }, url)])),
        output,
        list.box,
      ]
    : [
        el("p", { class: "empty" }, whatif.whyNot),
        whatif.data.isLive && list.box,
      ];
  const leaves = whatif.data.isLive ? "Lists are normalized by the server, with the rules that it serves." : "Nothing leaves this page.";
  return el("section", { id: "try", "aria-labelledby": "try-title" },
    el("h2", { id: "try-title" }, "Try a URL"),
    el("p", { class: "lead" }, whatif.normalizer && "The normalizer in this page is the one that crawlers use, compiled to WebAssembly. It follows the switches above. ", leaves),
    body);
}
