// One run: its plan, its notebook, and what waits for somebody.
import {focusOn, html, mayChange, seconds, set, store, word} from "./view.js";
import {post, runPath} from "./requests.js";
import {Skeleton} from "./runs.js";
import {Tabs, reach, showVariable} from "./tabs.js";

export function Run() {
  const run = store.run;
  if (!run) return html`<div class="cols"><nav><${Skeleton} rows=${8} /></nav><main><${Skeleton} rows=${6} /></main><aside></aside></div>`;
  return html`<div class="cols">
    <nav aria-label=${word("plan")}><h2>${word("plan")}</h2>${run.plan.length ? html`<ul>${run.plan.map((one) => html`<${Stage} stage=${one} />`)}</ul>` : html`<p class="soft">${word("no_plan")}</p>`}
      ${run.outputs.length > 0 && html`<h2 class="below">${word("outputs")}</h2><dl class="kv">${run.outputs.map(([name, status]) => html`<dt>${name}</dt><dd>${word(status)}</dd>`)}</dl>`}
    </nav>
    <main id="main" tabindex="-1" onClick=${followed}>
      ${run.problem && html`<p class="bad" role="alert">${run.problem}</p>`}
      ${(run.head.result || run.head.answer.length > 0) && html`<section class="result"><b>${run.head.result}</b>${run.head.answer.map((line) => html`<p>${line}</p>`)}</section>`}
      ${!run.order.length ? html`<p class="empty">${word("no_cells")}</p>` : run.order.map((id, at) => run.cells[id] && html`<${Cell} key=${id} cell=${run.cells[id]} number=${at + 1} live=${run.head.status === "running"} />`)}
      ${run.head.status !== "running" && run.head.detail && !run.ask && html`<p class="stopped">${word(`status_${run.head.status}`)}: ${run.head.detail}</p>`}
    </main>
    <aside aria-label=${word("for_you")}>
      <div aria-live="polite">${run.ask && !store.isStatic ? html`<${Ask} ask=${run.ask} run=${run} />` : ""}${run.head.state === "error" && run.head.can.includes("resume") && mayChange() ? html`<${Failed} run=${run} />` : ""}</div>
      ${store.said && html`<p class="said" role="status">${store.said}</p>`}
      <${Tabs} run=${run} />
    </aside>
  </div>`;
}

// Links of a cell stay on the page, or lead to a tab of their own.
function followed(event) {
  const link = event.target.closest(".body a");
  const to = link && link.getAttribute("href");
  if (!to) return;
  if (link.classList.contains("number")) {
    event.preventDefault();
    showVariable(link.dataset.variable);
    reach(to.slice(3));
  } else if (to.startsWith("#")) {
    event.preventDefault();
    const found = document.getElementById(decodeURI(to.slice(1)));
    if (found && found.closest("main")) found.scrollIntoView();
  } else if (/^https?:/i.test(to)) {
    event.preventDefault();
    window.open(to, "_blank", "noopener,noreferrer");
  }
}

function Failed({run}) {
  return html`<section class="ask failed"><h2>${word("ended_in_error")}</h2><p>${run.head.detail}</p>
    <div class="buttons"><button class="main" disabled=${store.busy} onClick=${() => send(run.run, "resume", {})}>${word("restart_behavior")}</button></div></section>`;
}

function Stage({stage}) {
  return html`<li class=${`${stage.status} ${stage.waits ? "waits" : ""}`} aria-current=${stage.status === "now" ? "step" : null} title=${stage.goal}>
    <span>${stage.title}</span> <small>${stage.waits && !stage.steps.length ? word("status_waiting") : seconds(stage.seconds)}</small>
    ${stage.steps.length > 0 && html`<ul>${stage.steps.map((one) => html`<${Step} step=${one} />`)}</ul>`}</li>`;
}

function Step({step}) {
  return html`<li class=${`${step.status} ${step.waits ? "waits" : ""}`} title=${step.goal}><span>${step.title}</span> <small>${step.waits ? word("status_waiting") : seconds(step.seconds)}</small>
    ${step.behaviors.length > 0 && html`<ul>${step.behaviors.map((one) => html`<li class=${`${one.status} ${one.waits ? "waits" : ""}`}><span>${one.title}</span></li>`)}</ul>`}</li>`;
}

