"""A planner of your own: `python minimal_planner.py [PORT]`, then `nbcc run --planner http://127.0.0.1:PORT`."""

import json
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

MAKES = {"load": "numbers", "average": "mean"}
CODE = {"load": "numbers = [3, 1, 4, 1, 5]", "average": "mean = sum(numbers) / len(numbers)\nprint(mean)"}
STEPS = [{"id": step, "goal": f"{name} exists", "expected_outputs": [name]} for step, name in MAKES.items()]
PLAN = {"name": "A mean", "stages": [{"id": "work", "goal": "the mean of some numbers", "steps": STEPS}]}


def judge(where, step, context, feedback):
    if not where["current"].get("stage_id"):  # nothing has begun: bring the plan
        return {"targetAchieved": False, "context_update": {"workflow_update": PLAN}}
    state = (context.get("FSM") or {}).get("state", "").lower()
    if state in ("stage_running", "step_completed", "stage_completed"):  # is the stage done?
        return {"targetAchieved": not (where["progress"].get("steps") or {}).get("remaining")}
    return {"targetAchieved": MAKES[step] in context.get("variables", {}) and not feedback.get("errors")}


def actions(step):
    yield {"action": "add", "shot_type": "action", "content": CODE[step]}
    yield {"action": "exec", "codecell_id": "lastAddedCellId"}


async def answer(http):
    try:
        request = json.loads(await http.body())
        where = dict(request.get("observation", {}).get("location", {}))
    except (AttributeError, TypeError, ValueError) as error:
        return JSONResponse({"error": f"not a request: {error}"}, 400)
    if missing := [f"observation.location.{name}" for name in ("current", "progress") if name not in where]:
        return JSONResponse({"error": "fields are missing", "problems": missing}, 422)
    step = where["current"].get("step_id") or where["current"].get("step_index")
    if step and step not in MAKES:
        return JSONResponse({"error": {"code": "unknown_position", "known": {"stages": {"work": list(MAKES)}}}}, 409)
    if http.url.path == "/planning":
        context, feedback = request["observation"].get("context") or {}, request.get("behavior_feedback") or {}
        verdict = judge(where, step, context, feedback)
        both = {"continue_behaviors": False, "target_achieved": verdict["targetAchieved"]}
        return JSONResponse({**verdict, "transition": both})
    if not (request.get("options") or {}).get("stream"):
        return JSONResponse({"actions": list(actions(step))})
    lines = (json.dumps({"action": action}) + "\n" for action in actions(step))
    return StreamingResponse(lines, media_type="application/x-ndjson")


questions = [Route(path, answer, methods=["POST"]) for path in ("/planning", "/generating", "/generate")]
app = Starlette(routes=[*questions, Route("/health", lambda http: JSONResponse({"status": "ok"}))])
if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]) if sys.argv[1:] else 28600)
