"""Matrices by blocks of rows: each rank parses its part of the text, and receives the rows of its block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from swath import _ranks
from swath._errors import named, unreadable
from swath._options import how
from swath._sparse import _MOST, _signed, _values
from swath._swath import merge_rows, read_matrix

if TYPE_CHECKING:
    import numpy as np


class Rows(NamedTuple):
    """The rows of this rank: all entries of a block of rows of a matrix.

    Row ``first + r`` of the matrix has the entries ``offsets[r]`` up to ``offsets[r + 1]``. Blocks have nearly
    the same number of rows and are in the order of the ranks.
    """

    first: int
    """The number of the first row in the whole matrix."""
    shape: tuple[int, int]
    """Rows and columns of the whole matrix."""
    entries: int
    """Entries of the whole matrix."""
    offsets: np.ndarray[Any, Any]
    """Where each row begins, and where the last one ends: int64."""
    indices: np.ndarray[Any, Any]
    """The column of each entry, as a number in the whole matrix."""
    values: np.ndarray[Any, Any] | None
    """The value of each entry; ``None`` if the file has no values."""

    def csr(self) -> Any:
        """Returns these rows as ``scipy.sparse.csr_array``; entries without values are ones."""
        from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

        from swath._numpy import np

        values = np.ones(len(self.indices)) if self.values is None else self.values
        shape = (len(self.offsets) - 1, self.shape[1])
        return sparse.csr_array((values, self.indices, self.offsets), shape=shape)


def read_rows(comm: Any, path: Any, workers: int, options: dict[str, Any], **more: Any) -> Rows:
    """Reads a matrix with all ranks."""
    from swath._numpy import np

    share = _ranks.Share(comm, path)
    workers = _ranks.threads(comm, workers)
    with _ranks.together(comm):
        source = share.open_text()
        more |= {word: given for word, given in options.items() if word not in ("sort", "sum_duplicates")}
        read = read_matrix(source, "csr", how({"workers": workers}), starting_in=share.extent, **more)
        share.check()
        offsets, indices = np.asarray(read[3]), np.asarray(read[4])
        values = None if read[5] is None else _values(np.asarray(read[5]))
    shape = tuple(comm.allreduce(read[side], op=_ranks.mpi().MAX) for side in (0, 1))
    entries = comm.allreduce(len(indices))
    with _ranks.together(comm):
        check_size(path, shape)
    # Indices of parts may have different widths.
    wide = comm.allreduce(indices.dtype.itemsize, op=_ranks.mpi().MAX)
    indices = indices.astype(np.uint32 if wide == 4 else np.uint64, copy=False)
    ends = [shape[0] * rank // comm.size for rank in range(comm.size + 1)]
    counts, items, numbers = _exchanged(comm, ends, offsets, indices, values)
    del offsets, indices, read
    begin, end = ends[comm.rank], ends[comm.rank + 1]
    with _ranks.together(comm):
        merged, found = merge_rows(end - begin, counts, items, wide)
        kind = None if values is None else values.dtype
        made = None
        if kind is not None:
            _, raw = merge_rows(end - begin, counts, numbers, kind.itemsize)
            made = np.asarray(raw).view(kind)
        columns = _signed(np.asarray(found), max(shape) > _MOST)
        rows = Rows(begin, shape, entries, np.asarray(merged).view(np.int64), columns, made)
        if options["sort"] or options["sum_duplicates"]:
            rows = _sorted(rows, options["sum_duplicates"])
    if options["sum_duplicates"]:
        rows = rows._replace(entries=comm.allreduce(len(rows.indices)))
    return rows


def check_size(path: Any, shape: tuple[int, ...]) -> None:
    if max(shape) > 2**63 - 1:
        what = f"{shape[0]} x {shape[1]} is larger than numpy's indices"
        raise unreadable("TooLarge", named(path), what, "convert it with `swath convert`")


def _exchanged(comm: Any, ends: list[int], offsets: Any, indices: Any, values: Any) -> Any:
    """Returns, by the rank that sent them, the counts of this rank's rows, and the columns and values of their
    entries."""
    from swath._numpy import np

    # A part has no rows after its last entry.
    rows = [min(end, len(offsets) - 1) for end in ends]
    cuts = [int(offsets[row]) for row in rows]
    entries = [end - begin for begin, end in zip(cuts, cuts[1:])]
    counts = _ranks.exchange(
        comm, np.diff(offsets), [end - begin for begin, end in zip(rows, rows[1:])]
    )
    items = _ranks.exchange(comm, indices, entries)
    numbers = None if values is None else _ranks.exchange(comm, values, entries)
    return counts, items, numbers


def _sorted(rows: Rows, sum_duplicates: bool) -> Rows:
    """Sorts each row by column; entries at one place keep their order, or become their sum."""
    from swath._numpy import np

    owner = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    order = np.lexsort((rows.indices, owner))
    owner, indices = owner[order], rows.indices[order]
    values = None if rows.values is None else rows.values[order]
    if not sum_duplicates:
        return rows._replace(indices=indices, values=values)
    is_new = np.ones(len(indices), bool)
    is_new[1:] = (owner[1:] != owner[:-1]) | (indices[1:] != indices[:-1])
    if values is not None:
        sums = np.zeros(int(is_new.sum()), values.dtype)
        # Added one after the other, in the order of the file, as the reader of one process does.
        np.add.at(sums, np.cumsum(is_new) - 1, values)
        values = sums
    counts = np.bincount(owner[is_new], minlength=len(rows.offsets) - 1)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return rows._replace(offsets=offsets, indices=indices[is_new], values=values)
