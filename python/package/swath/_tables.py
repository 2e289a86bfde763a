"""Numeric tables as arrays, or as columns that Arrow's users take without a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from swath._swath import Table, read_table, write_columns, write_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from swath._swath import _PageCache, _Progress


def read_csv(
    path: Any,
    dtype: npt.DTypeLike | None = None,
    *,
    delimiter: str | bytes | None = None,
    header: Literal["auto", "present", "absent"] = "auto",
    comment: str | bytes | None = "#",
    quote: str | bytes | None = '"',
    missing: float | None = None,
    missing_words: Sequence[str] | None = None,
    workers: int = 0,
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
) -> Any:
    """Reads a numeric CSV or TSV file.

    Parameters
    ----------
    path : path
    dtype : numpy dtype, optional
        Integers of 8 to 64 bits, float32 or float64: then all of it is one array of two dimensions.
        Without it a ``Table`` with a type for each column.
    delimiter : str or bytes, optional
        One byte; without it, the first of tab, ``,``, ``;``, ``|`` and space that the first line has.
    header : {"auto", "present", "absent"}
        Whether the first line names the columns.
    comment, quote : str, bytes or None
        What begins a line that is left out, and what may stand around fields.
    missing : float, optional
        What stands for a missing value in an array: NaN for floats; integers have nothing.
    missing_words : sequence of str
        Fields that are missing values: nothing at all, ``NA``, ``N/A`` and ``null``.
    workers, page_cache, progress
        As for `read`.

    Returns
    -------
    Table or numpy.ndarray
        Doubles are correctly rounded.

    Raises
    ------
    swath.MalformedError
        With line and byte of what is not as it should be.
    """
    said: dict[str, Any] = {
        "header": header,
        "delimiter": _byte("delimiter", delimiter),
        "comment": _byte("comment", comment),
        "quote": _byte("quote", quote),
        "missing": missing,
        "missing_words": None if missing_words is None else list(missing_words),
        "workers": workers,
        "page_cache": page_cache,
        "progress": progress,
    }
    if dtype is None:
        return read_table(path, **said)
    import numpy as np

    values, _ = read_table(path, np.dtype(dtype).name, **said)
    return np.asarray(values)


def _byte(name: str, text: str | bytes | None) -> int | None:
    if text is None:
        return None
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{name}={text!r}: it is a str or bytes, of one byte")
    if len(encoded := text.encode() if isinstance(text, str) else text) != 1:
        raise ValueError(f"{name}={text!r}: it is one byte")
    return encoded[0]


def column(table: Table, index: int) -> Any:
    """What ``table[index]`` is: see there."""
    import numpy as np

    values, bits = np.asarray(table.values(index)), table.validity(index)
    if bits is None:
        return values
    there = np.unpackbits(np.asarray(bits), count=len(values), bitorder="little").astype(bool)
    if values.dtype.kind == "f":
        return np.where(there, values, np.nan)
    return np.ma.MaskedArray(values, mask=~there)


def matrix(table: Table, dtype: Any, copy: bool | None) -> Any:
    """What ``numpy.asarray(table)`` is: see there."""
    import numpy as np

    if copy is False:
        raise ValueError("the columns of a table are apart: an array of them is a copy")
    columns = [table[index] for index in range(table.num_columns)]
    if not columns:
        return np.empty((len(table), 0), dtype)
    if any(isinstance(one, np.ma.MaskedArray) for one in columns):
        columns = [np.ma.filled(one.astype(np.float64), np.nan) for one in columns]
    made = np.column_stack(columns)
    return made if dtype is None else made.astype(dtype, copy=False)


def write_csv(
    path: Any,
    data: Any,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | bytes = ",",
    digits: int | None = None,
    workers: int = 0,
) -> int:
    """Writes a numeric CSV file: complete under its name, or not at all; returns its bytes.

    Parameters
    ----------
    path : path
    data : array of one or two dimensions, or mapping of names to arrays
        A mapping is written as columns.
    names : sequence of str, optional
        What the first line calls the columns; without them, of an array, there is no such line.
    delimiter : str or bytes
        One byte.
    digits : int, optional
        Behind the point, correctly rounded; without it the shortest text that is read as the same
        number.
    workers : int
        Threads; 0 chooses.
    """
    import numpy as np

    how: dict[str, Any] = {
        "delimiter": _byte("delimiter", delimiter),
        "digits": digits,
        "workers": workers,
    }
    if isinstance(data, Mapping):
        columns = [np.asarray(column) for column in data.values()]
        if any(column.ndim != 1 for column in columns):
            raise ValueError("a column has one dimension")
        given = [
            (column.dtype.kind in "biu", np.ascontiguousarray(column, _wide(column)))
            for column in columns
        ]
        how["names"] = list(map(str, data)) if names is None else list(names)
        return write_columns(path, given, **how)
    array = np.asarray(data)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions, not {array.ndim}")
    if not array.dtype.isnative or array.dtype.kind not in "iuf" or array.dtype.itemsize < 1:
        array = array.astype(_wide(array))
    if array.dtype == np.float16 or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    array = np.ascontiguousarray(array)
    how["names"] = None if names is None else list(names)
    return write_table(path, array.dtype.name, array, array.shape[1], **how)


def _wide(array: np.ndarray[Any, Any]) -> npt.DTypeLike:
    import numpy as np

    if array.dtype == np.uint64 and len(array) and int(array.max()) > 2**63 - 1:
        raise OverflowError("a value above 2^63 - 1 does not fit")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"values of {array.dtype} cannot be written")
    return np.int64 if array.dtype.kind in "biu" else np.float64
