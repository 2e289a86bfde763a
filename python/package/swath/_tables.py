"""Text as tables of any types, and as arrays of numbers of one type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from swath._dialect import check_types, said, with_hints
from swath._errors import MalformedError
from swath._how import How
from swath._sources import files_of
from swath._swath import read_array, read_batches, read_types, stream_table

if TYPE_CHECKING:
    import numpy.typing as npt

    from swath._swath import Table, TableStream, _Engine, _PageCache, _Progress, _Verify

    _Header = Literal["auto", "present", "absent"] | bool | int
    _Encoding = Literal["auto", "utf-8", "latin-1", "utf-16le", "utf-16be"] | str
    _EncodingErrors = Literal["error", "replace"]
    _Ragged = Literal["error", "pad", "set_aside", "drop"]
    _Byte = str | bytes | None
    _Words = Iterable[str] | Mapping[Any, str | Iterable[str]] | None
    _Dtypes = str | type | Mapping[Any, Any] | Sequence[Any] | None


@with_hints
def read_csv(
    source: Any,
    dtype: npt.DTypeLike | None = None,
    *,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    delimiter: _Byte = None,
    header: _Header = "auto",
    comment: _Byte = "auto",
    quote: _Byte = '"',
    escape: _Byte = None,
    skip_rows: int = 0,
    skip_footer: int = 0,
    rows: int | None = None,
    rename: Mapping[Any, str] | None = None,
    formats: Mapping[Any, str] | None = None,
    null_values: _Words = None,
    true_values: _Words = None,
    false_values: _Words = None,
    decimal: str | bytes = ".",
    thousands: _Byte = None,
    encoding: _Encoding = "auto",
    encoding_errors: _EncodingErrors = "error",
    ragged: _Ragged = "error",
    fields: int | None = None,
    dictionary: bool = False,
    file_column: str | None = None,
    union_by_name: bool = False,
    missing: float | None = None,
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
) -> Any:
    """Reads a CSV or TSV file: a table of any types, or with ``dtype`` an array of numbers.

    No value is guessed: the type of a column holds all its values in the file, or is the one that you pass,
    and then a value that contradicts it is an error with its line.

    Parameters
    ----------
    source : path, folder, pattern, descriptor, open file, bytes in memory, or several of them
        As for `read`, and also several files with the same columns: an iterable of sources, all files of a folder,
        or a path with ``*``. Numbers in their names count by value: 9 comes before 10. With ``verify=``, a list
        names copies of one file.
    dtype : numpy dtype, optional
        Integers of 8 to 64 bits, float32 or float64: the result is one array of two dimensions.
        Without it, a ``Table``.
    columns : sequence of str or int, optional
        The columns to read, in this order: by name in the header, or by index from 0; negative
        indices are refused. Other columns are not checked. Without it, all are read.
    dtypes : dtype, mapping, or sequence with one dtype per column of the result, optional
        Types of columns of a ``Table``, by name in the header or by index; or one for all columns, such as "text",
        which takes each field as it stands. They are "bool", "int8" to "int64", "uint8" to "uint64", "float32",
        "float64", "date", "timestamp[us]" or "timestamp[us, UTC]" (also s, ms, ns), "text", "dictionary", "null";
        also ``int``, ``float``, ``str``, ``bool``, ``datetime.date``, ``datetime.datetime``, types of numpy, pandas
        and pyarrow, and the words of the command ("i16", "f64"; but "i8" is an error, since it is an int64 for
        numpy). Types of columns that are not read are ignored. `csv_dtypes` returns those of a file.
    delimiter : str or bytes, optional
        One byte; up to 16, such as "||" or "§"; or "blanks": any run of spaces and tabs. Without it, of tab, ``,``, ``;`` and ``|`` the one that
        divides the first lines most evenly.
    header : {"auto", "present", "absent"}, bool or int
        Whether the first line names the columns, or how many lines do.
    comment : str, bytes or None
        The byte that begins a line to be skipped. Default: ``#`` if all fields of the first lines but the names are
        numbers; ``report["comments"]`` counts such lines.
    quote, escape : str, bytes or None
        The byte that may enclose fields, and the byte after which any byte is text.
    skip_rows : int
        Lines of the file to skip before anything else.
    skip_footer : int
        How many of the last rows of each file to leave out, such as totals: up to 1,000,000. They may have any
        fields; empty lines and comments do not count, and a row with a line end in quotes is one.
    rows : int, optional
        The most rows to read; what follows them is not checked.
    rename : mapping, optional
        New names of columns, by name or index.
    formats : mapping, optional
        How dates and timestamps of a column are written, as ``strftime`` has it: ``{"day": "%d.%m.%Y"}``. "epoch_s",
        "epoch_ms", "epoch_us" and "epoch_ns" are numbers since the start of 1970 in UTC.
    null_values, true_values, false_values : list of str, or mapping, optional
        Fields that mean a missing value, true and false. Default: an empty field, ``NA``, ``N/A``, ``null`` and
        ``NULL``; ``true``, ``True``, ``TRUE``; ``false``, ``False``, ``FALSE``. With
        ``null_values=["-"]``, an empty field is missing too; with ``[]``, no field is. In a column of text, a
        quoted field is never missing. A mapping such as ``{"score": ["-"], 2: "?"}`` has words of columns, by
        name or index; the other columns have the default.
    decimal, thousands : str or bytes
        The decimal point, and the byte between groups of three digits (default: none).
    encoding : str
        "auto" is UTF-8, or what a mark at the beginning of the file says. Otherwise "utf-8", "latin-1", "utf-16le",
        "utf-16be", or a label of the WHATWG's Encoding Standard: "windows-1251", "shift_jis", "euc-kr", "gb18030".
        As there, "latin-1" and "ascii" are windows-1252.
    encoding_errors : {"error", "replace"}
        What to do with bytes that are not of the encoding: they are an error in fields that are read, or become
        U+FFFD, and ``table.report["replaced"]`` counts them.
    ragged : {"error", "pad", "set_aside", "drop"}
        What to do with a row that has fewer or more fields than the table has columns: "pad" makes those that it
        lacks missing; "drop" also drops those that are too many, and ``table.report["dropped"]`` counts such rows;
        "set_aside" leaves it out, and ``table.report`` has its line.
    fields : int, optional
        How many fields a row has, and so how many columns the table. A header may have fewer names. Without it, as
        many as the first line has.
    dictionary : bool
        Whether columns of text hold each different text once.
    file_column : str, optional
        The name of an additional column with the name of each row's file.
    union_by_name : bool
        Whether several files may have different columns: those with the same name are one, in the order of first
        appearance, and a column that a file lacks is missing there. Files without names are an error. Columns
        that other keywords name, also by index, are those of all files.
    missing : float, optional
        The value for missing fields in an array. Default: NaN for floats; for integers a missing
        field is an error.
    missing_words : sequence of str, optional
        Another name of ``null_values``.
    offset, length : int, optional
        Which bytes are the text, for a table in a larger file: they are read into memory first.
        Bytes in errors and in ``starting_in`` count from ``offset``.
    starting_in : (offset, length), optional
        Only the rows that begin in these bytes of the text; the last one is read to its end, wherever
        that is. If extents cover the file, each row begins in exactly one of them. The first line and
        its names are read anyway. A column that has no type in ``dtypes`` gets its type from
        the rows that are read, so it may differ from part to part. Unless these are all columns of an array, everything
        before is read too, because a quoted field may have line ends, unless ``quote=None``.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Returns
    -------
    Table or numpy.ndarray
        Doubles are correctly rounded.

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

    Parts that fit together, for as many programs as there are parts:

    >>> dtypes = swath.csv_dtypes("points.csv")
    >>> parts = [(0, 11), (11, None)]
    >>> [swath.read_csv("points.csv", dtypes=dtypes, starting_in=part).shape for part in parts]
    [(2, 2), (1, 2)]
    """
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    if isinstance(dtype, Mapping):
        raise TypeError("dtype= is the type of an array; try: pass the types of columns as dtypes=")
    if missing is not None and dtype is None:
        raise TypeError(
            "missing= is for an array; try: pass dtype=, or null_values= for words that mean a missing value"
        )
    found = said(
        columns=columns,
        dtypes=dtypes,
        delimiter=delimiter,
        header=header,
        comment=comment,
        quote=quote,
        escape=escape,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        rows=rows,
        rename=rename,
        formats=formats,
        null_values=_nulls(null_values, missing_words),
        true_values=true_values,
        false_values=false_values,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        encoding_errors=encoding_errors,
        ragged=ragged,
        fields=fields,
        dictionary=dictionary,
        file_column=file_column,
        union_by_name=union_by_name,
        missing=missing,
        offset=offset,
        length=length,
        starting_in=starting_in,
    )
    sources = files(source, found, verify)
    if dtype is not None:
        return array_of(sources, dtype, how, found)
    table = read_batches(sources, how, found)
    check_types(dtypes, table.num_columns - (file_column is not None))
    return table


@with_hints
def stream_csv(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    delimiter: _Byte = None,
    header: _Header = "auto",
    comment: _Byte = "auto",
    quote: _Byte = '"',
    escape: _Byte = None,
    skip_rows: int = 0,
    skip_footer: int = 0,
    rows: int | None = None,
    rename: Mapping[Any, str] | None = None,
    formats: Mapping[Any, str] | None = None,
    null_values: _Words = None,
    true_values: _Words = None,
    false_values: _Words = None,
    decimal: str | bytes = ".",
    thousands: _Byte = None,
    encoding: _Encoding = "auto",
    encoding_errors: _EncodingErrors = "error",
    ragged: _Ragged = "error",
    fields: int | None = None,
    dictionary: bool = False,
    file_column: str | None = None,
    union_by_name: bool = False,
    block_size: int = 0,
    offset: int = 0,
    length: int | None = None,
    starting_in: tuple[int, int | None] | None = None,
    workers: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> TableStream:
    """Reads a CSV or TSV file in bounded memory: an iterator of ``Table``, in the order of the file.

    The types are those of the whole file, which is read twice for that, unless ``dtypes`` has all of them, or all
    values take at most an eighth of the memory at hand. Text that is compressed is decompressed on the way. Text that is not in UTF-8 is in memory as a whole.

    Parameters
    ----------
    source
        As for `read_csv` without ``dtype``.
    columns, dtypes, delimiter, header, comment, quote, escape, skip_rows, skip_footer, rows, rename, formats,
    null_values, true_values, false_values, decimal, thousands, encoding, encoding_errors, ragged, fields, dictionary,
    file_column, union_by_name, offset, length, starting_in
        As for `read_csv`.
    block_size : int
        Bytes of text of each table, about; 0 chooses.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Returns
    -------
    TableStream
        It is a context manager, and a stream for Arrow libraries.

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
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    found = said(
        columns=columns,
        dtypes=dtypes,
        delimiter=delimiter,
        header=header,
        comment=comment,
        quote=quote,
        escape=escape,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        rows=rows,
        rename=rename,
        formats=formats,
        null_values=null_values,
        true_values=true_values,
        false_values=false_values,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        encoding_errors=encoding_errors,
        ragged=ragged,
        fields=fields,
        dictionary=dictionary,
        file_column=file_column,
        union_by_name=union_by_name,
        offset=offset,
        length=length,
        starting_in=starting_in,
        block_size=block_size,
    )
    stream = stream_table(files(source, found, verify), how, found)
    try:
        check_types(dtypes, len(stream.names) - (file_column is not None))
    except ValueError:
        stream.close()
        raise
    return stream


