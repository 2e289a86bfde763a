"""Data to be written: arrays and columns as they are, or an error that names what would be lost.

numpy's own conversions drop masks and the names and types of tables; these do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swath._swath import Table, import_table, make_column

if TYPE_CHECKING:
    import numpy as np

# What to do with kinds of values that cannot be written.
_HINTS = {
    "O": "pass numbers of one type, in a numpy.ma.array if some are missing",
    "M": "convert with astype('int64'), and put the unit into the name",
    "m": "convert with astype('int64'), and put the unit into the name",
    "c": "write the real and the imaginary parts as two columns",
    "f": "convert with astype('float64') if that is accurate enough",
    "V": "convert with astype('float64') if that is exact, or pass a column for each field",
}


def speaks_arrow(data: Any) -> bool:
    """Whether it provides columns through the Arrow PyCapsule interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _is_extension(data: Any) -> bool:
    """Whether it is an array of pandas' own types, whose values numpy's conversion rounds or drops."""
    names = {
        kind.__qualname__ for kind in type(data).__mro__ if kind.__module__.startswith("pandas.")
    }
    return "ExtensionArray" in names and "NumpyExtensionArray" not in names


def plain(what: str, data: Any) -> np.ndarray[Any, Any]:
    """An array without a mask; data that would lose a mask or names is refused. ``what`` names it."""
    from swath._numpy import np

    if speaks_arrow(data) or _is_extension(data):
        raise TypeError(
            f"{what} is a {_kind(data)}: its names, types and missing values would be lost; "
            "try: fill in the missing values, then convert with numpy.asarray"
        )
    array = _array(data)
    if isinstance(array, np.ma.MaskedArray):
        # As bytes, for those of a structured array have fields.
        if np.ascontiguousarray(np.ma.getmaskarray(array)).view(np.uint8).any():
            raise TypeError(
                f"{what} is masked, and there are no values under the mask; try: "
                "fill them in with numpy.ma.filled(array, fill_value)"
            )
        array = array.data
    if array.dtype.hasobject:
        raise TypeError(
            f"{what} has dtype {array.dtype}: objects cannot be written; try: {_HINTS['O']}"
        )
    return array


def _kind(data: Any) -> str:
    return f"{type(data).__module__.partition('.')[0]}.{type(data).__qualname__}"


def _array(data: Any) -> np.ndarray[Any, Any]:
    """A numpy array, with its mask. Integers of Python are never rounded to doubles."""
    from swath._numpy import np

    if isinstance(data, np.ndarray):
        return data
    if not isinstance(data, (list, tuple)):
        return np.asarray(data)
    if any(isinstance(one, np.ma.MaskedArray) for one in data):
        whole = [0 if one is np.ma.masked else np.ma.getdata(one) for one in data]
        mask = np.array([np.ma.getmaskarray(one) for one in data])
        return np.ma.MaskedArray(_array(whole), mask)
    array: np.ndarray[Any, Any] = np.asarray(data)
    if array.dtype.kind in "fc":
        items = np.array(data, dtype=object).ravel()
        integers = [int(one) for one in items if isinstance(one, (int, np.integer))]
        lost = [one for one in integers if int(float(one)) != one]
        if lost or len(integers) == len(items) > 0:
            wrong = lost[0] if lost else max(integers)
            raise OverflowError(
                f"{wrong} would become a double, as not all values are 64-bit integers; try: "
                "pass a mapping of names to columns, or numpy.array(…, dtype)"
            )
    return array


def tables(data: Any) -> tuple[list[Table], list[str] | None] | None:
    """Columns with their names, if there are any; ``None`` for an array without a mask."""
    if isinstance(data, Table):
        return [data], data.names
    if isinstance(data, Mapping):
        names = [str(name) for name in data]
        return [_column(name, one) for name, one in zip(names, data.values())], names
    if _is_index(data):
        data = _column_of(data)
    if speaks_arrow(data):
        return _of_arrow(data)
    if _is_extension(data):
        return _of_arrow(_series(data))
    array = _array(data)
    if array.dtype.names:
        return _of_fields(array)
    return _of_masked(array)


def _of_fields(array: np.ndarray[Any, Any]) -> tuple[list[Table], list[str]]:
    """A structured array: a column for each field."""
    names = list(array.dtype.names or ())
    if array.ndim != 1:
        raise ValueError(
            f"an array with fields must have one dimension, not {array.ndim}; try: "
            "flatten it with array.ravel()"
        )
    return [_column(name, array[name]) for name in names], names


def _series(data: Any) -> Any:
    import pandas  # type: ignore[import-untyped, unused-ignore]

    return pandas.Series(data)


def _is_index(data: Any) -> bool:
    """Whether it is a pandas Index, whose name numpy's conversion drops."""
    return any(
        kind.__qualname__ == "Index" and kind.__module__.partition(".")[0] == "pandas"
        for kind in type(data).__mro__
    )


