// Shared by all tabs of a browser: one stream for whatever they look at together.
const tabs = new Map();
let source = null;
let topics = "";
const cursors = new Map();

onconnect = (event) => {
  const port = event.ports[0];
  tabs.set(port, {topic: null, seen: Date.now()});
  port.onmessage = ({data}) => {
    const tab = tabs.get(port) || {topic: null};
    if (data.leave) {
      tabs.delete(port);
    } else if (data.alive) {
      tabs.set(port, {...tab, seen: Date.now()});
      return;
    } else {
      tabs.set(port, {topic: data.topic, lang: data.lang, base: data.base, seen: Date.now()});
      // The tab has a snapshot of its own: the stream goes on from the oldest of them.
      if (data.topic) cursors.set(data.topic, Math.min(data.after, cursors.get(data.topic) ?? data.after));
    }
    listen(data.topic !== undefined);
  };
};

function listen(joined) {
  for (const [port, tab] of tabs) if (Date.now() - tab.seen > 60000) tabs.delete(port);
  const wanted = [...tabs.values()].filter((tab) => tab.base);
  const runs = [...new Set(wanted.map((tab) => tab.topic).filter(Boolean))].sort();
  const list = wanted.some((tab) => !tab.topic);
  const next = JSON.stringify([runs, list, wanted[0] && wanted[0].lang]);
  if (next === topics && !joined) return;
  topics = next;
  if (source) source.close();
  source = null;
  if (!wanted.length) return;
  const asked = new URLSearchParams();
  for (const run of runs) asked.append("run", run);
  if (list) asked.set("list", "1");
  if (wanted[0].lang) asked.set("lang", wanted[0].lang);
  asked.set("after", runs.map((run) => cursors.get(run) || 0).join(","));
  source = new EventSource(`${wanted[0].base}api/stream?${asked}`);
  source.onopen = () => tell({kind: "online"});
  source.onerror = () => {
    tell({kind: "offline"});
    // Refused, not interrupted: the browser would not try again by itself.
    if (source && source.readyState === 2) setTimeout(() => listen(true), 3000);
  };
  source.addEventListener("run", (event) => {
    const data = JSON.parse(event.data);
    cursors.set(data.run, data.seq);
    tell({kind: "run", data}, data.run);
  });
  source.addEventListener("runs", (event) => tell({kind: "runs", data: JSON.parse(event.data)}, null));
}

function tell(message, topic) {
  for (const [port, tab] of tabs) if (topic === undefined || (tab.topic || null) === topic) port.postMessage(message);
}
