"""Swath for MPI programs, on mpi4py: ranks read their own part of a file, and append to one output.

Every function is collective: all ranks of ``comm`` call it, in the same order, with the same arguments. Each rank
may choose for itself only its data, its function, and how it reads (``workers``, ``block_size``, ``engine`` and
the like). If another argument differs, all ranks raise the same error. A path must therefore be the same text on
all ranks, and a relative one needs the same working directory.

If one rank fails, every rank raises the error of the first one that failed, with a note that names it, and no
rank waits for it.

>>> from mpi4py import MPI
>>> comm = MPI.COMM_WORLD
>>> mine = swath.mpi.read_text(comm, "words.txt")            # the lines of this rank
>>> swath.mpi.append(comm, "upper.txt", bytes(mine).upper())  # one file, in the order of the ranks
24

A rank that is killed ends the program, as usual with MPI. The output is then what it was before, or complete; the
next writer of the same target removes what is left next to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

import swath
from swath import _rank_tables, _ranks
from swath._options import EntryOptions, filled, takes
from swath._rank_append import append_file, append_segments
from swath._rank_memory import Shared, shared_of
from swath._rank_rows import Rows, read_rows
from swath._rank_same import OWN, same
from swath._sparse import _base

if TYPE_CHECKING:
    from swath._swath import _Bytes, _Durability, _HardLinks, _Path

    _Data = _Bytes | Iterable[_Bytes]

_R = TypeVar("_R")

__all__ = [
    "Rows",
    "Shared",
    "append",
    "extent",
    "read_csv",
    "read_edges",
    "read_mtx",
    "read_records",
    "read_shared",
    "read_text",
]


def __dir__() -> list[str]:
    return [*__all__]


def extent(comm: Any, path: _Path) -> tuple[int, int]:
    """Returns this rank's bytes of a file, as offset and length: for readers with ``starting_in=``.

    Ranks have nearly the same number of bytes, in the order of the ranks. If there are more ranks than bytes,
    some have none.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> swath.mpi.extent(MPI.COMM_SELF, "words.txt")
    (0, 24)
    """
    same(comm, "swath.mpi.extent", path=path)
    return _ranks.Share(comm, path).extent


def read_text(
    comm: Any, path: _Path, *, delimiter: bytes | str | int | None = None, workers: int = 0
) -> swath.Buffer:
    """Reads this rank's lines of a file: those that begin in its `extent`, whole.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    path : path
        A regular file.
    delimiter : bytes or str of one byte, "csv", or int
        Where records end, as for `scan_records`. Default: lines.
    workers : int
        Threads of this rank; 0 means its share of the cores of its machine.

    Returns
    -------
    Buffer
        The lines. Concatenated in the order of the ranks, they are the file.

    Raises
    ------
    ChangedError
        If the file changed while ranks read it.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> len(swath.mpi.read_text(MPI.COMM_SELF, "words.txt"))
    24
    """
    same(comm, "swath.mpi.read_text", path=path, delimiter=delimiter)
    share = _ranks.Share(comm, path)
    workers = _ranks.threads(comm, workers)
    with _ranks.together(comm):
        data = swath.read(
            share.open(), starting_in=share.extent, delimiter=delimiter, workers=workers
        )
        share.check()
    return data


def read_records(
    comm: Any,
    path: _Path,
    function: Callable[[memoryview], _R],
    *,
    delimiter: bytes | str | int | None = None,
    block_size: int = 0,
    workers: int = 0,
) -> list[_R]:
    """Calls ``function`` for blocks of this rank's records, and returns the results of this rank, in order.

    Memory is bounded: the memoryview that ``function`` receives is valid during the call only.

    Parameters
    ----------
    comm, path, delimiter, workers
        As for `read_text`.
    function : callable
        Receives a read-only memoryview of whole records, as in `scan_records`.
    block_size : int
        Bytes that ``function`` receives at one time; 0 means 1 MiB.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> counts = swath.mpi.read_records(MPI.COMM_SELF, "words.txt", lambda block: bytes(block).count(b"o"))
    >>> MPI.COMM_SELF.allreduce(sum(counts))
    3
    """
    same(comm, "swath.mpi.read_records", path=path, delimiter=delimiter)
    share = _ranks.Share(comm, path)
    workers = _ranks.threads(comm, workers)
    with _ranks.together(comm):
        made = swath.scan_records(
            share.open(),
            function,
            delimiter=delimiter,
            block_size=block_size,
            starting_in=share.extent,
            workers=workers,
        )
        share.check()
    return made


def read_csv(comm: Any, path: _Path, dtype: Any = None, *, workers: int = 0, **how: Any) -> Any:
    """Reads this rank's rows of a CSV file, with the same types on all ranks.

    Without ``dtype`` or ``dtypes=`` for all columns, the types are those of `csv_dtypes` for the whole file: a
    column that has fractions on one rank is float64 on all. A rank whose part alone has other types parses it
    twice; if the types of the parts do not determine those of the whole file, one rank parses the file.

    Parameters
    ----------
    comm, path, workers
        As for `read_text`.
    dtype, how
        As for `read_csv`, without ``offset``, ``length``, ``starting_in`` and ``rows``. A rank also reads all
        bytes before its part, because a quoted field may have line ends, unless ``quote=None`` or ``dtype`` is
        given.

    Returns
    -------
    Table or numpy.ndarray
        The rows that begin in this rank's `extent`; every rank has the names of the columns.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> swath.mpi.read_csv(MPI.COMM_SELF, "points.csv").shape
    (3, 2)
    """
    shared = {word: value for word, value in how.items() if word not in OWN}
    same(comm, "swath.mpi.read_csv", path=path, dtype=dtype, **shared)
    share = _ranks.Share(comm, path)
    workers = _ranks.threads(comm, workers)
    with _ranks.together(comm):
        for word in ("offset", "length", "starting_in", "rows"):
            if word in how:
                raise TypeError(f"{word} is chosen by the rank; try: read it with swath.read_csv")
        source = share.open_text()
    with _ranks.together(comm):
        made = swath.read_csv(source, dtype, starting_in=share.extent, workers=workers, **how)
        if dtype is None:
            _rank_tables.check_encoding(path, made)
        share.check()
    if dtype is not None:
        return made
    wanted = _rank_tables.agreed(comm, source, made, how)
    with _ranks.together(comm):
        if wanted != _rank_tables.kinds(made):
            how["dtypes"] = wanted
            made = swath.read_csv(source, starting_in=share.extent, workers=workers, **how)
            share.check()
    return made


def read_shared(comm: Any, path: _Path, *, workers: int = 0) -> Shared:
    """Reads a whole file once on each machine, into memory that all ranks of the machine share.

    One rank of each machine reads it; the others wait. Free it on all ranks with `Shared.free`, or use it as a
    context manager.

    Parameters
    ----------
    comm, path
        As for `read_text`.
    workers : int
        Threads of the rank that reads; 0 means one per core.

    Raises
    ------
    OutOfMemoryError
        If a machine has no room for it: shared memory is in ``/dev/shm`` on most systems.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> shared = swath.mpi.read_shared(MPI.COMM_SELF, "data.bin")
    >>> len(shared), shared.array()[:3].tolist()
    (1000000, [0, 1, 2])
    >>> shared.free()
    """
    same(comm, "swath.mpi.read_shared", path=path)
    return shared_of(comm, path, workers)


def append(
    comm: Any,
    path: _Path,
    data: _Data,
    *,
    segments: bool = False,
    durability: _Durability = "full",
    replace: bool = True,
    hard_links: _HardLinks = "refuse",
) -> int:
    """Appends the bytes of all ranks, in the order of the ranks, to one output; returns its length.

    Each rank writes straight from its memory to its place in one file, which then gets its name in one step:
    the target is complete, or what it was. No byte moves between ranks.

    Parameters
    ----------
    comm, path
        As for `read_text`; ``path`` is the output.
    data : bytes-like, or iterable of bytes-likes
        This rank's bytes. An iterable may be a generator: its pieces are kept until all ranks know how many
        bytes each has.
    segments : bool
        Whether to write a folder of segments: one file for each rank, with a checksum, and a manifest. Pieces
        of an iterable are then written as they come. For file systems on which many writers of one file are slow.
        ``swath cat`` and ``swath cp`` read the folder, which must not exist before the call.
    durability, replace, hard_links
        As for `append`.

    Raises
    ------
    Error
        With ``reason`` "Busy" on all ranks if another job or program writes the output.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> swath.mpi.append(MPI.COMM_SELF, "out.txt", (b"%d\\n" % n for n in range(3)))
    6
    >>> bytes(swath.read("out.txt"))
    b'0\\n1\\n2\\n'
    """
    how = {"durability": durability, "replace": replace, "hard_links": hard_links}
    same(comm, "swath.mpi.append", path=path, segments=segments, **how)
    if segments:
        return append_segments(comm, path, data, durability)
    return append_file(comm, path, data, how)


@takes
def read_edges(
    comm: Any,
    path: _Path,
    *,
    base: Literal["auto", "0", "1", 0, 1] = "auto",
    vertices: int | None = None,
    workers: int = 0,
    **options: Unpack[EntryOptions],
) -> Rows:
    """Reads a list of edges into compressed rows that are distributed by blocks of rows.

    Each rank parses the lines of its `extent`; then every edge goes to the rank that has its row. Concatenated,
    the blocks are what `read_edges` returns in the form "csr" on one process, entry for entry.

    Memory of a rank: its part of the edges twice, and 8 bytes for each vertex.

    Parameters
    ----------
    comm, path, workers
        As for `read_text`.
    base, vertices
        As for `swath.read_edges`. Without ``vertices`` the greatest vertex of all ranks decides.
    {options}

    Examples
    --------
    >>> from mpi4py import MPI
    >>> rows = swath.mpi.read_edges(MPI.COMM_SELF, "edges.el")
    >>> rows.first, rows.shape, rows.indices.tolist()
    (0, (3, 3), [1, 2, 0])
    """
    entries = filled(EntryOptions, options)
    same(comm, "swath.mpi.read_edges", path=path, base=base, vertices=vertices, **entries)
    more = {"base": _base(base), "vertices": vertices}
    return read_rows(comm, path, workers, entries, format="edges", **more)


@takes
def read_mtx(comm: Any, path: _Path, *, workers: int = 0, **options: Unpack[EntryOptions]) -> Rows:
    """Reads a Matrix Market file into compressed rows that are distributed by blocks of rows.

    As `swath.mpi.read_edges`; the header has the size of the matrix.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> swath.mpi.read_mtx(MPI.COMM_SELF, "graph.mtx").shape
    (3, 3)
    """
    entries = filled(EntryOptions, options)
    same(comm, "swath.mpi.read_mtx", path=path, **entries)
    return read_rows(comm, path, workers, entries, format="mtx")
