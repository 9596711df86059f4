// The page of a build without a normalizer: what it shows, and what it says of the rest.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, open, report } from "./browser.mjs";
import { CRAWL, RULES } from "./sample.mjs";

test("figures, rules and groups are shown, and it says how to get the rest", async (t) => {
  const address = report("without", RULES, CRAWL);
  const path = fileURLToPath(address);
  // Nothing, deflated: what a build without a normalizer writes.
  writeFileSync(path, readFileSync(path, "utf8").replace(/(id="normalizer">)[^<]*/, "$1AwA="));
  const context = await launch();
  t.after(() => context.close());
  const { page, wrong } = await open(context, address);
  const text = (selector) => page.locator(selector).first().innerText();
  assert.equal(await text(".tile dd b"), "43");
  assert.equal(await page.locator(".rule").count(), 3);
  assert.equal(await page.locator(".rule input[role=switch]:enabled").count(), 0);
  assert.equal(await page.locator("#try-url").count(), 0);
  for (const section of ["#rules .lead", "#try .empty"]) assert.match(await text(section), /no normalizer for the page.*\.ci\/wasm/);
  assert.match(await text("#groups .found"), /21 largest groups/);
  assert.deepEqual(wrong, []);
});
