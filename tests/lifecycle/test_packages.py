from __future__ import annotations

import sys
from pathlib import Path

import pytest

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.packages import READERS, check_packages


def test_what_is_missing_in_our_own_interpreter_is_named_with_the_command_that_helps() -> None:
    with pytest.raises(RunRefused, match=r"no_such_package.*pip install \"notebook-bcc\[ml\]\""):
        check_packages("python3", [], interpreter=sys.executable, packages=["sys", "no_such_package"])


def test_an_interpreter_of_somebody_else_is_not_looked_into() -> None:
    check_packages("python3", [], interpreter="/opt/other/bin/python", packages=["no_such_package"])


def test_an_installed_kernel_of_ours_is_found_by_its_name() -> None:
    check_packages("python3", [Path("a.csv")], packages=["sys"])
    with pytest.raises(RunRefused):
        check_packages("python3", [], packages=["no_such_package"])


def test_every_reader_belongs_to_a_data_file() -> None:
    assert set(READERS) == {".xlsx", ".parquet", ".feather"}
