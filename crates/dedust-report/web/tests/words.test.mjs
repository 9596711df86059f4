// Names of parts and numbers of axes, as the page writes them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ticks } from "../charts.js";
import { partName } from "../format.js";

test("parts of URLs are called as people call them", () => {
  assert.equal(partName("q.id"), "?id");
  assert.equal(partName("mp.s"), ";s");
  assert.equal(partName("q.="), "text in the query");
  assert.equal(partName("q.=#2"), "text in the query");
  assert.equal(partName("q.=x"), "?=x");
  assert.equal(partName("path_0"), "path_0");
});

test("what is counted has whole numbers at its axis", () => {
  assert.deepEqual(ticks(1, 4, true), [0, 1]);
  assert.deepEqual(ticks(7, 4, true), [0, 2, 4, 6, 8]);
  assert.deepEqual(ticks(12, 5, true), [0, 5, 10, 15]);
  assert.deepEqual(ticks(1, 4), [0, 0.25, 0.5, 0.75, 1]);
});
