"""Text of fixed width as tables of any types."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swath._dialect import check_types, said, with_hints
from swath._how import How
from swath._swath import read_batches, stream_table
from swath._tables import files

if TYPE_CHECKING:
    from swath._swath import Table, TableStream, _Engine, _PageCache, _Progress, _Verify
    from swath._tables import _Byte, _Dtypes, _Encoding, _EncodingErrors, _Header, _Ragged, _Words

    _Positions = Sequence[tuple[int, int | None]] | None


@with_hints
def read_fixed(
    source: Any,
    *,
    widths: Sequence[int] | None = None,
    positions: _Positions = None,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    header: _Header = "auto",
    comment: _Byte = "auto",
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
    dictionary: bool = False,
    file_column: str | None = None,
    union_by_name: bool = False,
    offset: int = 0,
    length: int | None = None,
    starting_in: tuple[int, int | None] | None = None,
    workers: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> Table:
    """Reads text of fixed width, in which each column has the same characters of each line, as a table.

    Without ``widths`` and ``positions``, columns are found: a column is a run of positions at which not all of
    the first lines are blank, of the header and up to 1,000 more that begin within 1 MiB. Text between columns
    or after the last one, anywhere in the file, is an error with its line and position, so no value is cut.
    Blanks around a field are not part of it. An empty field is a missing value, also where the line is shorter.
    Quotes are ordinary characters.

    Parameters
    ----------
    source : path, folder, pattern, descriptor, open file, bytes in memory, or several of them
        As for `read_csv`. Columns that are found in the first of several files are those of all.
    widths : sequence of int, optional
        The widths of the columns in characters, from the start of each line and without gaps.
    positions : sequence of (start, end), optional
        Where columns are, in characters from 0 and without the end, in order; the last ``end`` may be None for
        the end of the line. Text outside of them is not read.
    columns, dtypes, header, comment, skip_rows, skip_footer, rows, rename, formats
        As for `read_csv`. A header is cut at the same positions.
    null_values, true_values, false_values, decimal, thousands, encoding, encoding_errors
        As for `read_csv`.
    ragged : {"error", "pad", "set_aside", "drop"}
        With "set_aside", lines with text outside of the columns are left out, and the report has them. With "drop",
        such text is dropped, and the report has the number of these lines.
    dictionary : bool
        Whether columns of text hold each different text once.
    file_column : str, optional
        The name of an additional column with the name of each row's file.
    union_by_name : bool
        As for `read_csv`. Columns that are found are at their own places in each file then.
    offset, length : int, optional
        Which bytes are the text, for a table in a larger file.
    starting_in : (offset, length), optional
        Only the rows on lines that begin in these bytes of the text.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Returns
    -------
    Table
        ``table.report["positions"]`` says where the columns are.

    Raises
    ------
    swath.MalformedError
        With the line and the byte of the fault.

    Examples
    --------
    >>> lines = memoryview(b"id  full_name born\\n 1  Ann       1980-02-29\\n12  Bob, Jr.  1999-12-31\\n")
    >>> table = swath.read_fixed(lines)
    >>> table.names, table.types, table.report["positions"]
    (['id', 'full_name', 'born'], ['int64', 'text', 'date'], [[0, 2], [4, 13], [14, 24]])
    """
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    found = _said(
        widths=widths,
        positions=positions,
        columns=columns,
        dtypes=dtypes,
        header=header,
        comment=comment,
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
        fields=None,
        dictionary=dictionary,
        file_column=file_column,
        union_by_name=union_by_name,
        offset=offset,
        length=length,
        starting_in=starting_in,
    )
    table = read_batches(files(source, found, verify), how, found)
    check_types(dtypes, table.num_columns - (file_column is not None))
    return table


@with_hints
def stream_fixed(
    source: Any,
    *,
    widths: Sequence[int] | None = None,
    positions: _Positions = None,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    header: _Header = "auto",
    comment: _Byte = "auto",
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
    """Reads text of fixed width in bounded memory: an iterator of ``Table``, in the order of the file.

    Types are those of the whole file, which is read twice for that.

    Parameters
    ----------
    source, widths, positions, columns, dtypes, header, comment, skip_rows, skip_footer, rows, rename, formats,
    null_values, true_values, false_values, decimal, thousands, encoding, encoding_errors, ragged, dictionary,
    file_column, union_by_name, offset, length, starting_in
        As for `read_fixed`.
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
    >>> lines = memoryview(b"Ann  1\\nBob 12\\n")
    >>> sum(len(table) for table in swath.stream_fixed(lines, widths=[3, 3]))
    2
    """
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    found = _said(
        widths=widths,
        positions=positions,
        columns=columns,
        dtypes=dtypes,
        header=header,
        comment=comment,
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
        fields=None,
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


def _said(*, widths: Any, positions: Any, **given: Any) -> dict[str, Any]:
    """Everything that a reader takes; what only separates fields is as it is without it."""
    found = said(form="fixed", delimiter=None, quote=None, escape=None, **given)
    if widths is not None:
        found["widths"] = ",".join(_place("widths=[…]", width) for width in _listed("widths", widths))
    if positions is not None:
        found["positions"] = ",".join(_pair(pair) for pair in _listed("positions", positions))
    return found


def _listed(what: str, given: Any) -> list[Any]:
    if isinstance(given, (str, bytes, int, Mapping, set, frozenset)) or not isinstance(given, Iterable):
        usual = "widths=[10, 5, 8]" if what == "widths" else "positions=[(0, 10), (12, None)]"
        raise TypeError(f"{what}={given!r}: not a list; try: pass {usual}, or nothing to find the columns")
    return [*given]


def _pair(pair: Any) -> str:
    where = "positions=[…]"
    if isinstance(pair, (str, bytes)) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise TypeError(f"{where}: {pair!r} is not a start and an end; try: pass (start, end), or (start, None)")
    start, end = pair
    return f"{_place(where, start)}..{'' if end is None else _place(where, end)}"


def _place(where: str, place: Any) -> str:
    try:
        found = None if isinstance(place, bool) else operator.index(place)
    except TypeError:
        found = None
    if found is None:
        raise TypeError(f"{where}: {place!r} is not a number of characters; try: pass an int")
    if not 0 <= found < 2**63:
        raise ValueError(f"{where}: {place!r} is not a position in a line; try: pass an int from 0")
    return str(found)
