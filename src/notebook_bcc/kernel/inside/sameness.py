"""Whether two objects are the same, where that can be asked. Its source is sent to the kernel.

One of them is the other, saved and loaded again: its classes that come from cells were made anew.
Python 3.9 or later.
"""

from __future__ import annotations

import copyreg
import math
import types
import weakref
from typing import Any

_SCALARS = (int, float, complex, str, bytes, bool, type(None))
_CELLS = "__main__"


def same(one: Any, other: Any) -> bool:
    """False only if they differ. May raise what the objects raise when they are asked."""
    return _same(one, other, set())


def _same(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other) and not _is_made_anew(kind, type(other)):
        return False
    if kind in _SCALARS:
        return bool(one == other or (one != one and other != other))
    if (id(one), id(other)) in seen:
        return True
    seen.add((id(one), id(other)))
    if isinstance(one, (type, types.ModuleType)):
        return bool(one.__name__ == other.__name__)
    if isinstance(one, types.FunctionType):
        return one.__code__ == other.__code__ and _same(one.__defaults__, other.__defaults__, seen)
    if isinstance(one, types.BuiltinFunctionType):
        return one.__name__ == other.__name__ and _same(one.__self__, other.__self__, seen)
    if isinstance(one, types.MethodType):
        return _same(one.__func__, other.__func__, seen) and _same(one.__self__, other.__self__, seen)
    if kind is weakref.ref:
        return (one() is None) == (other() is None)
    library = kind.__module__.partition(".")[0]
    if library == "numpy" and kind.__name__ == "ndarray":
        return _same_arrays(one, other, seen)
    if library == "pandas" and hasattr(kind, "equals"):
        return bool(one.equals(other)) or _same_tables(one, other, seen)
    if isinstance(one, (list, tuple, dict, set, frozenset)):
        return _same_containers(one, other, seen)
    return _same_objects(one, other, seen)


def _is_made_anew(kind: type, other: type) -> bool:
    return kind.__module__ == _CELLS == other.__module__ and kind.__qualname__ == other.__qualname__


def _same_arrays(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.hasobject:
        return one.dtype.names is not None or all(_same(a, b, seen) for a, b in zip(one.flat, other.flat))  # noqa: B905  Python 3.9
    # By their bytes: not-a-number is no difference.
    return bool((_bytes(one) == _bytes(other)).all())


def _bytes(array: Any) -> Any:
    return array.ravel(order="C").view("u1") if array.size and array.dtype.itemsize else array.ravel()[:0].astype("u1")


def _same_tables(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    """A table that says it differs may hold objects that are equal to themselves alone."""
    if one.shape != other.shape:
        return False
    if one.ndim == 1:
        return one.dtype == other.dtype and _same(one.tolist(), other.tolist(), seen)
    if not one.columns.equals(other.columns) or not one.index.equals(other.index):
        return False
    columns = range(one.shape[1])
    return all(
        one.iloc[:, at].equals(other.iloc[:, at]) or _same_tables(one.iloc[:, at], other.iloc[:, at], seen)
        for at in columns
    )


def _same_containers(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    if len(one) != len(other):
        return False
    if _answer(one, other):
        return True
    if isinstance(one, dict):
        # A loaded dict has its keys in the same order.
        return all(_same(a, b, seen) for a, b in zip(one.items(), other.items()))  # noqa: B905  Python 3.9
    if isinstance(one, (set, frozenset)):
        # Which of its elements is which cannot be asked, unless they all are scalars.
        return not all(type(element) in _SCALARS and not _is_nan(element) for element in one)
    return all(_same(a, b, seen) for a, b in zip(one, other))  # noqa: B905  Python 3.9


def _same_objects(one: Any, other: Any, seen: set[tuple[int, int]]) -> bool:
    kind: Any = type(one)
    answer = _answer(one, other) if kind.__eq__ is not object.__eq__ else None
    state, again = _state(one), _state(other)
    if answer is not True and state and (kind.__module__ == _CELLS or _is_saved_as_it_is(kind)):
        return _same(state, again, seen)
    # One that cannot be asked is trusted.
    return answer is not False


def _answer(one: Any, other: Any) -> bool | None:
    """What an object says itself; None where that is neither yes nor no."""
    try:
        answer = one == other
    except Exception:  # noqa: BLE001  it cannot be asked
        return None
    return bool(answer) if type(answer).__name__ in ("bool", "bool_") else None


def _is_saved_as_it_is(kind: Any) -> bool:
    """Whether the object alone does not decide what of it is saved."""
    plain = getattr(object, "__getstate__", None)
    return (
        kind.__reduce__ is object.__reduce__
        and kind.__reduce_ex__ is object.__reduce_ex__
        and kind not in copyreg.dispatch_table
        and getattr(kind, "__getstate__", plain) is plain
    )


def _state(value: Any) -> dict[str, Any]:
    found = dict(getattr(value, "__dict__", None) or {})
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                found[slot] = getattr(value, slot)
    return found


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