function Cell({cell, number, live}) {
  const body = html`<div class="body" dangerouslySetInnerHTML=${{__html: cell.html}}></div>`;
  if (cell.kind !== "code") return html`<div class="cell" id=${`c-${cell.id}`} tabindex="-1">${body}</div>`;
  const running = cell.status === "running" && live;
  const passed = running && cell.since ? Math.max(0, (Date.now() - Date.parse(cell.since)) / 1000) : null;
  const told = running ? word("running_for", {seconds: seconds(passed)}) : `${word(`cell_${cell.status === "running" ? "new" : cell.status}`)}${cell.seconds != null && cell.status !== "new" ? ` · ${seconds(cell.seconds)}` : ""}`;
  const repaired = cell.debug && cell.debug.tried.length && cell.status === "ok" ? ` · ${word("repaired", {count: cell.debug.tried.length})}` : "";
  const open = store.debug === cell.id;
  const debug = cell.debug && html`<button class="debug" aria-expanded=${open} onClick=${() => set({debug: open ? "" : cell.id})}>${word("debug")}</button>`;
  const panel = cell.debug && open && html`<${Debug} cell=${cell} />`;
  const who = html`<div class="who"><span>${number} · ${cell.where}${repaired}</span><span>${told}${debug}</span></div>`;
  if (cell.status === "failed") return html`<details class="cell failed" id=${`c-${cell.id}`} tabindex="-1"><summary>${number} · ${word("failed_attempt")} · ${cell.where}</summary><div class="who"><span>${told}</span><span>${debug}</span></div>${panel}${body}</details>`;
  return html`<div class=${`cell ${running ? "running" : ""}`} id=${`c-${cell.id}`} tabindex="-1" aria-busy=${running}>${who}${panel}${body}</div>`;
}

// Why a cell failed and what was tried. What can be done about it is what the state machine allows.
function Debug({cell}) {
  const run = store.run;
  const restarts = run.head.state === "error" && run.head.can.includes("resume") && mayChange();
  const {tried, auto} = cell.debug;
  return html`<div class="debugging" role="group" aria-label=${word("debug")}>
    <p>${word(tried.length ? "debug_tried" : auto ? "debug_auto" : cell.status === "failed" ? "debug_told" : "debug_none", {count: tried.length})}</p>
    ${tried.map((one) => html`<details key=${one.attempt}><summary>${word("attempt", {number: one.attempt})} · ${one.error.trim().split("\n").pop()}</summary><pre class="hl">${one.source}</pre><pre class="error">${one.error}</pre></details>`)}
    <div class="buttons">${restarts && html`<button class="main" disabled=${store.busy} onClick=${() => send(run.run, "resume", {})}>${word("restart_behavior")}</button>`}
      <button onClick=${() => { set({debug: ""}); showVariable(""); }}>${word("tab_variables")}</button>
      ${!store.isStatic && html`<button onClick=${() => navigator.clipboard && navigator.clipboard.writeText(document.querySelector(`#c-${CSS.escape(cell.id)} .input`).innerText)}>${word("copy_code")}</button>`}</div>
  </div>`;
}

export function startRejecting() {
  set({rejecting: true});
  focusOn(".ask input");
}

export function startEditing() {
  set({editing: writeEdited(store.run.ask.editable)});
  focusOn(".ask textarea");
}

export async function send(run, path, body, said) {
  if (store.busy) return;
  set({busy: true, said: ""});
  try {
    await post(runPath(run, path), body);
    set({busy: false, said: said || "", editing: null, rejecting: false, comment: "", asking: ""});
  } catch (error) { set({busy: false, said: error.message}); }
}

export function answer(confirmed) {
  const {ask, run} = store.run;
  const edited = confirmed && store.editing ? {edited: readEdited(store.editing)} : {};
  return send(run, "answer", {answers: ask.answers, confirmed, comment: store.comment, ...edited}, word("answered_ok"));
}

const writeEdited = (items) => items.map((one) => [one.id, one.name, one.goal].join(" | ")).join("\n");
const readEdited = (text) => text.split("\n").filter((line) => line.trim()).map((line) => {
  const [id, name, ...goal] = line.split("|").map((part) => part.trim());
  return {id, name: name || "", goal: goal.join(" | ")};
});

