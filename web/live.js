// What the page can do when a server is behind it: decide about edits. In a file there is nothing of it.
import { el, replace } from "./dom.js";

const TOKEN = "dedust-token";

export function isLive(data) {
  return Boolean(data.isLive);
}

function token() {
  try {
    return sessionStorage.getItem(TOKEN) ?? "";
  } catch {
    return "";
  }
}

function keepToken(text) {
  try {
    sessionStorage.setItem(TOKEN, text);
  } catch {
    // Without storage it is asked for again.
  }
}

async function decide(site, edit, decision, why) {
  const answer = await fetch(`/v1/rules/${encodeURIComponent(site)}/${edit.id}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token()}` },
    body: JSON.stringify({ decision, why }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 200)}`);
}

// Buttons that write to the rule file, with the token that the server printed when it started.
export function decisionControls(data, site, edit) {
  if (!isLive(data)) return null;
  const why = el("input", { type: "text", placeholder: "why (optional)", "aria-label": "Why" });
  const secret = el("input", { type: "password", value: token(), placeholder: "token", "aria-label": "Token", autocomplete: "off", onchange: () => keepToken(secret.value) });
  const said = el("span", { class: "soft", role: "status" });
  const button = (decision, text) => el("button", { type: "button", onclick: async () => {
    keepToken(secret.value);
    try {
      await decide(site, edit, decision, why.value || undefined);
      replace(said, document.createTextNode("Written. The page is read again …"));
      setTimeout(() => location.reload(), 400);
    } catch (error) {
      replace(said, document.createTextNode(error.message));
    }
  } }, text);
  const isOff = edit.state.includes("off");
  const isPinned = edit.state.includes("pinned");
  return el("div", { class: "controls decide" },
    button(isOff ? "on" : "off", isOff ? "Turn on" : "Turn off"), button(isPinned ? "unpin" : "pin", isPinned ? "Unpin" : "Approve and pin"),
    why, secret, said);
}