def _column_of(index: Any) -> Any:
    """A pandas Index as a Series with its name."""
    if index.nlevels != 1:
        raise TypeError(
            f"a {_kind(index)} is several columns, some perhaps without a name; "
            "try: convert it with index.to_frame(index=False)"
        )
    return index.to_series(index=range(len(index)))


def _of_arrow(data: Any) -> tuple[list[Table], list[str] | None]:
    if hasattr(type(data), "to_frame"):
        data = data.to_frame("" if data.name is None else str(data.name))
    if any(kind.__module__.partition(".")[0] == "pandas" for kind in type(data).__mro__):
        data = _with_index(data)
    table = _imported(data)
    return [table], None if table.names == [""] else table.names


def _imported(data: Any, name: str | None = None) -> Table:
    """Copies columns from Arrow; an error of their library gets the name of the column."""
    try:
        return import_table(data, name)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        what = _at_fault(data) if name is None else name
        if what is None or f"`{what}`" in str(error):
            raise
        column = f"column {what!r}" if what else "the column"
        text = " ".join(map(str, error.args)) or type(error).__name__
        kind = OverflowError if isinstance(error, OverflowError) else TypeError
        raise kind(
            f"{column} cannot be converted to numbers: {text}; try: {_HINTS['O']}"
        ) from error


def _at_fault(data: Any) -> str | None:
    """The name of the first column of a pandas or polars frame that cannot be converted."""
    origins = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    if not origins & {"pandas", "polars"} or not hasattr(data, "columns"):
        return None
    for at, name in enumerate(map(str, data.columns)):
        try:
            import_table(data.iloc[:, at] if "pandas" in origins else data[:, at], name)
        except Exception:
            return name
    return None


def _with_index(frame: Any) -> Any:
    """A pandas frame whose index is a column if it has a name: Arrow has no index."""
    index = frame.index
    if any(name is not None for name in index.names):
        return frame.reset_index()
    if not index.equals(frame.reset_index(drop=True).index):
        raise TypeError(
            "the index of the DataFrame is neither 0, 1, 2 … nor named, and would be lost; try: "
            "drop it with frame.reset_index(drop=True), or name it with frame.rename_axis('name')"
        )
    # Arrow would turn an index that only has these values into a column.
    return frame.reset_index(drop=True)


def _of_masked(array: np.ndarray[Any, Any]) -> tuple[list[Table], None] | None:
    from swath._numpy import np

    if not isinstance(array, np.ma.MaskedArray) or array.ndim not in (1, 2):
        return None
    columns = array.reshape(-1, 1) if array.ndim == 1 else array
    found = [_column(str(at), columns[:, at]) for at in range(columns.shape[1])]
    return (found, None) if found else None


def _column(name: str, data: Any) -> Table:
    """One column, exactly, or an error with its name."""
    from swath._numpy import np

    if _is_index(data):
        data = _column_of(data)
    if _is_extension(data):
        data = _series(data)
    if isinstance(data, Table) or not speaks_arrow(data):
        array = _array(data)
        if array.ndim != 1:
            raise ValueError(f"column {name!r}: a column has one dimension, not {array.ndim}")
        missing = None
        if isinstance(array, np.ma.MaskedArray):
            missing = np.ascontiguousarray(np.ma.getmaskarray(array)).view(np.uint8)
            array = array.data
        is_integer, values = _wide(f"column {name!r}", array, missing)
        return make_column(name, is_integer, values, missing)
    if hasattr(data, "reset_index"):
        values = data.reset_index(drop=True)
        if not data.index.equals(values.index):
            raise TypeError(
                f"column {name!r}: the index of the Series is not 0, 1, 2 …, and would be lost; "
                "try: drop it with series.reset_index(drop=True), or pass one DataFrame"
            )
        data = values
    return _imported(data, name)


def _wide(what: str, array: np.ndarray[Any, Any], missing: Any) -> tuple[bool, Any]:
    from swath._numpy import np

    check_numbers(what, array)
    if array.dtype.kind == "f":
        return False, np.ascontiguousarray(array, np.float64)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        there = array if missing is None else array[missing == 0]
        if there.size and int(there.max()) > 2**63 - 1:
            raise OverflowError(f"{what} has {there.max()}: a value above 2^63 - 1 does not fit")
    return True, np.ascontiguousarray(array, np.int64)


def check_numbers(what: str, array: np.ndarray[Any, Any]) -> None:
    """Fails unless the values are numbers of up to 64 bits, which text and columns keep exactly."""
    kind = array.dtype.kind
    if kind in "biu" or (kind == "f" and array.dtype.itemsize <= 8):
        return
    hint = _HINTS.get(kind, "leave it out, or convert it to numbers")
    raise TypeError(
        f"{what} has dtype {array.dtype}, which cannot be written exactly; try: {hint}"
    )
