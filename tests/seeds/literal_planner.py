"""A planner made of the documents' snippets: 004's judgement, the lines of 002's stream, and HTTP around them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from seeds.pages import TYPING, block

PLAN = {"name": "Loading", "stages": [{"id": "data_analysis", "steps": [{"id": "load_data"}]}]}
STREAMED = ("/generating", "/generate")


class LiteralServer(ThreadingHTTPServer):
    """On a free port of this machine; `asked` has the paths of the requests."""

    daemon_threads = True
    # As many clients as the system lets wait: the kit asks several questions at once.
    request_queue_size = 64

    def __init__(self) -> None:
        self.asked: list[str] = []
        # Everything after the headers, as printed.
        self.lines = block("002", 378, "http").split("\n\n", 1)[1].splitlines()
        names: dict[str, Any] = {**TYPING, "analyze_goal_achievement": is_achieved}
        # `{...}` stands for what the reader fills in.
        exec(compile(block("004", 497).replace("{...}", "{}"), "004:497", "exec"), names)
        self.check_goal: Callable[[dict[str, Any]], dict[str, Any]] = names["check_goal"]
        # Last: where a document is missing the test is skipped above, and no socket is left open.
        super().__init__(("127.0.0.1", 0), LiteralPlanner)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def is_achieved(context: dict[str, Any], progress: dict[str, Any]) -> bool:
    """What the document leaves to the reader: the table is there, or no step is left without a behavior."""
    behaviors, steps = progress.get("behaviors") or {}, progress.get("steps") or {}
    return "df" in context.get("variables", {}) or bool(behaviors.get("completed") or steps.get("completed"))


class LiteralPlanner(BaseHTTPRequestHandler):
    """One request: refused where 002 wants a field, else answered by the snippets."""

    server: LiteralServer
    protocol_version = "HTTP/1.1"
    KNOWN: ClassVar = ("/planning", *STREAMED)

    def do_POST(self) -> None:
        """Judge, or stream the actions."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(self.path)
        if self.path not in self.KNOWN:
            self._answer(404, {"error": f"there is no {self.path}"})
            return
        try:
            request = json.loads(body)
        except ValueError as error:
            self._answer(400, {"error": f"no JSON: {error}"})
            return
        missing = missing_field(request)
        if missing:
            self._answer(422, {"error": "Missing required 'progress_info' in state.", "problems": [{"path": missing}]})
        elif self.path == "/planning":
            self._answer(200, self._judgement(request))
        elif (request.get("options") or {}).get("stream"):
            self._stream()
        else:
            self._answer(200, {"actions": [json.loads(line)["action"] for line in self.server.lines]})

    def do_GET(self) -> None:
        """Only /health is read."""
        if self.path == "/health":
            self._answer(200, {"status": "ok"})
        else:
            self._answer(405 if self.path in self.KNOWN else 404, {"error": "POST a request"})

    do_HEAD = do_GET

    def _judgement(self, request: dict[str, Any]) -> dict[str, Any]:
        observation = {"context": {}, **request["observation"]}
        answer = self.server.check_goal(observation)
        if not observation["location"]["current"].get("stage_id"):
            # The first question of a run has no place yet: the plan is the answer.
            answer["targetAchieved"] = answer["transition"]["target_achieved"] = False
            answer["context_update"]["workflow_update"] = PLAN
        elif (request.get("behavior_feedback") or {}).get("errors"):
            answer["targetAchieved"] = answer["transition"]["target_achieved"] = False
        return answer

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in [*self.server.lines, None]:
            piece = b"" if line is None else line.encode() + b"\n"
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 405:
            self.send_header("Allow", "POST")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads the log of a test's server."""


def missing_field(request: Any) -> str:
    """The path of the first field that 002 requires and that is not there; empty: none."""
    held, path = request, ""
    for name in ("observation", "location"):
        path = f"{path}.{name}".lstrip(".")
        held = held.get(name) if isinstance(held, dict) else None
        if not isinstance(held, dict):
            return path
    return next((f"{path}.{name}" for name in ("current", "progress") if not isinstance(held.get(name), dict)), "")


@contextmanager
def literal_planner() -> Iterator[LiteralServer]:
    """The planner, answering. Skips the test where the documents are missing."""
    with LiteralServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
