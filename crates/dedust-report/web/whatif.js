// What if this rule were off? Exact where the URLs are in the page: they get new keys, and all figures are counted again.

const AT_ONCE = 20000;

const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

// Figures of some URLs by the groups they are in, counted as the report counts them.
export function countFigures(table, groups, start, end) {
  const size = new Map();
  const [first, ofPage] = [new Set(), new Set()];
  const figures = { keys: 0, saved_bytes: 0, labelled_keys: 0, covered: 0, urls: end - start, pages: 0 };
  const labelled = new Set();
  for (let at = start; at < end; at += 1) {
    const group = groups[at];
    const before = size.get(group) ?? 0;
    size.set(group, before + 1);
    if (before > 0 && table.sizes && table.sizes[at] > 0) figures.saved_bytes += table.sizes[at] - 1;
    if (table.pages[at] >= 0) {
      ofPage.add(table.pages[at]);
      if (!labelled.has(group)) {
        labelled.add(group);
        first.add(table.pages[at]);
      }
    }
  }
  figures.keys = size.size;
  figures.labelled_keys = labelled.size;
  figures.covered = first.size;
  figures.pages = ofPage.size;
  return figures;
}

export class WhatIf extends EventTarget {
  #normalizer;
  #base = null;
  #run = 0;
  #shown = new AbortController();
  #pending = Promise.resolve();

  constructor(data, normalizer, table) {
    super();
    this.data = data;
    this.#normalizer = normalizer;
    this.table = table;
    this.switches = new Map();
    this.groups = null;
    this.isBusy = false;
    this.error = null;
    // Why there is no normalizer, for the reader.
    this.whyNot = "";
  }

  // Calls `run` whenever something has changed, until `forget` is called: when another site is shown.
  listen(run) {
    this.addEventListener("change", run, { signal: this.#shown.signal });
  }

  forget() {
    this.#shown.abort();
    this.#shown = new AbortController();
  }

  // Whether figures are counted, and not estimated.
  get isExact() {
    return Boolean(this.#normalizer && this.table);
  }

  get normalizer() {
    return this.#normalizer;
  }

  isOn(site, rule) {
    return this.switches.get(`${site}\t${rule.index}`) ?? rule.applied;
  }

  get changes() {
    return this.switches.size;
  }

  // Turns a rule on or off; figures follow.
  set(site, rule, isOn) {
    const name = `${site}\t${rule.index}`;
    if (isOn === rule.applied) this.switches.delete(name);
    else this.switches.set(name, isOn);
    return this.update();
  }

  reset() {
    this.switches.clear();
    return this.update();
  }

  // Makes groups of all URLs, in pieces, so that the page stays alive. A newer update ends an older one.
  update() {
    this.#run += 1;
    const run = this.#run;
    this.isBusy = this.isExact;
    this.dispatchEvent(new Event("change"));
    this.#pending = this.#pending.then(() => this.#update(run));
    return this.#pending;
  }

  async #update(run) {
    if (run !== this.#run) return;
    this.error = null;
    try {
      if (this.isExact) {
        if (!this.#base) this.#base = await this.#grouped(run, []);
        const switches = Array.from(this.switches, ([name, isOn]) => [...name.split("\t"), isOn]);
        const groups = switches.length > 0 ? await this.#grouped(run, switches) : this.#base;
        if (switches.length === 0 && !this.data.compiled) this.#normalizer.switchRules([]);
        if (run === this.#run && groups) this.groups = groups;
      } else if (this.#normalizer && !this.data.compiled) {
        this.#normalizer.switchRules(Array.from(this.switches, ([name, isOn]) => [...name.split("\t"), isOn]));
      }
    } catch (error) {
      this.error = error.message;
    }
    if (run === this.#run) {
      this.isBusy = false;
      this.dispatchEvent(new Event("change"));
    }
  }

  async #grouped(run, switches) {
    if (!this.data.compiled) this.#normalizer.switchRules(switches);
    const groups = new Uint32Array(this.table.count);
    for (let at = 0; at < this.table.count; at += AT_ONCE) {
      if (run !== this.#run && this.#base) return null;
      groups.set(this.#normalizer.groups(at, Math.min(AT_ONCE, this.table.count - at)), at);
      await pause();
    }
    return groups;
  }

  // The figures of a site, by its place among the details, or of all: those of the report, and what the switches change of them.
  figures(place = null) {
    const row = place === null ? this.data.total : this.siteRow(place);
    const figures = { ...(row.crawl ?? {}) };
    if (this.switches.size === 0) return figures;
    delete figures.lost;
    if (this.isExact && this.#base && this.groups) {
      const [start, end] = place === null ? [0, this.table.count] : this.table.range(place);
      const before = countFigures(this.table, this.#base, start, end);
      const after = countFigures(this.table, this.groups, start, end);
      for (const name of ["keys", "saved_bytes", "labelled_keys", "covered"]) figures[name] += after[name] - before[name];
      return figures;
    }
    this.data.details.forEach((detail, at) => {
      if (place !== null && at !== place) return;
      for (const rule of detail.rules) {
        if (this.isOn(detail.site, rule) !== rule.applied && rule.applied) {
          figures.keys += rule.saves ?? 0;
          figures.saved_bytes -= rule.saves_bytes ?? 0;
          figures.covered += rule.hides ?? 0;
          figures.labelled_keys += rule.saves ?? 0;
        }
      }
    });
    return figures;
  }

  siteRow(place) {
    const { site } = this.data.details[place];
    return this.data.sites.find((row) => row.site === site)?.figures ?? {};
  }

  // The numbers of the URLs that a rule changes.
  async changedBy(place, rule) {
    const [start, end] = this.table.range(place);
    const out = [];
    for (let at = start; at < end; at += AT_ONCE / 4) {
      const count = Math.min(AT_ONCE / 4, end - at);
      out.push(...this.#normalizer.changed(this.data.details[place].site, rule.index, at, count));
      await pause();
    }
    return out;
  }
}
