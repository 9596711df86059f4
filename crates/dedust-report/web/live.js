// What the page can do when a server is behind it: decide about edits, learn again, normalize lists with all rules. In a file there is
// nothing of it.
import { el, replace } from "./dom.js";
import { count, counted } from "./format.js";

const TOKEN = "dedust-token";
const ASK_AGAIN = 1000;

function token() {
  try {
    return sessionStorage.getItem(TOKEN) ?? "";
  } catch {
    return document.getElementById("token")?.value ?? "";
  }
}

function keepToken(text) {
  try {
    sessionStorage.setItem(TOKEN, text);
  } catch {
    // The field keeps it.
  }
}

// Asks the server to change something. Throws what it answers if it refuses.
async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: { Authorization: `Bearer ${token()}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error ? `${said.error}: ${said.remedy}` : `the server answered ${answer.status}`);
  return said;
}

// Buttons that write to the rule file, with the token that the server printed when it started.
export function decisionControls(data, site, edit) {
  if (!data.isLive) return null;
  const why = el("input", { type: "text", placeholder: "why (optional)", "aria-label": "Why" });
  const said = el("span", { class: "soft", role: "status" });
  const button = (verb, text) => el("button", { type: "button", "data-verb": verb, onclick: async () => {
    try {
      await ask("POST", `/v1/rules/${encodeURIComponent(site)}/decisions`, { verb, ids: [edit.id], why: why.value || undefined });
      said.textContent = "Written. The report is read again …";
      location.reload();
    } catch (error) {
      said.textContent = error.message;
      if (!token()) document.getElementById("token")?.focus();
    }
  } }, text);
  return el("div", { class: "controls decide" },
    edit.off ? button("on", "Turn on") : button("off", "Turn off"), edit.pinned ? button("unpin", "Unpin") : button("pin", "Approve and pin"),
    why, said);
}

function learnText(state) {
  switch (state.state) {
    case "reading": return `Reading the crawl: ${counted(state.rows ?? 0, "row", "rows")} …`;
    case "learning": return `Learning: ${count(state.sites_done ?? 0)} of ${counted(state.sites ?? 0, "site", "sites")} …`;
    case "done": return `Learned ${counted(state.edits ?? 0, "edit", "edits")}; ${counted(state.kept ?? 0, "decision was", "decisions were")} kept.`;
    case "failed": return `Learning failed: ${state.error ?? "the server does not say why"}`;
    case "cancelled": return "Learning was cancelled.";
    default: return "";
  }
}

export function serverSection(data) {
  if (!data.isLive) return null;
  const secret = el("input", { type: "password", id: "token", value: token(), autocomplete: "off", oninput: () => keepToken(secret.value.trim()) });
  const said = el("p", { class: "note", role: "status" });
  const bar = el("progress", { hidden: true, "aria-label": "Learning" });
  const follow = async (wasRunning) => {
    const state = await (await fetch("/v1/learn")).json().catch(() => ({}));
    const isRunning = state.state === "reading" || state.state === "learning";
    said.textContent = wasRunning || isRunning ? learnText(state) : "";
    bar.hidden = !isRunning;
    if (state.sites > 0) {
      bar.max = state.sites;
      bar.value = state.sites_done ?? 0;
    } else bar.removeAttribute("value");
    replace(buttons, isRunning ? stop : start);
    if (isRunning) setTimeout(() => follow(true), ASK_AGAIN);
    else if (wasRunning && state.state === "done") location.reload();
  };
  const command = (method, text) => el("button", { type: "button", onclick: async () => {
    try {
      await ask(method, "/v1/learn");
      await follow(true);
    } catch (error) {
      said.textContent = error.message;
    }
  } }, text);
  const [start, stop] = [command("POST", "Learn again"), command("DELETE", "Stop learning")];
  const buttons = el("span", {}, start);
  follow(false).catch(() => {});
  return el("section", { id: "server", "aria-labelledby": "server-title" },
    el("h2", { id: "server-title" }, "Change the rules"),
    el("p", { class: "lead" }, "Open a rule above to turn it off, or to approve and pin it. Changes are written to the rule file, and need the token that the server printed when it started."),
    el("div", { class: "controls" }, el("label", { for: "token" }, "Token ", secret), buttons, bar), said);
}

// Canonical URLs of a list by the server, which has the rules of all sites.
export async function normalizeByServer(text) {
  const answer = await fetch("/v1/normalize", { method: "POST", headers: { "Content-Type": "text/plain", Accept: "text/plain" }, body: text });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.text();
}
