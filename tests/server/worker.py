"""A service of its own process, in front of a script. Run: python worker.py SCRIPT; prints its address."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from notebook_bcc.planners.script.file import read_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.server.app import build_app
from notebook_bcc.server.serving import serve
from notebook_bcc.server.settings import ServerSettings


def say(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    planner = ScriptedPlanner.from_script(read_script(Path(sys.argv[1])))
    asyncio.run(serve(build_app(planner, ServerSettings(port=0)), ready=say))
