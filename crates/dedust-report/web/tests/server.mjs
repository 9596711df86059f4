// `dedust serve` as the tests start it: on a free port of the loopback interface, with files of its own.
import { spawn } from "node:child_process";
import { readFileSync, renameSync } from "node:fs";
import { createInterface } from "node:readline";
import { write } from "./browser.mjs";

const DEDUST = process.env.DEDUST;
export const TOKEN = "0123456789abcdef0123456789abcdef";

// Serves rules, as JSON, with a crawl of objects or without one. `args` are more options.
export async function serve(name, rules, crawl, args = []) {
  const path = write(`${name}.json`, JSON.stringify(rules));
  const crawls = crawl ? [write(`${name}.jsonl`, crawl.map((row) => `${JSON.stringify(row)}\n`).join(""))] : [];
  const child = spawn(DEDUST, ["serve", path, ...crawls, "--listen", "127.0.0.1:0", ...args], {
    env: { ...process.env, DEDUST_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: address } = await lines.next();
  if (!address) throw new Error(`dedust serve did not start: ${log.join("\n")}`);
  return {
    address,
    log,
    rules: () => JSON.parse(readFileSync(path, "utf8")),
    text: () => readFileSync(path, "utf8"),
    // Replaces the rule file as a whole.
    replace: (text) => renameSync(write(`${name}.beside`, typeof text === "string" ? text : JSON.stringify(text)), path),
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