function Ask({ask, run}) {
  if (ask.kind === "question") return html`<${Question} ask=${ask} run=${run} />`;
  const marks = {"+": "add", "-": "gone", "~": "changed"};
  return html`<section class="ask" role="group" aria-label=${word("change_title")}>
    <h2>${word(ask.steps_only ? "change_steps" : "change_title")}</h2>
    ${ask.reason && html`<p>${ask.reason} ${ask.cell && html`<a href=${`#c-${ask.cell}`} onClick=${(e) => { e.preventDefault(); reach(ask.cell); }}>${word("cell")} ${run.order.indexOf(ask.cell) + 1}</a>`}</p>`}
    <div class="diff">${ask.lines.map(([mark, text]) => html`<div class=${marks[mark] || ""} style=${{paddingLeft: `${24 + 7 * text.search(/\S|$/)}px`}}><b>${mark}</b>${text.trim()}</div>`)}</div>
    ${ask.steps_only && html`<p class="soft">${word("reject_ends")}</p>`}
    ${mayChange() ? html`
      ${store.editing != null && html`<label class="edit"><span class="soft">${word("edit_hint")}</span><textarea rows="8" value=${store.editing} onInput=${(e) => set({editing: e.target.value})}></textarea></label>`}
      ${(store.rejecting || store.editing != null) && html`<input aria-label=${word("comment")} placeholder=${word("comment")} value=${store.comment} onKeyDown=${(e) => e.key === "Enter" && answer(!store.rejecting)} onInput=${(e) => set({comment: e.target.value})} />`}
      <div class="buttons">
        <button class="main" id="confirm" disabled=${store.busy} onClick=${() => answer(true)}>${word(store.editing != null ? "edit_send" : "confirm")}<kbd>y</kbd></button>
        <button id="reject" disabled=${store.busy} onClick=${() => store.rejecting ? answer(false) : startRejecting()}>${word("reject")}<kbd>n</kbd></button>
        ${store.editing == null && html`<button id="edit" onClick=${startEditing}>${word("edit")}<kbd>e</kbd></button>`}
      </div>` : html`<p class="soft">${word("read_only")}</p>`}
  </section>`;
}

function Question({ask, run}) {
  const reply = (text) => send(run.run, "answer", {answers: ask.answers, reply: text}, word("answered_ok"));
  return html`<section class="ask" role="group" aria-label=${word("question_title")}><h2>${word("question_title")}</h2><p>${ask.text}</p>
    ${mayChange() && html`<div class="buttons">${ask.options.map((one) => html`<button disabled=${store.busy} onClick=${() => reply(one)}>${one}</button>`)}</div>
    <form onSubmit=${(e) => { e.preventDefault(); reply(store.comment); }}><input aria-label=${word("answer")} value=${store.comment} onInput=${(e) => set({comment: e.target.value})} />
    <button class="main" disabled=${store.busy || !store.comment}>${word("answer")}</button></form>`}</section>`;
}

export function RunHead() {
  const run = store.run;
  if (!run) return html`<b>${store.route[1] || ""}</b><span class="fill"></span>`;
  const head = run.head;
  const waits = !!run.ask;
  const can = (what) => mayChange() && head.can.includes(what);
  const steps = head.of ? word("step_of", {done: head.done, of: `${head.of}${head.more ? "+" : ""}`}) : "";
  const ask = (what) => set({asking: what, word: "", said: ""});
  return html`<b class="title" title=${head.goal}>${head.title}</b>
    <span class=${`state ${waits ? "wait" : head.status}`}>${waits ? word("status_waiting") : word(`status_${head.status}`)}${head.lacks.map((one) => `, ${word(one)}`)} · <code>${head.state}</code></span>
    <div class="prog"><div role="progressbar" aria-valuenow=${Math.round(head.share * 100)} aria-valuemin="0" aria-valuemax="100" aria-label=${word("progress")}><i style=${{width: `${Math.round(head.share * 100)}%`}}></i></div>
    <small>${[steps, head.left].filter(Boolean).join(" · ")}</small></div>
    <small>${[head.status === "running" ? word("elapsed", {time: head.elapsed}) : head.elapsed, head.status === "running" ? word(head.kernel ? "kernel_up" : "kernel_down") : "", head.cost].filter(Boolean).join(" · ")}</small>
    <span class="fill"></span>
    ${can("pause") && html`<button title=${word("pausing")} onClick=${() => send(run.run, "pause", {}, word("pausing"))}>${word("pause")}<kbd>p</kbd></button>`}
    ${can("resume") && !waits && html`<button class="main" disabled=${store.busy} onClick=${() => send(run.run, "resume", {})}>${word(head.state === "error" ? "restart_behavior" : "resume")}</button>`}
    ${can("restart") && html`<button disabled=${store.busy} onClick=${() => send(run.run, "resume", {restart: "reset"})}>${word("restart")}</button>`}
    ${can("cancel") && html`<button onClick=${() => ask("cancel")}>${word("cancel")}</button>`}
    ${can("delete") && html`<button onClick=${() => ask("delete")}>${word("delete")}</button>`}
    ${store.asking && html`<${Sure} run=${run} />`}`;
}

function Sure({run}) {
  const deletes = store.asking === "delete";
  const go = async (e) => {
    e.preventDefault();
    await send(run.run, store.asking, deletes ? {word: store.word} : {});
    if (deletes && !store.said) location.hash = "#/";
  };
  return html`<form class="sure" role="alertdialog" onSubmit=${go}><p>${word(deletes ? "delete_sure" : "cancel_sure")}</p>
    ${deletes && html`<input aria-label=${word("delete_sure")} value=${store.word} onInput=${(e) => set({word: e.target.value})} />`}
    <div class="buttons"><button class="main" disabled=${store.busy || (deletes && store.word !== "delete")}>${word(store.asking)}</button><button type="button" onClick=${() => set({asking: ""})}>${word("close")}</button></div></form>`;
}
