// A note on the desktop when a run waits, is done or has failed, for those who look elsewhere.
import {html, set, store, word} from "./view.js";

const key = "nbcc-notices";
const told = new Map();
const ends = ["completed", "failed", "killed", "cancelled", "limit", "interrupted"];

const possible = () => typeof Notification !== "undefined" && isSecureContext && !store.isStatic;

function wanted() {
  try { return possible() && Notification.permission === "granted" && localStorage.getItem(key) === "on"; } catch { return false; }
}

async function toggle() {
  try {
    if (wanted()) localStorage.setItem(key, "off");
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(key, "on");
  } catch { /* a browser without a memory */ }
  set({});
}

export function Bell() {
  if (!possible() || Notification.permission === "denied") return "";
  return html`<button class="quiet" aria-pressed=${wanted()} title=${word("notices")} aria-label=${word("notices")} onClick=${toggle}>${wanted() ? "●" : "○"} ${word("notices_short")}</button>`;
}

// The first time a run is seen nothing is said: it is on the screen.
export function notice(run, name, status, waits) {
  const now = waits ? `waits ${waits}` : ends.includes(status) ? status : "on its way";
  const before = told.get(run);
  told.set(run, now);
  if (before === undefined || before === now || now === "on its way" || !wanted() || !document.hidden) return;
  const made = new Notification(name || run, {body: waits ? word("status_waiting") : word(`status_${status}`), tag: `${run} ${now}`});
  made.onclick = () => { focus(); location.hash = `#/run/${encodeURIComponent(run)}`; made.close(); };
}
