// All runs, a new one, and two side by side.
import {html, mayChange, moment, set, store, word} from "./view.js";
import {post} from "./requests.js";

const statuses = ["running", "waiting", "completed", "failed", "paused", "cancelled", "interrupted", "killed"];

export function Runs() {
  if (!store.runs) return html`<main class="list"><${Skeleton} rows=${6} /></main>`;
  const words = store.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = store.runs.filter((run) => (!store.status || run.status === store.status || (store.status === "waiting" && run.waits))
    && words.every((one) => [run.run, run.goal, run.data, run.target, run.answer].join(" ").toLowerCase().includes(one)));
  return html`<main class="list" id="main">
    <div class="bar"><h1>${word("runs")}</h1>
      <input type="search" aria-label=${word("search")} placeholder=${word("search")} value=${store.filter} onInput=${(e) => set({filter: e.target.value})} />
      <select aria-label=${word("filter")} value=${store.status} onChange=${(e) => set({status: e.target.value})}>
        <option value="">${word("all")}</option>
        ${statuses.map((one) => html`<option value=${one}>${word(`status_${one}`)}</option>`)}
      </select>
      ${store.chosen.length === 2 && html`<a class="button" href=${`#/compare/${store.chosen.map(encodeURIComponent).join("/")}`}>${word("compare")}</a>`}
      ${mayChange() && html`<a class="button main" href="#/new">${word("new_run")}</a>`}
    </div>
    ${store.chosen.length === 1 && html`<p class="soft">${word("compare_hint")}</p>`}
    ${!store.runs.length ? html`<p class="empty">${word("no_runs")}</p>` : !shown.length ? html`<p class="empty">${word("no_match")}</p>` : html`
    <ul class="runs">${shown.map((run) => html`<${Row} key=${run.run} run=${run} />`)}</ul>`}
  </main>`;
}

function Row({run}) {
  const picked = store.chosen.includes(run.run);
  const choose = () => set({chosen: picked ? store.chosen.filter((one) => one !== run.run) : [...store.chosen, run.run].slice(-2)});
  return html`<li class=${`row ${run.waits ? "waits" : ""}`}>
    <input type="checkbox" aria-label=${`${word("compare")}: ${run.run}`} checked=${picked} onChange=${choose} />
    <a href=${`#/run/${encodeURIComponent(run.run)}`}><b>${run.goal || run.data || run.run}</b><small>${run.run}${run.target ? ` · ${run.target}` : ""}</small></a>
    <span class="told">${run.result || run.answer || (run.status === "running" || run.waits ? "" : run.detail || run.problem)}</span>
    <span class="meter"><i style=${{width: `${Math.round((run.share || 0) * 100)}%`}}></i><small>${run.steps || ""}</small></span>
    <span class=${`state ${run.waits ? "wait" : run.status}`}>${run.waits ? `${word("status_waiting")} · ${word(`waits_${run.waits}`)}` : word(`status_${run.status}`)}${(run.lacks || []).map((one) => `, ${word(one)}`)}</span>
    <small class="when">${moment(run.started)}<br />${run.time || ""}${run.cost ? ` · ${run.cost}` : ""}</small>
  </li>`;
}

export function Skeleton({rows}) {
  return html`<div class="skeleton" role="status" aria-label=${word("loading")}>${Array.from({length: rows}, () => html`<i></i>`)}</div>`;
}

export function NewRun() {
  const form = store.form;
  const change = (name) => (e) => set({form: {...form, [name]: e.target.type === "checkbox" ? e.target.checked : e.target.value}});
  const field = (name, hint) => html`<label><span>${word(name)}${hint ? "" : html` <small>(${word("optional")})</small>`}</span><input name=${name} value=${form[name] || ""} onInput=${change(name)} required=${!!hint} /></label>`;
  const send = async (e) => {
    e.preventDefault();
    const {address, ...body} = form;
    set({busy: true, said: ""});
    try {
      const made = await post("runs", {...body, planner: form.planner === "url" ? address || "" : form.planner});
      set({busy: false, form: {planner: ""}});
      location.hash = `#/run/${encodeURIComponent(made.run)}`;
    } catch (error) { set({busy: false, said: error.message}); }
  };
  return html`<main class="list" id="main"><h1>${word("new_run")}</h1><form class="new" onSubmit=${send}>
    ${field("path", form.planner !== "url")}${field("target")}${field("goal")}
    <label><span>${word("planner")}</span><select value=${form.planner} onChange=${change("planner")}>
      <option value="">${word("planner_playbook")}</option><option value="llm">${word("planner_llm")}</option><option value="url">${word("planner_url")}</option></select></label>
    ${form.planner === "llm" && html`${field("model", true)}${field("budget")}`}
    ${form.planner === "url" && field("address", true)}
    ${field("name")}
    <label class="check"><input type="checkbox" checked=${form.ask !== false} onChange=${change("ask")} /> ${word("ask_me")}</label>
    ${store.said && html`<p class="bad" role="alert">${store.said}</p>`}
    <div class="buttons"><button class="main" disabled=${store.busy}>${word(store.busy ? "starting" : "start")}</button><a class="button" href="#/">${word("back")}</a></div>
  </form></main>`;
}

export function Compare() {
  const found = store.compare;
  if (!found) return html`<main class="list"><${Skeleton} rows=${8} /></main>`;
  const table = (name, rows, draw) => rows.length ? html`<h2>${word(name)}</h2><table class="compare"><thead><tr><th></th>${found.runs.map((run) => html`<th><a href=${`#/run/${encodeURIComponent(run)}`}>${run}</a></th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr class=${row.same ? "same" : "other"}><th scope="row">${row.name ? word(row.name) : ""}<small>${row.same ? "" : row.left == null ? word("only_right") : row.right == null ? word("only_left") : word("differs")}</small></th><td>${draw(row.left)}</td><td>${draw(row.right)}</td></tr>`)}</tbody></table>` : "";
  const text = (value) => value;
  return html`<main class="list wide" id="main"><h1>${word("compare")}</h1>
    ${table("facts", found.facts, text)}${table("plan", found.plan, (value) => html`<span class="pre">${value}</span>`)}
    ${table("tab_findings", found.findings, text)}${table("cells", found.cells, (value) => value == null ? "" : html`<pre>${value}</pre>`)}
  </main>`;
}
