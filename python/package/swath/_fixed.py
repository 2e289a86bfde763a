"""Text of fixed width as tables of any types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from swath._options import FixedOptions, FixedStreamOptions, takes
from swath._tables import stream_of, table_of

if TYPE_CHECKING:
    from swath._swath import Table, TableStream


@takes
def read_fixed(source: Any, **options: Unpack[FixedOptions]) -> Table:
    """Reads text of fixed width, in which a column has the same positions in each line, as a table.

    Without ``widths`` and ``positions``, columns are found in the first lines: the header and up to 1,000 more that
    begin within 1 MiB. A column is a run of positions at which not all of these lines are blank. Text between
    columns or after the last one, anywhere in the file, is an error with its line and position, so no value is cut.
    Blanks around a field are not part of it. An empty field is a missing value, also where the line is shorter.
    Quotes are ordinary characters.

    Parameters
    ----------
    source : path, folder, pattern, descriptor, open file, bytes in memory, or several of them
        As for `read_csv`. Of several files, columns are found in the first and are those of all. A header is split
        at the same positions as the rows.
    {options}

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
    return table_of("fixed", source, options)


@takes
def stream_fixed(source: Any, **options: Unpack[FixedStreamOptions]) -> TableStream:
    """Reads text of fixed width in bounded memory: an iterator of ``Table``, in the order of the file.

    The types are those of the whole file, which is therefore read twice.

    Parameters
    ----------
    source
        As for `read_fixed`.
    {options}

    Returns
    -------
    TableStream
        It is a context manager, and a stream that Arrow libraries read.

    Examples
    --------
    >>> lines = memoryview(b"Ann  1\\nBob 12\\n")
    >>> sum(len(table) for table in swath.stream_fixed(lines, widths=[3, 3]))
    2
    """
    return stream_of("fixed", source, options)
