"""The tool that changes code to see whether tests notice."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mutants import PACKAGE, QUICK, ROOT, mutants_of


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a is None", ["x = a is not None"]),
        ("x = a and b", ["x = ((a) or (b))", "x = ((a))", "x = ((b))"]),
        ("x = not a", ["x = (a)"]),
        ("x = a + 1", ["x = (a - 1)", "x = a + 2"]),
        ("x = True", ["x = False"]),
        ("x = 'größer'", ["x = 'other größer'"]),
        ("x = f'{a}'", ["x = ''"]),
        ("x = a if c else b", ["x = a", "x = b"]),
        ("if a:\n    b()", ["if True:\n    b()", "if False:\n    b()", "if a:\n    pass"]),
        ("x = f(a, b=c, d=e)", ["x = f(a,  d=e)", "x = f(a, b=c, )"]),
        ("a.b = c", ["pass"]),
        ("a += 1", ["pass", "a += 2"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("for a in b:\n    break", ["for a in b:\n    pass"]),
        ("x: int = 1", ["x: int = 2"]),
    ],
)
def test_a_place_is_changed(source: str, changed: list[str]) -> None:
    assert sorted(one.after for one in mutants_of(Path("m.py"), source)) == sorted(changed)


@pytest.mark.parametrize(
    "source", ['"""A docstring."""', "x: Literal['a']", "_log.warning('text %s', a)", "def f(a: int) -> 'int': pass"]
)
def test_what_cannot_matter_is_left_alone(source: str) -> None:
    assert [one.after for one in mutants_of(Path("m.py"), source) if one.after != "pass"] == []


def test_every_mutant_of_a_real_module_compiles_and_is_another_program() -> None:
    path = PACKAGE / "engine/decide.py"
    source = (ROOT / path).read_text(encoding="utf-8")
    found = mutants_of(path, source)
    assert len(found) > 100
    before = ast.dump(ast.parse(source))
    assert [one.diff for one in found if ast.dump(ast.parse(one.after)) == before] == []


def test_the_packages_and_their_tests_exist() -> None:
    for modules, tests in QUICK.values():
        assert all(list((ROOT / PACKAGE).glob(pattern)) for pattern in modules)
        assert all((ROOT / "tests" / one).exists() for one in tests if not one.startswith("-"))
