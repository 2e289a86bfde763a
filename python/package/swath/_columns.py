"""Columns of a `Table` as arrays of numpy and pandas."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from swath._swath import Table, table_texts

if TYPE_CHECKING:
    import numpy as np


def column(table: Table, index: int) -> Any:
    """Implements ``table[index]``."""
    from swath._numpy import np

    kind = table.types[index]
    if kind in ("text", "dictionary"):
        return _objects(table_texts(table, index))
    values, bits = np.asarray(table.values(index)), table.validity(index)
    there = None
    if bits is not None:
        there = np.unpackbits(np.asarray(bits), count=len(values), bitorder="little").astype(bool)
    dtype = _dtype(kind)
    if dtype.kind == "M":
        # Days become 64 bits wide; timestamps are used as they are in memory.
        moments = values.astype(dtype) if kind == "date" else values.view(dtype)
        return moments if there is None else np.where(there, moments, np.datetime64("NaT"))
    if dtype.kind == "b":
        values = values.view(bool)
    if there is None:
        return values
    if values.dtype.kind == "f":
        return np.where(there, values, values.dtype.type(np.nan))
    return np.ma.MaskedArray(values, mask=~there)


def _objects(items: list[Any]) -> np.ndarray[Any, Any]:
    from swath._numpy import np

    made = np.empty(len(items), object)
    made[:] = items
    return made


def _dtype(kind: str) -> np.dtype[Any]:
    """Returns the dtype of a column from the word for its type."""
    from swath._numpy import np

    if kind in ("text", "dictionary"):
        return np.dtype(object)
    if kind == "null":
        return np.dtype(float)
    if kind == "date":
        return np.dtype("datetime64[D]")
    if kind.startswith("timestamp["):
        unit = kind[len("timestamp[") : -1].partition(",")[0]
        return np.dtype(f"datetime64[{unit}]")
    try:
        return np.dtype(kind)
    except TypeError:
        raise TypeError(
            f"a column of type {kind} is not an array of numpy; try: pass the table to pyarrow"
        ) from None


def dtypes(table: Table) -> list[np.dtype[Any]]:
    """Implements ``table.dtypes``."""
    return [_dtype(kind) for kind in table.types]


def matrix(table: Table, dtype: Any, copy: bool | None) -> Any:
    """Implements ``numpy.asarray(table)``."""
    from swath._numpy import np

    # The frame that called numpy. pandas' constructor requests an array, which cannot carry the
    # names.
    caller = sys._getframe(1)
    if (caller.f_globals.get("__name__"), caller.f_code.co_name) == (
        "pandas.core.frame",
        "__init__",
    ):
        raise TypeError(
            "pandas.DataFrame(table) would lose names and types; try: call table.to_pandas() or "
            "pandas.DataFrame.from_arrow(table)"
        )
    if copy is False:
        raise ValueError("the columns of a table are separate; try: allow a copy with copy=None")
    columns = [table[index] for index in range(table.num_columns)]
    made = np.empty((len(table), len(columns)), _common(columns) if dtype is None else dtype)
    for index, one in enumerate(columns):
        made[:, index] = _as(f"column {table.names[index]!r}", one, made.dtype)
    return made


def _common(columns: list[Any]) -> Any:
    """Returns the dtype that holds all columns."""
    from swath._numpy import np

    if not {one.dtype.kind for one in columns} <= set("biuf"):
        return columns[0].dtype if len({one.dtype for one in columns}) == 1 else object
    if not columns or any(isinstance(one, np.ma.MaskedArray) for one in columns):
        return np.float64
    return np.result_type(*(one.dtype for one in columns))


def _as(what: str, column: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """Converts a column exactly, or fails. Conversion to float32 rounds."""
    from swath._numpy import np

    if dtype.kind == "O":
        # As a list, items keep their types: `tolist` would convert moments to integers.
        return _objects(list(column) if column.dtype.kind == "M" else column.tolist())
    if isinstance(column, np.ma.MaskedArray):
        if dtype.kind in "iub":
            raise ValueError(f"{what} has missing values, which {dtype} cannot express")
        made = np.full(len(column), np.nan, dtype)
        made[~np.ma.getmaskarray(column)] = _as(what, column.compressed(), dtype)
        return made
    if column.dtype.kind != dtype.kind and not {column.dtype.kind, dtype.kind} <= set("biufc"):
        raise ValueError(
            f"{what} is of type {column.dtype}, which {dtype} cannot express; try: select columns of "
            "numbers, or call numpy.asarray(table, object)"
        )
    with np.errstate(invalid="ignore"):
        made = column.astype(dtype)
    lost = _lost(column, made)
    if len(lost):
        raise ValueError(
            f"{what} has {column[lost[0]]}, which {dtype} cannot express exactly; try: use the "
            "column alone, or numpy.asarray(table, object)"
        )
    return made


def _lost(column: np.ndarray[Any, Any], made: np.ndarray[Any, Any]) -> Any:
    """Returns the places at which a conversion between integers and doubles, or between moments, changed the value."""
    from swath._numpy import np

    if column.dtype.kind == "M" and made.dtype.kind == "M":
        return np.flatnonzero((made.astype(column.dtype) != column) & ~np.isnat(column))
    if column.dtype.kind in "bM":
        return []
    if made.dtype.kind in "iu":
        least, most = np.iinfo(made.dtype).min, np.iinfo(made.dtype).max
        inside = (column >= least) & (column <= most)
        # As a double, the greatest 64-bit integer is rounded up and out of range.
        if column.dtype.kind == "f":
            inside = (column >= float(least)) & (column < float(most + 1)) & (column % 1 == 0)
        return np.flatnonzero(~inside)
    if made.dtype.kind == "b":
        return np.flatnonzero((column != 0) & (column != 1))
    if made.dtype in (np.float64, np.complex128) and column.dtype.kind in "iu":
        real = made.real
        large = np.flatnonzero(np.abs(real) >= 2.0**53)
        return [at for at in large if int(real[at]) != int(column[at])]
    return []


def to_pandas(table: Table) -> Any:
    """Implements ``table.to_pandas()``."""
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        text = "pandas is not installed; try: run pip install pandas"
        raise ImportError(text) from error
    # Keyed by number, because two columns may have the same name.
    columns = {index: _series(pandas, table, index) for index in range(table.num_columns)}
    frame = pandas.DataFrame(columns, index=pandas.RangeIndex(len(table)))
    frame.columns = table.names
    return frame


def pandas_dtype(kind: str) -> Any:
    """Returns the dtype of a DataFrame's column from the word for its type or from pandas' own
    name."""
    import pandas

    if kind == "text":
        # pandas' own type for text, if its version has one by default.
        return pandas.Series(["a"]).dtype
    if kind.startswith("timestamp["):
        unit, _, zone = kind[len("timestamp[") : -1].partition(", ")
        return f"datetime64[{unit}, {zone}]" if zone else f"datetime64[{unit}]"
    if kind == "dictionary":
        # Without values, categories have the type of other text columns.
        return pandas.CategoricalDtype(pandas.Index([], dtype=pandas_dtype("text")))
    # pandas has no days.
    known = {"date": "datetime64[s]", "null": "float64"}
    return known.get(kind, kind)


def _series(pandas: Any, table: Table, index: int) -> Any:
    """Returns a column of the table for a DataFrame."""
    from swath._numpy import np

    kind, values = table.types[index], table[index]
    if kind == "dictionary":
        made = pandas.Categorical(values)
        return made if len(made.categories) else pandas.Categorical(values, dtype=pandas_dtype(kind))
    if kind == "text":
        return pandas.Series(values, dtype=pandas_dtype(kind))
    if kind.startswith("timestamp[") and "," in kind:
        return pandas.Series(values).dt.tz_localize("UTC")
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        array = pandas.arrays.BooleanArray if kind == "bool" else pandas.arrays.IntegerArray
        return array(values.data.copy(), mask)
    return values
