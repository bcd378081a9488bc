// What stands beside the notebook: findings, variables, events, the exchange with the planner, states, files.
import {focusOn, html, moment, set, size, store, word} from "./view.js";
import {get, runPath} from "./requests.js";

const names = ["findings", "variables", "outputs", "events", "exchange", "states", "files"];
const exchange = "planning_asked,planning_answered,generating_asked,generating_ended,generating_failed,model_asked,action_received";

export function Tabs({run}) {
  const shown = names.filter((one) => !store.isStatic || !["events", "exchange"].includes(one));
  const move = (e) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (step) open(shown[(shown.indexOf(store.tab) + step + shown.length) % shown.length], run);
  };
  const parts = {findings: Findings, variables: Variables, outputs: Outputs, events: Events, exchange: Events, states: States, files: Files};
  return html`<div class="tabs" role="tablist" onKeyDown=${move}>${shown.map((one) => html`<button role="tab" id=${`tab-${one}`} aria-selected=${store.tab === one} aria-controls="panel" tabindex=${store.tab === one ? 0 : -1} onClick=${() => open(one, run)}>${word(`tab_${one}`)}</button>`)}</div>
    <div role="tabpanel" id="panel" tabindex="0" aria-labelledby=${`tab-${store.tab}`} class="panel"><${parts[store.tab]} run=${run} /></div>`;
}

function open(tab, run) {
  set({tab});
  if (tab === "events" || tab === "exchange") load(run.run, tab, 0);
  focusOn(`#tab-${tab}`);
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
  return html`<ul class="notes">${run.findings.slice().reverse().map((one) => html`<li class=${one.kind}><small>${word(one.kind)}</small> ${one.text} ${one.cell && html`<${CellLink} run=${run} cell=${one.cell} />`}</li>`)}</ul>`;
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
  return html`<dl class="kv">${run.variables.map((one) => html`<dt class=${`${one.new ? "new" : ""} ${one.name === store.variable ? "chosen" : ""}`} id=${`v-${one.name}`}>${one.cell ? html`<${CellLink} run=${run} cell=${one.cell} text=${one.name} />` : one.name}</dt><dd title=${one.text}>${one.text}${one.new ? ` · ${word("new")}` : ""}</dd>`)}</dl>`;
}

function CellLink({run, cell, text}) {
  const at = run.order.indexOf(cell) + 1;
  return at ? html`<a href=${`#c-${cell}`} title=${`${word("cell")} ${at}`} onClick=${(e) => { e.preventDefault(); reach(cell); }}>${text || `${word("cell")} ${at}`}</a>` : text || "";
}

// A variable that something speaks of; without a name all of them.
export function showVariable(name) {
  set({tab: "variables", variable: name});
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const found = name && document.getElementById(`v-${name}`);
    const aside = found && found.closest("aside");
    if (aside && innerWidth > 900) aside.scrollTop += found.getBoundingClientRect().top - aside.getBoundingClientRect().top - 80;
  }));
}

function Outputs({run}) {
  const {levels, missing, artifacts} = run.tracking;
  const shown = Object.entries(levels).filter(([, outputs]) => outputs.length);
  if (!shown.length && !artifacts.length) return html`<p class="soft">${word("no_outputs")}</p>`;
  const cellOf = Object.fromEntries(run.variables.map((one) => [one.name, one.cell]));
  return html`${missing.length > 0 && html`<p class="bad">${word("missing_outputs")}: ${missing.join(", ")}</p>`}
    ${shown.map(([level, outputs]) => html`<h3>${word(`level_${level}`)}</h3><dl class="kv">${outputs.map(([name, status]) => html`<dt>${name}</dt><dd>${word(status)} ${cellOf[name] && html`<${CellLink} run=${run} cell=${cellOf[name]} />`}</dd>`)}</dl>`)}
    ${artifacts.length > 0 && html`<h3>${word("artifacts")}</h3><ul class="notes">${artifacts.map((one) => html`<li key=${one.id}><b>${one.id}</b> <code>${one.variable}</code> <${CellLink} run=${run} cell=${one.cell} />
      ${one.description && html`<br />${one.description}`}<br /><small>${[one.parent && `${word("made_of")} ${one.parent}`, one.source && `${word("made_by")} ${one.source}`, moment(one.at)].filter(Boolean).join(" · ")}</small></li>`)}</ul>`}`;
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
