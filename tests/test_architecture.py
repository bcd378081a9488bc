"""The rules of the source, kept by reading it: layers, visible imports, adapters, and what may happen where.

Each law is a function from one parsed module to the places that break it. The facts it goes by (layers, adapters,
border posts) are the data below; a change of the layout is a change of that data, in the same commit.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "notebook_bcc"
OURS = "notebook_bcc"

LAYERS = {
    "errors": 0,
    "protocol": 1,
    "fsm": 2,
    **dict.fromkeys(["notebook", "kernel", "sandbox", "planners", "journal"], 3),
    **dict.fromkeys(["playbook", "llm"], 4),
    "engine": 5,
    **dict.fromkeys(["lifecycle", "server", "conformance"], 6),
    **dict.fromkeys(["settings", "views"], 7),
    "wiring": 8,
    "api": 9,
    **dict.fromkeys(["web", "fleet", "bridges", "compat"], 10),
    "cli": 11,
    **dict.fromkeys(["__init__", "__main__"], 12),
}
# Packages that never know each other although their layers would allow it: a planner is chosen in wiring.
STRANGERS = {"engine/": {"playbook", "llm"}, "cli/": {"compat"}}
# What runs on the other side, where nothing of ours may be there.
STRANGERS |= {one: {OURS} for one in ("kernel/inside/", "kernel/supervisor/supervise.py", "sandbox/inside/")}
# Every library from outside, and the only places that may know it. A path that ends in "/" is a package.
ADAPTERS = {
    "pydantic": ["protocol/", "journal/", "planners/", "playbook/", "llm/", "settings.py"],
    "pydantic_core": ["protocol/", "server/body.py"],
    "uvicorn": ["server/serving.py", "server/connections.py"],
    "starlette": ["server/", "web/"],
    "wsproto": ["kernel/jupyter_server/socket.py"],
    "orjson": ["protocol/", "journal/", "notebook/", "kernel/"],
    **{name: ["kernel/"] for name in ("jupyter_client", "zmq", "ipykernel", "traitlets")},
    **{name: ["notebook/"] for name in ("nbformat", "nh3", "markdown_it", "pygments")},
    "latex2mathml": ["notebook/export/maths.py"],
    "httpx2": ["planners/", "llm/", "kernel/", "conformance/", "web/notify.py"],
    "regex": ["engine/observation/context_filter.py"],
    "sqlite3": ["journal/", "lifecycle/heads/sqlite.py"],
    "cloudpickle": ["kernel/inside/checkpoint.py"],
    "pyarrow": ["lifecycle/heads/columnar.py"],
    "pandas": ["api/frames.py"],
    "IPython": ["api/progress.py", "cli/magic.py"],
    "yaml": ["cli/chinese/texts.py", "planners/", "playbook/", "settings.py"],
    "jinja2": [
        "playbook/templates/environment.py",
        "playbook/templates/grammar.py",
        "playbook/templates/comparatives.py",
    ],
    "openai": ["llm/providers/openai.py"],
    "anthropic": ["llm/providers/anthropic.py"],
    **{name: ["cli/"] for name in ("typer", "click", "rich")},
}
PRINTERS = ["cli/"]
# The command line, and the one loop thread behind all synchronous calls.
LOOP_OWNERS = ["cli/main.py", "api/loop_thread.py"]
# The runner, a server request, the CLI; and the places that call code of others: handlers, hooks,
# planners, cells, objects in a kernel.
BORDER_POSTS = ["engine/runner.py", "server/middleware.py", "web/middleware.py", "cli/main.py"]
BORDER_POSTS += ["engine/actions/registry.py", "engine/stream.py", "kernel/inside/probe.py", "kernel/scripted.py"]
BORDER_POSTS += ["lifecycle/custom_actions.py", "kernel/inside/checkpoint.py", "kernel/inside/sameness.py"]
# A kernel's process, and that of a run started on the page, inherit the environment of ours; the last is in the kernel,
# and saves what cells set there.
ENVIRONMENT_READERS = ["settings.py", "kernel/local/process.py", "web/processes.py", "kernel/inside/surroundings.py"]
# These choose and fold: no waiting, no clock, no chance, no files, no log.
PURE = ["protocol/", "fsm/table.py", "fsm/diagram.py", "engine/fold/", "engine/observation/"]
PURE += [f"engine/{name}.py" for name in ("decide", "reduce", "reward", "due", "mentions")]
PURE += [f"llm/{name}.py" for name in ("budget", "progress", "verdicts")]
PURE += ["llm/stream/", "llm/guard/guard.py", "llm/guard/ownership.py", "llm/guard/claims.py"]
PURE += [f"llm/prompt/{name}.py" for name in ("sharing", "sharing_text", "parts")]
PURE += [
    f"playbook/templates/{name}.py" for name in ("values", "placing", "filters", "grammar", "tracing", "comparatives")
]
PURE += [f"playbook/{name}.py" for name in ("facts", "outlook", "content")]
PURE += ["playbook/goals/"]
# The only package that may use private names of others: no release of ipykernel has public ones for what it does.
PRIVATE_USERS = ["kernel/inside/"]
# Documented by their owners in spite of the underscore.
DOCUMENTED = {"_fields", "_asdict", "_replace", "_make", "_name_", "_value_", "os._exit"}
IMPURE = {"asyncio", "anyio", "logging", "os", "random", "secrets", "socket", "subprocess", "time", "uuid"}
SHAPELESS = {"util", "utils", "helper", "helpers", "common", "misc", "shared", "tools"}
LONGEST_MODULE = 500
MOST_EXPORTS = 20
IMPORT_TIME_EFFECTS = {"open", "mkdir", "makedirs", "touch", "read_text", "read_bytes", "write_text", "write_bytes"}
IMPORT_TIME_EFFECTS |= {"unlink", "load_dotenv", "basicConfig", "register_custom_action", "Popen", "connect"}

# These load an implementation when it is chosen, or what carries a command out when it is more than `--help`;
# everybody else's imports stand at the top.
CHOOSERS = ["wiring.py", "cli/run.py"]
MODULE_NAME = re.compile(rf"{OURS}(\.[a-z_]+)+")

Break = tuple[int, str]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@functools.cache
def parse(source: str) -> ast.Module:
    return ast.parse(source)


@dataclass(frozen=True)
class Module:
    path: str
    source: str

    @property
    def tree(self) -> ast.Module:
        return parse(self.source)

    @property
    def package(self) -> str:
        return self.path.split("/")[0].removesuffix(".py")

    def lives_in(self, places: list[str]) -> bool:
        return any(self.path.startswith(place) if place.endswith("/") else self.path == place for place in places)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every imported name in full: `from a.b import c` is a.b.c."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Call, str]]:
    """Every call with the last name of what it calls: `path.mkdir()` is mkdir."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func).split(".")[-1]


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that is evaluated when the module is imported: function bodies are not, their defaults are."""
    yield node
    for name, value in ast.iter_fields(node):
        if not (isinstance(node, FUNCTIONS) and name == "body"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from at_import(child)


def imports_go_down(module: Module) -> Iterator[Break]:
    if module.package not in LAYERS:
        yield 1, f"package {module.package!r} has no layer"
        return
    for line, name in imported(module.tree):
        if name.split(".")[0] != OURS or name == f"{OURS}.__version__":
            continue
        target = name.split(".")[1] if "." in name else "__init__"
        if target != module.package and LAYERS.get(target, 99) >= LAYERS[module.package]:
            way = "sideways" if LAYERS.get(target) == LAYERS[module.package] else "up"
            yield line, f"{module.package} (layer {LAYERS[module.package]}) imports {way}: {name}"


def strangers_stay_strangers(module: Module) -> Iterator[Break]:
    for place, unknown in STRANGERS.items():
        if module.lives_in([place]):
            for line, name in imported(module.tree):
                parts = name.split(".")
                if parts[0] == OURS and ({OURS, *parts[1:2]} & unknown):
                    yield line, f"{place} does not know {name}"


def imports_are_visible(module: Module) -> Iterator[Break]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "relative import"
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield node.lineno, "star import"
        if isinstance(node, FUNCTIONS) and not module.lives_in(CHOOSERS):
            for line, name in imported(node):
                if name.split(".")[0] == OURS:
                    yield line, f"{name} is imported inside a function"


def chosen_modules_exist(module: Module) -> Iterator[Break]:
    """What is imported only when it is chosen fails late: its name is checked here."""
    if not module.lives_in([*CHOOSERS, "cli/main.py"]):
        return
    named = [(line, name) for line, name in imported(module.tree) if name.startswith(f"{OURS}.")]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE_NAME.fullmatch(node.value):
            named.append((node.lineno, node.value))
            target = node.value.split(".")[1]
            if target != module.package and LAYERS.get(target, 99) >= LAYERS[module.package]:
                yield node.lineno, f"{module.package} names {node.value}, which is not below it"
    for line, name in named:
        if not _is_there(name) and name != f"{OURS}.__version__":
            yield line, f"there is no {name}"


def _is_there(name: str) -> bool:
    """Whether a module has this name, or one that could define its last part."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
        return True
    owner, _, last = name.rpartition(".")
    file = PACKAGE.joinpath(*owner.split(".")[1:]).with_suffix(".py")
    if not file.is_file():
        return False
    tree = parse(file.read_text(encoding="utf-8"))
    return last in {part.name for part in tree.body if isinstance(part, DEFINITIONS)} | set(assigned(tree))


