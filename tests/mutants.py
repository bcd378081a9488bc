"""Change the code in one place, run the quick tests of its package, and see whether they notice. A random sample.

    python tests/mutants.py --seed 7 --sample 100

mutmut is not used: it leaves out decorated functions and everything outside functions, which is most of `protocol/`,
`journal/records.py` and the tables of the engine, and it has no sample that a seed repeats.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/notebook_bcc")
# Modules, and the tests that must notice a change of them: at most 15 seconds each on a free processor.
QUICK: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "decide": (
        ("engine/decide.py",),
        ("engine/test_decide.py", "engine/test_state.py", "engine/test_verdicts.py", "engine/test_detour.py"),
    ),
    "reduce": (
        ("engine/reduce.py",),
        ("engine/test_reduce.py", "engine/test_state.py", "engine/test_transitions.py", "engine/test_decisions.py"),
    ),
    "transitions": (
        ("engine/fold/transitions.py",),
        ("engine/test_transitions.py", "engine/test_reduce.py", "engine/test_detour.py"),
    ),
    "tracking": (
        ("engine/fold/tracking.py",),
        ("engine/test_transitions.py", "engine/test_reduce.py", "engine/test_tracking.py", "engine/test_outages.py"),
    ),
    "context_filter": (
        ("engine/observation/context_filter.py",),
        ("engine/test_context_filter.py", "engine/test_bounds.py", "engine/test_payload.py"),
    ),
    "journal": (
        ("journal/records.py", "journal/memory.py", "journal/lock.py", "journal/sqlite/*.py"),
        (
            "journal/test_records.py",
            "journal/test_rows.py",
            "journal/test_memory.py",
            "journal/test_wal.py",
            "journal/test_lock.py",
            "journal/test_sqlite.py",
            "journal/test_journal_contract.py",
            "journal/test_journal_fixture.py",
        ),
    ),
    "protocol": (
        ("protocol/[!_d]*.py", "protocol/dialects.py"),
        ("protocol",),
    ),
}
_PROCESSES = multiprocessing.get_context("forkserver")
# Not pytest's plugins: they must be imported by pytest.
_PRELOADED = ("pytest", "pydantic", "psutil", "orjson", "regex", "yaml", "sqlite3", "numpy", "asyncio")
_OTHER: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One module with one place changed."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), str(self.path), "mutant", n=1)
        return "\n".join(line.rstrip("\n") for line in lines)


def mutants_of(path: Path, source: str) -> list[Mutant]:
    """Every mutant of a module that compiles, in the order of its lines."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    found: list[Mutant] = []
    for start, end, text in sorted(set(finder.edits)):
        after = source[:start] + text + source[end:]
        try:
            compile(after, str(path), "exec")
        except SyntaxError:
            continue
        found.append(Mutant(path, source, after))
    return found


class _Finder(ast.NodeVisitor):
    """Collects edits as (start, end, text). What cannot matter is left out: docstrings, annotations, logging."""

    def __init__(self, source: str) -> None:
        self.edits: list[tuple[int, int, str]] = []
        self._source = source
        # Columns of the syntax tree count bytes.
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self._source[start:end]

    def _replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        self.edits.append((*self._span(node), text))

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            other = _OTHER[type(node.ops[0])]
            self._replace(node, f"{self._text(node.left)} {other} {self._text(node.comparators[0])}")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " or " if isinstance(node.op, ast.And) else " and "
        self._replace(node, "(" + word.join(f"({self._text(one)})" for one in node.values) + ")")
        for left_out in node.values:
            kept = [f"({self._text(one)})" for one in node.values if one is not left_out]
            self._replace(node, "(" + (" and " if isinstance(node.op, ast.And) else " or ").join(kept) + ")")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if (other := _ARITHMETIC.get(type(node.op))) is not None:
            self._replace(node, f"({self._text(node.left)} {other} {self._text(node.right)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, str(not value))
        elif isinstance(value, int):
            self._replace(node, str(value + 1))
        elif isinstance(value, str):
            self._replace(node, repr(f"other {value}") if value else repr("other"))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._replace(node, "''")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._replace(node, self._text(node.body))
        self._replace(node, self._text(node.orelse))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._replace(node.test, "True")
        self._replace(node.test, "False")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._replace(node.value, "None")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "_log"
        ):
            return
        for keyword in node.keywords:
            if keyword.arg is not None:
                # `f(a, b=c)` without its keyword: a default takes its place, or there is none.
                start, end = self._span(keyword)
                rest = self._source[end:]
                comma = len(rest) - len(rest.lstrip()[1:]) if rest.lstrip().startswith(",") else 0
                self.edits.append((start, end + comma, ""))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        self._replace(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Break(self, node: ast.Break) -> None:
        self._replace(node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace(node, "pass")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)


def candidates(names: Sequence[str]) -> Iterator[tuple[str, Mutant]]:
    """Every mutant of these packages."""
    for name in names:
        patterns, _ = QUICK[name]
        for path in sorted({path for pattern in patterns for path in (ROOT / PACKAGE).glob(pattern)}):
            for mutant in mutants_of(path.relative_to(ROOT), path.read_text(encoding="utf-8")):
                yield name, mutant


def notices(tree: Path, name: str, mutant: Mutant, *, seconds: float) -> bool:
    """Whether the package's tests fail, or do not end, with this mutant."""
    place = tree / mutant.path
    place.write_text(mutant.after, encoding="utf-8")
    try:
        # A server that has imported the libraries forks for each: most of a quick test run is imports.
        process = _PROCESSES.Process(target=_run_tests, args=(tree, QUICK[name][1]))
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
        return process.exitcode != 0
    finally:
        place.write_text(mutant.before, encoding="utf-8")


def _run_tests(tree: Path, tests: Sequence[str]) -> NoReturn:
    os.chdir(tree)
    sys.dont_write_bytecode = True
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    chosen = [one if one.startswith("-") else f"tests/{one}" for one in tests]
    sys.exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *chosen])))


def copied(folder: Path) -> Path:
    """The sources and tests, to be changed without harm."""
    for part in ("src", "tests", "docs", "examples"):
        if (ROOT / part).exists():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / part, folder / part)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=45.0, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=120.0, help="a test run that takes longer has noticed")
    parser.add_argument("--only", choices=QUICK, action="append", help="packages, else all")
    options = parser.parse_args()
    every = list(candidates(options.only or list(QUICK)))
    sample = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    print(f"{len(every)} mutants, a sample of {len(sample)} with seed {options.seed}", flush=True)
    _PROCESSES.set_forkserver_preload(list(_PRELOADED))
    noticed = looked = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        for name in dict.fromkeys(name for name, _ in sample):
            unchanged = next(Mutant(one.path, one.before, one.before) for other, one in sample if other == name)
            if notices(tree, name, unchanged, seconds=options.seconds):
                print(f"the tests of {name} fail, or take too long, without any mutant")
                return 1
        deadline = time.monotonic() + options.minutes * 60
        for name, mutant in sample:
            if time.monotonic() > deadline:
                print("the time is up")
                break
            looked += 1
            if notices(tree, name, mutant, seconds=options.seconds):
                noticed += 1
            else:
                print(f"\nsurvived in {name}:\n{mutant.diff}", flush=True)
    print(f"\n{noticed} of {looked} mutants noticed ({noticed / max(1, looked):.0%})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
