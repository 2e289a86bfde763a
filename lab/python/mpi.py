"""Measures `swath.mpi` beside MPI's own files and beside one process, and leaves a record.

    mpirun -n 2 python -m mpi4py lab/python/mpi.py --data DIR --out DIR [--rounds 7] [--only append,graph]
        [--quick] [--frame PROGRAM]

The first rank drives, in the frame of `record.py`; the others sleep until it is a contestant's turn. A
run lasts from a barrier to a barrier, so the slowest rank counts. What a run wrote is compared with
what it should be, then removed and the device left idle, before the next begins.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from record import GIB, Case, Frame, Run, version

import swath
import swath.mpi

COMM = MPI.COMM_WORLD


def wait_for_name() -> str | None:
    """Waits for the next run of this rank; it sleeps to leave the core to a contestant."""
    while not COMM.Iprobe(source=0):
        time.sleep(0.002)
    return COMM.recv(source=0)


class Together(Case):
    """Contestants that all ranks run at the same time. Each rank builds the same cases."""

    def __init__(self, name: str, paths: list[Path]) -> None:
        super().__init__(name, paths)
        self.cleared: list[Path] = []

    def clear(self) -> None:
        for path in self.cleared:
            path.unlink(missing_ok=True)
        os.sync()

    def seconds(self, name: str) -> float:
        self.clear()
        self.prepare()
        for rank in range(1, COMM.size):
            COMM.send(name, dest=rank)
        seconds, result = self.turn(name)
        assert self.checks[name](result), f"{self.name}: {name}: wrong result"
        return seconds

    def turn(self, name: str) -> tuple[float, Any]:
        COMM.Barrier()
        start = time.perf_counter()
        result = self.runs[name]()
        COMM.Barrier()
        return time.perf_counter() - start, result

    def follow(self) -> None:
        """Runs this case on the ranks after the first."""
        while (name := wait_for_name()) is not None:
            self.turn(name)


def alone(run: Run) -> Run:
    """Runs in one process; the others sleep until its end, and use no core at the barrier."""

    def maybe() -> Any:
        if COMM.rank != 0:
            return wait_for_name()
        result = run()
        for rank in range(1, COMM.size):
            COMM.send("ended", dest=rank)
        return result

    return maybe


def append_cases(data: Path, quick: bool) -> list[Case]:
    size = (64 << 20) if quick else GIB
    each = size // COMM.size
    mine = np.random.default_rng(COMM.rank).integers(0, 256, each, np.uint8)
    expected = [
        np.random.default_rng(rank).integers(0, 256, each, np.uint8).sum(dtype=np.uint64)
        for rank in range(COMM.size)
    ]
    path = data / "ordered"

    def check(_: Any) -> bool:
        found = np.memmap(path, np.uint8, "r")
        parts = [found[rank * each : (rank + 1) * each] for rank in range(COMM.size)]
        sums = [part.sum(dtype=np.uint64) for part in parts]
        return len(found) == each * COMM.size and sums == expected

    def mpi_io() -> None:
        mode = MPI.MODE_CREATE | MPI.MODE_WRONLY
        file = MPI.File.Open(COMM, os.fspath(path), mode)
        offset = COMM.exscan(each) or 0
        file.Write_at_all(offset, mine)
        file.Sync()
        file.Close()

    case = Together("append in rank order, with sync", [])
    case.cleared = [path]
    case.touched = 2 * size
    case.add("swath.mpi.append", lambda: swath.mpi.append(COMM, path, mine), check)
    case.add("Write_at_all, Sync", mpi_io, check)
    case.goal("swath.mpi.append", "Write_at_all, Sync", 1.5)
    return [case]


def graph_cases(data: Path, quick: bool) -> list[Case]:
    scale = 17 if quick else 22
    vertices, edges = 1 << scale, 16 << scale
    path = data / f"edges-{scale}.txt"
    if COMM.rank == 0 and not path.exists():
        subprocess.run(["swath", "gen", "edges", "--scale", str(scale), "-o", path], check=True)
    COMM.Barrier()

    whole = swath.read_edges(path, "csr", vertices=vertices) if COMM.rank == 0 else None

    def is_whole(found: Any) -> bool:
        return found.nnz == edges and bool((found.indptr == whole.indptr).all())

    def is_first(found: swath.mpi.Rows) -> bool:
        rows = len(found.offsets) - 1
        end = int(whole.indptr[rows])
        same = (found.offsets == whole.indptr[: rows + 1]).all() and found.entries == edges
        return bool(same and (found.indices == whole.indices[:end]).all())

    case = Together(f"CSR of {edges / 1e6:.0f} M edges", [path])
    ours = f"swath.mpi.read_edges, {COMM.size} ranks"
    case.add(ours, lambda: swath.mpi.read_edges(COMM, path, vertices=vertices), is_first)
    theirs = f"swath.read_edges, one process, {COMM.size} workers"
    read = partial(swath.read_edges, path, "csr", vertices=vertices, workers=COMM.size)
    case.add(theirs, alone(read), is_whole)
    case.goal(ours, theirs, 0.9)
    return [case]


CASES = {"append": append_cases, "graph": graph_cases}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--quick", action="store_true", help="small: to see it run")
    parser.add_argument("--frame", type=Path, help="swath-benches, if cargo is not to make it")
    words = parser.parse_args()
    cases = [case for name in words.only.split(",") for case in CASES[name](words.data, words.quick)]
    if COMM.rank != 0:
        for case in cases:
            case.follow()
        return
    library = MPI.Get_library_version().split(",")[0].strip("\0\n")
    about = [
        f"Python {platform.python_version()}, swath {swath.__version__}, numpy {version('numpy')}, "
        f"mpi4py {version('mpi4py')}, {library}, {COMM.size} ranks",
        f"{os.cpu_count()} cores, Linux {platform.release()}, {words.rounds} rounds",
    ]
    head = "# Summary\n\n" + "".join(f"- {line}\n" for line in about) + "\n"
    frame = Frame(words.frame, words.out, words.rounds, head)
    for case in cases:
        print(case.name, file=sys.stderr, flush=True)
        frame.measure(case)
        for rank in range(1, COMM.size):
            COMM.send(None, dest=rank)
    frame.close()


if __name__ == "__main__":
    main()
