"""JSON Lines as tables of any types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from swath._dialect import check_types, said
from swath._how import How
from swath._swath import read_batches, stream_table
from swath._tables import files

if TYPE_CHECKING:
    from swath._swath import Table, TableStream, _Engine, _PageCache, _Progress, _Verify
    from swath._tables import _Dtypes, _Encoding, _EncodingErrors, _Words


def read_jsonl(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    skip_rows: int = 0,
    skip_footer: int = 0,
    rows: int | None = None,
    rename: Mapping[Any, str] | None = None,
    formats: Mapping[Any, str] | None = None,
    null_values: _Words = None,
    true_values: _Words = None,
    false_values: _Words = None,
    encoding: _Encoding = "auto",
    encoding_errors: _EncodingErrors = "error",
    ragged: Literal["error", "set_aside"] = "error",
    json_nan: bool = False,
    json_nested: bool = False,
    dictionary: bool = False,
    file_column: str | None = None,
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
    """Reads JSON Lines, an object on each line, as a table.

    The columns are the keys of all objects, in the order of first appearance. A key that an object lacks is
    missing there, as is ``null``. No value is guessed: the type of a column holds all its values in the file, or
    is the one that you pass. A string is a date, a timestamp or text, never a number. Objects and arrays are text,
    or, with ``json_nested``, structs and lists.

    Parameters
    ----------
    source : path, folder, pattern, descriptor, open file, bytes in memory, or several of them
        As for `read_csv`. Several files may have different keys.
    columns : sequence of str or int, optional
        The keys to read, in this order. Other values are checked to be JSON, and not read.
    dtypes : mapping, or sequence with one dtype per column of the result, optional
        As for `read_csv`. With a type, strings count as fields do there: ``"1"`` may be a number.
    skip_rows : int
        Lines of the file to skip before anything else.
    skip_footer : int
        How many of the last objects of each file to leave out, whatever they are.
    rows : int, optional
        The most objects to read; what follows them is not checked.
    rename, formats
        As for `read_csv`.
    null_values, true_values, false_values : list of str, or mapping, optional
        Strings and numbers that mean a missing value, true and false; by columns as for `read_csv`. Default: none.
    encoding, encoding_errors
        As for `read_csv`.
    ragged : {"error", "set_aside"}
        With "set_aside", lines that are not an object of JSON are left out, and ``table.report`` has them. Their keys
        are not columns.
    json_nan : bool
        Whether ``NaN``, ``Infinity`` and ``-Infinity`` are numbers, as Python's ``json`` writes them.
    json_nested : bool
        Whether objects and arrays become structs and lists of Arrow, for the libraries that take a table. On every
        level, types hold all values of the file; where they are of several kinds, they are text there.
    dictionary : bool
        Whether columns of text hold each different text once.
    file_column : str, optional
        The name of an additional column with the name of each row's file.
    offset, length : int, optional
        Which bytes are the text, for a table in a larger file.
    starting_in : (offset, length), optional
        Only the objects on lines that begin in these bytes of the text. The columns are those of all of it.
    workers, engine, page_cache, progress, verify, profile
        As for `read`.

    Returns
    -------
    Table

    Raises
    ------
    swath.MalformedError
        With the line and the byte of the fault.

    Examples
    --------
    >>> lines = memoryview(b'{"id": 1, "name": "Ann"}\\n{"id": 2, "tags": ["a", "b"]}\\n')
    >>> table = swath.read_jsonl(lines)
    >>> table.names, table.types
    (['id', 'name', 'tags'], ['int64', 'text', 'text'])
    """
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    found = _said(
        columns=columns,
        dtypes=dtypes,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        rows=rows,
        rename=rename,
        formats=formats,
        null_values=null_values,
        true_values=true_values,
        false_values=false_values,
        encoding=encoding,
        encoding_errors=encoding_errors,
        ragged=ragged,
        json_nan=json_nan,
        json_nested=json_nested,
        dictionary=dictionary,
        file_column=file_column,
        offset=offset,
        length=length,
        starting_in=starting_in,
    )
    table = read_batches(files(source, found, verify), how, found)
    check_types(dtypes, table.num_columns - (file_column is not None))
    return table


def stream_jsonl(
    source: Any,
    *,
    columns: Sequence[str | int] | None = None,
    dtypes: _Dtypes = None,
    skip_rows: int = 0,
    skip_footer: int = 0,
    rows: int | None = None,
    rename: Mapping[Any, str] | None = None,
    formats: Mapping[Any, str] | None = None,
    null_values: _Words = None,
    true_values: _Words = None,
    false_values: _Words = None,
    encoding: _Encoding = "auto",
    encoding_errors: _EncodingErrors = "error",
    ragged: Literal["error", "set_aside"] = "error",
    json_nan: bool = False,
    json_nested: bool = False,
    dictionary: bool = False,
    file_column: str | None = None,
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
    """Reads JSON Lines in bounded memory: an iterator of ``Table``, in the order of the file.

    Columns and types are those of the whole file, which is read several times for that.

    Parameters
    ----------
    source, columns, dtypes, skip_rows, skip_footer, rows, rename, formats, null_values, true_values, false_values,
    encoding, encoding_errors, ragged, json_nan, json_nested, dictionary, file_column, offset, length, starting_in
        As for `read_jsonl`.
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
    >>> lines = memoryview(b'{"a": 1}\\n{"b": 2}\\n')
    >>> sum(len(table) for table in swath.stream_jsonl(lines))
    2
    """
    how = How(workers, 0, engine, page_cache, progress, verify, profile)
    found = _said(
        columns=columns,
        dtypes=dtypes,
        skip_rows=skip_rows,
        skip_footer=skip_footer,
        rows=rows,
        rename=rename,
        formats=formats,
        null_values=null_values,
        true_values=true_values,
        false_values=false_values,
        encoding=encoding,
        encoding_errors=encoding_errors,
        ragged=ragged,
        json_nan=json_nan,
        json_nested=json_nested,
        dictionary=dictionary,
        file_column=file_column,
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


def _said(**given: Any) -> dict[str, Any]:
    """Everything that a reader takes; what is only in text with fields is as it is without it."""
    return said(
        form="jsonl",
        delimiter=None,
        header="auto",
        comment="auto",
        quote='"',
        escape=None,
        decimal=".",
        thousands=None,
        fields=None,
        **given,
    )
