"""Tables of all libraries as text, and as Arrow files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Unpack

from swath import _dialect as check
from swath._errors import ChangedValueWarning, Error
from swath._given import Tables, as_columns, plain_or_texts, tables
from swath._made import check_numbers
from swath._options import WriteOptions, output, takes
from swath._swath import PythonOutput, write_array, write_tables


@takes
def write_csv(
    path: Any,
    data: Any,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | bytes | None = None,
    digits: int | None = None,
    quoting: Literal["minimal", "all", "none"] = "minimal",
    null: str = "",
    line_end: Literal["lf", "crlf"] = "lf",
    **options: Unpack[WriteOptions],
) -> int:
    """Writes a CSV file, complete or not at all; returns its length in bytes.

    Parameters
    ----------
    path : path
        If its name ends in ``.gz``, ``.zst`` or ``.bz2``, the file is compressed, by all workers.
    data : table, stream, mapping of names to columns, or array of one or two dimensions
        A ``Table``, a ``TableStream``, or a table or stream of pandas, polars, pyarrow, duckdb or any other Arrow
        library, is written with its names and types. So are a mapping, a structured array (one column per
        field), and a named pandas Series or Index. Missing values, and masked values of an array, become empty
        fields. In an array of two dimensions, booleans of numpy become 0 and 1.
    names : sequence of str, optional
        Names of the columns for the first line, quoted if they could be taken for data. An array
        without names gets no such line, except ``column_1`` and so on if it has no rows.
    delimiter : str or bytes, optional
        One byte, but not ``#``, which begins comments. Default: a comma.
    digits : int, optional
        Digits after the point, correctly rounded. Without it, the shortest text that reads back as
        the same number.
    quoting : {"minimal", "all", "none"}
        Which fields are quoted: texts that would be read as something else, all, or none. With "none", a text
        that needs quotes is an error.
    null : str
        The word for missing values. In a table of one column, an empty word becomes ``NA``, because empty lines
        are skipped.
    line_end : {"lf", "crlf"}
        The end of a line; ``"\\n"`` and ``"\\r\\n"`` mean the same.
    {options}

    Raises
    ------
    TypeError, OverflowError
        With the column and its type, if CSV cannot keep it exactly: binary data, complex numbers, objects, nested
        columns, floats of more than 64 bits.

    Examples
    --------
    >>> swath.write_csv("out.csv", {"id": [1, 2], "name": ["Ann", "Bob, Jr."]})
    27
    >>> print(swath.read("out.csv").decode(), end="")
    id,name
    1,Ann
    2,"Bob, Jr."
    """
    to = output(path, options)
    said: dict[str, Any] = {
        "delimiter": check.mark()("delimiter", "," if delimiter is None else delimiter),
        "decimals": _digits(digits),
        "names": _names(names),
    }
    ends = {"\n": "lf", "\r\n": "crlf"}
    style: dict[str, Any] = {
        "quoting": check.one_of("minimal", "all", "none")("quoting", quoting),
        "null_word": null,
        "line_end": check.one_of("lf", "crlf")("line_end", ends.get(line_end, line_end)),
    }
    is_usual = style == {"quoting": "minimal", "null_word": "", "line_end": "lf"}
    found = tables(data)
    if found is None:
        array = plain_or_texts(data)
        if is_usual and array.dtype.kind in "biufcg":
            return _write_array(to, array, said)
        found = as_columns(array)
    if names is None:
        said["names"] = found.names
    style = {**style, "null_word": null or None, "header": "no" if said["names"] is None else "yes"}
    return _write(to, "csv", found, {**said, **style})


@takes
def write_jsonl(
    path: Any,
    data: Any,
    *,
    names: Sequence[str] | None = None,
    digits: int | None = None,
    **options: Unpack[WriteOptions],
) -> int:
    """Writes JSON Lines, one object for each row, complete or not at all; returns the length in bytes.

    Missing values are ``null``, and so are NaN and infinite numbers, since JSON has none. Lists and structs
    become arrays and objects.

    Parameters
    ----------
    path, data, names, digits
        As for `write_csv`. Columns without names are ``column_1`` and so on.
    {options}

    Examples
    --------
    >>> swath.write_jsonl("out.jsonl", {"id": [1, 2], "name": ["Ann", None]})
    43
    >>> print(swath.read("out.jsonl").decode(), end="")
    {"id":1,"name":"Ann"}
    {"id":2,"name":null}
    """
    to = output(path, options)
    said = {"names": _names(names), "decimals": _digits(digits)}
    return _write(to, "jsonl", _columns(data), said)


@takes
def write_arrow(
    path: Any, data: Any, *, names: Sequence[str] | None = None, **options: Unpack[WriteOptions]
) -> int:
    """Writes an Arrow file (Feather version 2), complete or not at all; returns its length in bytes.

    If the name ends in ``.arrows``, the file is in Arrow's stream format, in which dictionaries may change.

    Parameters
    ----------
    path, data, names
        As for `write_csv`. Columns without names are ``column_1`` and so on.
    {options}

    Examples
    --------
    >>> size = swath.write_arrow("out.arrow", {"x": [1, 2], "y": [0.5, 1.5]})
    >>> swath.read_arrow("out.arrow").columns
    ['x', 'y']
    """
    to = output(path, options)
    said = {"names": _names(names)}
    return _write(to, "arrow", _columns(data), said)


def _names(names: Any) -> list[str] | None:
    if names is None:
        return None
    check.check_order("names", names)
    return check.texts_of("names", names)


def _digits(digits: Any) -> int | None:
    return None if digits is None else check.count_of("digits", digits, "digits")


def _columns(data: Any) -> Tables:
    """Returns columns that all have names."""
    found = tables(data)
    found = as_columns(plain_or_texts(data)) if found is None else found
    if found.names is None and isinstance(found.data, list):
        count = sum(table.num_columns for table in found.data)
        return Tables(found.data, [f"column_{at + 1}" for at in range(count)])
    return found


def _write(to: PythonOutput, form: Any, found: Tables, said: dict[str, Any]) -> int:
    if said["names"] is None:
        said = {**said, "names": found.names}
    try:
        size, nulls = write_tables(to, form, found.data, said)
    except Error as error:
        is_type = error.reason == "Unsupported" and " is of type " in str(error)
        if not is_type and "missing as a whole" not in str(error):
            raise
        raise TypeError(str(error)) from error
    if nulls:
        text = "1 number is" if nulls == 1 else f"{nulls} numbers are"
        warnings.warn(ChangedValueWarning(f"{text} NaN or infinite, and null in JSON"), stacklevel=4)
    return size


def _write_array(to: PythonOutput, array: Any, said: dict[str, Any]) -> int:
    """Writes numbers of one type, as they are in memory."""
    from swath._numpy import np

    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"a table has two dimensions, not {array.ndim}; try: reshape the array")
    check_numbers("the array", array)
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.dtype.name not in _WRITTEN:
        array = array.astype(np.float32)
    # In this machine's byte order, and contiguous.
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return write_array(to, array.dtype.name, array, array.shape[1], said=said)


# Types of arrays that are written without conversion.
_WRITTEN = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_WRITTEN |= {"float32", "float64"}
