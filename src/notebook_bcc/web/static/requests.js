// Everything that is asked of the server, and the one stream of what happens.
import {set, store} from "./view.js";

let stream = null;
let listener = () => {};

// What somebody chose, else Chinese for a Chinese browser, else that of the server.
export function language() {
  const spoken = /^zh/.test(navigator.language) ? "zh" : "";
  try { return localStorage.getItem("nbcc-lang") || spoken; } catch { return spoken; }
}

function address(path, query) {
  const asked = new URLSearchParams(query || []);
  if (language()) asked.set("lang", language());
  const text = asked.toString();
  return `api/${path}${text ? `?${text}` : ""}`;
}

async function answered(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ? body.error.message : `${response.status}`);
  return body;
}

export async function get(path, query) {
  return answered(await fetch(address(path, query)));
}

export async function post(path, body) {
  const sent = {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body || {})};
  return answered(await fetch(address(path), sent));
}

export const runPath = (run, more) => `runs/${encodeURIComponent(run)}${more ? `/${more}` : ""}`;

// One stream a browser: a worker shared by all tabs where there is one, else a stream of this tab's own.
export function watch(topic, after, callback) {
  listener = callback;
  if (typeof SharedWorker === "undefined") {
    if (stream) stream.close();
    stream = opened(topic, after);
    return;
  }
  if (!stream) {
    stream = new SharedWorker("static/worker.js");
    stream.port.onmessage = (event) => receive(event.data);
    addEventListener("pagehide", () => stream.port.postMessage({leave: true}));
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
    setInterval(() => stream.port.postMessage({alive: true}), 10000);
  }
  stream.port.postMessage({topic, after, lang: language(), base: new URL(".", location.href).href});
}

function opened(topic, after) {
  const source = new EventSource(address("stream", topic ? [["run", topic], ["after", after]] : [["list", "1"]]));
  source.onopen = () => receive({kind: "online"});
  source.onerror = () => {
    receive({kind: "offline"});
    // Refused, not interrupted: the browser would not try again by itself.
    if (source.readyState === 2) setTimeout(() => { if (stream === source) stream = opened(topic, after); }, 3000);
  };
  for (const kind of ["run", "runs"]) {
    source.addEventListener(kind, (event) => receive({kind, data: JSON.parse(event.data)}));
  }
  return source;
}

function receive(message) {
  if (message.kind === "online" || message.kind === "offline") {
    if (store.offline !== (message.kind === "offline")) set({offline: message.kind === "offline"});
  } else {
    listener(message.kind, message.data);
  }
}
