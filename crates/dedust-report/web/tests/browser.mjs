// What the tests share: Chromium, started anew, files, and pages that `dedust report` makes of small crawls.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DEDUST = process.env.DEDUST;
const folder = mkdtempSync(join(tmpdir(), "dedust-page-"));

// An option of tests of what the page does with its normalizer.
export const withNormalizer = { skip: !existsSync(new URL("../dedust.wasm", import.meta.url)) && "this build has no normalizer for the page; .ci/wasm makes one" };

export function dedust(...args) {
  return execFileSync(DEDUST, args, { cwd: folder, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

export function write(name, text) {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

// A page of rules, as JSON, and of a crawl: objects with at least a URL.
export function report(name, rules, crawl) {
  write(`${name}.json`, typeof rules === "string" ? rules : JSON.stringify(rules));
  write(`${name}.jsonl`, crawl.map((row) => `${JSON.stringify(row)}\n`).join(""));
  dedust("report", `${name}.json`, `${name}.jsonl`, "-o", `${name}.html`, "--force", "-q");
  return `file://${join(folder, name)}.html`;
}

export async function launch() {
  const { chromium } = createRequire(process.env.DEDUST_NODE_MODULES)("playwright-core");
  return chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "dedust-chromium-")), {
    executablePath: process.env.DEDUST_CHROMIUM,
    headless: true,
    viewport: { width: 1200, height: 900 },
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
    ],
  });
}

// A page that is ready, and what was wrong with it: errors, messages, dialogs and requests, unless they go to the server of the page.
export async function open(context, address, options = {}) {
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const isOfServer = address.startsWith("http:") && request.url().startsWith(address);
    const isOwn = request.url() === address || request.url().startsWith("data:") || request.url().startsWith("blob:");
    if (!isOwn && !isOfServer) wrong.push(`request: ${request.url()}`);
  });
  if (options.width) await page.setViewportSize({ width: options.width, height: 844 });
  await page.emulateMedia({ colorScheme: options.colorScheme ?? "light" });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, wrong };
}

// What a screen reader has no name for.
export function unnamed(page) {
  return page.evaluate(() => {
    const isNamed = (node) => node.getAttribute("aria-label") || node.labels?.length > 0 || node.innerText?.trim() || node.getAttribute("aria-labelledby");
    return [...document.querySelectorAll("button, input, select, progress, [role=img], [role=region], [role=tree], [role=treeitem]")]
      .filter((node) => !isNamed(node)).map((node) => node.outerHTML.slice(0, 80));
  });
}
