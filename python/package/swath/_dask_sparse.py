"""Matrices and graphs for Dask: workers read entries, and assemble blocks of rows from them."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import swath
from swath import job
from swath._dask_reading import Reads, imported, token_of
from swath._dask_tables import opened

if TYPE_CHECKING:
    import numpy as np

    # Rows, columns and values of entries.
    _Entries = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Entries(Reads):
    """Entries of a part, in a matrix of the full shape."""

    path: str
    # The first part, whose input is the whole file.
    first: job.Part
    verb: Literal["read_mtx", "read_edges"]
    # The verb's keywords.
    how: dict[str, Any]

    def read(self, extent: tuple[int, int], source: Any = None) -> Any:
        source = opened([self.first], self.path) if source is None else source
        return getattr(swath, self.verb)(source, "coo", starting_in=extent, **self.how)

    def of(self, piece: job.Piece) -> Any:
        return self.read(piece.extent, piece.open())

    def joined(self, found: list[Any]) -> Any:
        # An empty part has the shape too.
        return found[0] if found else self.read((0, 0))

    def typed(self) -> Entries:
        """Returns a copy with one type of values for all parts; edges already have one."""
        if self.verb == "read_edges" or self.how["values"] != "auto":
            return self
        kind = self.read((0, 0)).dtype.name
        return replace(self, how={**self.how, "values": kind if kind in ("int64", "uint64") else "auto"})


def _vertices(reads: Entries, part: job.Part) -> int:
    shape: tuple[int, int] = reads(part).shape
    return max(shape)


def vertices_of(reads: Entries, parts: list[job.Part]) -> int:
    """Returns the greatest count of vertices of any part, found on workers."""
    dask = imported("dask")
    look = dask.delayed(_vertices, pure=True)
    names = [f"swath-vertices-{token_of(reads, part)}" for part in parts]
    counts = [look(reads, part, dask_key_name=name) for part, name in zip(parts, names)]
    return max([int(count) for count in dask.compute(*counts)])


def sparse_of(label: str, reads: Entries, form: str, parts: list[job.Part], blocks: int) -> Any:
    """Returns blocks of rows, or the entries of each part."""
    sparse = imported("scipy.sparse")
    if form not in ("csr", "coo"):
        raise ValueError(f'form={form!r}: not one of "csr", "coo"')
    reads = reads.typed()
    token = token_of(reads, parts, blocks)
    name = f"{label}-{token}"
    if form == "coo":
        delayed = imported("dask.delayed").Delayed
        keys = [(name, part.index) for part in parts]
        return [delayed(key, {key: (reads, part)}) for key, part in zip(keys, parts)]
    empty = reads.read((0, 0))
    rows, columns = empty.shape
    step = max(-(-rows // max(blocks or len(parts), 1)), 1)
    heights = [min(step, rows - first) for first in range(0, max(rows, 1), step)]
    graph = _shuffled(name, reads, parts, (step, heights, columns))
    meta = sparse.csr_array((0, 0), dtype=empty.dtype)
    return imported("dask.array").Array(graph, f"swath-rows-{token}", (tuple(heights), (columns,)), meta=meta)


def _shuffled(
    name: str, reads: Entries, parts: list[job.Part], shape: tuple[int, list[int], int]
) -> dict[Any, Any]:
    """Returns the tasks that read parts, split them by blocks of rows, and assemble the blocks."""
    step, heights, columns = shape
    token = name.rpartition("-")[2]
    graph: dict[Any, Any] = {}
    for part in parts:
        split = (f"{name}-split", part.index)
        graph[name, part.index] = reads, part
        graph[split] = split_rows, (name, part.index), step, len(heights)
        for block in range(len(heights)):
            key = (f"swath-split-{token}", part.index, block)
            graph[key] = operator.getitem, split, block
    for block, height in enumerate(heights):
        pieces = [(f"swath-split-{token}", part.index, block) for part in parts]
        graph[f"swath-rows-{token}", block, 0] = rows_of, pieces, height, columns
    return graph


def split_rows(entries: Any, step: int, blocks: int) -> list[_Entries]:
    """Splits entries into blocks of ``step`` rows, in their order; rows of each block count from 0."""
    from swath._numpy import np

    rows, columns, values = entries.row, entries.col, entries.data
    if len(rows) and (np.diff(rows) < 0).any():
        order = np.argsort(rows // step, kind="stable")
        rows, columns, values = rows[order], columns[order], values[order]
    ends = np.searchsorted(rows // step, np.arange(blocks + 1))
    cuts = [slice(int(first), int(end)) for first, end in zip(ends, ends[1:])]
    return [(rows[cut] - step * block, columns[cut], values[cut]) for block, cut in enumerate(cuts)]


def rows_of(pieces: list[_Entries], height: int, columns: int) -> Any:
    """Assembles a block of rows: entries of a row keep the order of the file, and none are added up."""
    from swath._numpy import np

    rows, cols, values = (np.concatenate(it) for it in zip(*pieces))
    order = np.argsort(rows, kind="stable")
    offsets = np.zeros(height + 1, np.int64 if len(rows) >= 2**31 else cols.dtype)
    np.cumsum(np.bincount(rows, minlength=height), out=offsets[1:])
    made = (values[order], cols[order], offsets)
    return imported("scipy.sparse").csr_array(made, shape=(height, columns))
