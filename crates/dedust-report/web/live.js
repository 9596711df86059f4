// What the page can do when a server is behind it: decide about rules, learn again, normalize lists with all rules, and follow the rules
// when others change them. In a file there is nothing of it.
import { el, replace } from "./dom.js";
import { count, counted } from "./format.js";
import { stored } from "./stored.js";

const TOKEN = "dedust-token";
const NAME = "dedust-name";
const ASK_AGAIN = 1000;
const LINES_AT_ONCE = 5000;

function token() {
  return document.getElementById("token")?.value.trim() ?? "";
}

// Asks the server to change something. Throws what it answers if it refuses.
async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: { Authorization: `Bearer ${token()}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.status === 401) throw new Error(token() ? "The token is not that of this server." : "The token is missing.");
  if (!answer.ok) throw new Error(said.error ? `${said.error}: ${said.remedy}` : `the server answered ${answer.status}`);
  return said;
}

// Which rules the server has: `version` is another one whenever they were loaded or written.
export async function servedRules() {
  const answer = await fetch("/v1/rules");
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

const DONE = { off: "Turned off", on: "Turned on", pin: "Approved and pinned", unpin: "Unpinned" };

// Buttons that write to the rule file, with the token that the server printed when it started.
export function decisionControls(data, site, rule) {
  if (!data.isLive) return null;
  const why = el("input", { type: "text", placeholder: "why (optional)", "aria-label": "Why" });
  const said = el("span", { class: "soft", role: "status" }, data.written?.id === rule.id ? data.written.text : "");
  const button = (verb, text) => el("button", { type: "button", "data-verb": verb, onclick: async () => {
    const by = document.getElementById("name")?.value.trim();
    data.isChanging = true;
    try {
      await ask("POST", `/v1/rules/${encodeURIComponent(site)}/decisions`, { verb, ids: [rule.id], by: by || undefined, why: why.value || undefined });
      said.textContent = "Written. The figures are counted again …";
      await data.refresh({ written: { id: rule.id, text: `${DONE[verb]}, and written to the rule file.` } });
    } catch (error) {
      data.isChanging = false;
      said.textContent = `Nothing was written. ${error.message}`;
      if (!token()) document.getElementById("token")?.focus();
    }
  } }, text);
  return el("div", { class: "controls decide" },
    rule.off ? button("on", "Turn on") : button("off", "Turn off"), rule.pinned ? button("unpin", "Unpin") : button("pin", "Approve and pin"),
    why, said);
}

function learnText(state) {
  switch (state.state) {
    case "reading": return `Reading the crawl: ${counted(state.rows ?? 0, "row", "rows")} …`;
    case "learning": return `Learning: ${count(state.sites_done ?? 0)} of ${counted(state.sites ?? 0, "site", "sites")} …`;
    case "done": return `Learned ${counted(state.rules ?? 0, "rule", "rules")}; ${counted(state.kept ?? 0, "decision was", "decisions were")} kept.`;
    case "failed": return `Learning failed, and the rules are those before: ${state.error ?? "the server does not say why"}`;
    case "cancelled": return "Learning was stopped. The rules are those before.";
    default: return "";
  }
}

// The button that starts learning, or stops it, and how far it has come.
function learnControls(data) {
  const said = el("p", { class: "note", role: "status" }, data.learned ?? "");
  const bar = el("progress", { hidden: true, "aria-label": "Learning" });
  const follow = async (wasRunning) => {
    const state = await (await fetch("/v1/learn")).json().catch(() => ({}));
    const isRunning = state.state === "reading" || state.state === "learning";
    const isDone = wasRunning && state.state === "done";
    data.isChanging = isRunning || isDone;
    // That it is done is said beside the new rules, not before they are there.
    if ((wasRunning || isRunning) && !isDone) said.textContent = learnText(state);
    bar.hidden = !isRunning;
    if (state.sites > 0) {
      bar.max = state.sites;
      bar.value = state.sites_done ?? 0;
    } else bar.removeAttribute("value");
    replace(buttons, isRunning ? stop : start);
    if (isRunning) setTimeout(() => said.isConnected && follow(true), ASK_AGAIN);
    else if (isDone) await data.refresh({ learned: learnText(state) });
  };
  const command = (method, text) => el("button", { type: "button", onclick: async () => {
    try {
      await ask(method, "/v1/learn");
      await follow(true);
    } catch (error) {
      said.textContent = `Nothing was started. ${error.message}`;
      if (!token()) document.getElementById("token")?.focus();
    }
  } }, text);
  const [start, stop] = [command("POST", "Learn again"), command("DELETE", "Stop learning")];
  const buttons = el("span", {}, start);
  follow(false).catch(() => {});
  return [el("div", { class: "controls" }, buttons, bar), said];
}

export function serverSection(data) {
  if (!data.isLive) return null;
  const secret = el("input", { type: "password", id: "token", value: stored("sessionStorage", TOKEN) ?? "", autocomplete: "off",
    oninput: () => stored("sessionStorage", TOKEN, secret.value.trim()) });
  const name = el("input", { type: "text", id: "name", value: stored("localStorage", NAME) ?? "", autocomplete: "name", placeholder: "dedust serve",
    oninput: () => stored("localStorage", NAME, name.value.trim()) });
  const canLearn = Boolean(data.total.crawl);
  return el("section", { id: "server", "aria-labelledby": "server-title" },
    el("h2", { id: "server-title" }, "Change the rules"),
    el("p", { class: "lead" }, "Open a rule above to turn it off, or to approve and pin it. Changes are written to the rule file, with your name and the time, and need the token that the server printed when it started."),
    el("div", { class: "controls" }, el("label", { for: "token" }, "Token ", secret), el("label", { for: "name" }, "Your name ", name)),
    canLearn && [el("p", { class: "note" }, "Learning again reads the crawls that the server was started with. What was decided stays."), learnControls(data)],
    !canLearn && el("p", { class: "note" }, "This server has no crawl to learn from. Name one when you start it: ", el("code", {}, "dedust serve RULES CRAWL"), "."));
}

// Says when the rules of the server are others than those that are shown, and shows them when asked to. What is changed by this page
// (`isChanging`) is shown anyway.
export function watchRules(getData, box) {
  const say = (text, ...more) => {
    if (box.dataset.said === text) return;
    box.dataset.said = text;
    box.hidden = !text;
    replace(box, text && el("span", {}, text), ...more);
  };
  const look = async () => {
    const data = getData();
    if (!document.hidden) {
      const now = await servedRules().catch(() => null);
      if (getData() !== data || data.isChanging) say("");
      else if (!now) say("The server does not answer.");
      else if (now.stale) say("The rule file was changed and cannot be used; the rules before are served. The log of the server says why.");
      else if (now.version === data.served.version) say("");
      else say("The rules have changed.", el("button", { type: "button", onclick: () => data.refresh({}) }, "Show them"));
    }
    setTimeout(look, ASK_AGAIN);
  };
  setTimeout(look, ASK_AGAIN);
}

// Canonical URLs of lines by the server, which has the rules of all sites; an empty line for what is no URL. In pieces, since a browser
// sends all of a body before it reads any of the answer.
export async function normalizeByServer(lines, progress) {
  const out = [];
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    progress(at);
    const body = lines.slice(at, at + LINES_AT_ONCE).join("\n");
    const answer = await fetch("/v1/normalize", { method: "POST", headers: { "Content-Type": "text/plain", Accept: "text/plain" }, body });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    out.push(...(await answer.text()).replace(/\n$/, "").split("\n"));
  }
  return out;
}
