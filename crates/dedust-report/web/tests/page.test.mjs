// The page in a real browser: what readers do with it, and what hostile crawls try.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { dedust, launch, open, report, unnamed, withNormalizer, write } from "./browser.mjs";
import { CRAWL, HOSTILE, HOSTILE_CRAWL, HOSTILE_RULES, RULES } from "./sample.mjs";

let context;
let address;
before(async () => {
  context = await launch();
  address = report("one", RULES, CRAWL);
});
after(() => context?.close());

const text = (page, selector) => page.locator(selector).first().innerText();

describe("one site", () => {
  test("the headline has numbers that hold", async () => {
    const { page, wrong } = await open(context, address);
    // 67 URLs of 25 pages are 42 duplicates; 20 keys of p, 1 of list, 1 home, 2 more that are left: 40 of 42 are removed.
    const headline = (await text(page, "h1")).replace(/\s+/g, " ");
    assert.equal(headline, "63 % of your 67 URLs are duplicates; 2 rules remove 95.2 % of them; at most 2 pages are at risk.");
    const tiles = (await page.locator(".tile").allInnerTexts()).map((tile) => tile.replace(/\s+/g, " "));
    assert.match(tiles[0], /^Requests saved 43 /);
    assert.match(tiles[1], /^Bytes saved 41.5 kB /);
    assert.match(tiles[2], /^Duplicates left 2 /);
    assert.match(tiles[3], /^Pages lost here 3 of 25 /);
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("rules are sorted by savings and by risk, and filtered", async () => {
    const { page, wrong } = await open(context, address);
    const names = async () => (await page.locator(".rule .sentence").allInnerTexts()).map((name) => name.trim());
    assert.match((await names())[0], /sid/);
    await page.selectOption("#rules select", "risk");
    assert.match((await names())[0], /page/);
    await page.fill("#rules input[type=search]", "ref");
    assert.equal((await names()).length, 1);
    await page.fill("#rules input[type=search]", "nothing like this");
    assert.match(await text(page, "#rules .empty"), /No rule matches/);
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("a rule shows why it is trusted, with examples, and the URLs that it changes", withNormalizer, async () => {
    const { page, wrong } = await open(context, address);
    const rule = page.locator('.rule[data-id="1bcc19fb"]');
    await rule.locator(".sentence").focus();
    await page.keyboard.press("Enter");
    assert.equal(await rule.locator(".sentence").getAttribute("aria-expanded"), "true");
    assert.match(await rule.locator(".details").innerText(), /0 of 40 groups held out failed; at most 7 % wrong/);
    assert.equal(await rule.locator(".pair mark").first().innerText(), "&sid=7");
    await rule.getByRole("button", { name: /List the 60 URLs/ }).click();
    await rule.locator(".changed li").first().waitFor();
    assert.match(await rule.locator(".changed .note").innerText(), /^60 URLs/);
    assert.match(await rule.locator(".changed li").first().innerText(), /id=0&sid=0\s+http:\/\/a.example\/p\?id=0$/);
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("a rule that is switched off changes the totals, and back", withNormalizer, async () => {
    const { page, wrong } = await open(context, address);
    const saved = () => text(page, ".tile dd b");
    assert.equal(await saved(), "43");
    const box = page.locator('.rule[data-id="1bcc19fb"] input[role=switch]');
    await box.focus();
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector(".tile dd b").textContent === "3");
    assert.match(await text(page, "#whatif"), /1 rule switched: 40 requests more, 40.0 kB more/);
    assert.match(await text(page, "h1"), /1 rule removes/);
    assert.match(await text(page, "#groups .found"), /^1 group$/);
    // On again by hand is as before; one that the file has off can be tried too.
    await box.click();
    await page.waitForFunction(() => document.getElementById("whatif").hidden);
    assert.equal(await saved(), "43");
    await page.locator(".rule", { hasText: "ref" }).locator("input[role=switch]").click();
    await page.waitForFunction(() => document.querySelector(".tile dd b").textContent === "44");
    await page.getByRole("button", { name: "Undo all" }).click();
    await page.waitForFunction(() => document.querySelector(".tile dd b").textContent === "43");
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("what less of the crawl would have taught is drawn", async () => {
    const crawl = Array.from({ length: 600 }, (_, at) => ({ url: `http://a.example/p?id=${Math.floor(at / 3)}&sid=${at}`, digest: `d${Math.floor(at / 3)}` }));
    const { page, wrong } = await open(context, report("learning", RULES, crawl));
    const chart = page.locator("figure", { has: page.getByRole("heading", { name: "Learning curve" }) });
    // 600 URLs of 200 pages: from all of them, `sid` is learned not to matter, and all 400 duplicates are removed.
    assert.match(await chart.locator("svg").getAttribute("aria-label"), /10 %: .*, 30 %: .*, 60 %: .*, 100 %: 100 %\.$/);
    const titles = await chart.locator("circle title").allTextContents();
    assert.equal(titles.length, 4);
    assert.match(titles[3], /^\d+ rules? learned from 600 URLs remove 400 of 400 duplicates$/);
    const risk = page.locator("figure", { has: page.getByRole("heading", { name: "What is promised" }) });
    assert.match((await risk.locator("circle title").allTextContents())[3], /^0 of 200 pages lost, at most \d+ of 200 promised$/);
    assert.deepEqual(wrong, []);
    await page.close();
    dedust("report", "learning.json", "learning.jsonl", "-o", "without.html", "--learning-curve", "0", "-q");
    const without = await open(context, address.replace("one.html", "without.html"));
    assert.equal(await without.page.getByRole("heading", { name: "Learning curve" }).count(), 0);
    await without.page.close();
  });

  test("what is left has a reason", async () => {
    const { page } = await open(context, address);
    const left = (await page.locator("#left li").allInnerTexts()).map((item) => item.replace(/\s+/g, " "));
    assert.equal(left.length, 2);
    assert.ok(left.some((item) => item.includes("Lacks votes") && item.includes("print")));
    assert.ok(left.some((item) => item.includes("Turned off") && item.includes("ref")));
    await page.close();
  });

  test("the tree is zoomed by click and by keys", async () => {
    const { page, wrong } = await open(context, address);
    const nodes = page.locator("#tree [role=treeitem]");
    const all = await nodes.count();
    assert.ok(all > 1);
    const part = nodes.nth(1);
    const name = await part.locator("title").first().textContent();
    await part.click();
    await page.waitForFunction((before) => document.querySelectorAll("#tree [role=treeitem]").length !== before || document.querySelector(".crumbs button"), all);
    assert.ok((await text(page, ".tree-info")).length > 0 && name.length > 0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-level")), "2");
    assert.equal(await page.locator("#tree [tabindex='0']").count(), 1, "one stop for the tab key");
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("groups are searched", withNormalizer, async () => {
    const { page, wrong } = await open(context, address);
    assert.match(await text(page, "#groups .found"), /^21 groups$/);
    await page.fill("#groups input[type=search]", "page 17");
    await page.waitForFunction(() => document.querySelector("#groups .found").textContent.startsWith("1 of"));
    await page.locator(".group .sentence").click();
    assert.equal(await page.locator(".group .members li").count(), 3);
    await page.fill("#groups input[type=search]", "");
    await page.getByLabel("only those of several known pages").check();
    await page.waitForFunction(() => document.querySelectorAll(".group").length === 1);
    assert.match(await text(page, ".group"), /4 pages/);
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("parameters say where they matter", async () => {
    const { page } = await open(context, address);
    const cell = (name) => page.locator("#parameters tr", { has: page.locator("th code", { hasText: name }) });
    assert.equal(await cell("?sid").locator("td.ignored").count(), 1);
    assert.equal(await cell("?page").locator("td.doubt").count(), 1);
    assert.equal(await cell("?id").locator("td.matters").count(), 1);
    await page.close();
  });

  test("a URL that is tried shows every step", withNormalizer, async () => {
    const { page, wrong } = await open(context, address);
    await page.fill("#try-url", "HTTP://A.example:80/list?page=2&sid=9&x=1#top");
    // What is gone is struck out, and no part of the URL.
    const steps = await page.locator(".steps .url").evaluateAll((urls) => urls.map((url) =>
      [...url.childNodes].filter((part) => part.nodeName !== "DEL").map((part) => part.textContent).join("")));
    assert.deepEqual(steps, [
      "HTTP://A.example:80/list?page=2&sid=9&x=1#top",
      "http://a.example/list?page=2&sid=9&x=1",
      "http://a.example/list?page=2&x=1",
      "http://a.example/list?page=*&x=1",
      "http://a.example/list?page=*&x=1",
      "http://a.example/list?page=2&x=1",
    ]);
    await page.fill("#try-url", "http://other.example/?sid=1");
    assert.match(await text(page, ".steps"), /no rules for this site/);
    await page.fill("#try-url", "no url");
    assert.match(await text(page, ".try-output"), /This is no URL/);
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("a list of URLs is normalized in the page", withNormalizer, async () => {
    const { page, wrong } = await open(context, address);
    const list = write("list.txt", "http://a.example/p?id=1&sid=9\nhttp://a.example/p?id=1\nnothing\n");
    await page.setInputFiles("#try-list", list);
    await page.locator(".drop a").waitFor();
    assert.match(await text(page, ".drop .note"), /3 lines, 1 changed, 1 no URLs/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".drop a")]);
    const stream = await download.createReadStream();
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    assert.equal(Buffer.concat(chunks).toString(), "http://a.example/p?id=1\nhttp://a.example/p?id=1\n\n");
    assert.deepEqual(wrong, []);
    await page.close();
  });

  test("it fits a narrow screen, and is dark where people want that", async () => {
    const narrow = await open(context, address, { width: 390, colorScheme: "dark" });
    const { page } = narrow;
    const [scroll, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(scroll <= width, `${scroll} > ${width}`);
    const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await dark(), "rgb(18, 21, 24)");
    await page.click("#theme");
    assert.equal(await dark(), "rgb(251, 250, 248)", "the button wins");
    await page.click("#theme");
    assert.equal(await dark(), "rgb(18, 21, 24)");
    await page.evaluate(() => localStorage.clear());
    assert.deepEqual(narrow.wrong, []);
    await page.close();
  });

  test("all that is not text has a name, and headings go down by one", async () => {
    const { page } = await open(context, address);
    assert.deepEqual(await unnamed(page), []);
    const levels = await page.evaluate(() => [...document.querySelectorAll("h1, h2, h3, h4")].map((heading) => Number(heading.tagName[1])));
    assert.equal(levels[0], 1);
    assert.ok(levels.every((level, at) => at === 0 || level <= levels[at - 1] + 1), levels.join(" "));
    await page.close();
  });
});

describe("hostile crawls", () => {
  test("titles, URLs and rules do nothing but stand there", withNormalizer, async () => {
    const { page, wrong } = await open(context, report("hostile", HOSTILE_RULES, HOSTILE_CRAWL));
    for (const rule of await page.locator(".rule .sentence").all()) await rule.click();
    await page.locator(".changed button").first().click();
    await page.locator(".changed li").first().waitFor();
    for (const group of await page.locator(".group .sentence").all()) await group.click();
    for (const hostile of HOSTILE) await page.fill("#try-url", `http://a.example/${hostile}`);
    await page.fill("#groups input[type=search]", "<img");
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.equal(await page.locator("img, svg[onload], main script").count(), 0);
    assert.ok((await page.locator(".page-title").allInnerTexts()).includes(HOSTILE[1]), "it stands there as text");
    assert.deepEqual(wrong, []);
    await page.close();
  });
});

describe("several sites", () => {
  test("the table sorts and filters, the worst first, and a site can be chosen", withNormalizer, async () => {
    const crawl = [...CRAWL];
    for (let at = 0; at < 9; at += 1) crawl.push({ url: `http://worst.example/${at}`, digest: "same" });
    for (let at = 0; at < 30; at += 1) crawl.push({ url: `http://clean.example/${at}`, digest: `c${at}` });
    const { page, wrong } = await open(context, report("several", RULES, crawl));
    const sites = () => page.locator("#sites tbody th").allInnerTexts();
    assert.deepEqual(await sites(), ["worst.example", "a.example", "clean.example"]);
    await page.locator("#sites thead button").nth(1).click();
    assert.deepEqual(await sites(), ["a.example", "clean.example", "worst.example"]);
    assert.match(await page.locator("#sites th[aria-sort=descending]").innerText(), /^URLs/);
    await page.locator("#sites thead button").nth(1).click();
    assert.deepEqual(await sites(), ["worst.example", "clean.example", "a.example"]);
    await page.fill("#site-filter", "clean");
    assert.deepEqual(await sites(), ["clean.example"]);
    await page.fill("#site-filter", "");
    await page.locator("#sites tbody").getByRole("button", { name: "a.example" }).click();
    assert.equal(await text(page, ".site-head h2"), "a.example");
    assert.equal(await page.locator(".rule").count(), 3);
    await page.locator('.rule[data-id="1bcc19fb"] input[role=switch]').click();
    await page.waitForFunction(() => /40 requests more/.test(document.getElementById("whatif").textContent));
    assert.deepEqual(wrong, []);
    await page.close();
  });
});

test("compiled rules are tried too, though they cannot be taken apart", withNormalizer, async () => {
  write("compiled.json", JSON.stringify(RULES));
  dedust("compile", "compiled.json", "-o", "compiled.bin", "--force", "-q");
  dedust("report", "compiled.bin", "one.jsonl", "-o", "compiled.html", "--force", "-q");
  const { page, wrong } = await open(context, address.replace("one.html", "compiled.html"));
  assert.match(await text(page, "#groups .found"), /^21 groups$/);
  await page.fill("#try-url", "http://a.example/p?id=1&sid=9");
  assert.match(await text(page, ".steps"), /compiled rules do not say what it does/);
  assert.match(await text(page, "#rules .empty"), /no rules to list/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("rules alone make a page too", withNormalizer, async () => {
  write("alone.json", JSON.stringify(RULES));
  dedust("report", "alone.json", "-o", "alone.html", "--force", "-q");
  const { page, wrong } = await open(context, address.replace("one.html", "alone.html"));
  assert.match(await text(page, "h1"), /33 % of the 90 URLs that these rules were learned from are duplicates; 2 rules were learned; at most 2 pages are at risk/);
  await page.fill("#try-url", "http://a.example/p?sid=1");
  assert.match(await text(page, ".steps"), /http:\/\/a.example\/p$/);
  assert.deepEqual(wrong, []);
  await page.close();
});
