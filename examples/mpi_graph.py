"""A graph that is distributed by blocks of rows, and a walk over it: PageRank.

    mpirun -n 4 python mpi_graph.py [EDGES]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from mpi4py import MPI

import swath.mpi

comm = MPI.COMM_WORLD


def ranked(path: Path, turns: int = 30) -> np.ndarray:
    """The rank of each vertex of this rank's block."""
    rows = swath.mpi.read_edges(comm, path)  # rows.first, rows.offsets, rows.indices, rows.values
    count = rows.shape[0]
    degrees = np.diff(rows.offsets)
    block = slice(rows.first, rows.first + len(degrees))
    score = np.full(count, 1 / count)
    for _ in range(turns):
        # What each vertex of this block gives to its neighbours, anywhere.
        given = np.repeat(score[block] / np.maximum(degrees, 1), degrees)
        parts = np.bincount(rows.indices, given, minlength=count)
        lost = comm.allreduce(float(score[block][degrees == 0].sum()))
        comm.Allreduce(MPI.IN_PLACE, parts)
        score = 0.15 / count + 0.85 * (parts + lost / count)
    return score[block]


def main(path: Path) -> None:
    mine = ranked(path)
    best = comm.allreduce((float(mine.max(initial=0)), comm.rank), op=MPI.MAX)
    total = comm.allreduce(float(mine.sum()))
    assert abs(total - 1) < 1e-9
    if comm.rank == 0:
        print(f"{comm.size} ranks; the greatest score is {best[0]:.6f}, on rank {best[1]}")


if len(sys.argv) > 1:
    main(Path(sys.argv[1]))
else:
    # One folder for all ranks.
    with tempfile.TemporaryDirectory() as own:
        edges = Path(comm.bcast(own)) / "edges.el"
        if comm.rank == 0:
            pairs = np.random.default_rng(1).integers(0, 1000, (20_000, 2))
            np.savetxt(edges, pairs, "%d")
        comm.Barrier()
        main(edges)
        comm.Barrier()
