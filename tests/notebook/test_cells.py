import time

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from notebook_bcc.notebook.cells import Cells
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType


def cell(cell_id: str, source: str = "") -> Cell:
    return Cell(cell_id, CellType.CODE, source)


class CellsBesideAList(RuleBasedStateMachine):
    """Cells behave as a plain list would, and every version that ever was stays what it was."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = Cells()
        self.model: list[Cell] = []
        self.versions: list[tuple[Cells, list[Cell]]] = []

    def follow(self, cells: Cells, model: list[Cell]) -> None:
        self.versions.append((self.cells, self.model))
        self.cells, self.model = cells, model

    @rule(many=st.integers(1, 70))
    def append(self, many: int) -> None:
        for _ in range(many):
            new = cell(f"c{len(self.model)}")
            self.follow(self.cells.appended(new), [*self.model, new])

    @rule()
    def prepend(self) -> None:
        new = cell(f"c{len(self.model)}")
        self.follow(self.cells.prepended(new), [new, *self.model])

    @precondition(lambda self: self.model)
    @rule(data=st.data(), source=st.text(max_size=5))
    def replace(self, data: st.DataObject, source: str) -> None:
        place = data.draw(st.integers(0, len(self.model) - 1))
        new = cell(self.model[place].id, source)
        self.follow(self.cells.replaced(new), [*self.model[:place], new, *self.model[place + 1 :]])

    @invariant()
    def equals_the_list(self) -> None:
        assert list(self.cells) == self.model

    @invariant()
    def the_newest_are_its_end(self) -> None:
        for most in (1, 2, 63, 64, 65, 127, 128, 129, 200):
            assert list(self.cells.newest(most)) == self.model[-most:]
        assert self.cells.newest(0) == ()
        assert len(self.cells) == len(self.model)
        assert self.cells.last == (self.model[-1] if self.model else None)
        for one in self.model[:: max(1, len(self.model) // 7)]:
            assert one.id in self.cells
            assert self.cells.get(one.id) is one

    def teardown(self) -> None:
        for cells, model in self.versions[::5]:
            assert list(cells) == model


TestCellsBesideAList = CellsBesideAList.TestCase
TestCellsBesideAList.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)


def test_a_taken_id_is_refused() -> None:
    with pytest.raises(ValueError, match="taken"):
        Cells().appended(cell("a")).appended(cell("a"))


def test_replacing_a_cell_that_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        Cells().replaced(cell("a"))


@pytest.mark.parametrize("strange", ["", "\ud800", "\0", "中文", "x" * 10_000])
def test_any_text_can_be_asked_for(strange: str) -> None:
    cells = Cells().appended(cell("a"))
    assert strange not in cells
    assert cells.get(strange) is None


def test_what_is_no_text_is_no_id() -> None:
    assert 7 not in Cells()


def test_equal_cells_make_equal_sequences() -> None:
    one, other = Cells().appended(cell("a")), Cells().appended(cell("a"))
    assert one == other
    assert hash(one) == hash(other)
    assert one != other.appended(cell("b"))
    assert one != [cell("a")]


def test_the_ten_thousandth_append_costs_about_what_the_first_ones_did() -> None:
    def thousands() -> list[float]:
        cells, seconds = Cells(), []
        for thousand in range(10):
            start = time.process_time()
            for number in range(1000):
                cells = cells.appended(cell(f"cell-{thousand}-{number}"))
            seconds.append(time.process_time() - start)
        assert len(cells) == 10_000
        return seconds

    # The best of three: the machine may be busy. A sequence that copies itself would be far over this.
    assert min(seconds[-1] / min(seconds[:2]) for seconds in (thousands() for _ in range(3))) < 4


def test_a_version_shares_nearly_all_of_its_predecessor() -> None:
    cells = Cells()
    for number in range(5000):
        cells = cells.appended(cell(f"c{number}"))
    follower = cells.appended(cell("new"))
    shared = sum(one is other for one, other in zip(cells._chunks, follower._chunks, strict=False))
    assert shared >= len(cells._chunks) - 1
