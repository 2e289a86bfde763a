"""Text as tables of any types, and as arrays of numbers of one type."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

from swath._errors import ChangedValueWarning, MalformedError
from swath._options import CsvOptions, CsvStreamOptions, CsvTypeOptions, how, said, takes
from swath._sources import files_of
from swath._swath import read_array, read_batches, read_types, stream_table

if TYPE_CHECKING:
    import numpy.typing as npt

    from swath._swath import Table, TableStream


@takes
def read_csv(source: Any, dtype: npt.DTypeLike | None = None, **options: Unpack[CsvOptions]) -> Any:
    """Reads a CSV or TSV file: a table of any types, or with ``dtype`` an array of numbers.

    No value is guessed: the type of a column holds all its values in the file, or is the one that you pass; then a
    value that contradicts it is an error with its line. For each column, ``table.report`` counts the decimals whose
    digits change as a number (``rounded``), and the numbers that lose zeros, a plus or the minus of ``-0`` because you
    pass their type (``padded``), with the line of the first; for JSON Lines also the objects and arrays that are text
    because of other values (``as_text``).

    Parameters
    ----------
    source : path, folder, pattern, descriptor, open file, bytes in memory, or several of them
        As for `read`, or several files with the same columns: an iterable of sources, a folder, of which all files are
        read, or a path with ``*``. Numbers in file names sort by value: 9 before 10. With ``verify=``, a list names
        copies of one file.
    dtype : numpy dtype, optional
        Integers of 8 to 64 bits, float32 or float64: the result is one array of two dimensions.
        Without it, a ``Table``.
    {options}

    Returns
    -------
    Table or numpy.ndarray
        Doubles are correctly rounded. If numbers of an array differ from the text, as 7 does from ``007``, there is a
        ``swath.ChangedValueWarning``.

    Raises
    ------
    swath.MalformedError
        With the line, the byte and the column of the fault.

    Examples
    --------
    >>> table = swath.read_csv("people.csv")
    >>> table.types, table.shape
    (['text', 'date', 'float64'], (3, 3))
    >>> swath.read_csv("points.csv", "f8", columns=["y"]).ravel()
    array([0.5, 1.5, 2.5])

    Parts that fit together, so that each may be read by another program:

    >>> dtypes = swath.csv_dtypes("points.csv")
    >>> parts = [(0, 11), (11, None)]
    >>> [swath.read_csv("points.csv", dtypes=dtypes, starting_in=part).shape for part in parts]
    [(2, 2), (1, 2)]
    """
    if isinstance(dtype, Mapping):
        raise TypeError("dtype= is the type of an array; try: pass the types of columns as dtypes=")
    if dtype is not None:
        return _array(_files(source, options), dtype, how(options), said("csv", options))
    if options.get("missing") is not None:
        raise TypeError(
            "missing= is for an array; try: pass dtype=, or null_values= for words that mean a missing value"
        )
    return table_of("csv", source, options)


@takes
def stream_csv(source: Any, **options: Unpack[CsvStreamOptions]) -> TableStream:
    """Reads a CSV or TSV file in bounded memory: an iterator of ``Table``, in the order of the file.

    The types are those of the whole file, which is therefore read twice, unless ``dtypes`` has all of them, or all
    values take at most an eighth of the available memory. Compressed text is decompressed on the way. Text that is not
    in UTF-8 is held in memory as a whole.

    Parameters
    ----------
    source
        As for `read_csv` without ``dtype``.
    {options}

    Returns
    -------
    TableStream
        It is a context manager, and a stream that Arrow libraries read.

    Examples
    --------
    >>> sum(len(table) for table in swath.stream_csv("points.csv"))
    3

    Arrow libraries read it without a copy, and in bounded memory if they work in steps:

    >>> import pyarrow
    >>> stream = swath.stream_csv("people.csv")
    >>> pyarrow.RecordBatchReader.from_stream(stream).read_all().num_rows
    3
    """
    return stream_of("csv", source, options)


@takes
def csv_dtypes(source: Any, **options: Unpack[CsvTypeOptions]) -> list[str]:
    """Returns the types of the columns that `read_csv` would read: "int64", "text" and so on.

    The types depend on every field, so the types of a part may differ from those of the whole file.
    Call this once and pass the result as ``dtypes=`` to every `read_csv` of a part: then all parts
    have the same types. It parses the whole file and keeps nothing. If you know that all rows are alike, the first ones
    are enough: ``starting_in=(0, 1 << 20)``. A part with a fraction in a column of integers is then an error with its
    line, never a wrong number.

    Parameters
    ----------
    source
        As for `read_csv` without ``dtype``, like the other parameters; pass the same ones to `read_csv`.
    {options}

    Examples
    --------
    >>> swath.csv_dtypes("points.csv"), swath.csv_dtypes("people.csv")
    (['int64', 'float64'], ['text', 'date', 'float64'])
    """
    return read_types(_files(source, options), how(options), said("csv", options))


def table_of(form: str, source: Any, options: Mapping[str, Any]) -> Table:
    """Returns a table of any types from text in some form."""
    found = said(form, options)
    table = read_batches(_files(source, options), how(options), found)
    _check_types(options, table.num_columns)
    return table


def stream_of(form: str, source: Any, options: Mapping[str, Any]) -> TableStream:
    """Returns a stream of such tables, in bounded memory."""
    found = said(form, options)
    stream = stream_table(_files(source, options), how(options), found)
    try:
        _check_types(options, len(stream.names))
    except ValueError:
        stream.close()
        raise
    return stream


def _check_types(options: Mapping[str, Any], columns: int) -> None:
    """Fails if a sequence of dtypes does not have one for each of the columns."""
    dtypes, count = options.get("dtypes"), columns - (options.get("file_column") is not None)
    if isinstance(dtypes, Sequence) and not isinstance(dtypes, str) and len(dtypes) != count:
        raise ValueError(
            f"dtypes=[…] has {len(dtypes)} types for {count} columns; try: pass one for each "
            "column of the result, or a dict"
        )


def _files(source: Any, options: Mapping[str, Any]) -> list[Any]:
    """Returns the files of a table; fails if there are several and an option selects bytes of one."""
    files = files_of(source, options.get("verify"))
    for word, usual in (("offset", 0), ("length", None), ("starting_in", None)):
        if len(files) > 1 and options.get(word, usual) != usual:
            raise TypeError(
                f"{word}= are bytes of one file, and there are {len(files)}; try: read one of them at a time"
            )
    return files


# Options for single columns that do not concern their numbers.
OF_TABLES = {
    "dtypes", "rename", "formats", "true_values", "false_values", "dictionary", "file_column", "union_by_name"
}


def _array(sources: list[Any], dtype: Any, how: tuple[Any, ...], found: dict[str, Any]) -> Any:
    """Returns an array of numbers of one type."""
    from swath._numpy import np

    for word in sorted(OF_TABLES):
        if found.get(word) and found[word] not in ("given", "no"):
            raise TypeError(
                f"{word}= is for a Table, and dtype= makes an array of numbers; try: leave out dtype=, and "
                "pass the table to numpy.asarray"
            )
    if any(isinstance(one, tuple) for one in found.get("null_values") or ()):
        raise TypeError(
            "null_values={…} are words of columns, for a Table, and dtype= makes an array of numbers; try: leave out "
            "dtype=, or pass a list of words"
        )
    kind, usual = np.dtype(dtype).name, {"ragged": "error", "quote": '"', "columns": None}
    is_usual = all(found.get(word, it) == it for word, it in usual.items())
    if found.get("starting_in") is not None and is_usual:
        # Numbers have no line ends. Without quotes, an extent does not depend on earlier bytes.
        with suppress(MalformedError):
            return _checked(read_array(sources, kind, how, {**found, "quote": "none"}))
    return _checked(read_array(sources, kind, how, found))


def _checked(read: tuple[Any, dict[str, Any] | None]) -> Any:
    """Returns the array, after a warning if its numbers are not those of the text."""
    from swath._numpy import np

    values, report = read
    if report is not None:
        warning = ChangedValueWarning("; ".join(_changes(report)[:3]) + "; without dtype= a Table has them as they are")
        warning.report = report
        warnings.warn(warning, stacklevel=5)
    return np.asarray(values)


def _changes(report: dict[str, Any]) -> list[str]:
    """Describes the changes of numbers, with a text for each column and kind of change."""
    found = []
    for column in report["columns"]:
        for word, what in (("padded", "lost zeros or a sign"), ("rounded", "rounded in the last digits")):
            count, line = column[word]["count"], column[word]["line"]
            numbers = "number" if count == 1 else "numbers"
            if count:
                found.append(f"column {column['name']!r}: {count} {numbers} {what}, from line {line} on")
    return found
