"""The cells of a document: a sequence that is never changed, only followed by the next one, cheaply."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from notebook_bcc.protocol.cells import Cell

_CHUNK = 64
_BUCKETS = 256
_Bucket = dict[str, int]


class Cells:
    """Cells in order, found by id. Adding or replacing one costs the same at cell 10 and at cell 10,000.

    Two levels of tuples share all chunks but the touched one with the sequence they came from; ids are looked up in
    hashed buckets of which only the touched one is copied.
    """

    __slots__ = ("_buckets", "_chunks", "_length")

    def __init__(self) -> None:
        self._chunks: tuple[tuple[Cell, ...], ...] = ()
        self._buckets: tuple[_Bucket, ...] = ({},) * _BUCKETS
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Cell]:
        for chunk in self._chunks:
            yield from chunk

    def __contains__(self, cell_id: object) -> bool:
        return isinstance(cell_id, str) and cell_id in self._buckets[_bucket_of(cell_id)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cells) and self._chunks == other._chunks

    def __hash__(self) -> int:
        return hash((self._length, self._chunks[-1][-1].id if self._chunks else None))

    def get(self, cell_id: str) -> Cell | None:
        """The cell of that id, or None."""
        index = self._buckets[_bucket_of(cell_id)].get(cell_id)
        return None if index is None else self._chunks[index // _CHUNK][index % _CHUNK]

    @property
    def last(self) -> Cell | None:
        return self._chunks[-1][-1] if self._chunks else None

    def newest(self, most: int) -> tuple[Cell, ...]:
        """The last cells, oldest first, at a price that does not grow with the others."""
        chunks = self._chunks[-(most // _CHUNK + 2) :]
        return tuple(cell for chunk in chunks for cell in chunk)[-most:] if most > 0 else ()

    def appended(self, cell: Cell) -> Cells:
        """The sequence with one more cell; its id must be new."""
        if cell.id in self:
            raise ValueError(f"cell id {cell.id!r} is taken")
        room = self._chunks and len(self._chunks[-1]) < _CHUNK
        chunks = (*self._chunks[:-1], (*self._chunks[-1], cell)) if room else (*self._chunks, (cell,))
        place = _bucket_of(cell.id)
        bucket = {**self._buckets[place], cell.id: self._length}
        return self._with(chunks, (*self._buckets[:place], bucket, *self._buckets[place + 1 :]), self._length + 1)

    def replaced(self, cell: Cell) -> Cells:
        """The sequence with the cell of that id exchanged."""
        index = self._buckets[_bucket_of(cell.id)][cell.id]
        chunk = self._chunks[index // _CHUNK]
        within = index % _CHUNK
        changed = (*chunk[:within], cell, *chunk[within + 1 :])
        outer = index // _CHUNK
        chunks = (*self._chunks[:outer], changed, *self._chunks[outer + 1 :])
        return self._with(chunks, self._buckets, self._length)

    def prepended(self, cell: Cell) -> Cells:
        """The sequence with a new first cell. Costs as much as there are cells: used for the title, once."""
        sequence = Cells().appended(cell)
        for one in self:
            sequence = sequence.appended(one)
        return sequence

    @classmethod
    def _with(cls, chunks: tuple[tuple[Cell, ...], ...], buckets: tuple[_Bucket, ...], length: int) -> Cells:
        made = cls()
        made._chunks, made._buckets, made._length = chunks, buckets, length
        return made


def _bucket_of(cell_id: str) -> int:
    return crc32(cell_id.encode("utf-8", "surrogatepass")) % _BUCKETS
