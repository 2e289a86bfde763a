"""Ranks read their lines of one file, and append what they make of them to one output, in the same order.

    mpirun -n 4 python mpi_append.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

from mpi4py import MPI

import swath.mpi

comm = MPI.COMM_WORLD


def in_capitals(block: memoryview) -> bytes:
    """Called for blocks of whole lines, without the rest of the file in memory."""
    return bytes(block).upper()


def main(folder: Path) -> None:
    source, target = folder / "in.txt", folder / "out.txt"
    if comm.rank == 0:
        source.write_text("".join(f"line {number}\n" for number in range(10_000)))
    comm.Barrier()

    mine = swath.mpi.read_records(comm, source, in_capitals)
    length = swath.mpi.append(comm, target, mine)  # complete on all ranks, or an error on all

    # The same as a folder of segments: each rank writes a file of its own.
    swath.mpi.append(comm, folder / "segments", mine, segments=True)

    # A node reads it once, for all its ranks.
    with swath.mpi.read_shared(comm, target) as shared:
        assert bytes(shared.data) == source.read_bytes().upper()
    if comm.rank == 0:
        print(f"{comm.size} ranks, {length} bytes")


if len(sys.argv) > 1:
    main(Path(sys.argv[1]))
else:
    # One folder for all ranks.
    with tempfile.TemporaryDirectory() as own:
        main(Path(comm.bcast(own)))
        comm.Barrier()
