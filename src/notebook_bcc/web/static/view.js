// What every part of the page draws with.
import * as preact from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";

export const html = htm.bind(preact.h);
export const draw = preact.render;
export const store = {route: [], about: null, runs: null, run: null, compare: null, problem: "", offline: false,
  tab: "findings", events: null, exchange: null, filter: "", status: "", chosen: [], editing: null, comment: "",
  rejecting: false, keys: false, busy: false, said: "", follow: true, form: {planner: ""}, word: "", asking: "", debug: "", variable: "", isStatic: false};
let drawn = () => {};

export function onChange(callback) { drawn = callback; }

export function set(patch) {
  Object.assign(store, patch);
  drawn();
}

export function word(name, facts) {
  const text = (store.about && store.about.words[name]) || name;
  return facts ? text.replace(/\{(\w+)\}/g, (whole, key) => key in facts ? facts[key] : whole) : text;
}

export const mayChange = () => !store.isStatic && store.about && store.about.role === "owner";

export function seconds(value) {
  if (value == null) return "";
  if (value < 0.05) return "<0.1 s";
  return value < 60 ? `${value < 10 ? value.toFixed(1) : Math.round(value)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

// Once it is drawn.
export function focusOn(selector) {
  requestAnimationFrame(() => requestAnimationFrame(() => { const found = document.querySelector(selector); if (found) found.focus(); }));
}

export function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  while (bytes >= 1000 && at < 3) { bytes /= 1000; at += 1; }
  return `${at && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[at]}`;
}

export function moment(at) {
  return at ? new Date(at).toLocaleString(store.about ? store.about.language : undefined, {dateStyle: "short", timeStyle: "short"}) : "";
}
