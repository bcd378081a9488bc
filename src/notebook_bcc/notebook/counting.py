"""Numbers with their nouns: one difference, two differences."""

from __future__ import annotations


class Count(int):
    """A number that a template may give a noun: `{count:difference|differences}`. Other formats are those of int."""

    def __format__(self, spec: str, /) -> str:
        one, bar, more = spec.partition("|")
        return f"{int(self)} {one if self == 1 else more}" if bar else format(int(self), spec)