def assigned(tree: ast.Module) -> Iterator[str]:
    """The names that a module's own assignments make."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def libraries_have_an_adapter(module: Module) -> Iterator[Break]:
    for line, name in imported(module.tree):
        library = name.split(".")[0]
        if library in ADAPTERS and not module.lives_in(ADAPTERS[library]):
            yield line, f"{library} may be imported in {', '.join(ADAPTERS[library])} only"
        if library not in {*ADAPTERS, *sys.stdlib_module_names, OURS}:
            yield line, f"{library} has no adapter: name one in ADAPTERS"


def only_the_command_line_prints(module: Module) -> Iterator[Break]:
    for call, name in calls(ast.walk(module.tree)):
        if name == "print" and not module.lives_in(PRINTERS):
            yield call.lineno, "print outside of cli; a user's news is a record, a developer's goes to the log"


def one_event_loop(module: Module) -> Iterator[Break]:
    runs = {"asyncio.run", "asyncio.Runner", "asyncio.new_event_loop", "anyio.run"}
    starts = [line for line, name in imported(module.tree) if name in runs]
    for call, name in calls(ast.walk(module.tree)):
        if name == "run_until_complete" or ast.unparse(call.func) in runs:
            starts.append(call.lineno)
    for line in starts[1:] if module.lives_in(LOOP_OWNERS) else starts:
        yield line, f"an event loop is started once, in each of {', '.join(LOOP_OWNERS)}"


def only_border_posts_catch_everything(module: Module) -> Iterator[Break]:
    everything = {"Exception", "BaseException"}
    if module.lives_in(BORDER_POSTS):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler):
            names = {each.id for each in ast.walk(node.type) if isinstance(each, ast.Name)} if node.type else everything
            # Cleaning up and raising again hides nothing.
            raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if names & everything and not raises_again:
                yield node.lineno, f"catches everything; only {', '.join(BORDER_POSTS)} may"
    for call, name in calls(ast.walk(module.tree)):
        if name == "suppress" and any(ast.unparse(argument) in everything for argument in call.args):
            yield call.lineno, f"suppresses everything; only {', '.join(BORDER_POSTS)} may"


def modules_are_one_idea(module: Module) -> Iterator[Break]:
    lines = module.source.count("\n")
    if lines > LONGEST_MODULE:
        yield LONGEST_MODULE, f"{lines} lines; past {LONGEST_MODULE} split by noun"
    for part in module.path.removesuffix(".py").split("/"):
        if part in SHAPELESS or part != part.lower():
            yield 1, f"{part!r} names no idea" if part in SHAPELESS else f"{part!r} is not lower case"


def nothing_happens_on_import(module: Module) -> Iterator[Break]:
    for call, name in calls(at_import(module.tree)):
        if name in IMPORT_TIME_EFFECTS:
            yield call.lineno, f"{name}() runs when the module is imported"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Global):
            yield node.lineno, f"global state: {', '.join(node.names)}"


def settings_read_the_environment(module: Module) -> Iterator[Break]:
    if module.lives_in(ENVIRONMENT_READERS):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv", "os.environb"}:
            yield node.lineno, f"{ast.unparse(node)} outside of {', '.join(ENVIRONMENT_READERS)}"
    for line, name in imported(module.tree):
        if name in {"os.environ", "os.getenv", "os.environb"}:
            yield line, f"{name} outside of {', '.join(ENVIRONMENT_READERS)}"


def no_private_names_of_others(module: Module) -> Iterator[Break]:
    """A name with an underscore belongs to the module that defines it, and pydantic's `__pydantic_...` to pydantic."""
    if module.lives_in(PRIVATE_USERS):
        return
    for line, name in imported(module.tree):
        if name.split(".")[0] != "__future__" and any(_is_private(part) for part in name.split(".")):
            yield line, f"imports {name}, which is private"
    own = set(_defined(module.tree))
    for line, holder, name in _reached(module.tree):
        if {name, f"{holder}.{name}"} & DOCUMENTED:
            continue
        # What an object calls `self._x` may come from a base class of ours in another module.
        if name.startswith("__pydantic_") or (_is_private(name) and holder not in ("self", "cls") and name not in own):
            yield line, f"{holder}.{name} is private to somebody else"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _defined(tree: ast.Module) -> Iterator[str]:
    """Names that this module makes: functions, methods, fields, and what is stored on `self` or `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            yield node.attr


def _reached(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Every attribute with what it is reached through, those given as texts too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node.value), node.attr
    for call, name in calls(ast.walk(tree)):
        if name in ("getattr", "setattr", "delattr", "hasattr", "__setattr__") and len(call.args) > 1:
            attribute = call.args[1]
            if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
                yield call.lineno, ast.unparse(call.args[0]), attribute.value


def pure_modules_touch_nothing(module: Module) -> Iterator[Break]:
    if not module.lives_in(PURE):
        return
    for line, name in imported(module.tree):
        if name.split(".")[0] in IMPURE:
            yield line, f"{name} in a module that only chooses or folds"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Await | ast.AsyncFunctionDef):
            yield node.lineno, "a pure module does not wait"
    for call, name in calls(ast.walk(module.tree)):
        if name in {"open", "now", "utcnow", "today"}:
            yield call.lineno, f"{name}() in a module that only chooses or folds"


def front_door_is_small(module: Module) -> Iterator[Break]:
    if module.path != "__init__.py":
        return
    names = [name.split(".")[-1] for node in module.tree.body for _, name in imported(node)]
    for node in module.tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and "__all__" in ast.unparse(node).split("=")[0]:
            names = [str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)]
    public = {name for name in names if not name.startswith("_")} - {"annotations"}
    if len(public) > MOST_EXPORTS:
        yield 1, f"{len(public)} names are exported; {MOST_EXPORTS} is the limit"


Law = Callable[[Module], Iterator[Break]]
LAWS: list[Law] = [
    imports_go_down,
    strangers_stay_strangers,
    imports_are_visible,
    chosen_modules_exist,
    libraries_have_an_adapter,
    only_the_command_line_prints,
    one_event_loop,
    only_border_posts_catch_everything,
    modules_are_one_idea,
    nothing_happens_on_import,
    settings_read_the_environment,
    no_private_names_of_others,
    pure_modules_touch_nothing,
    front_door_is_small,
]


@functools.cache
def house() -> list[Module]:
    # The cells of a playbook are templates, not modules.
    files = sorted(path for path in PACKAGE.rglob("*.py") if "playbooks" not in path.relative_to(PACKAGE).parts)
    return [Module(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")) for path in files]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_house_keeps_the_law(law: Law) -> None:
    modules = house()
    assert len(modules) > 10, f"no source found under {PACKAGE}"
    broken = [f"{module.path}:{line}: {what}" for module in modules for line, what in law(module)]
    assert not broken, f"the law {law.__name__!r} is broken:\n  " + "\n  ".join(broken)


PLACES = [place for places in ADAPTERS.values() for place in places]
PLACES += [
    *CHOOSERS,
    *PRIVATE_USERS,
    *PURE,
    *PRINTERS,
    *LOOP_OWNERS,
    *BORDER_POSTS,
    *ENVIRONMENT_READERS,
    *STRANGERS,
]


@pytest.mark.parametrize("place", sorted(set(PLACES)))
def test_every_place_that_a_law_names_exists(place: str) -> None:
    assert any(module.lives_in([place]) for module in house())


BROKEN: list[tuple[Law, str, str]] = [
    (imports_go_down, "fsm/machine.py", "from notebook_bcc.engine.runner import Runner"),
    (imports_go_down, "kernel/local/kernel.py", "from notebook_bcc.journal.records import Record"),
    (imports_go_down, "planners/replay.py", "import notebook_bcc.journal.records"),
    (imports_go_down, "errors.py", "from notebook_bcc import protocol"),
    (imports_go_down, "engine/runner.py", "import notebook_bcc"),
    (strangers_stay_strangers, "cli/main.py", "from notebook_bcc.compat import Config"),
    (imports_go_down, "engine/runner.py", "if TYPE_CHECKING:\n    from notebook_bcc.settings import Settings"),
    (imports_go_down, "cellar/wine.py", "x = 1"),
    (strangers_stay_strangers, "engine/decide.py", "from notebook_bcc.llm.budget import call_of"),
    (strangers_stay_strangers, "kernel/inside/probe.py", "from notebook_bcc.errors import BccError"),
    (imports_are_visible, "engine/runner.py", "from . import decide"),
    (imports_are_visible, "engine/runner.py", "from notebook_bcc.fsm import *"),
    (imports_are_visible, "engine/runner.py", "def f():\n    from notebook_bcc.fsm import table"),
    (imports_are_visible, "engine/runner.py", "class A:\n    async def f(self):\n        import notebook_bcc.fsm"),
    (imports_go_down, "wiring.py", "def f():\n    from notebook_bcc.cli.main import main"),
    (chosen_modules_exist, "wiring.py", "def f():\n    from notebook_bcc.kernel.cloud import CloudKernel"),
    (chosen_modules_exist, "wiring.py", "def f():\n    from notebook_bcc.kernel.interface import CloudKernel"),
    (chosen_modules_exist, "wiring.py", "KINDS = {'cloud': 'notebook_bcc.kernel.cloud'}"),
    (chosen_modules_exist, "wiring.py", "KINDS = {'loop': 'notebook_bcc.cli.main'}"),
    (chosen_modules_exist, "cli/main.py", "COMMANDS = {'fly': 'notebook_bcc.cli.flying'}"),
    (libraries_have_an_adapter, "engine/runner.py", "import zmq.asyncio"),
    (libraries_have_an_adapter, "kernel/local/kernel.py", "def f():\n    import nbformat"),
    (libraries_have_an_adapter, "lifecycle/folder.py", "from sqlite3 import connect"),
    (libraries_have_an_adapter, "engine/decide.py", "import numpy as np"),
    (only_the_command_line_prints, "engine/runner.py", "def f():\n    print(1)"),
    (one_event_loop, "lifecycle/operations.py", "def f():\n    asyncio.run(g())"),
    (one_event_loop, "lifecycle/operations.py", "from asyncio import run"),
    (one_event_loop, "kernel/local/kernel.py", "def f(loop):\n    loop.run_until_complete(g())"),
    (one_event_loop, "cli/main.py", "def f():\n    asyncio.run(g())\n    asyncio.run(h())"),
    (
        one_event_loop,
        "compat/script_store.py",
        "def f():\n    with asyncio.Runner() as runner:\n        runner.run(g())",
    ),
    (only_border_posts_catch_everything, "engine/perform.py", "try:\n    f()\nexcept Exception:\n    pass"),
    (only_border_posts_catch_everything, "kernel/local/kernel.py", "try:\n    f()\nexcept:\n    pass"),
    (
        only_border_posts_catch_everything,
        "lifecycle/folder.py",
        "try:\n    f()\nexcept (OSError, BaseException) as e:\n    g(e)",
    ),
    (only_border_posts_catch_everything, "lifecycle/folder.py", "with contextlib.suppress(Exception):\n    f()"),
    (modules_are_one_idea, "engine/perform.py", "x = 1\n" * 501),
    (modules_are_one_idea, "engine/utils.py", "x = 1"),
    (modules_are_one_idea, "engine/helpers/action.py", "x = 1"),
    (modules_are_one_idea, "engine/NextStep.py", "x = 1"),
    (nothing_happens_on_import, "lifecycle/folder.py", "Path('runs').mkdir()"),
    (nothing_happens_on_import, "lifecycle/folder.py", "class A:\n    text = open('a').read()"),
    (nothing_happens_on_import, "lifecycle/folder.py", "def f(text=Path('a').read_text()):\n    pass"),
    (nothing_happens_on_import, "lifecycle/folder.py", "def f():\n    global x\n    x = 1"),
    (settings_read_the_environment, "engine/runner.py", "def f():\n    return os.environ['A']"),
    (settings_read_the_environment, "kernel/local/kernel.py", "from os import getenv"),
    (no_private_names_of_others, "engine/runner.py", "from asyncio.tasks import _enter_task"),
    (no_private_names_of_others, "engine/runner.py", "from httpx2._client import AsyncClient"),
    (no_private_names_of_others, "engine/runner.py", "import _thread"),
    (no_private_names_of_others, "engine/runner.py", "from notebook_bcc.engine.decide import _chosen"),
    (no_private_names_of_others, "engine/runner.py", "import asyncio\nasyncio._enter_task(loop, task)"),
    (no_private_names_of_others, "engine/runner.py", "import asyncio\nasyncio.tasks._all_tasks.clear()"),
    (no_private_names_of_others, "kernel/local/kernel.py", "def f(kernel):\n    kernel._publish_execute_input = None"),
    (no_private_names_of_others, "kernel/local/kernel.py", "def f(kernel):\n    setattr(kernel, '_sleep', 0)"),
    (no_private_names_of_others, "journal/records.py", "def f(r):\n    return r.__pydantic_serializer__.to_json(r)"),
    (
        no_private_names_of_others,
        "journal/records.py",
        "class A(B):\n    def f(self):\n        self.__pydantic_extra__",
    ),
    (no_private_names_of_others, "playbook/check.py", "def f(value):\n    value._fail_with_undefined_error()"),
    (pure_modules_touch_nothing, "engine/decide.py", "import time"),
    (pure_modules_touch_nothing, "engine/reduce.py", "async def f():\n    await g()"),
    (pure_modules_touch_nothing, "protocol/cells.py", "def f():\n    return datetime.now(UTC)"),
    (front_door_is_small, "__init__.py", f"__all__ = {[f'name{i}' for i in range(21)]}"),
    (front_door_is_small, "__init__.py", f"from a import {', '.join(f'name{i}' for i in range(21))}"),
]
SOUND: list[tuple[str, str]] = [
    (
        "engine/runner.py",
        "from notebook_bcc.kernel.interface import Kernel\nfrom notebook_bcc.engine.decide import decide",
    ),
    ("engine/runner.py", "try:\n    f()\nexcept Exception as error:\n    g(error)"),
    ("kernel/local/kernel.py", "import asyncio\n\nimport jupyter_client\n\ndef f():\n    import zmq\n    open('a')"),
    ("kernel/local/kernel.py", "try:\n    f()\nexcept BaseException:\n    close()\n    raise"),
    ("cli/main.py", "def main():\n    print(asyncio.run(f()))"),
    ("cli/main.py", "from notebook_bcc import __version__"),
    ("kernel/inside/probe.py", "def f(stream):\n    stream._flush()"),
    (
        "engine/runner.py",
        "class A:\n    def __init__(self):\n        self._b = 1\n\ndef f(one, other):\n    return one._b == other._b",
    ),
    ("engine/runner.py", "def f(node):\n    return node._fields, type(node).__name__, f.__wrapped__, os._exit"),
    ("wiring.py", "def f():\n    from notebook_bcc.kernel.interface import Kernel"),
    ("settings.py", "def read():\n    return os.environ['A']"),
    ("__init__.py", f"from notebook_bcc.engine.runner import Runner\n__all__ = {[f'name{i}' for i in range(20)]}"),
]


@pytest.mark.parametrize(("law", "path", "source"), BROKEN)
def test_a_broken_law_is_noticed(law: Law, path: str, source: str) -> None:
    assert list(law(Module(path, source))), f"{law.__name__} did not notice"


@pytest.mark.parametrize(("path", "source"), SOUND)
def test_what_is_allowed_is_left_alone(path: str, source: str) -> None:
    assert [what for law in LAWS for _, what in law(Module(path, source))] == []
