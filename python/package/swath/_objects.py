"""JSON Lines as tables of any types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from swath._options import JsonOptions, JsonStreamOptions, takes
from swath._tables import stream_of, table_of

if TYPE_CHECKING:
    from swath._swath import Table, TableStream


@takes
def read_jsonl(source: Any, **options: Unpack[JsonOptions]) -> Table:
    """Reads JSON Lines, an object on each line, as a table.

    The columns are the keys of all objects, in the order of first appearance. A key that an object lacks is a
    missing value, as is ``null``. No value is guessed: the type of a column holds all its values in the file, or is
    the one that you pass. A string is a date, a timestamp or text, never a number. Objects and arrays are text, or,
    with ``json_nested``, structs and lists.

    Parameters
    ----------
    source : path, folder, pattern, descriptor, open file, bytes in memory, or several of them
        As for `read_csv`. Several files may have different keys. Rows are objects here, and columns are keys; the
        values of other keys are checked to be JSON, but not read. With a type in ``dtypes``, a string is read like
        a field of CSV: ``"1"`` may be a number. ``null_values`` and the like apply to strings and numbers.
    {options}

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
    return table_of("jsonl", source, options)


@takes
def stream_jsonl(source: Any, **options: Unpack[JsonStreamOptions]) -> TableStream:
    """Reads JSON Lines in bounded memory: an iterator of ``Table``, in the order of the file.

    Columns and types are those of the whole file, which is therefore read several times.

    Parameters
    ----------
    source
        As for `read_jsonl`.
    {options}

    Returns
    -------
    TableStream
        It is a context manager, and a stream that Arrow libraries read.

    Examples
    --------
    >>> lines = memoryview(b'{"a": 1}\\n{"b": 2}\\n')
    >>> sum(len(table) for table in swath.stream_jsonl(lines))
    2
    """
    return stream_of("jsonl", source, options)
