// The page of a running `dedust serve` in a real browser: who may change rules, what is written, and what readers see of it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open, unnamed, withNormalizer, write } from "./browser.mjs";
import { CRAWL, HOSTILE, HOSTILE_CRAWL, HOSTILE_RULES, RULES } from "./sample.mjs";
import { TOKEN, serve } from "./server.mjs";

const SID = "1bcc19fb";
const REFUSED = "Failed to load resource: the server responded with a status of 401 (Unauthorized)";

let context;
before(async () => {
  context = await launch();
});
after(() => context?.close());

// A server and its page, which are gone when the test has ended.
async function live(t, name, { rules = RULES, crawl = CRAWL, ...options } = {}) {
  const server = await serve(name, rules, crawl);
  t.after(() => server.stop());
  const { page, wrong } = await open(context, server.address, options);
  t.after(() => page.close());
  return { server, page, wrong };
}

const text = (page, selector) => page.locator(selector).first().innerText();
const rule = (page, id = SID) => page.locator(`.rule[data-id="${id}"]`);

async function openRule(page, id = SID) {
  const toggle = rule(page, id).locator(".sentence");
  if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click();
}

// Presses a button of a rule, and waits for what the page says about it.
async function decide(page, verb, said, id = SID) {
  await openRule(page, id);
  await rule(page, id).locator(`[data-verb=${verb}]`).click();
  await rule(page, id).locator(".decide [role=status]", { hasText: said }).waitFor();
}

async function identify(page, token = TOKEN, name = "") {
  await page.fill("#token", token);
  await page.fill("#name", name);
}

const rules = (server) => server.rules().sites["a.example"].rules;
const isRecent = (time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time) && Math.abs(Date.now() - Date.parse(time)) < 600_000;

describe("deciding", () => {
  test("with the token a rule is turned off, and the file says by whom, when and why", async (t) => {
    const { server, page, wrong } = await live(t, "off");
    assert.equal(await text(page, ".tile dd b"), "43");
    await identify(page, TOKEN, "Anna Ä.");
    await openRule(page);
    await rule(page).getByLabel("Why").fill("hides pages");
    await decide(page, "off", /^Turned off, and written to the rule file\.$/);
    const [sid, list, ref] = rules(server);
    assert.equal(sid.off.by, "Anna Ä.");
    assert.equal(sid.off.why, "hides pages");
    assert.ok(isRecent(sid.off.at), sid.off.at);
    assert.equal(list.off, undefined, "only what was decided");
    assert.equal(ref.off.by, "anna");
    // The page shows the rules of now, at the rule that was decided about.
    assert.equal(await text(page, ".tile dd b"), "3");
    assert.match(await rule(page).locator(".facts").innerText(), /turned off by Anna Ä\. on \d{4}-\d\d-\d\d: hides pages/);
    assert.equal(await page.evaluate(() => document.activeElement.closest(".rule")?.dataset.id), SID);
    await decide(page, "on", /^Turned on/);
    assert.equal(rules(server)[0].off, undefined);
    assert.equal(await text(page, ".tile dd b"), "43");
    assert.equal(await page.locator("#notice").isHidden(), true, "own changes are no news");
    assert.deepEqual(wrong, []);
  });

  test("with the token a rule is approved and pinned, and taken back", async (t) => {
    const { server, page, wrong } = await live(t, "pin");
    await identify(page);
    await decide(page, "pin", /^Approved and pinned/);
    assert.equal(rules(server)[0].pinned.by, "dedust serve", "who gives no name is the server");
    assert.ok(isRecent(rules(server)[0].pinned.at));
    assert.match(await rule(page).locator(".tags").innerText(), /pinned/);
    await decide(page, "unpin", /^Unpinned/);
    assert.equal(rules(server)[0].pinned, undefined);
    assert.deepEqual(wrong, []);
  });

  test("without the token, or with another, nothing is written, and the page says so", async (t) => {
    const { server, page, wrong } = await live(t, "refused");
    const before = server.text();
    await page.evaluate(() => sessionStorage.clear());
    await page.fill("#token", "");
    await decide(page, "off", /^Nothing was written\. The token is missing\.$/);
    assert.equal(await page.evaluate(() => document.activeElement.id), "token", "this is what is to be filled in");
    await page.fill("#token", "f".repeat(32));
    await decide(page, "pin", /^Nothing was written\. The token is not that of this server\.$/);
    await page.getByRole("button", { name: "Learn again" }).click();
    await page.locator("#server [role=status]", { hasText: /^Nothing was started\. The token is not/ }).waitFor();
    assert.equal(server.text(), before);
    assert.equal(await text(page, ".tile dd b"), "43");
    assert.deepEqual(wrong, [REFUSED, REFUSED, REFUSED]);
    // The right one helps at once.
    await page.fill("#token", TOKEN);
    await decide(page, "off", /^Turned off/);
    assert.ok(rules(server)[0].off);
  });

  test("the token is kept for the tab, not for the next visit", async (t) => {
    const { server, page } = await live(t, "kept");
    await identify(page, TOKEN, "Anna");
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    assert.equal(await page.inputValue("#token"), TOKEN);
    const { page: other } = await open(context, server.address);
    assert.equal(await other.inputValue("#token"), "");
    assert.equal(await other.inputValue("#name"), "Anna");
    await other.evaluate(() => localStorage.clear());
    await other.close();
  });

  test("a page of another origin can neither read nor write", async (t) => {
    const { server, page } = await live(t, "stranger");
    const before = server.text();
    const stranger = await serve("stranger-own", RULES, null);
    t.after(() => stranger.stop());
    await page.goto(`${stranger.address}healthz`);
    const outcomes = await page.evaluate(async ([address, token]) => {
      const tried = [];
      const requests = [
        ["/v1/report", {}],
        ["/v1/rules/a.example/decisions", { method: "POST", body: '{"verb":"off","all":true}', headers: { Authorization: `Bearer ${token}` } }],
        ["/v1/rules/a.example/decisions", { method: "POST", body: '{"verb":"off","all":true}', mode: "no-cors" }],
      ];
      for (const [path, options] of requests) {
        const answer = await fetch(address + path.slice(1), options).catch(() => null);
        tried.push(answer === null ? "refused" : answer.type);
      }
      return tried;
    }, [server.address, TOKEN]);
    assert.deepEqual(outcomes.slice(0, 2), ["refused", "refused"]);
    assert.equal(server.text(), before);
  });
});

