from __future__ import annotations

import re
import signal
from pathlib import Path

from cli.services import command_at, fetch
from cli.shell import Shell
from kernel.servers import free_port
from notebook_bcc.cli.codes import Exit


def test_a_jupyter_server_is_started_and_says_how_to_use_it(tmp_path: Path) -> None:
    port = str(free_port())
    with command_at(tmp_path, "backend", "--port", port) as (command, url):
        assert url == f"http://127.0.0.1:{port}"
        assert fetch(f"{url}/api/kernels") == 403
        (token,) = re.findall(r"^token .*: (\S+)$", command.said, re.MULTILINE)
        assert fetch(f"{url}/api/kernels", token=token) == 200
        assert f"BACKEND_BASE_URL={url}" in command.said
        assert str(tmp_path) in command.said
        command.process.send_signal(signal.SIGINT)
        assert command.exit_code() == Exit.COMPLETED, command.said
        assert command.said.count(token) == 1


def test_a_root_that_is_no_folder_and_a_taken_port_are_refused(shell: Shell) -> None:
    done = shell("backend", "--root", "nowhere")
    assert (done.returncode, "'nowhere' is not a folder" in done.stderr) == (Exit.USAGE, True)
    assert shell("backend", "--port", "0").returncode == Exit.USAGE
