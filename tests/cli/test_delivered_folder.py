"""What is delivered can be used: run where it lies, after it was moved, edited, as a script, with another file, and as
a model on its own. One small run of the built-in playbook serves all of these."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import joblib
import nbformat
import pandas as pd
import papermill
import pytest
from benchmarks.numbers.checking import check_run
from nbclient import NotebookClient
from nbformat import NotebookNode

from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook

_ROWS = 160


def flats(rows: int, seed: int) -> str:
    """A table with an identifier, a date as text, a category, gaps, and a price that follows from them."""
    draw = random.Random(seed)
    lines = ["flat_id;built;district;size;rooms;rent"]
    for row in range(rows):
        size, rooms = draw.uniform(30, 120), draw.randint(1, 5)
        district = draw.choice(["north", "south", "centre"])
        rent = 8 * size + 50 * rooms + (200 if district == "centre" else 0) + draw.gauss(0, 30)
        shown = "" if draw.random() < 0.05 else f"{size:.1f}"
        built = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.{draw.randint(1950, 2020)}"
        numbers = f"{shown};{rooms};{rent:.2f}".replace(".", ",")
        lines.append(f"F{seed}{row:04d};{built};{district};{numbers}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A finished run with a delivered folder, which was then moved away."""
    shell = Shell(tmp_path_factory.mktemp("delivered"))
    shell.write("flats.csv", flats(_ROWS, 1))
    shell.write("new.csv", flats(20, 2))
    done = shell(
        "run",
        "flats.csv",
        "--test",
        "new.csv",
        "--target",
        "rent",
        "--out",
        "results/",
        "--confirm",
        "auto",
        "--no-verify",
    )
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    (shell.folder / "results").rename(shell.folder / "moved")
    shell.write("terminal.txt", done.stdout)
    return shell


def told_numbers(shell: Shell, terminal: str) -> None:
    """Every number and comparative of the one run here has a variable, and agrees with the kernel."""
    (run,) = (path for path in (shell.folder / "nbcc-runs").iterdir() if path.is_dir())
    found = check_run(run, terminal)
    assert not found.problems, "\n".join(map(str, found.problems))
    assert found.numbers > 50
    assert found.comparatives > 5


def test_every_number_that_the_run_tells_is_that_of_its_variable(place: Shell) -> None:
    told_numbers(place, (place.folder / "terminal.txt").read_text(encoding="utf-8"))


