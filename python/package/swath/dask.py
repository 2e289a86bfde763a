"""Swath for Dask: each partition reads its extent of a file on its worker, and writes into one output.

>>> import swath
>>> lines = swath.dask.read_text("words.txt", parts=2)
>>> swath.dask.append("upper.txt", lines.map(str.upper)).bytes
24
>>> print(swath.read("upper.txt").decode(), end="")
ONE TWO THREE
FOUR FIVE

Tasks carry paths and extents, never text: the bytes of an input go from its file to the worker that needs them. The
output is one ordered file, or a folder of segments. It is complete under its name, or what was there before remains,
even if workers die, Dask runs a task twice, or the client dies.

The functions take Dask's own collections and return them: bags, dataframes, arrays, lists of delayed
values. They work with every scheduler: threads, processes, synchronous, and ``distributed``. Workers must
see the files under the same paths as the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Unpack

from swath._compressed import refuse_compressed
from swath._dask_reading import Bytes, Lines, Records, Whole, bag_of, inputs_of, parts_of
from swath._dask_sparse import Entries, sparse_of, vertices_of
from swath._dask_tables import Frame, Numbers, array_of, columns_of, columns_of_numbers, frame_of
from swath._dask_writing import Writing, appended
from swath._options import CsvPartOptions, takes
from swath._sparse import _base
from swath._tables import OF_TABLES

if TYPE_CHECKING:
    from swath._swath import _Durability, _HardLinks, _Path

    _Paths = _Path | Iterable[_Path]

__all__ = ["append", "ingest", "read_csv", "read_edges", "read_mtx", "read_records", "read_text"]


def __dir__() -> list[str]:
    return [*__all__]


def read_text(
    paths: _Paths,
    *,
    encoding: str | None = "utf-8",
    errors: str = "strict",
    delimiter: bytes | str | None = None,
    parts: int = 0,
    part_size: int = 0,
    workers: int = 1,
) -> Any:
    """Returns a bag of lines, each with its end, as ``for line in file`` gives them.

    Parameters
    ----------
    paths : path, or iterable of paths
        Read as one sequence of bytes: a partition may have lines of several files. A path with ``*``, ``?`` or ``[``
        is a pattern; the files that match are ordered as Dask orders them, numbers by value.
    encoding : str, optional
        None gives lines as bytes. UTF-16 and UTF-32 are refused: their lines do not end with one byte.
    errors : str
        How to treat bytes that cannot be decoded, as for ``open``.
    delimiter : bytes or str of one byte, optional
        Where lines end. Default: a newline, and nothing else; a carriage return before it stays.
    parts : int
        Partitions; 0 means as many as ``part_size`` gives.
    part_size : int
        Bytes of input of a partition; 0 means 64 MiB. A line belongs to the partition in which it begins.
    workers : int
        Threads that read one partition. The scheduler runs several partitions at once, so one is enough.

    Raises
    ------
    swath.ChangedError
        When the bag is computed, if a file has changed since this call; with partition, path and bytes.

    Examples
    --------
    >>> swath.dask.read_text("words.txt", parts=3).compute()
    ['one two three\\n', 'four five\\n']
    """
    reads = Lines(delimiter, workers, encoding, errors)
    return bag_of("swath-read-text", reads, parts_of(paths, parts, part_size))


def read_records(
    paths: _Paths,
    *,
    delimiter: bytes | str | int | None = None,
    form: Literal["bytes", "views"] = "bytes",
    parts: int = 0,
    part_size: int = 0,
    workers: int = 1,
) -> Any:
    """Returns a bag of records, each with its delimiter.

    Parameters
    ----------
    paths, parts, part_size, workers
        As for `read_text`.
    delimiter : bytes or str of one byte, "csv", or int
        Where records end, as for `swath.scan_records`: after this byte (default: a newline), after
        newlines outside quotes, or after this many bytes each.
    form : {"bytes", "views"}
        "views" gives read-only memoryviews of the memory that was read, without a copy. Only "bytes" can move between
        workers item by item; a partition of views moves as one buffer.

    Examples
    --------
    >>> swath.dask.read_records("data.bin", delimiter=250_000).map(len).compute()
    [250000, 250000, 250000, 250000]
    """
    if form not in ("bytes", "views"):
        raise ValueError(f'form={form!r}: not one of "bytes", "views"')
    reads = (Bytes if form == "bytes" else Records)(delimiter, workers)
    width = delimiter if isinstance(delimiter, int) else None
    return bag_of("swath-read-records", reads, parts_of(paths, parts, part_size, width or "records"))


@takes
def read_csv(
    paths: _Paths,
    dtype: Any = None,
    *,
    sample: int | None = 1 << 20,
    parts: int = 0,
    part_size: int = 0,
    workers: int = 1,
    **options: Unpack[CsvPartOptions],
) -> Any:
    """Reads CSV or TSV files: a dataframe of any types, or an array with one type for all numbers.

    Parameters
    ----------
    paths, parts, part_size, workers
        As for `read_text`. Every file has the same columns, and UTF-8 text.
    dtype : numpy dtype, optional
        The result is then a Dask array of two dimensions, whose chunks have unknown lengths. Without it, the result
        is a Dask dataframe with unknown divisions.
    sample : int, optional
        Bytes of the first file that decide the types, parsed on the client; None parses all files. If a row does not
        fit them, computing its partition is an error that names it, never a wrong value.
    {options}

    ``dtypes`` may also be "Int64" and so on, and "boolean", for values that may be missing. Other columns have the
    types of the sample. A dataframe parses only the columns that are used. Rows cannot be set aside, because a
    partition could not report them.

    A partition of all columns, if these are numbers, reads its bytes only. Any other also reads all earlier bytes of
    its file, because a quoted field may have line ends, unless you pass ``quote=None``.

    Examples
    --------
    >>> frame = swath.dask.read_csv("points.csv", parts=2)
    >>> float(frame.y.sum().compute())
    4.5
    >>> array = swath.dask.read_csv("points.csv", "f8")
    >>> array.sum(axis=0).compute()
    array([6. , 4.5])
    """
    # For a quote or comment, None means no such byte; for any other option, the default.
    how: dict[str, Any] = {
        word: it for word, it in options.items() if it is not None or word in ("quote", "comment")
    }
    columns, dtypes, missing = (how.pop(word, None) for word in ("columns", "dtypes", "missing"))
    if how.get("ragged", "error") not in ("error", "pad"):
        raise ValueError(f'ragged={how["ragged"]!r} is not for partitions; try: pass ragged="pad"')
    inputs = inputs_of(paths)
    refuse_compressed(inputs)
    many = parts_of(inputs, parts, part_size)
    if dtype is None:
        if missing is not None:
            text = "missing= is for an array; try: pass dtype=, or call fillna on the dataframe"
            raise TypeError(text)
        found, how = columns_of(many, inputs, columns, how, sample, dtypes)
        return frame_of("swath-read-csv", Frame(found, {**how, "workers": workers}), many)
    if dtypes is not None:
        raise TypeError(
            "dtype= is the type of an array, and dtypes= are those of a dataframe; try: leave out one of "
            "them"
        )
    for name in filter(how.get, sorted(OF_TABLES)):
        raise TypeError(f"{name}= is for a dataframe; try: leave out dtype=")
    chosen, how = columns_of_numbers(many, inputs, columns, how)
    how["workers"] = workers
    return array_of("swath-read-csv", Numbers(chosen, how, dtype, missing), many)


def read_mtx(
    path: _Path,
    form: Literal["csr", "coo"] = "csr",
    *,
    values: str = "auto",
    expand: bool = True,
    strict: bool = False,
    blocks: int = 0,
    parts: int = 0,
    part_size: int = 0,
    workers: int = 1,
) -> Any:
    """Reads a Matrix Market file as sparse blocks of rows.

    Parameters
    ----------
    path : path
    form : {"csr", "coo"}
        "csr": a Dask array whose chunks are blocks of whole rows, as ``scipy.sparse.csr_array``. Entries go from the
        worker that read them to the one that has their rows. "coo": a list of delayed ``scipy.sparse.coo_array`` of
        the full shape, one for each partition of the file; no entries move between workers.
    values, expand, strict
        As for `swath.read_mtx`. Integers are ``int64`` unless ``values`` says otherwise.
    blocks : int
        Blocks of rows; 0 means as many as partitions of the file.
    parts, part_size, workers
        As for `read_text`.

    Examples
    --------
    >>> rows = swath.dask.read_mtx("graph.mtx", blocks=3)
    >>> rows.chunks
    ((1, 1, 1), (3,))
    >>> rows.map_blocks(lambda block: block.sum(axis=1).reshape(-1, 1), chunks=(1, 1)).compute().ravel()
    array([1., 1., 1.])
    """
    [source] = inputs_of([path])
    refuse_compressed([source])
    how = {"workers": workers, "values": values, "expand": expand, "strict": strict}
    found = parts_of(source, parts, part_size)
    reads = Entries(source, found[0], "read_mtx", how)
    return sparse_of("swath-read-mtx", reads, form, found, blocks)


def read_edges(
    path: _Path,
    form: Literal["csr", "coo"] = "csr",
    *,
    values: str = "auto",
    base: Literal["auto", "0", "1", 0, 1] = "auto",
    vertices: int | None = None,
    blocks: int = 0,
    parts: int = 0,
    part_size: int = 0,
    workers: int = 1,
) -> Any:
    """Reads a list of edges as sparse blocks of rows: two numbers per line, and optionally a weight.

    ``base`` is the number of the first vertex. ``vertices`` is the number of vertices: without it, the greatest vertex
    decides, and this call reads the file once, on the workers. All else is as for `read_mtx`.

    Examples
    --------
    >>> swath.dask.read_edges("edges.el", vertices=4).shape
    (4, 4)
    """
    [source] = inputs_of([path])
    refuse_compressed([source])
    found = parts_of(source, parts, part_size)
    how = {"workers": workers, "values": values, "base": _base(base), "vertices": vertices}
    if vertices is None:
        how["vertices"] = vertices_of(Entries(source, found[0], "read_edges", how), found)
    reads = Entries(source, found[0], "read_edges", how)
    return sparse_of("swath-read-edges", reads, form, found, blocks)


def ingest(
    paths_or_folder: _Path | Iterable[_Path],
    *,
    parts: int = 0,
    part_size: int = 0,
    workers: int = 0,
) -> Any:
    """Returns a bag of whole files: pairs of a path and a `swath.Buffer`.

    Each partition reads its files; a file that is not the one that the client looked at is an error.

    Parameters
    ----------
    paths_or_folder : path, or iterable of paths
        The client walks a folder, and looks at the sizes, during this call.
    parts, part_size : int
        Partitions, or bytes of files in each: 0 means 64 MiB.
    workers : int
        Threads that read one partition; 0 chooses.

    Examples
    --------
    >>> swath.dask.ingest("images").starmap(lambda path, data: len(data)).compute()
    [100, 200, 300]
    """
    from swath.torch import _listed

    found = parts_of(_listed(paths_or_folder), parts, part_size, "groups")
    return bag_of("swath-ingest", Whole(workers), found)


def append(
    path: _Path,
    collection: Any,
    function: Callable[[Any], Any] | None = None,
    *,
    end: str | bytes = "",
    encoding: str = "utf-8",
    index: bool = False,
    header: bool = True,
    form: Literal["file", "segments"] = "file",
    folder: _Path | None = None,
    durability: _Durability = "full",
    replace: bool = True,
    hard_links: _HardLinks = "refuse",
    compute: bool = True,
    **compute_kwargs: Any,
) -> Any:
    """Writes a collection into one ordered output: partitions write on workers, the client commits.

    Parameters
    ----------
    path : path
        Workers must see its folder.
    collection : bag, dataframe, series, array, or list of delayed values
        Items are str or bytes, written one after another. Dataframes and series are written as CSV.
    function : callable, optional
        Makes the text of a partition: receives a list or an iterator, a frame or an array, and returns str, bytes, or
        an iterable of them. Required for arrays.
    end : str or bytes
        Written after each item. Default: nothing, as for ``file.writelines``, because lines of `read_text` have their
        ends.
    encoding : str
        The encoding of str.
    index, header : bool
        For dataframes: whether to write the index, and the names of the columns in the first line.
    form : {"file", "segments"}
        One file, or a folder of segments with a manifest, which needs no copy.
    folder : path, optional
        The folder to which partitions write; default: one next to ``path``.
    durability, replace, hard_links
        As for `swath.append`.
    compute : bool
        With False, returns a delayed value; computing that commits.
    **compute_kwargs
        For Dask, such as ``scheduler=`` and ``retries=``.

    Returns
    -------
    swath.job.Committed
        With ``bytes`` and ``crc32c``.

    If a partition fails for good, no output is written and the old file stays. `swath.job.sweep` removes what a killed
    client left.

    Examples
    --------
    >>> import dask.bag
    >>> numbers = dask.bag.range(4, npartitions=2).map(str)
    >>> swath.dask.append("out.txt", numbers, end="\\n").bytes
    8
    """
    writes = Writing(function, end, encoding, index, header)
    how = {
        "form": form, "folder": folder, "durability": durability, "replace": replace, "hard_links": hard_links
    }
    return appended(path, collection, writes, how, compute_kwargs if compute else None)
