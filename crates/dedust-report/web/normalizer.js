// The normalizer, as WebAssembly: texts in, texts and numbers out. What lies in web/wasm is the other side of this.

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

export class Normalizer {
  #exports;

  constructor(instance) {
    this.#exports = instance.exports;
  }

  static async make(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Normalizer(instance);
  }

  // Calls a function with an input; a copy of its output comes back.
  #call(name, input, ...numbers) {
    const bytes = typeof input === "string" ? ENCODER.encode(input) : input;
    const at = this.#exports.dedust_input(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    const isDone = this.#exports[name](...numbers);
    const length = this.#exports.dedust_output_length();
    const output = new Uint8Array(this.#exports.memory.buffer, this.#exports.dedust_output(), length).slice();
    if (!isDone) throw new Error(DECODER.decode(output));
    return output;
  }

  loadRules(json, trustsMirrors) {
    this.#call("dedust_load_rules", json, trustsMirrors ? 1 : 0);
  }

  loadCompiled(bytes, trustsMirrors) {
    this.#call("dedust_load_compiled", bytes, trustsMirrors ? 1 : 0);
  }

  loadUrls(lines) {
    this.#call("dedust_load_urls", lines);
  }

  // `switches`: triples of a site, the place of a rule, and whether it is on.
  switchRules(switches) {
    this.#call("dedust_switch", switches.map(([site, rule, isOn]) => `${site}\t${rule}\t${isOn ? 1 : 0}\n`).join(""));
  }

  groups(start, count) {
    return new Uint32Array(this.#call("dedust_groups", "", start, count).buffer);
  }

  changed(site, rule, start, count) {
    return new Uint32Array(this.#call("dedust_changed", `${site}\t${rule}`, start, count).buffer);
  }

  explain(url) {
    return JSON.parse(DECODER.decode(this.#call("dedust_explain", url)));
  }

  keys(lines) {
    return DECODER.decode(this.#call("dedust_keys", lines));
  }

  canonical(lines) {
    return DECODER.decode(this.#call("dedust_canonical", lines));
  }
}

export function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The URLs of the crawl, column by column; url_table.rs says how they are written.
export class UrlTable {
  constructor(bytes, count) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    const column = () => {
      const length = view.getUint32(at, true);
      at += 4 + length;
      return bytes.subarray(at - length, at);
    };
    this.lines = column();
    const [pages, sizes, counts] = [column(), column(), column()];
    this.count = count;
    this.pages = pageNumbers(pages, count);
    this.sizes = sizes.length > 0 ? numbers(sizes, count) : null;
    this.starts = new Uint32Array(count + 1);
    let next = 0;
    for (let byte = 0; byte < this.lines.length; byte += 1) {
      if (this.lines[byte] === 10) {
        next += 1;
        this.starts[next] = byte + 1;
      }
    }
    this.siteCounts = Array.from(numbers(counts, countOf(counts)));
  }

  url(number) {
    return DECODER.decode(this.lines.subarray(this.starts[number], this.starts[number + 1] - 1));
  }

  // The numbers of the first URL of a site, and of the one behind its last.
  range(site) {
    const start = this.siteCounts.slice(0, site).reduce((sum, count) => sum + count, 0);
    return [start, start + this.siteCounts[site]];
  }
}

function countOf(bytes) {
  return bytes.reduce((count, byte) => count + (byte < 0x80 ? 1 : 0), 0);
}

function numbers(bytes, count) {
  const out = new Float64Array(count);
  let [at, value, scale] = [0, 0, 1];
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) {
      out[at] = value;
      at += 1;
      [value, scale] = [0, 1];
    }
  }
  return out;
}

// The page of each URL, -1 if it is not known.
function pageNumbers(bytes, count) {
  const codes = numbers(bytes, count);
  const out = new Int32Array(count);
  let pages = 0;
  for (let at = 0; at < count; at += 1) {
    if (codes[at] === 0) {
      out[at] = pages;
      pages += 1;
    } else out[at] = codes[at] === 1 ? -1 : pages - 1 - (codes[at] - 2);
  }
  return out;
}
