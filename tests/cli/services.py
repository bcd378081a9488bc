"""Services for command line tests: our own in a process of its own, and one that remembers what it was sent."""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cli.shell import DEADLINE, Background, Shell, wait_until

# Two behaviors, the second behind a filter, and variables of both sizes.
COUNTING = """
name: Counting
goal: Count what there is
stages:
  - id: start
    name: The start
    steps:
      - id: make
        goal: There are rows
        behaviors:
          - actions:
              - title: Counting
              - code: rows = [3, 5, 8]; secret = 4; print("made", len(rows))
          - focus: Add them up
            context_filter:
              variables_to_include: [rows, nowhere]
              effects_config: {include_history: false}
            actions:
              - code: print(sum(rows))
                id: sum
      - id: tell
        behaviors: [{actions: [{text: "It is done."}]}]
"""


@contextmanager
def command_at(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[Background, str]]:
    """A command that serves, in a folder of its own, and the address it says it is ready at."""
    folder.mkdir(exist_ok=True)
    with Shell(folder).background(*arguments, **environment) as command:
        wait_until(lambda: command.process.poll() is not None or re.search(r"http://\S+", command.said) is not None)
        found = re.search(r"http://\S+", command.said)
        assert found is not None, command.said
        yield command, found[0]


def fetch(url: str, *, token: str = "") -> int:
    """The status of a GET."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=DEADLINE) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


class Ear:
    """Hears every request, refuses it, and remembers path, body and headers."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, bytes, dict[str, str]]] = []
        self.url = ""

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body, _ in self.heard]


@contextmanager
def ear() -> Iterator[Ear]:
    """A server that refuses everything with a reason that will not pass."""
    found = Ear()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.heard.append((self.path, body, headers))
            self.send_response(400)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
