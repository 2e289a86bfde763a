"""Converts an array of numpy to a column: exactly, or with an error that names it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from swath._swath import Table, make_column, make_texts

if TYPE_CHECKING:
    import numpy as np

    _Array = np.ndarray[Any, Any]

# Hints for kinds of values that cannot be written.
HINTS = {
    "O": "pass values of one type, such as all bool or all int; None may stand for missing ones",
    "M": "convert with astype('M8[us]')",
    "m": "convert with astype('int64'), and put the unit into the name",
    "c": "write the real and the imaginary parts as two columns",
    "f": "convert with astype('float64') if that is accurate enough",
    "S": "decode it with numpy.char.decode",
    "V": "convert with astype('float64') if that is exact, or pass a column for each field",
}
# Units of numpy's moments, and the units in which they are stored.
_UNITS = {"Y": "D", "M": "D", "W": "D", "D": "D", "h": "s", "m": "s"}
_UNITS |= {unit: unit for unit in ("s", "ms", "us", "ns")}


def check_numbers(what: str, array: _Array) -> None:
    """Fails unless the values are numbers of up to 64 bits, which text and columns keep exactly."""
    kind = array.dtype.kind
    if kind in "biu" or (kind == "f" and array.dtype.itemsize <= 8):
        return
    raise _refused(what, array)


def _refused(what: str, array: _Array) -> TypeError:
    hint = HINTS.get(array.dtype.kind, "leave it out, or convert it to numbers")
    return TypeError(
        f"{what} has dtype {array.dtype}, which cannot be written exactly; try: {hint}"
    )


def made(what: str, name: str, array: _Array, mask: _Array | None) -> Table:
    """Returns a table of one column; ``what`` names it in errors."""
    kind = array.dtype.kind
    if kind == "U":
        texts = array.tolist()
        if mask is not None:
            texts = [None if gone else text for text, gone in zip(texts, mask.tolist())]
        return make_texts(name, texts)
    if kind == "O":
        return _of_objects(what, name, array, mask)
    if kind == "M":
        return _of_moments(what, name, array, mask)
    check_numbers(what, array)
    word = "bool" if kind == "b" else array.dtype.name
    if word == "float16":
        word = "float32"
    return _of_values(name, word, array.astype(word, copy=False), mask)


def _of_values(name: str, word: str, array: _Array, mask: _Array | None) -> Table:
    from swath._numpy import np

    # In this machine's byte order, and contiguous.
    values = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    missing = None if mask is None else np.ascontiguousarray(mask).view(np.uint8)
    # Moments have no buffers of their own.
    return make_column(name, word, values.view(np.uint8), missing)


def _of_moments(what: str, name: str, array: _Array, mask: _Array | None, zone: str = "") -> Table:
    from swath._numpy import np

    unit = _UNITS.get(np.datetime_data(array.dtype)[0])
    if unit is None:
        raise _refused(what, array)
    gone = np.isnat(array)
    exact = array.astype(f"M8[{unit}]")
    values = exact.view(np.int64)
    is_kept = exact.astype(array.dtype) == array
    if unit == "D":
        is_kept &= np.abs(values) < 2**31
    if not (is_kept | gone).all():
        first = array[~(is_kept | gone)][0]
        raise OverflowError(f"{what} has {first}, which is out of range; try: {HINTS['M']}")
    gone = gone if mask is None else gone | mask
    values = np.where(gone, 0, values)
    if unit == "D":
        return _of_values(name, "date", values.astype(np.int32), gone)
    return _of_values(name, f"timestamp[{unit}{zone}]", values, gone)


def _of_objects(what: str, name: str, array: _Array, mask: _Array | None) -> Table:
    """Returns a column of objects of one Python type and ``None``."""
    from swath._numpy import np

    items = array.tolist()
    if mask is not None:
        items = [None if gone else one for one, gone in zip(items, mask.tolist())]
    items = [None if _is_missing(one) else one for one in items]
    there = [one for one in items if one is not None]
    gone = np.array([one is None for one in items], bool)
    if not there:
        return _of_values(name, "null", np.zeros(len(items), np.uint8), None)

    def filled(values: list[Any], dtype: Any) -> _Array:
        found = iter(values)
        return np.array([values[0] if missing else next(found) for missing in gone], dtype)

    is_all: Callable[[Any], bool] = lambda kind: all(isinstance(one, kind) for one in there)
    if is_all(str):
        return make_texts(name, items)
    if is_all((bool, np.bool_)):
        return _of_values(name, "bool", filled(there, bool), gone)
    if any(isinstance(one, (datetime.timedelta, np.timedelta64)) for one in there):
        # numpy counts durations among the integers.
        raise TypeError(
            f"{what} has durations, which cannot be written exactly; try: convert them to numbers, and put "
            "the unit into the name"
        )
    sorts = {_sort(kind) for kind in set(map(type, there))}
    if sorts == {"a number"} and is_all((int, np.integer)):
        word = "int64" if max(there) < 2**63 else "uint64"
        if min(there) < (-(2**63) if word == "int64" else 0) or max(there) >= 2**64:
            raise OverflowError(
                f"{what} has {min(there)} and {max(there)}: they do not fit into 64 bits; try: pass texts"
            )
        return _of_values(name, word, filled(there, word), gone)
    if is_all((np.float32, np.float16)):
        return _of_values(name, "float32", filled(there, np.float32), gone)
    if sorts == {"a number"}:
        _check_doubles(what, items)
        return _of_values(name, "float64", filled(there, float), gone)
    if is_all((datetime.datetime, np.datetime64)):
        zones = {getattr(one, "tzinfo", None) is not None for one in there}
        if len(zones) == 1:
            zone = ", UTC" if zones == {True} else ""
            return _of_moments(what, name, filled(_moments(what, there), None), gone, zone)
    elif is_all(datetime.date) and not any(isinstance(one, datetime.datetime) for one in there):
        return _of_moments(what, name, filled(there, "M8[D]"), gone)
    raise _mixed(what, items)


def _is_missing(one: Any) -> bool:
    """Returns whether it is ``None``, pandas' counterpart, or a moment that is not a time. NaN is a
    number."""
    from swath._numpy import np

    if isinstance(one, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(one))
    return one is None or type(one).__name__ in ("NAType", "NaTType")


def _sort(kind: type) -> str:
    """Returns the sort of a type's values; a column has values of one sort."""
    from swath._numpy import np

    sorts: list[tuple[str, Any]] = [
        ("a boolean", (bool, np.bool_)),
        ("a number", (int, float, np.integer, np.floating)),
        ("a text", str),
        ("a moment", (datetime.datetime, np.datetime64)),
        ("a date", datetime.date),
    ]
    found = [sort for sort, kinds in sorts if issubclass(kind, kinds)]
    return found[0] if found else f"a {kind.__name__}"


