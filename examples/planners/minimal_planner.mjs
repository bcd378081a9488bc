// A planner of your own: `node minimal_planner.mjs [PORT]`, then `nbcc run --planner http://127.0.0.1:PORT`.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

const MAKES = { load: "numbers", average: "mean" };
const CODE = { load: "numbers = [3, 1, 4, 1, 5]", average: "mean = sum(numbers) / len(numbers)\nprint(mean)" };
const STEPS = Object.entries(MAKES).map(([id, name]) => ({ id, goal: `${name} exists`, expected_outputs: [name] }));
const PLAN = { name: "A mean", stages: [{ id: "work", goal: "the mean of some numbers", steps: STEPS }] };

function judge(where, step, context, feedback) {
  if (!where.current.stage_id) return { targetAchieved: false, context_update: { workflow_update: PLAN } };
  const state = (context.FSM?.state ?? "").toLowerCase();
  if (["stage_running", "step_completed", "stage_completed"].includes(state)) // is the stage done?
    return { targetAchieved: !where.progress.steps?.remaining?.length };
  return { targetAchieved: MAKES[step] in (context.variables ?? {}) && !feedback.errors?.length };
}

function* actions(step) {
  yield { action: "add", shot_type: "action", content: CODE[step] };
  yield { action: "exec", codecell_id: "lastAddedCellId" };
}

function answer(path, body) {
  let request;
  try { request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)); } catch { /* refused below */ }
  if (request?.constructor !== Object) return [400, { error: "not a JSON object" }];
  const { location: where = {}, context } = request.observation ?? {};
  const missing = ["current", "progress"].filter((name) => !where[name]).map((name) => `observation.location.${name}`);
  if (missing.length) return [422, { error: "fields are missing", problems: missing }];
  const step = where.current.step_id ?? where.current.step_index;
  if (step && !(step in MAKES))
    return [409, { error: { code: "unknown_position", known: { stages: { work: Object.keys(MAKES) } } } }];
  const verdict = judge(where, step, context ?? {}, request.behavior_feedback ?? {});
  const transition = { continue_behaviors: false, target_achieved: verdict.targetAchieved };
  if (path === "/planning") return [200, { ...verdict, transition }];
  return [200, request.options?.stream ? actions(step) : { actions: [...actions(step)] }];
}

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  const known = ["/planning", "/generating", "/generate"].includes(request.url);
  const [status, data] = request.url === "/health" ? [200, { status: "ok" }] : !known ? [404, { error: "not here" }]
    : request.method === "POST" ? answer(request.url, body) : [405, { error: "POST a request" }];
  const streamed = typeof data.next === "function";
  response.writeHead(status, { "content-type": streamed ? "application/x-ndjson" : "application/json" });
  if (streamed) for (const action of data) response.write(JSON.stringify({ action }) + "\n");
  response.end(streamed ? undefined : JSON.stringify(data));
});
const port = Number(process.argv[2] ?? 28600);
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
