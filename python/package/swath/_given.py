"""Data to be written: arrays and tables as they are, or an error that names what would be lost.

numpy's own conversions drop masks and the names and types of tables; these do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from swath._made import HINTS, made
from swath._swath import Given, Table, take_table

if TYPE_CHECKING:
    import numpy as np


def speaks_arrow(data: Any) -> bool:
    """Returns whether the data provides columns through the Arrow PyCapsule interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _is_extension(data: Any) -> bool:
    """Returns whether it is an array of pandas' own types, whose values numpy's conversion rounds or drops."""
    names = {
        kind.__qualname__ for kind in type(data).__mro__ if kind.__module__.startswith("pandas.")
    }
    return "ExtensionArray" in names and "NumpyExtensionArray" not in names


def plain(what: str, data: Any) -> np.ndarray[Any, Any]:
    """Returns an array without a mask; refuses data that would lose a mask or names. ``what`` names the data."""
    from swath._numpy import np

    if speaks_arrow(data) or _is_extension(data):
        raise TypeError(
            f"{what} is a {_kind(data)}: its names, types and missing values would be lost; "
            "try: fill in the missing values, then convert with numpy.asarray"
        )
    array = _array(data)
    if isinstance(array, np.ma.MaskedArray):
        # Viewed as bytes, because the mask of a structured array has fields.
        if np.ascontiguousarray(np.ma.getmaskarray(array)).view(np.uint8).any():
            raise TypeError(
                f"{what} is masked, and there are no values under the mask; try: "
                "fill them in with numpy.ma.filled(array, fill_value)"
            )
        array = array.data
    if array.dtype.hasobject:
        raise TypeError(
            f"{what} has dtype {array.dtype}: objects cannot be written; try: {HINTS['O']}"
        )
    return array


def _kind(data: Any) -> str:
    library = type(data).__module__.partition(".")[0]
    return type(data).__qualname__ if library == "builtins" else f"{library}.{type(data).__qualname__}"


def _array(data: Any) -> np.ndarray[Any, Any]:
    """Returns a numpy array, with its mask. Integers of Python are never rounded to doubles."""
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
    if array.dtype.kind == "M" or (array.dtype.kind in "iufc" and _has_flags(data)):
        # numpy would convert True to 1, and distort distant moments.
        items = np.array(data, dtype=object)
        if array.dtype.kind != "M" or len({getattr(one, "dtype", 0) for one in items.flat}) > 1:
            return items
    if array.dtype.kind in "US":
        items = np.array(data, dtype=object)
        if not all(isinstance(one, (str, bytes)) for one in items.ravel()):
            # numpy would convert numbers beside texts to text.
            return items
    if array.dtype.kind in "fc":
        items = np.array(data, dtype=object).ravel()
        integers = [int(one) for one in items if isinstance(one, (int, np.integer))]
        lost = [one for one in integers if int(float(one)) != one]
        if len(integers) == len(items) > 0 and 0 <= min(integers) <= max(integers) < 2**64:
            return np.array(data, np.uint64)
        if lost or len(integers) == len(items) > 0:
            wrong = lost[0] if lost else max(integers)
            raise OverflowError(
                f"{wrong} would become a double, as not all values are 64-bit integers; try: "
                "pass a mapping of names to columns, or numpy.array(…, dtype)"
            )
    return array


def _has_flags(data: Any) -> bool:
    """Returns whether there is a boolean among the numbers of a list."""
    from swath._numpy import np

    kinds = set(map(type, data))
    if kinds & {bool, np.bool_}:
        return True
    return kinds <= {list, tuple} and any(map(_has_flags, data))


class Tables(NamedTuple):
    """Columns, and their names if they have any: tables side by side, or data that is read while it is
    written."""

    data: list[Table] | Given
    names: list[str] | None


def _instead(data: Any) -> str:
    """Returns the hint for an argument that is not a table."""
    for way in ("collect", "compute"):
        if hasattr(data, way):
            return f"pass its result, data.{way}()"
    if hasattr(data, "__iter__") and not isinstance(data, (str, bytes)):
        return "pass list(data), or a mapping of names to columns"
    return "pass a table, a mapping of names to columns, or an array"


def tables(data: Any) -> Tables | None:
    """Returns columns with their names, if there are any; ``None`` for an array without a mask."""
    from swath._numpy import np

    if isinstance(data, Table):
        return Tables([data], data.names)
    if isinstance(data, Mapping):
        names = [str(name) for name in data]
        return Tables([_column(name, one) for name, one in zip(names, data.values())], names)
    if _is_index(data):
        data = _column_of(data)
    if speaks_arrow(data):
        return _of_arrow(data)
    if _is_extension(data):
        return _of_arrow(_series(data))
    array = _array(data)
    if array.ndim == 0 and not isinstance(data, np.ndarray):
        raise TypeError(f"a {_kind(data)} is not a table; try: {_instead(data)}")
    if array.dtype.names:
        return _of_fields(array)
    return _of_masked(array)


def plain_or_texts(data: Any) -> np.ndarray[Any, Any]:
    """Returns an array without a mask, of numbers or of anything that columns may hold."""
    array = _array(data)
    return array if array.dtype.hasobject else plain("the array", data)


def as_columns(array: np.ndarray[Any, Any]) -> Tables:
    """Returns the columns of an array, which have no names."""
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions, not {array.ndim}; try: reshape the array")
    columns = range(array.shape[1])
    found = [made("the array", f"column_{at + 1}", array[:, at], None) for at in columns]
    return Tables(found, None)