@with_hints
def csv_dtypes(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    delimiter: _Byte = None,
    header: _Header = "auto",
    comment: _Byte = "auto",
    quote: _Byte = '"',
    escape: _Byte = None,
    skip_rows: int = 0,
    skip_footer: int = 0,
    rows: int | None = None,
    formats: Mapping[Any, str] | None = None,
    null_values: _Words = None,
    true_values: _Words = None,
    false_values: _Words = None,
    decimal: str | bytes = ".",
    thousands: _Byte = None,
    encoding: _Encoding = "auto",
    encoding_errors: _EncodingErrors = "error",
    ragged: _Ragged = "error",
    fields: int | None = None,
    dictionary: bool = False,
    union_by_name: bool = False,
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
    """Returns the types of the columns that `read_csv` would read: "int64", "text" and so on.

    The types depend on every field, so the types of a part may differ from those of the whole file.
    Call this once and pass the result as ``dtypes=`` to every `read_csv` of a part: then all parts
    have the same types. It parses the whole file and keeps nothing. If you know that all rows are
    alike, the first of them are enough: ``starting_in=(0, 1 << 20)``. A part with a fraction in a
    column of integers is then an error with its line, never a wrong number.

    Parameters
    ----------
    source
        As for `read_csv` without ``dtype``.
    columns, dtypes, delimiter, header, comment, quote, escape, skip_rows, skip_footer, rows, formats, null_values,
    true_values, false_values, decimal, thousands, encoding, encoding_errors, ragged, fields, dictionary,
    union_by_name, missing_words, offset, length, starting_in
        As for `read_csv`; pass the same ones there.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Examples
    --------
    >>> swath.csv_dtypes("points.csv"), swath.csv_dtypes("people.csv")
    (['int64', 'float64'], ['text', 'date', 'float64'])
    """
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    found = said(
        columns=columns,
        dtypes=dtypes,
        delimiter=delimiter,
        header=header,
        comment=comment,
        quote=quote,
        escape=escape,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        rows=rows,
        rename=None,
        formats=formats,
        null_values=_nulls(null_values, missing_words),
        true_values=true_values,
        false_values=false_values,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        encoding_errors=encoding_errors,
        ragged=ragged,
        fields=fields,
        dictionary=dictionary,
        file_column=None,
        union_by_name=union_by_name,
        offset=offset,
        length=length,
        starting_in=starting_in,
    )
    return read_types(files(source, found, verify), how, found)


def _nulls(null_values: Any, missing_words: Any) -> Any:
    """The words for missing values, by either name."""
    if missing_words is None:
        return null_values
    if null_values is not None:
        raise TypeError(
            "missing_words= and null_values= are the same; try: leave out missing_words="
        )
    return missing_words


def files(source: Any, found: dict[str, Any], verify: Any) -> list[Any]:
    """The files of a table; of several, no part can be selected by bytes."""
    files = files_of(source, verify)
    for word, usual in (("offset", 0), ("length", None), ("starting_in", None)):
        if len(files) > 1 and found[word] != usual:
            raise TypeError(
                f"{word}= are bytes of one file, and there are {len(files)}; try: read one of them at a time"
            )
    return files


# What says something about single columns, and not about their numbers.
OF_TABLES = {
    "dtypes",
    "rename",
    "formats",
    "true_values",
    "false_values",
    "dictionary",
    "file_column",
    "union_by_name",
}


def array_of(sources: list[Any], dtype: Any, how: How, found: dict[str, Any]) -> Any:
    """An array of numbers of one type."""
    from swath._numpy import np

    for word in sorted(OF_TABLES):
        if found[word] and found[word] not in ("given", "no"):
            raise TypeError(
                f"{word}= is for a Table, and dtype= makes an array of numbers; try: leave out dtype=, and "
                "pass the table to numpy.asarray"
            )
    if any(isinstance(one, tuple) for one in found["null_values"] or ()):
        raise TypeError(
            "null_values={…} are words of columns, for a Table, and dtype= makes an array of numbers; try: leave out "
            "dtype=, or pass a list of words"
        )
    kind, usual = np.dtype(dtype).name, ("error", '"', None)
    if found["starting_in"] is not None and (found["ragged"], found["quote"], found["columns"]) == usual:
        # No number has a line end. Without quotes, an extent needs nothing that is before it.
        with suppress(MalformedError):
            return np.asarray(read_array(sources, kind, how, {**found, "quote": "none"})[0])
    return np.asarray(read_array(sources, kind, how, found)[0])
