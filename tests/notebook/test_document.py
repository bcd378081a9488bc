import pytest

from notebook_bcc.errors import CellIdRefused, CellUnknown
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType


def test_a_document_is_followed_not_changed() -> None:
    first = Document()
    second = first.with_cell(Cell("a", CellType.CODE, "1"))
    third = second.with_changed_cell("a", source="2", execution_count=7, metadata={"k": 1})
    assert [len(one.cells) for one in (first, second, third)] == [0, 1, 1]
    assert second.cell("a").source == "1"
    assert (third.cell("a").source, third.cell("a").execution_count, third.cell("a").metadata) == ("2", 7, {"k": 1})


def test_what_is_not_given_stays() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "x"}
    document = Document().with_cell(Cell("a", CellType.CODE, "1", (output,), 3, {"k": 1}))
    changed = document.with_changed_cell("a", metadata={"n": 2}).cell("a")
    assert changed == Cell("a", CellType.CODE, "1", (output,), 3, {"k": 1, "n": 2})
    assert document.with_changed_cell("a", outputs=()).cell("a").outputs == ()


def test_the_last_code_cell_is_remembered() -> None:
    document = Document().with_cell(Cell("a", CellType.CODE, "")).with_cell(Cell("b", CellType.MARKDOWN, ""))
    assert document.last_code_id == "a"


def test_the_open_thought_is_remembered_until_it_is_finished() -> None:
    document = Document().with_cell(Cell("t", CellType.THINKING, "hm"))
    assert document.thinking_id == "t"
    assert document.with_changed_cell("t", source="hm, yes").thinking_id == "t"
    assert document.with_changed_cell("t", metadata={"finished_thinking": True}).thinking_id is None


def test_a_title_can_stand_first() -> None:
    document = (
        Document().with_cell(Cell("a", CellType.CODE, "")).with_cell(Cell("t", CellType.MARKDOWN, "# T"), first=True)
    )
    assert [cell.id for cell in document.cells] == ["t", "a"]
    assert document.cell("a").id == "a"


@pytest.mark.parametrize("bad", ["", "a b", "ä", "a\n", "x" * 65, "a/b", "\ud800"])
def test_an_id_that_nbformat_does_not_allow_is_refused(bad: str) -> None:
    with pytest.raises(CellIdRefused):
        Document().check_id(bad)


def test_a_taken_id_is_refused() -> None:
    document = Document().with_cell(Cell("a", CellType.CODE, ""))
    with pytest.raises(CellIdRefused, match="another cell"):
        document.check_id("a")
    document.check_id("b")


def test_a_free_id_is_free_and_the_same_each_time() -> None:
    document = Document().with_cell(Cell("cell-2", CellType.CODE, ""))
    assert document.free_id() == document.free_id() == "cell-3"
    document.check_id(document.free_id("chapter"))


@pytest.mark.parametrize("unknown", ["nope", "\ud800"])
def test_an_unknown_cell_is_named(unknown: str) -> None:
    with pytest.raises(CellUnknown) as caught:
        Document().cell(unknown)
    assert caught.value.cell_id == unknown
