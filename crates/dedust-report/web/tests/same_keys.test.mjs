// The normalizer as WebAssembly and as native code give the same key and the same canonical URL, for 100,000 URLs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { dedust, withNormalizer, write } from "./browser.mjs";
import { Normalizer } from "../normalizer.js";

const SAMPLE = new URL("../../../../testdata/sample/blog.jsonl.gz", import.meta.url);

function urlsOf(jsonl) {
  return jsonl.toString().trimEnd().split("\n").map((line) => JSON.parse(line).url);
}

test("WebAssembly and native code agree on 100,000 URLs", withNormalizer, async () => {
  const crawl = gunzipSync(readFileSync(SAMPLE));
  const simulated = dedust("simulate", "-o", "-", "--profile", "small", "--sites", "24", "--urls", "4200", "-q");
  write("sample.jsonl", Buffer.concat([simulated, crawl]));
  dedust("learn", "sample.jsonl", "-o", "learned.json", "--force", "-q");
  const urls = [...urlsOf(simulated), ...urlsOf(crawl), "no url", "http://[::1]/", "HTTP://EXAMPLE.ORG:80/%7e/../a?b#c", "http://b\u00fccher.example/\u00e9?x=\ud83d\ude00"];
  assert.ok(urls.length >= 100_000, `${urls.length} URLs`);
  const list = write("urls.txt", `${urls.join("\n")}\n`);
  const rules = readFileSync(join(list, "..", "learned.json"), "utf8");
  const normalizer = await Normalizer.make(readFileSync(new URL("../dedust.wasm", import.meta.url)));
  normalizer.loadRules(rules, false);
  const native = (...options) => dedust("normalize", "learned.json", "urls.txt", "-q", ...options).toString().split("\n");
  const lines = `${urls.join("\n")}\n`;
  // What is no URL is passed through by the command, and an empty line here.
  const isBad = (url) => url === "no url";
  let changed = 0;
  const agree = (found, expected) => {
    assert.equal(found.length, expected.length);
    urls.forEach((url, at) => {
      if (found[at] !== (isBad(url) ? "" : expected[at])) assert.fail(`${url}: ${found[at]} here, ${expected[at]} there`);
      changed += expected[at] === url ? 0 : 1;
    });
  };
  agree(normalizer.keys(lines).split("\n"), native("--key"));
  agree(normalizer.canonical(lines).split("\n"), native());
  assert.ok(changed > 20_000, `${changed} changes`);
});
