"""All disguises by the trap that they hide."""

from __future__ import annotations

from benchmarks.detect import leaks, time, values
from benchmarks.detect.clean import CLEAN
from benchmarks.detect.tables import Disguise

CLEAN_KIND = "clean"

CATALOGUE: dict[str, list[Disguise]] = {
    "a code for missing": values.MISSING_CODES,
    "names that look like numbers": values.NOT_NUMBERS,
    "a real row called total": values.REAL_TOTALS,
    "time in parts": time.TIME_PARTS,
    "time in words": time.TIME_TEXTS,
    "mixed dates": time.MIXED_DATES,
    "a row number that continues": time.CONTINUED,
    "a number that runs on with time": time.RUNNING,
    "panels": time.PANELS,
    "subjects": time.GROUPS,
    "a column that is the answer": leaks.ALONE,
    "missing where the class is": leaks.MISSING_DECIDES,
    "columns that make the target": leaks.MADE,
    "known afterwards": leaks.AFTERWARDS,
    "copies with another id": leaks.COPIES,
    "near copies": leaks.NEAR_COPIES,
    "identifiers that are numbers": leaks.IDENTIFIERS,
    "codes beside names": leaks.TWINS,
    CLEAN_KIND: CLEAN,
}
