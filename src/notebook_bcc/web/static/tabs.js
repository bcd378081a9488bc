// What stands beside the notebook: findings, variables, events, the exchange with the planner, states, files.
import {html, moment, set, size, store, word} from "./view.js";
import {get, runPath} from "./requests.js";

const names = ["findings", "variables", "events", "exchange", "states", "files"];
const exchange = "planning_asked,planning_answered,generating_asked,generating_ended,generating_failed,model_asked,action_received";

export function Tabs({run}) {
  const shown = names.filter((one) => !store.isStatic || !["events", "exchange"].includes(one));
  const move = (e) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (step) open(shown[(shown.indexOf(store.tab) + step + shown.length) % shown.length], run);
  };
  const parts = {findings: Findings, variables: Variables, events: Events, exchange: Events, states: States, files: Files};
  return html`<div class="tabs" role="tablist" onKeyDown=${move}>${shown.map((one) => html`<button role="tab" id=${`tab-${one}`} aria-selected=${store.tab === one} tabindex=${store.tab === one ? 0 : -1} onClick=${() => open(one, run)}>${word(`tab_${one}`)}</button>`)}</div>
    <div role="tabpanel" aria-labelledby=${`tab-${store.tab}`} class="panel"><${parts[store.tab]} run=${run} /></div>`;
}

function open(tab, run) {
  set({tab});
  if (tab === "events" || tab === "exchange") load(run.run, tab, 0);
  queueMicrotask(() => { const found = document.getElementById(`tab-${tab}`); if (found) found.focus(); });
}

async function load(run, tab, after) {
  const before = after ? store.events : null;
  try {
    const found = await get(runPath(run, "events"), {after, ...(tab === "exchange" ? {kinds: exchange} : {})});
    set({events: {run, tab, ...found, events: before ? [...before.events, ...found.events] : found.events}});
  } catch (error) { set({events: {run, tab, events: [], problem: error.message}}); }
}

function Findings({run}) {
  if (!run.findings.length) return html`<p class="soft">${word("no_findings")}</p>`;
  return html`<ul class="notes">${run.findings.slice().reverse().map((one) => html`<li class=${one.kind}><small>${word(one.kind)}</small> ${one.text} ${one.cell && html`<a href=${`#c-${one.cell}`} onClick=${(e) => { e.preventDefault(); reach(one.cell); }}>${word("cell")} ${run.order.indexOf(one.cell) + 1}</a>`}</li>`)}</ul>`;
}

export function reach(id) {
  const found = document.getElementById(`c-${id}`);
  if (!found) return;
  if (found.tagName === "DETAILS") found.open = true;
  found.scrollIntoView({block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
  found.focus({preventScroll: true});
}

function Variables({run}) {
  if (!run.variables.length) return html`<p class="soft">${word("no_variables")}</p>`;
  return html`<dl class="kv">${run.variables.map((one) => html`<dt class=${one.new ? "new" : ""}>${one.name}</dt><dd title=${one.text}>${one.text}${one.new ? ` · ${word("new")}` : ""}</dd>`)}</dl>`;
}

function Events({run}) {
  const found = store.events;
  if (!found || found.run !== run.run || found.tab !== store.tab) return html`<p class="soft">${word("loading")}</p>`;
  const asked = (store.eventFilter || "").toLowerCase();
  const shown = found.events.filter((one) => !asked || `${one.seq} ${one.kind} ${one.raw}`.toLowerCase().includes(asked));
  return html`<input type="search" aria-label=${word("filter_events")} placeholder=${word("filter_events")} value=${store.eventFilter || ""} onInput=${(e) => set({eventFilter: e.target.value})} />
    ${found.problem && html`<p class="bad">${found.problem}</p>`}
    ${shown.length ? html`<ol class="events">${shown.map((one) => html`<li key=${one.seq}><details><summary><code>${one.seq}</code> ${one.kind} <small>${moment(one.at)}</small></summary><pre>${pretty(one.raw)}</pre></details></li>`)}</ol>` : html`<p class="soft">${word("no_events")}</p>`}
    ${(found.more || run.seq > found.last) && html`<button onClick=${() => load(run.run, store.tab, found.last)}>${word("more")}</button>`}`;
}

function pretty(raw) {
  try { return JSON.stringify(JSON.parse(raw), null, 1); } catch { return raw; }
}

const places = {idle: [0, 0], stage_running: [0, 1], step_running: [0, 2], behavior_running: [0, 3], action_running: [0, 4], action_completed: [1, 4],
  behavior_completed: [1, 3], step_completed: [1, 2], stage_completed: [1, 1], workflow_completed: [1, 0], workflow_update_pending: [0, 5], step_update_pending: [1, 5], error: [0, 6], cancelled: [1, 6]};

function States({run}) {
  const {state, allowed, history} = run.machine;
  const visited = new Set(history.flatMap(([from, , to]) => [from, to]));
  const x = ([column]) => 4 + column * 150;
  const y = ([, row]) => 6 + row * 40;
  return html`<svg class="machine" viewBox="0 0 300 284" role="img" aria-label=${`${word("state_now")}: ${state}`}>
      ${allowed.filter(([, to]) => to !== state).map(([, to]) => html`<line class="way" x1=${x(places[state]) + 70} y1=${y(places[state]) + 14} x2=${x(places[to]) + 70} y2=${y(places[to]) + 14} />`)}
      ${Object.entries(places).map(([name, place]) => html`<g class=${name === state ? "here" : visited.has(name) ? "seen" : ""}><rect x=${x(place)} y=${y(place)} width="140" height="28" rx="7" /><text class=${name.length > 20 ? "long" : ""} x=${x(place) + 70} y=${y(place) + 18}>${name}</text></g>`)}
    </svg>
    <h3>${word("allowed")}</h3><ul class="plain">${allowed.map(([event, to]) => html`<li><code>${event}</code> → ${to}</li>`)}</ul>
    <h3>${word("history")}</h3><ol class="plain" reversed>${history.slice(0, 30).map(([from, event, to]) => html`<li><code>${event}</code><br /><small>${from} → ${to}</small></li>`)}</ol>`;
}

function Files({run}) {
  if (!run.files.length) return html`<p class="soft">${word("no_files")}</p>`;
  const path = (name) => `api/${runPath(run.run, "files")}/${name.split("/").map(encodeURIComponent).join("/")}`;
  return html`<ul class="files">${run.files.map((one) => html`<li>${store.isStatic ? one.name : html`<a href=${path(one.name)} download>${one.name}</a>`}<small>${size(one.size)}</small></li>`)}</ul>`;
}
