// The page: which part is shown, what is kept up to date, and the keys.
import {draw, html, mayChange, onChange, set, store, word} from "./view.js";
import {get, runPath, watch} from "./requests.js";
import {Compare, NewRun, Runs} from "./runs.js";
import {Run, RunHead, answer, send, startEditing, startRejecting} from "./run.js";
import {reach} from "./tabs.js";
import {Bell, notice} from "./notices.js";

const root = document.getElementById("root");
let waiting = false;

onChange(() => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(html`<${Page} />`, root); });
});

function Page() {
  const [part] = store.route;
  const parts = {run: Run, new: NewRun, compare: Compare};
  const name = part === "run" && store.run ? store.run.head.title : part === "new" ? word("new_run") : part === "compare" ? word("compare") : word("runs");
  document.title = `${store.run && store.run.ask && part === "run" ? "◆ " : ""}${name} · nbcc`;
  if (!store.about) return html`<p class="empty" role="status">${store.problem || "…"}</p>`;
  return html`<a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); const main = document.getElementById("main"); if (main) main.focus(); }}>${word("skip")}</a>
    <header>${!store.isStatic && part && html`<a href="#/" aria-label=${word("runs")} class="home">←</a>`}${part === "run" ? html`<${RunHead} />` : html`<b>nbcc</b><span class="fill"></span>`}
      <${Bell} />${!store.isStatic && html`<button class="quiet" onClick=${speak}>${word("language")}</button>`}<button class="quiet" aria-label=${word("keys")} onClick=${() => set({keys: !store.keys})}>?</button></header>
    ${store.offline && html`<p class="strip" role="alert">${word("offline")}</p>`}
    ${store.isStatic && html`<p class="strip">${word("static_page", {run: store.run.run, at: store.made})}</p>`}
    ${!store.isStatic && store.about.role === "watcher" && html`<p class="strip">${word("read_only")}</p>`}
    ${store.problem ? html`<p class="empty" role="alert">${word("failed_load", {why: store.problem})}</p>` : html`<${parts[part] || Runs} />`}
    ${store.keys && html`<${Keys} />`}`;
}

function Keys() {
  const keys = [["y", "key_confirm"], ["n", "key_reject"], ["e", "key_edit"], ["p", "key_pause"], ["j", "key_next"], ["k", "key_previous"], ["?", "key_help"]];
  return html`<div class="keys" role="dialog" aria-label=${word("keys")}><h2>${word("keys")}</h2><dl class="kv">${keys.map(([key, name]) => html`<dt><kbd>${key}</kbd></dt><dd>${word(name)}</dd>`)}</dl><button onClick=${() => set({keys: false})}>${word("close")}</button></div>`;
}

function speak() {
  try { localStorage.setItem("nbcc-lang", store.about.language === "zh" ? "en" : "zh"); } catch { /* a browser without a memory */ }
  location.reload();
}

function show(page) {
  const cells = Object.fromEntries(page.cells.map((one) => [one.id, one]));
  set({run: {...page, cells}, problem: ""});
  notice(page.run, page.head.title, page.head.status, page.ask ? page.ask.answers : "");
}

function heard(kind, data) {
  if (kind === "runs") {
    for (const one of data.runs) notice(one.run, one.goal, one.status, one.waits);
    set({runs: data.runs});
    return;
  }
  if (!store.run || data.run !== store.run.run) return;
  const bottom = innerHeight + scrollY >= document.body.scrollHeight - 120;
  const cells = {...store.run.cells};
  for (const one of data.cells) if (!cells[one.id] || cells[one.id].seq <= one.seq) cells[one.id] = one;
  const answered = data.ask !== undefined && store.run.ask && (!data.ask || data.ask.answers !== store.run.ask.answers);
  set({run: {...store.run, ...data, cells}, ...(answered ? {editing: null, rejecting: false, comment: ""} : {})});
  const {run, head, ask} = store.run;
  notice(run, head.title, head.status, ask ? ask.answers : "");
  if (bottom && data.cells.length) toEnd();
}

function toEnd() {
  requestAnimationFrame(() => requestAnimationFrame(() => { if (innerWidth > 900) scrollTo(0, document.body.scrollHeight); }));
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

async function go() {
  // What does not begin so is a place on the page, such as a heading that a cell links to.
  if (location.hash && !location.hash.startsWith("#/") && store.route.length) return;
  const route = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
  set({route, problem: "", said: "", editing: null, rejecting: false, comment: "", asking: "", events: null, debug: "", variable: "",
    run: route[0] === "run" && store.run && store.run.run === route[1] ? store.run : null, compare: null});
  try {
    if (route[0] === "run") {
      const page = await get(runPath(route[1]));
      const isNew = !store.run;
      show(page);
      // Of a run that goes on the newest cell matters, of one that is over the first.
      if (isNew && (page.ask || page.head.status === "running")) toEnd();
      watch(route[1], page.seq, heard);
    } else if (route[0] === "compare") {
      set({compare: await get("compare", {one: route[1], two: route[2]})});
    } else {
      set({runs: (await get("runs")).runs});
      watch("", 0, heard);
    }
  } catch (error) { set({problem: error.message}); }
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key !== "Escape" && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
  const asks = store.route[0] === "run" && store.run && store.run.ask && store.run.ask.kind === "change" && mayChange();
  const keys = {
    "?": () => set({keys: !store.keys}),
    Escape: () => set({keys: false, asking: "", editing: null, rejecting: false, debug: ""}),
    y: () => asks && answer(true),
    n: () => asks && (store.rejecting ? answer(false) : startRejecting()),
    e: () => asks && startEditing(),
    p: () => store.run && mayChange() && store.run.head.can.includes("pause") && send(store.run.run, "pause", {}, word("pausing")),
    j: () => step(1),
    k: () => step(-1),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}

function step(by) {
  if (!store.run || !store.run.order.length) return;
  const here = document.activeElement && document.activeElement.id.startsWith("c-") ? store.run.order.indexOf(document.activeElement.id.slice(2)) : by > 0 ? -1 : 0;
  reach(store.run.order[Math.min(store.run.order.length - 1, Math.max(0, here + by))]);
}

async function begin() {
  addEventListener("keydown", pressed);
  const kept = document.getElementById("snapshot");
  if (kept) {
    const {about, page, made} = JSON.parse(kept.textContent);
    set({about, made, isStatic: true, route: ["run", page.run]});
    document.documentElement.lang = about.language === "zh" ? "zh-CN" : "en";
    show(page);
    return;
  }
  try {
    set({about: await get("about")});
  } catch (error) { set({problem: error.message}); return; }
  document.documentElement.lang = store.about.language === "zh" ? "zh-CN" : "en";
  addEventListener("hashchange", go);
  setInterval(() => { if (store.run && store.run.head.status === "running") set({}); }, 1000);
  await go();
}

begin();