describe("lists of URLs", () => {
  const LIST = "http://a.example/p?id=1&sid=9\nhttp://a.example/p?id=1\nnothing\n";

  async function saved(page) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".drop a")]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  // Drops a file, or text, as a reader does with a mouse.
  const drop = (page, kind, content) => page.evaluate(([kind, content]) => {
    const transfer = new DataTransfer();
    if (kind === "file") transfer.items.add(new File([content], "urls.txt", { type: "text/plain" }));
    else transfer.setData("text/plain", content);
    document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, [kind, content]);

  test("a file that is dropped is normalized by the server", async (t) => {
    const { page, wrong } = await live(t, "dropped");
    await drop(page, "file", LIST);
    await page.locator(".drop a").waitFor();
    assert.match(await text(page, ".drop .note"), /3 lines, 1 changed, 1 no URLs/);
    assert.equal(await saved(page), "http://a.example/p?id=1\nhttp://a.example/p?id=1\n\n");
    assert.equal(await page.locator(".drop .pair mark").first().innerText(), "&sid=9");
    assert.deepEqual(wrong, []);
  });

  test("lines that are dropped or pasted are normalized too", withNormalizer, async (t) => {
    const { page, wrong } = await live(t, "pasted");
    await drop(page, "text", LIST);
    await page.locator(".drop .note", { hasText: "3 lines, 1 changed, 1 no URLs" }).waitFor();
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "http://a.example/p?sid=1\r\nhttp://a.example/q?sid=1\r\n");
      document.getElementById("try-url").dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    });
    await page.locator(".drop .note", { hasText: "2 lines, 2 changed" }).waitFor();
    assert.equal(await saved(page), "http://a.example/p\nhttp://a.example/q\n");
    assert.deepEqual(wrong, []);
  });

  test("a long list comes back whole and in order", async (t) => {
    const { page, wrong } = await live(t, "long");
    const ids = Array.from({ length: 30_000 }, (_, at) => at);
    await page.setInputFiles("#try-list", write("long.txt", ids.map((id) => `http://a.example/p?id=${id}&sid=${id}\n`).join("")));
    await page.locator(".drop .note", { hasText: "30,000 lines, 30,000 changed" }).waitFor();
    assert.equal(await saved(page), ids.map((id) => `http://a.example/p?id=${id}\n`).join(""));
    assert.deepEqual(wrong, []);
  });
});