def _of_fields(array: np.ndarray[Any, Any]) -> Tables:
    """Returns a column for each field of a structured array."""
    names = list(array.dtype.names or ())
    if array.ndim != 1:
        raise ValueError(
            f"an array with fields must have one dimension, not {array.ndim}; try: "
            "flatten it with array.ravel()"
        )
    return Tables([_column(name, array[name]) for name in names], names)


def _series(data: Any) -> Any:
    import pandas  # type: ignore[import-untyped, unused-ignore]

    return pandas.Series(data)


def _is_index(data: Any) -> bool:
    """Returns whether it is a pandas Index, whose name numpy's conversion drops."""
    return any(
        kind.__qualname__ == "Index" and kind.__module__.partition(".")[0] == "pandas"
        for kind in type(data).__mro__
    )


def _column_of(index: Any) -> Any:
    """Converts a pandas Index to a Series with its name."""
    if index.nlevels != 1:
        raise TypeError(
            f"a {_kind(index)} is several columns, some perhaps without a name; "
            "try: convert it with index.to_frame(index=False)"
        )
    return index.to_series(index=range(len(index)))


def _is_pandas(data: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == "pandas" for kind in type(data).__mro__)


def _check_moments(name: str, series: Any) -> None:
    """Fails for nanoseconds in a column of objects, which pyarrow would cut."""
    import pandas

    infer = pandas.api.types.infer_dtype
    if series.dtype.kind != "O" or infer(series, skipna=True) not in ("datetime", "mixed"):
        return
    if any(getattr(one, "nanosecond", 0) > 0 for one in series):
        raise TypeError(
            f"column {name!r} has dtype object, and nanoseconds, which would be cut; try: convert it with "
            "pandas.to_datetime"
        )


def _of_arrow(data: Any) -> Tables:
    is_table = hasattr(data, "schema") or hasattr(data, "columns")
    if hasattr(type(data), "to_frame"):
        data = data.to_frame("" if data.name is None else str(data.name))
    if _is_pandas(data):
        data = _with_index(data)
        for at, name in enumerate(data.columns):
            _check_moments(str(name), data.iloc[:, at])
    given = _taken(data)
    return Tables(given, None if given.names == [""] and not is_table else given.names)


def _with_types(data: Any) -> Any:
    """Casts polars columns without a type, all missing, to text: polars passes them on with a buffer too many."""
    if type(data).__module__.partition(".")[0] != "polars":
        return data
    import polars

    if isinstance(data, polars.DataFrame) and polars.Null in data.dtypes:
        return data.with_columns(polars.col(polars.Null).cast(polars.String))
    if isinstance(data, polars.Series) and data.dtype == polars.Null:
        return data.cast(polars.String)
    return data


def _taken(data: Any, name: str | None = None) -> Given:
    """Opens data of an Arrow library, and adds the name of the column to its errors."""
    try:
        return take_table(_with_types(data), name)
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
            f"{column} cannot be converted to a type of Arrow: {text}; try: {HINTS['O']}"
        ) from error


def _at_fault(data: Any) -> str | None:
    """Returns the name of the first column of a pandas or polars frame that cannot be converted."""
    origins = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    if not origins & {"pandas", "polars"} or not hasattr(data, "columns"):
        return None
    for at, name in enumerate(map(str, data.columns)):
        try:
            take_table(data.iloc[:, at] if "pandas" in origins else data[:, at], name).table()
        except Exception:
            return name
    return None


def _with_index(frame: Any) -> Any:
    """Converts the index of a pandas frame to a column if it has a name: Arrow has no index."""
    index = frame.index
    if any(name is not None for name in index.names):
        return frame.reset_index()
    if not index.equals(frame.reset_index(drop=True).index):
        raise TypeError(
            "the index of the DataFrame is neither 0, 1, 2 … nor named, and would be lost; try: "
            "drop it with frame.reset_index(drop=True), or name it with frame.rename_axis('name')"
        )
    # Arrow would convert an index of these values into a column.
    return frame.reset_index(drop=True)


def _of_masked(array: np.ndarray[Any, Any]) -> Tables | None:
    from swath._numpy import np

    if not isinstance(array, np.ma.MaskedArray) or array.ndim not in (1, 2):
        return None
    columns = array.reshape(-1, 1) if array.ndim == 1 else array
    found = [_column(str(at), columns[:, at]) for at in range(columns.shape[1])]
    return Tables(found, None) if found else None


def _column(name: str, data: Any) -> Table:
    """Returns one column exactly, or fails with its name."""
    from swath._numpy import np

    if _is_index(data):
        data = _column_of(data)
    if _is_extension(data):
        data = _series(data)
    if isinstance(data, Table) or not speaks_arrow(data):
        array = _array(data)
        if array.ndim == 0 and hasattr(data, "__iter__") and not isinstance(data, (str, bytes)):
            raise TypeError(
                f"column {name!r}: a {_kind(data)} is not a column; try: pass list(data)"
            )
        if array.ndim != 1:
            raise ValueError(f"column {name!r}: a column has one dimension, not {array.ndim}")
        mask = None
        if isinstance(array, np.ma.MaskedArray):
            mask, array = np.ma.getmaskarray(array), array.data
        return made(f"column {name!r}", name, array, mask)
    if hasattr(data, "reset_index"):
        values = data.reset_index(drop=True)
        if not data.index.equals(values.index):
            raise TypeError(
                f"column {name!r}: the index of the Series is not 0, 1, 2 …, and would be lost; "
                "try: drop it with series.reset_index(drop=True), or pass one DataFrame"
            )
        data = values
    if _is_pandas(data):
        _check_moments(name, data)
    return _taken(data, name).table()
