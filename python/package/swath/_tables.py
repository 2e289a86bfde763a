"""Numeric tables as arrays, or as columns that Arrow libraries use without a copy."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from swath._given import check_numbers, plain, tables
from swath._how import How, Leave
from swath._swath import Table, read_dtypes, read_table, write_columns, write_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from swath._swath import (
        _Durability,
        _Engine,
        _HardLinks,
        _PageCache,
        _Progress,
        _Verify,
    )


def read_csv(
    source: Any,
    dtype: npt.DTypeLike | None = None,
    *,
    columns: Sequence[str | int] | None = None,
    delimiter: str | bytes | None = None,
    header: Literal["auto", "present", "absent"] = "auto",
    comment: str | bytes | None = "#",
    quote: str | bytes | None = '"',
    missing: float | None = None,
    missing_words: Sequence[str] | None = None,
    dtypes: Mapping[Any, Any] | Sequence[Any] | None = None,
    offset: int = 0,
    length: int | None = None,
    starting_in: tuple[int, int | None] | None = None,
    workers: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> Any:
    """Reads a numeric CSV or TSV file.

    Parameters
    ----------
    source : path, descriptor, open file, bytes in memory, or list of copies
        As for `read`.
    dtype : numpy dtype, optional
        Integers of 8 to 64 bits, float32 or float64: the result is one array of two dimensions.
        Without it, a ``Table`` with a type for each column.
    columns : sequence of str or int, optional
        The columns to read, in this order: by name in the header, or by index from 0; negative
        indices are refused. Other columns may hold any text. Without it, all are read.
    delimiter : str or bytes, optional
        One byte, or "blanks": any run of spaces and tabs. Without it, the first of tab, ``,``, ``;``
        and ``|`` that occurs in the first line, else blanks if it has a space.
    header : {"auto", "present", "absent"}
        Whether the first line names the columns.
    comment, quote : str, bytes or None
        The byte that begins a line to be skipped, and the byte that may enclose fields.
    missing : float, optional
        The value for missing fields in an array. Default: NaN for floats; for integers a missing
        field is an error.
    missing_words : sequence of str
        Fields that count as missing. Default: an empty field, ``NA``, ``N/A`` and ``null``.
    dtypes : mapping, or sequence with one dtype per column of the result, optional
        The types of the columns of a ``Table``: "int64" or "float64" for a name in the header or an
        index. The fields of a column decide its type if it has none here, or ``None``. Types of
        columns that are not read are ignored. `csv_dtypes` returns those of a file.
    offset, length : int, optional
        Which bytes are the text, for a table in a larger file: they are read into memory first.
        Bytes in errors and in ``starting_in`` count from ``offset``.
    starting_in : (offset, length), optional
        Only the rows that begin in these bytes of the text; the last one is read to its end, wherever
        that is. If extents cover the file, each row begins in exactly one of them. The first line and
        its names are read anyway. A column that has no type in ``dtypes`` gets its type from
        the rows that are read, so it may differ from part to part.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Returns
    -------
    Table or numpy.ndarray
        Doubles are correctly rounded.

    Raises
    ------
    swath.MalformedError
        With the line and the byte of the fault.

    Examples
    --------
    >>> table = swath.read_csv("points.csv")
    >>> table.columns, table.shape
    (['x', 'y'], (3, 2))
    >>> swath.read_csv("points.csv", "f8", columns=["y"]).ravel()
    array([0.5, 1.5, 2.5])

    Parts that fit together, for as many programs as there are parts:

    >>> dtypes = swath.csv_dtypes("points.csv")
    >>> parts = [(0, 11), (11, None)]
    >>> [swath.read_csv("points.csv", dtypes=dtypes, starting_in=part).shape for part in parts]
    [(2, 2), (1, 2)]
    """
    said = _said(columns, delimiter, header, comment, quote, missing_words)
    said |= {"missing": missing, "offset": offset, "length": length, "starting_in": starting_in}
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    if dtype is None:
        if dtypes is not None:
            said["dtypes"] = _dtypes(dtypes, said["columns"])
        table = read_table(source, None, how, **said)
        if isinstance(dtypes, Sequence) and len(dtypes) != table.num_columns:
            raise ValueError(
                f"dtypes=[…] has {len(dtypes)} types for {table.num_columns} columns; try: pass one for each "
                "column of the result, or a dict"
            )
        return table
    if dtypes is not None:
        raise TypeError(
            "dtype= is the type of an array, and dtypes= are those of a Table; try: leave out one of them"
        )
    from swath._numpy import np

    values, _ = read_table(source, np.dtype(dtype).name, how, **said)
    return np.asarray(values)


def csv_dtypes(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    delimiter: str | bytes | None = None,
    header: Literal["auto", "present", "absent"] = "auto",
    comment: str | bytes | None = "#",
    quote: str | bytes | None = '"',
    missing_words: Sequence[str] | None = None,
    offset: int = 0,
    length: int | None = None,
    starting_in: tuple[int, int | None] | None = None,
    workers: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> list[str]:
    """Returns the types of the columns that `read_csv` would read: "int64" or "float64" for each.

    The types depend on every field, so the types of a part may differ from those of the whole file.
    Call this once and pass the result as ``dtypes=`` to every `read_csv` of a part: then all parts
    have the same types. It parses the whole file and keeps nothing. If you know that all rows are
    alike, the first of them are enough: ``starting_in=(0, 1 << 20)``. A part with a fraction in a
    column of integers is then an error with its line, never a wrong number.

    Parameters
    ----------
    source : path, descriptor, open file, bytes in memory, or list of copies
        As for `read`.
    columns, delimiter, header, comment, quote, missing_words, offset, length, starting_in
        As for `read_csv`; pass the same ones there.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Examples
    --------
    >>> swath.csv_dtypes("points.csv")
    ['int64', 'float64']
    """
    said = _said(columns, delimiter, header, comment, quote, missing_words)
    said |= {"offset": offset, "length": length, "starting_in": starting_in}
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    return read_dtypes(source, how, **said)


def _said(
    columns: Any, delimiter: Any, header: Any, comment: Any, quote: Any, missing_words: Any
) -> dict[str, Any]:
    """How the text is written, and which columns are read."""
    if not isinstance(header, str):
        raise TypeError(f'header={header!r}: not one of "auto", "present", "absent"')
    return {
        "columns": None if columns is None else _keys(columns),
        "header": header,
        "delimiter": delimiter if delimiter == "blanks" else _byte("delimiter", delimiter),
        "comment": _byte("comment", comment),
        "quote": _byte("quote", quote),
        "missing_words": None if missing_words is None else list(missing_words),
    }


def _dtypes(
    dtypes: Mapping[Any, Any] | Sequence[Any], columns: list[str | int] | None
) -> list[tuple[str | int, str]]:
    """The types by the columns of the file."""
    if isinstance(dtypes, Mapping):
        pairs = [(_key(one, "dtypes={…}"), dtype) for one, dtype in dtypes.items()]
    elif isinstance(dtypes, (str, bytes)) or not isinstance(dtypes, Sequence):
        raise TypeError(
            f"dtypes={dtypes!r}: neither a mapping nor a sequence of dtypes; try: pass "
            'dtypes={"column": "int64"}'
        )
    elif columns is None:
        pairs = list(enumerate(dtypes))
    else:
        pairs = list(zip(columns, dtypes))
    return [(key, _dtype(dtype)) for key, dtype in pairs if dtype is not None]


_DTYPES = {"int64": "int64", "i8": "int64", "float64": "float64", "f8": "float64"}


def _dtype(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in _DTYPES:
        return _DTYPES[dtype]
    from swath._numpy import np

    name = str(np.dtype(dtype).name)
    if name not in _DTYPES:
        raise TypeError(
            f'dtypes=…: {name}: columns of a Table have "int64" or "float64"; try: pass one of these, or '
            "dtype= for an array"
        )
    return name


def _keys(columns: Any) -> list[str | int]:
    if isinstance(columns, (str, bytes, int)) or not hasattr(columns, "__iter__"):
        raise TypeError(
            f"columns={columns!r}: not a sequence of names and indices; try: pass "
            f"columns=[{columns!r}]"
        )
    return [_key(one) for one in columns]


def _key(one: Any, where: str = "columns=[…]") -> str | int:
    if isinstance(one, str):
        return str(one)
    try:
        index = None if isinstance(one, bool) else operator.index(one)
    except TypeError:
        index = None
    if index is None:
        raise TypeError(
            f"{where}: {one!r} is neither a name nor an index; try: pass a str, or an int from 0"
        )
    if index < 0:
        raise ValueError(
            f"{where}: {one!r}: indices count from 0, the first column; try: pass the name"
        )
    if index >= 2**63:
        raise ValueError(f"{where}: {one!r}: no file has that many columns; try: pass the name")
    return index


def _byte(name: str, text: str | bytes | None) -> int | None:
    if text is None:
        return None
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{name}={text!r}: not a str or bytes; try: pass one byte")
    if len(encoded := text.encode() if isinstance(text, str) else text) != 1:
        raise ValueError(f"{name}={text!r}: not one byte; try: pass a single ASCII character")
    return encoded[0]


def column(table: Table, index: int) -> Any:
    """Implements ``table[index]``."""
    from swath._numpy import np

    values, bits = np.asarray(table.values(index)), table.validity(index)
    if bits is None:
        return values
    there = np.unpackbits(np.asarray(bits), count=len(values), bitorder="little").astype(bool)
    if values.dtype.kind == "f":
        return np.where(there, values, np.nan)
    return np.ma.MaskedArray(values, mask=~there)


def matrix(table: Table, dtype: Any, copy: bool | None) -> Any:
    """Implements ``numpy.asarray(table)``."""
    from swath._numpy import np

    # The frame that called numpy: pandas' constructor requests only an array, and there is no other
    # way to pass it the names.
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
    if dtype is None:
        kinds = {one.dtype.kind if type(one) is np.ndarray else "" for one in columns}
        dtype = np.int64 if kinds == {"i"} else np.uint64 if kinds == {"u"} else np.float64
    made = np.empty((len(table), len(columns)), dtype)
    for index, one in enumerate(columns):
        made[:, index] = _as(f"column {table.names[index]!r}", one, made.dtype)
    return made


def _as(what: str, column: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """The column as another type: exactly, or not at all. Conversion to float32 rounds."""
    from swath._numpy import np

    if isinstance(column, np.ma.MaskedArray):
        if dtype.kind in "iub":
            raise ValueError(f"{what} has missing values, which {dtype} cannot express")
        made = np.full(len(column), np.nan, dtype)
        made[~np.ma.getmaskarray(column)] = _as(what, column.compressed(), dtype)
        return made
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
    """Where a conversion between integers and doubles has changed values."""
    from swath._numpy import np

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


def dtypes(table: Table) -> list[Any]:
    """Implements ``table.dtypes``."""
    from swath._numpy import np

    return [np.asarray(table.values(index)).dtype for index in range(table.num_columns)]


def to_pandas(table: Table) -> Any:
    """Implements ``table.to_pandas()``."""
    from swath._numpy import np

    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        text = "pandas is not installed; try: run pip install pandas"
        raise ImportError(text) from error

    def made(column: Any) -> Any:
        if not isinstance(column, np.ma.MaskedArray):
            return column
        return pandas.arrays.IntegerArray(column.data.copy(), np.ma.getmaskarray(column))

    # By number, because two may have the same name.
    columns = {index: made(table[index]) for index in range(table.num_columns)}
    frame = pandas.DataFrame(columns, index=pandas.RangeIndex(len(table)))
    frame.columns = table.names
    return frame


def write_csv(
    path: Any,
    data: Any,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | bytes | None = None,
    digits: int | None = None,
    durability: _Durability = "full",
    replace: bool = True,
    hard_links: _HardLinks = "refuse",
    workers: int = 0,
    progress: _Progress = None,
) -> int:
    """Writes a numeric CSV file, complete or not at all; returns its length in bytes.

    Parameters
    ----------
    path : path
    data : table, mapping of names to columns, or array of one or two dimensions
        A ``Table``, or a table of pandas, polars, pyarrow or any other Arrow library, is written with
        its names and types. So are a mapping, a structured array (one column per field), and a named
        pandas Series or Index. Missing values, and masked ones of an array, become empty fields.
        Booleans of numpy become 0 and 1.
    names : sequence of str, optional
        Names of the columns for the first line, quoted if they could be taken for data. An array
        without names gets no such line, except ``column_1`` and so on if it has no rows.
    delimiter : str or bytes, optional
        One byte, but not ``#``, which begins comments. Default: a comma.
    digits : int, optional
        Digits after the point, correctly rounded. Without it, the shortest text that reads back as
        the same number.
    durability : {"full", "none"}
        Whether to wait until the device has it.
    replace : bool
        Whether an existing file may be replaced.
    hard_links : {"refuse", "break"}
        What to do if the file has other names, which keep the old bytes: refuse, or give only this
        name the new ones.
    workers : int
        Threads; 0 chooses.
    progress : bool or callable
        ``True`` shows a bar; a callable receives the bytes written and the total (``None`` if it is
        not known in advance), on threads of Swath.

    Raises
    ------
    TypeError, OverflowError
        With the column and its type, if CSV cannot keep it exactly: text, dates, decimals, complex
        numbers, objects, nested columns, floats of more than 64 bits.

    Examples
    --------
    >>> swath.write_csv("out.csv", {"id": [1, 2], "value": [0.5, 1.5]})
    21
    >>> print(swath.read("out.csv").decode(), end="")
    id,value
    1,0.5
    2,1.5
    """
    from swath._numpy import np

    leave = Leave(durability, replace, hard_links, workers, progress)
    said: dict[str, Any] = {
        "delimiter": _byte("delimiter", "," if delimiter is None else delimiter),
        "digits": digits,
        "names": None if names is None else list(names),
    }
    if (found := tables(data)) is not None:
        columns, its_names = found
        if names is None:
            said["names"] = its_names
        return write_columns(path, columns, leave, **said)
    array = plain("the array", data)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions, not {array.ndim}; try: reshape the array")
    check_numbers("the array", array)
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.dtype.name not in _WRITTEN:
        array = array.astype(np.float64)
    # In this machine's byte order, and contiguous.
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return write_table(path, array.dtype.name, array, array.shape[1], leave, **said)


# Arrays that are written as they are.
_WRITTEN = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_WRITTEN |= {"float32", "float64"}