describe("learning", () => {
  // Pages of which each is there with three values of `sid`, and a parameter that matters.
  const crawl = Array.from({ length: 300 }, (_, at) => ({
    url: `http://c.example/p?id=${Math.floor(at / 3)}&sid=${at}`, digest: `d${Math.floor(at / 3)}`,
  }));

  test("it is started from the page, and ends with other rules; decisions are kept", withNormalizer, async (t) => {
    const { server, page, wrong } = await live(t, "learn", { crawl: [...CRAWL, ...crawl] });
    await identify(page, TOKEN, "Anna");
    await page.selectOption("#site", { label: "a.example" });
    await decide(page, "pin", /^Approved and pinned/);
    const states = [];
    page.on("response", async (answer) => {
      if (answer.url().endsWith("/v1/learn")) states.push((await answer.json().catch(() => ({}))).state);
    });
    await page.getByRole("button", { name: "Learn again" }).click();
    await page.locator("#server [role=status]", { hasText: /^Learned \d+ rules?; 2 decisions were kept\.$/ }).waitFor();
    assert.ok(states.includes("done"), states.join());
    const { sites } = server.rules();
    assert.equal(sites["a.example"].rules.find((rule) => rule.pinned)?.pinned.by, "Anna");
    assert.ok(sites["c.example"].rules.length > 0);
    await page.selectOption("#site", { label: "c.example" });
    await page.fill("#try-url", "http://c.example/p?id=7&sid=1000");
    await page.locator(".steps li.result .url", { hasText: /^http:\/\/c\.example\/p\?id=7$/ }).waitFor();
    assert.deepEqual(wrong, []);
  });

  test("a crawl that is long in coming is watched, and stopped", async (t) => {
    const { server, page, wrong } = await live(t, "slow");
    const before = server.text();
    await identify(page);
    // From now on the crawl is a pipe, and comes as the test sends it.
    const send = await server.pipeCrawl();
    await page.getByRole("button", { name: "Learn again" }).click();
    // More than the buffers on the way hold.
    await send(Array.from({ length: 100 }, () => crawl).flat());
    const said = page.locator("#server [role=status]");
    await said.filter({ hasText: /^Reading the crawl: [1-9][\d,]* rows …$/ }).waitFor();
    assert.equal(await page.locator("progress").isVisible(), true);
    await page.getByRole("button", { name: "Stop learning" }).click();
    await send(crawl);
    await send.end();
    await said.filter({ hasText: "Learning was stopped. The rules are those before." }).waitFor();
    assert.equal(await page.locator("progress").isHidden(), true);
    assert.equal(server.text(), before);
    assert.deepEqual(wrong, []);
  });

  test("progress is shown, site by site", async (t) => {
    const { server, page, wrong } = await live(t, "progress");
    const before = server.text();
    await identify(page);
    // The server learns too fast to be watched: what it would say of a long run is said for it.
    const answers = [
      { state: "reading", rows: 12_345 },
      { state: "learning", sites_done: 3, sites: 8, urls_done: 100, urls: 900 },
      { state: "cancelled" },
    ];
    await page.route("**/v1/learn", (route) => {
      const method = route.request().method();
      if (method === "DELETE") answers.splice(0, answers.length - 1);
      const state = method === "GET" && answers.length > 2 ? answers.shift() : answers[0];
      return route.fulfill({ status: method === "POST" ? 202 : 200, contentType: "application/json", body: JSON.stringify(state) });
    });
    await page.getByRole("button", { name: "Learn again" }).click();
    const said = page.locator("#server [role=status]");
    await said.filter({ hasText: "Reading the crawl: 12,345 rows …" }).waitFor();
    assert.equal(await page.locator("progress").getAttribute("value"), null);
    await said.filter({ hasText: "Learning: 3 of 8 sites …" }).waitFor();
    assert.deepEqual(await page.locator("progress").evaluate((bar) => [bar.value, bar.max]), [3, 8]);
    await page.getByRole("button", { name: "Stop learning" }).click();
    await said.filter({ hasText: "Learning was stopped. The rules are those before." }).waitFor();
    assert.equal(await page.locator("progress").isHidden(), true);
    await page.getByRole("button", { name: "Learn again" }).waitFor();
    assert.equal(server.text(), before);
    assert.deepEqual(wrong, []);
  });

  test("a server without a crawl says how to have one", async (t) => {
    const { page, wrong } = await live(t, "alone", { crawl: null });
    assert.equal(await page.getByRole("button", { name: "Learn again" }).count(), 0);
    assert.match(await text(page, "#server"), /dedust serve RULES CRAWL/);
    await identify(page);
    await decide(page, "off", /^Turned off/);
    assert.deepEqual(wrong, []);
  });
});

