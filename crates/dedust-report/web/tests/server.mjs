// `dedust serve` as the tests start it: on a free port of the loopback interface, with files of its own.
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, readFileSync, renameSync } from "node:fs";
import { createInterface } from "node:readline";
import { write } from "./browser.mjs";

const DEDUST = process.env.DEDUST;
export const TOKEN = "0123456789abcdef0123456789abcdef";

// Serves rules, as JSON, with a crawl of objects or without one. `args` are more options.
export async function serve(name, rules, crawl, args = []) {
  const path = write(`${name}.json`, JSON.stringify(rules));
  const lines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const crawls = crawl ? [write(`${name}.jsonl`, lines(crawl))] : [];
  const child = spawn(DEDUST, ["serve", path, ...crawls, "--listen", "127.0.0.1:0", ...args], {
    env: { ...process.env, DEDUST_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: address } = await printed.next();
  if (!address) throw new Error(`dedust serve did not start: ${log.join("\n")}`);
  return {
    address,
    log,
    rules: () => JSON.parse(readFileSync(path, "utf8")),
    text: () => readFileSync(path, "utf8"),
    // Replaces the rule file as a whole.
    replace: (text) => renameSync(write(`${name}.beside`, typeof text === "string" ? text : JSON.stringify(text)), path),
    // Puts a pipe in the place of the crawl, and gives a function that sends rows through it.
    pipeCrawl: async () => {
      execFileSync("mkfifo", [`${crawls[0]}.pipe`]);
      renameSync(`${crawls[0]}.pipe`, crawls[0]);
      // Opened when the server reads it.
      const pipe = createWriteStream(crawls[0]);
      const send = (rows) => new Promise((resolve, reject) => pipe.write(lines(rows), (error) => (error ? reject(error) : resolve())));
      send.end = () => new Promise((resolve) => pipe.end(resolve));
      return send;
    },
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
