"""Whether the wheel and the sdist in a folder can be published. Exits with 1 and the reasons.

Run: python .ci/check_release.py dist [--install]. With --install the wheel is installed into an empty environment
outside the repository, from the pins of constraints.txt, and a small table is run through it. Without, the wheel is
unpacked and started with the packages of this environment: no download.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
_SECRET_NAME = re.compile(r"(?:^|/)(?:\.env|\.netrc|\.pypirc|id_[a-z0-9]+|[^/]*\.(?:pem|key|p12|db|sqlite))$")
_SECRET_TEXT = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|gh[pousr]_[A-Za-z0-9]{36,}"
    rb"|pypi-[A-Za-z0-9_-]{50,}|AKIA[0-9A-Z]{16})"
)
_NOT_FOR_USERS = ("tests/", "benchmarks/", "docs/", "build/", ".venv/", ".git/", ".github/", "nbcc-runs/")


def package_files() -> set[str]:
    """What the wheel must hold of the package: modules, playbooks, styles, prompts, py.typed."""
    return {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "notebook_bcc").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def wheel_problems(files: Mapping[str, bytes], version: str) -> list[str]:
    """`files`: name in the wheel -> content."""
    found = [f"the wheel lacks {name}" for name in sorted(package_files() - files.keys())]
    about = f"notebook_bcc-{version}.dist-info/"
    found += [
        f"the wheel holds {name}, which is not the package's"
        for name in files
        if not name.startswith(("notebook_bcc/", about)) or "__pycache__" in name
    ]
    if f"{about}licenses/LICENSE" not in files:
        found.append("the wheel lacks the licence file")
    if b"nbcc = notebook_bcc.cli.main:main" not in files.get(f"{about}entry_points.txt", b""):
        found.append("the wheel does not install the command nbcc")
    return found + metadata_problems(files.get(f"{about}METADATA", b""), version) + secret_problems(files)


def sdist_problems(files: Mapping[str, bytes], version: str) -> list[str]:
    """`files`: name in the sdist, without its top folder -> content."""
    wanted = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", *(f"src/{name}" for name in package_files())}
    found = [f"the sdist lacks {name}" for name in sorted(wanted - files.keys())]
    found += [f"the sdist holds {name}" for name in files if name.startswith(_NOT_FOR_USERS)]
    return found + metadata_problems(files.get("PKG-INFO", b""), version) + secret_problems(files)


def metadata_problems(content: bytes, version: str) -> list[str]:
    try:
        about = Metadata.from_email(content, validate=True)
    except ExceptionGroup as errors:
        return [f"metadata: {error}" for error in errors.exceptions]
    found = [] if str(about.version) == version else [f"metadata: the version is {about.version}, not {version}"]
    if about.description_content_type != "text/markdown" or not about.description:
        found.append("metadata: the README is missing")
    if about.license_expression != "MIT" or about.license_files != ["LICENSE"]:
        found.append("metadata: the licence is missing")
    return found


def secret_problems(files: Mapping[str, bytes]) -> list[str]:
    return [
        f"{name} looks like a secret, or like data that should stay here"
        for name, content in files.items()
        if _SECRET_NAME.search(name) or _SECRET_TEXT.search(content)
    ]


def wheel_files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}


def sdist_files(path: Path) -> dict[str, bytes]:
    files = {}
    with tarfile.open(path) as sdist:
        for member in sdist.getmembers():
            content = sdist.extractfile(member)
            if content is not None:
                files[member.name.partition("/")[2]] = content.read()
    return files


def source_version() -> str:
    text = (SOURCE / "notebook_bcc" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found is not None, "src/notebook_bcc/__init__.py names no version"
    return found[1]


def small_table() -> str:
    """120 rows whose column y follows the others, apart from some noise."""
    chance = random.Random(0)
    rows = ["size,age,colour,y"]
    for _ in range(120):
        size, age, colour = chance.randint(20, 200), chance.randint(0, 80), chance.choice(["red", "green", "blue"])
        rows.append(f"{size},{age},{colour},{3 * size - age + 20 * (colour == 'red') + chance.gauss(0, 5):.1f}")
    return "\n".join(rows) + "\n"


def run(command: list[str | Path], *, folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a command printed. Exits with its words if it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder, env={**kept, **(environment or {})}, capture_output=True, text=True, encoding="utf-8",
        timeout=1800, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def try_unpacked(wheel: Path, version: str, folder: Path) -> None:
    """The unpacked wheel starts, and finds its playbooks."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "unpacked")
    # -P: the current folder is not searched; the unpacked wheel comes before this environment's own copy.
    start = "from notebook_bcc.cli.main import main; main()"
    where = {"PYTHONPATH": str(folder / "unpacked")}
    place = run(
        [sys.executable, "-P", "-c", "import notebook_bcc; print(notebook_bcc.__file__)"],
        folder=folder,
        environment=where,
    )
    told = run([sys.executable, "-P", "-c", start, "--version"], folder=folder, environment=where)
    books = run([sys.executable, "-P", "-c", start, "playbook", "list"], folder=folder, environment=where)
    if "unpacked" not in place or version not in told or "dslc" not in books:
        sys.exit(f"the unpacked wheel does not work: {place!r}, {told!r}, {books!r}")
    print(f"unpacked, it starts as {told.strip()} and finds its playbooks")


def try_installed(wheel: Path, folder: Path) -> None:
    """The wheel in an empty environment analyses a table, and the notebook is verified."""
    python = folder / "venv" / "bin" / "python"
    uv = shutil.which("uv")
    pins = ["--constraint", ROOT / "constraints.txt", f"{wheel.resolve()}[ml]"]
    if uv:
        run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], folder=folder)
        run([uv, "pip", "install", "--quiet", "--python", python, *pins], folder=folder)
    else:
        run([sys.executable, "-m", "venv", folder / "venv"], folder=folder)
        run([python, "-m", "pip", "install", "--quiet", "--no-input", *pins], folder=folder)
    (folder / "small.csv").write_text(small_table(), encoding="utf-8")
    command: list[str | Path] = [python.with_name("nbcc"), "run", "small.csv", "--target", "y", "--confirm", "auto"]
    told = run([*command, "--out", "result/"], folder=folder)
    notebook = json.loads((folder / "result" / "notebook.ipynb").read_text(encoding="utf-8"))
    if not notebook["metadata"]["notebook_bcc"]["verified"]["ok"]:
        sys.exit(f"the notebook was not verified:\n{told}")
    print("installed into an empty environment, it analyses a table:")
    print("\n".join(line for line in told.splitlines() if line.strip().startswith(("result:", "verified:"))))


def main() -> None:
    dist, version = Path(sys.argv[1]), source_version()
    wheel = dist / f"notebook_bcc-{version}-py3-none-any.whl"
    sdist = dist / f"notebook_bcc-{version}.tar.gz"
    found = [f"{path} is missing" for path in (wheel, sdist) if not path.is_file()]
    if not found:
        found = wheel_problems(wheel_files(wheel), version) + sdist_problems(sdist_files(sdist), version)
    if f"\n## {version}\n" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md has no section for {version}")
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"{wheel.name} and {sdist.name}: metadata, licence, contents are right")
    with tempfile.TemporaryDirectory(prefix="nbcc-release-") as folder:
        if "--install" in sys.argv:
            try_installed(wheel, Path(folder))
        else:
            try_unpacked(wheel, version, Path(folder))


if __name__ == "__main__":
    main()