describe("rules that change", () => {
  test("the page says so when the file has changed, and shows the new rules when asked", async (t) => {
    const { server, page, wrong } = await live(t, "changed");
    const other = structuredClone(RULES);
    other.sites["a.example"].rules.shift();
    server.replace(other);
    await page.locator("#notice", { hasText: "The rules have changed." }).waitFor();
    assert.equal(await page.locator(".rule").count(), 3, "until then what is shown stays");
    await page.getByRole("button", { name: "Show them" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".rule").length === 2);
    await page.waitForFunction(() => document.getElementById("notice").hidden);
    assert.equal(await text(page, ".tile dd b"), "3");
    assert.deepEqual(wrong, []);
  });

  test("a file that cannot be used is told, and the rules before are served", withNormalizer, async (t) => {
    const { server, page, wrong } = await live(t, "broken");
    server.replace("{\"version\": 1, \"sites\": ");
    await page.locator("#notice", { hasText: "cannot be used; the rules before are served" }).waitFor();
    await page.fill("#try-url", "http://a.example/p?sid=1");
    assert.match(await text(page, ".steps"), /http:\/\/a\.example\/p$/);
    server.replace(RULES);
    await page.locator("#notice", { hasText: "The rules have changed." }).waitFor();
    assert.deepEqual(wrong, []);
  });

  test("a server that is gone is told", async (t) => {
    const { server, page } = await live(t, "gone");
    await server.stop();
    await page.locator("#notice", { hasText: "The server does not answer." }).waitFor();
    await identify(page);
    await decide(page, "off", /^Nothing was written\./);
  });
});

describe("how it looks", () => {
  test("hostile titles, URLs and rules do nothing but stand there", async (t) => {
    const { server, page, wrong } = await live(t, "hostile-live", { rules: HOSTILE_RULES, crawl: HOSTILE_CRAWL });
    await identify(page, TOKEN, HOSTILE[0]);
    for (const sentence of await page.locator(".rule .sentence").all()) await sentence.click();
    for (const group of await page.locator(".group .sentence").all()) await group.click();
    await rule(page).getByLabel("Why").fill(HOSTILE[1]);
    await decide(page, "pin", /^Approved and pinned/);
    assert.equal(rules(server)[0].pinned.why, HOSTILE[1]);
    await page.setInputFiles("#try-list", write("hostile.txt", `${HOSTILE.map((hostile) => `http://a.example/${hostile}?sid=1`).join("\n")}\n${HOSTILE.join("\n")}\n`));
    await page.locator(".drop a").waitFor();
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.equal(await page.locator("img, svg[onload], main script").count(), 0);
    assert.ok((await page.locator(".page-title").allInnerTexts()).includes(HOSTILE[1]), "it stands there as text");
    assert.ok((await rule(page).locator(".facts").innerText()).includes(HOSTILE[1]));
    await page.evaluate(() => localStorage.clear());
    assert.deepEqual(wrong, []);
  });

  test("it fits a narrow screen, in light and in dark", async (t) => {
    for (const colorScheme of ["light", "dark"]) {
      const { page, wrong } = await live(t, `narrow-${colorScheme}`, { width: 390, colorScheme });
      for (const sentence of await page.locator(".rule .sentence").all()) await sentence.click();
      await page.setInputFiles("#try-list", write("narrow.txt", `http://a.example/${"long".repeat(40)}?sid=1\n`));
      await page.locator(".drop a").waitFor();
      const [scroll, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(scroll <= width, `${scroll} > ${width}`);
      const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.deepEqual(await unnamed(page), []);
      assert.equal(colour, colorScheme === "dark" ? "rgb(18, 21, 24)" : "rgb(251, 250, 248)");
      assert.deepEqual(wrong, []);
    }
  });
});