def test_so_is_every_number_of_a_run_in_chinese(shell: Shell) -> None:
    shell.write("flats.csv", flats(_ROWS, 3))
    done = shell("run", "flats.csv", "--target", "rent", "--lang", "zh", "--confirm", "auto", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    told_numbers(shell, done.stdout)


@pytest.fixture
def folder(place: Shell, tmp_path: Path) -> Path:
    """A copy of the delivered folder for one test."""
    return Path(shutil.copytree(place.folder / "moved", tmp_path / "copy"))


def _notebook(folder: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(folder / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def _run_all(notebook: NotebookNode, folder: Path) -> None:
    # Figures are shown inline, whatever backend this process was told to use.
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    client = NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)


def _shown(cell: NotebookNode) -> object:
    """What a cell has printed and shown. How a text is cut into pieces depends on timing."""
    bundles = [output["data"] for output in cell.outputs if "data" in output]
    data = [{mime: text for mime, text in one.items() if not mime.startswith("image/")} for one in bundles]
    return "".join(output.get("text", "") for output in cell.outputs), data


def _in_a_process_of_its_own(code: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=cwd, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_code_cell_holds_the_parameters(folder: Path) -> None:
    notebook = _notebook(folder)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert first.metadata.tags == ["parameters"]
    assert 'data = "inputs/flats.csv"\ntest = "inputs/new.csv"' in first.source
    assert (folder / "inputs" / "flats.csv").read_text() == flats(_ROWS, 1)


def test_run_all_works_there_with_every_cell_run_twice_and_what_is_saved_is_verified(
    place: Shell, folder: Path
) -> None:
    notebook = _notebook(folder)
    cells = notebook.cells
    notebook.cells = [deepcopy(cell) for cell in cells for _ in range(2 if cell.cell_type == "code" else 1)]
    for name in ("model.pkl", "predictions.csv", "prepare.py"):
        (folder / name).unlink()
    _run_all(notebook, folder)
    assert (folder / "model.pkl").exists()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for first, second in zip(code[::2], code[1::2], strict=True):
        assert _shown(first) == _shown(second), first.source
    last = {cell.id: cell for cell in notebook.cells}
    notebook.cells = [last[cell.id] for cell in cells]
    nbformat.write(notebook, folder / "notebook.ipynb")  # type: ignore[no-untyped-call]
    done = place("verify", str(folder / "notebook.ipynb"))
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr


def test_papermill_takes_another_file(folder: Path) -> None:
    (folder / "other.csv").write_text(flats(90, 3), encoding="utf-8")
    papermill.execute_notebook(
        folder / "notebook.ipynb",
        folder / "out.ipynb",
        parameters={"data": "other.csv"},
        cwd=str(folder),
        progress_bar=False,
    )
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["rows"]["learnt from"] + summary["rows"]["set aside"] == 90


def test_the_exported_script_runs_there(place: Shell, folder: Path) -> None:
    script = Path(place("export", "last", "--to", "script", "--out", str(folder / "notebook.py")).stdout.strip())
    (folder / "predictions.csv").unlink()
    subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=280,
        env={"MPLBACKEND": "agg"},
    )
    assert len(pd.read_csv(folder / "predictions.csv")) == 20


def test_an_edit_of_a_function_takes_effect_in_the_notebook_and_in_prepare_py(folder: Path) -> None:
    notebook = _notebook(folder)
    cell = next(cell for cell in notebook.cells if cell.source.startswith("def prepare("))
    cell.source = cell.source.replace("parse(table)", "parse(table).assign(rooms=0)")
    at = next(at for at, one in enumerate(notebook.cells) if "def as_module" in one.source)
    notebook.cells = notebook.cells[: at + 1]
    notebook.cells[-1].source += "\nprint(set(cleaned['rooms']))"
    _run_all(notebook, folder)
    assert notebook.cells[-1].outputs[-1].text.endswith("{0}\n")
    assert "rooms=0" in (folder / "prepare.py").read_text(encoding="utf-8")


def test_the_model_loads_anywhere_beside_others_with_pickle_and_joblib(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "prepare.py").write_text("raise SystemExit('not this one')", encoding="utf-8")
    shutil.copy(folder / "model.pkl", tmp_path / "other.pkl")
    code = (
        "import joblib, pickle\n"
        f"a = joblib.load({str(folder / 'model.pkl')!r})\n"
        "b = pickle.load(open('other.pkl', 'rb'))\n"
        f"rows = a.read({str(folder / 'inputs' / 'new.csv')!r}).drop(columns='rent')\n"
        "assert list(a.predict(rows)) == list(b.predict(rows))\n"
        "again = pickle.loads(pickle.dumps(a))\n"
        "assert list(again.predict(rows)) == list(a.predict(rows))\n"
        "print(list(a.feature_names_in_))\n"
    )
    assert _in_a_process_of_its_own(code, tmp_path) == "['built', 'district', 'size', 'rooms']\n"


def test_the_requirements_name_every_package_that_notebook_script_and_model_import(folder: Path) -> None:
    listed = (folder / "requirements.txt").read_text(encoding="utf-8")
    assert all(f"{name}==" in listed for name in ("pandas", "numpy", "scikit-learn", "matplotlib"))


def test_a_missing_column_is_named_as_in_the_file(folder: Path) -> None:
    model = joblib.load(folder / "model.pkl")
    with pytest.raises(ValueError, match="missing: 'built', 'size'"):
        model.predict(model.read(folder / "inputs" / "new.csv").drop(columns=["built", "size"]))


def test_nullable_arrow_and_category_columns_predict_the_same(folder: Path) -> None:
    model = joblib.load(folder / "model.pkl")
    rows = model.read(folder / "inputs" / "new.csv")
    plain = list(model.predict(rows))
    for other in (
        rows.convert_dtypes(),
        rows.convert_dtypes(dtype_backend="pyarrow"),
        rows.astype({"district": "category"}),
    ):
        assert list(model.predict(other)) == pytest.approx(plain)


def test_another_version_is_said_in_one_sentence(folder: Path) -> None:
    saved = (folder / "model.pkl").read_bytes()
    version = pd.__version__.encode()
    with pytest.warns(UserWarning, match="this model was made with pandas") as said:
        pickle.loads(saved.replace(version, version[:-1] + b"x"))
    assert len(said) == 1


def test_predictions_are_a_submission_and_a_test_file_with_the_target_is_scored(place: Shell, folder: Path) -> None:
    predictions = pd.read_csv(folder / "predictions.csv")
    assert list(predictions.columns) == ["flat_id", "rent"]
    assert list(predictions["flat_id"]) == [f"F2{row:04d}" for row in range(20)]
    texts = " ".join(cell.source for cell in read_notebook(folder / "notebook.ipynb").document.cells)
    assert "the predictions can be scored: **rmse" in texts


def test_new_rows_are_predicted_as_the_file_was_read(place: Shell, folder: Path) -> None:
    without = "\n".join(line.rpartition(";")[0] for line in flats(20, 2).splitlines())
    place.write("unknown.csv", without)
    done = place("predict", "last", "unknown.csv", "-o", "-")
    assert done.returncode == Exit.COMPLETED, done.stderr
    assert done.stdout == (folder / "predictions.csv").read_text(encoding="utf-8")
    assert done.stderr == ""
    place.write("wrong.csv", "flat_id;size\na;1\nb;2\n")
    refused = place("predict", "last", "wrong.csv", "-o", "-")
    assert refused.returncode == Exit.USAGE
    assert "'built', 'district', 'rooms'" in refused.stderr
    assert "ValueError" not in refused.stderr
    # Rents are amounts.
    refused = place("predict", "last", "unknown.csv", "--probabilities", "-o", "-")
    assert refused.returncode == Exit.USAGE
    assert "the model predicts numbers, and only classes have probabilities" in refused.stderr


def test_a_delivered_folder_and_its_model_predict_a_file_that_is_written_in_another_way(
    place: Shell, folder: Path
) -> None:
    place.write("english.csv", flats(20, 2).replace(",", ".").replace(";", ","))
    expected = (folder / "predictions.csv").read_text(encoding="utf-8")
    for word in (str(folder), str(folder / "model.pkl")):
        done = place("predict", word, "english.csv", "-o", "-")
        assert done.returncode == Exit.COMPLETED, done.stderr
        assert done.stdout == expected
        assert done.stderr.count("\n") == 1
        assert "separator ',' (not ';'), decimal sign '.' (not ',')" in done.stderr


def test_what_cannot_be_read_and_what_is_unknown_is_said_for_each_column(place: Shell) -> None:
    lines = flats(4, 2).splitlines()
    fields = [line.split(";") for line in lines]
    fields[1][2], fields[2][2], fields[3][4] = "west", "east", "some"
    place.write("odd.csv", "\n".join(";".join(row) for row in fields) + "\n")
    done = place("predict", "last", "odd.csv", "-o", "odd-answers.csv")
    assert done.returncode == Exit.COMPLETED, done.stderr
    assert done.stderr.splitlines() == [
        "nbcc: 'rooms': 1 of 4 values could not be read and count as missing: 'some'",
        "nbcc: 'district': 2 of 4 values are unknown to the model: 'west', 'east'",
    ]
    assert len((place.folder / "odd-answers.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("flat_id;built;district;size;rooms\n", "no rows of data"),
        ("flat_id;built;district;size;rooms\na;b;c;1;2\na;b;c;1;2;3;4;5;6\n", "line 3 has 9 fields"),
    ],
)
def test_rows_that_cannot_be_predicted_are_refused_in_plain_words(place: Shell, content: str, words: str) -> None:
    place.write("bad.csv", content)
    done = place("predict", "last", "bad.csv", "-o", "-")
    assert done.returncode == Exit.USAGE
    assert words in done.stderr
    assert "Error" not in done.stderr
    assert done.stderr.count("\n") == 1