def _mixed(what: str, items: list[Any]) -> TypeError:
    """Returns the error that names the first value and the first one of another sort."""
    places: dict[str, int] = {}
    for at, one in enumerate(items):
        if one is not None:
            places.setdefault(_sort(type(one)), at)
    named = ", ".join([f"{sort} at index {at}" for sort, at in places.items()][:2])
    return TypeError(
        f"{what} has dtype object, which cannot be written exactly: {named}; try: {HINTS['O']}"
    )


def _check_doubles(what: str, items: list[Any]) -> None:
    """Fails at the first number that a double does not hold exactly."""
    from swath._numpy import np

    for at, one in enumerate(items):
        if isinstance(one, np.longdouble):
            raise _refused(what, np.asarray(one))
        if isinstance(one, (int, np.integer)) and not _is_double(int(one)):
            raise OverflowError(
                f"{what} has {one} at index {at}, which is not a double; try: pass all of them as texts"
            )


def _is_double(whole: int) -> bool:
    try:
        return int(float(whole)) == whole
    except OverflowError:
        return False


def _moments(what: str, items: list[Any]) -> list[Any]:
    """Converts moments of Python, numpy and pandas to numpy's, in UTC if they have a zone."""
    from swath._numpy import np

    moments = [_moment(one) for one in items]
    units = {one.dtype for one in moments}
    # Moments of Python and pandas are in microseconds, unless that would cut them.
    if units == {np.dtype("M8[us]")} or (
        len(units) == 1 and all(isinstance(one, np.datetime64) for one in items)
    ):
        return moments
    return in_one_unit(what, moments)


def _moment(one: Any) -> Any:
    from swath._numpy import np

    if isinstance(one, np.datetime64):
        return one
    if hasattr(one, "asm8"):
        # A pandas Timestamp is a datetime too, but as one it lacks its nanoseconds.
        return one.asm8
    if one.tzinfo is not None:
        one = one.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return np.datetime64(one, "us")


def in_one_unit(what: str, moments: list[Any]) -> list[Any]:
    """Converts numpy's moments to micro- or nanoseconds, exactly. numpy's own conversion may change
    them."""
    from swath._numpy import np

    for unit in ("us", "ns"):
        made = [one.astype(f"M8[{unit}]") for one in moments]
        if all(np.isnat(one) or new.astype(one.dtype) == one for one, new in zip(moments, made)):
            return made
    raise OverflowError(
        f"{what} has moments that neither microseconds nor nanoseconds keep exactly; try: pass texts"
    )
