"""Measures jobs of two processes beside what users of Dask write today, and leaves a record.

    python lab/python/dask_table.py --data DIR --out DIR [--rounds 5] [--only lines,numbers,commit,contract]
        [--sixteenth] [--frame PROGRAM]

    lines      1 GiB of lines through one function of Python → one ordered, durable file
    numbers    360 MB of numbers parsed and summed
    commit     the commit alone: 16 segments of 64 MiB to one file, and as segments
    contract   a job on a pool of processes, beside plain `swath.append` in the parent of that pool

Two worker processes of one thread each, made once and kept. The frame is that of ``record.py``: contestants
take turns; inputs are warm unless a case says cold; memory is touched and given back before each run.
Before each commit, its segments are written anew: they are warm, and dirty unless they are durable. Cold
segments are written back and dropped from the page cache first.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask.bag
import dask.dataframe
import distributed
import numpy as np
from record import GIB, Case, Frame, version

import swath
from swath import job

PART = 64 << 20


def shout(line: str) -> str:
    """Does the work on one line."""
    return line.upper()


def shout_all(block: Any) -> bytes:
    """Does the work on a block of whole lines, without a partition of Dask."""
    lines = str(block, "utf-8").splitlines(keepends=True)
    return "".join(map(shout, lines)).encode()


def digits_of(block: Any) -> bytes:
    """Does more work on a block: splits each line and joins it in reverse."""
    lines = str(block, "utf-8").splitlines(keepends=True)
    return "".join(" ".join(reversed(line.split())) + "\n" for line in lines).encode()


def made_lines(data: Path, size: int) -> Path:
    path = data / f"lines-{size}.txt"
    if not path.exists() or path.stat().st_size < size:
        dice = random.Random(1)
        lines = [f"line {dice.randrange(10**9)} {'x' * dice.randrange(40, 130)}\n" for _ in range(100_000)]
        block = "".join(lines).encode()
        with open(path, "wb") as file:
            while file.tell() < size:
                file.write(block)
    return path


def made_numbers(data: Path, size: int) -> Path:
    path = data / f"numbers-{size}.csv"
    if not path.exists():
        rows = size // (8 * 18)
        values = np.random.default_rng(2).random((rows, 8)) * 100
        swath.write_csv(path, values, names=[f"n{at}" for at in range(8)])
    return path


class Served(Case):
    """A case whose output must be removed before the next run."""

    def __init__(self, name: str, paths: list[Path], out: Path) -> None:
        super().__init__(name, paths)
        self.out = out

    def prepare(self) -> None:
        if self.out.is_dir():
            shutil.rmtree(self.out)
        self.out.unlink(missing_ok=True)
        os.sync()
        super().prepare()


def line_cases(data: Path, scale: int) -> Iterator[Case]:
    size = GIB // scale
    path, out, part = made_lines(data, size), data / "out", PART // scale
    upper = swath.hash(made_upper(path))

    def file_is_right(result: Any) -> bool:
        return swath.hash(out) == upper

    def files_are_right(result: Any) -> bool:
        total = sum(name.stat().st_size for name in out.iterdir())
        # Dask adds a newline to each line, except the last of a file.
        return total >= path.stat().st_size and len([*out.iterdir()]) == len(result)

    def ours(durability: Any) -> Any:
        lines = swath.dask.read_text(path, part_size=part).map(shout)
        return swath.dask.append(out, lines, durability=durability)

    def theirs() -> Any:
        out.mkdir()
        return dask.bag.read_text(str(path), blocksize=part).map(shout).to_textfiles(f"{out}/*.txt")

    case = Served("lines", [path], out)
    peer = "dask.bag: read_text().map().to_textfiles(), many files, not durable"
    case.add("append(read_text().map(f))", lambda: ours("full"), file_is_right)
    case.add("append(read_text().map(f)), not durable", lambda: ours("none"), file_is_right)
    case.add(peer, theirs, files_are_right)
    case.goal("append(read_text().map(f))", peer, 2.5)
    yield case


def made_upper(path: Path) -> Path:
    made = path.with_suffix(".upper")
    if not made.exists():
        with swath.append(made) as out:
            for block in swath.scan_records(path, lambda block: bytes(block).upper(), block_size=PART):
                out.write(block)
    return made


def number_cases(data: Path, scale: int) -> Iterator[Case]:
    path, part = made_numbers(data, 360_000_000 // scale), PART // scale
    expected = swath.read_csv(path, "f8").sum(axis=0)

    def is_right(result: Any) -> bool:
        return bool(np.allclose(np.asarray(result), expected))

    case = Case("numbers", [path])
    ours, peer = "swath.dask.read_csv().sum()", "dask.dataframe.read_csv().sum()"
    case.add(ours, lambda: swath.dask.read_csv(path, part_size=part).sum().compute(), is_right)
    case.add(
        "swath.dask.read_csv(dtype).sum(axis=0)",
        lambda: swath.dask.read_csv(path, "f8", part_size=part).sum(axis=0).compute(),
        is_right,
    )
    case.add(
        peer, lambda: dask.dataframe.read_csv(str(path), blocksize=part).sum().compute(), is_right
    )
    case.goal(ours, peer, 3.5)
    yield case


class Commits(Served):
    """Times commits alone; the attempts are written before each."""

    def __init__(self, name: str, out: Path, size: int, is_cold: bool) -> None:
        super().__init__(name, [], out)
        self.is_cold = is_cold
        self.block = random.Random(3).randbytes(min(size // 16, 1 << 20))
        self.count = size // 16 // len(self.block)

    def form(self, name: str, form: Any, count: int | None = None) -> None:
        blocks = self.count if count is None else count
        bytes_of_all = 16 * blocks * len(self.block)
        self.add(name, partial(self.planned, form, blocks), lambda it: it.bytes == bytes_of_all)

    def planned(self, form: Any, blocks: int) -> job.Plan:
        plan = job.plan([], self.out, parts=16, form=form)
        for part in plan.parts:
            with part.writer() as out:
                for _ in range(blocks):
                    out.write(self.block)
        return plan

    def seconds(self, name: str) -> float:
        self.prepare()
        plan = self.runs[name]()
        if self.is_cold:
            os.sync()
            for entry in os.scandir(plan.folder):
                with open(entry.path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        done = plan.done()
        start = time.perf_counter()
        committed = plan.commit(done)
        seconds = time.perf_counter() - start
        assert self.checks[name](committed), f"{self.name}: {name}: wrong result"
        plan.remove()
        return seconds


def commit_cases(data: Path, scale: int) -> Iterator[Case]:
    for is_cold in (False, True):
        state = "cold" if is_cold else "warm"
        case = Commits(f"commit of 16 segments, {state}", data / "out", GIB // scale, is_cold)
        case.form("to one file", "file")
        case.form("as segments", "segments")
        # The goals are times beyond a commit of empty segments, which takes almost none.
        case.form("to one file, of empty segments", "file", 0)
        case.form("as segments, of empty segments", "segments", 0)
        if not is_cold:
            case.cost("to one file", "to one file, of empty segments", 0.6)
            case.cost("as segments", "as segments, of empty segments", 0.02)
        yield case


def read_and(function: Callable[[Any], bytes], part: job.Part) -> bytes:
    """Does the work of `job.attempt`, but returns the bytes to the parent."""
    made = [
        one
        for piece in part.pieces
        for one in swath.scan_records(piece.path, function, starting_in=piece.extent, workers=1)
    ]
    return b"".join(made)


def contract_cases(data: Path, scale: int) -> Iterator[Case]:
    path, out, part = made_lines(data, GIB // scale), data / "out", PART // scale
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))

    def plain(function: Any, parts: list[job.Part]) -> int:
        # Few parts ahead: otherwise the parent would hold the whole output.
        with swath.append(out) as file:
            ahead = [pool.submit(read_and, function, part) for part in parts[:4]]
            for at in range(len(parts)):
                file.write(ahead.pop(0).result())
                if at + 4 < len(parts):
                    ahead.append(pool.submit(read_and, function, parts[at + 4]))
        return out.stat().st_size

    def contract(function: Any, form: Any) -> int:
        plan = job.plan(path, out, part_size=part, form=form)
        return job.run(pool, plan, function).bytes

    for function, name in [(shout_all, "a cheap function"), (digits_of, "a function of 10 s")]:
        case = Served(f"contract, {name}", [path], out)
        lengths = swath.scan_records(path, lambda it, f=function: len(f(it)), block_size=PART)
        size = sum(lengths)
        parts = job.divide(path, part_size=part)
        case.add("job.run, one file", partial(contract, function, "file"), size.__eq__)
        case.add("job.run, segments", partial(contract, function, "segments"), size.__eq__)
        case.add("swath.append in the parent", partial(plain, function, parts), size.__eq__)
        if function is digits_of:
            case.goal("job.run, one file", "swath.append in the parent", 0.97)
        yield case
    pool.shutdown()


CASES = {
    "lines": line_cases, "numbers": number_cases, "commit": commit_cases, "contract": contract_cases
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--sixteenth", action="store_true", help="a sixteenth of the sizes: to see it run")
    parser.add_argument("--frame", type=Path, help="swath-benches, if cargo is not to make it")
    words = parser.parse_args()
    data = words.data.absolute()
    data.mkdir(parents=True, exist_ok=True)
    words.out.mkdir(parents=True, exist_ok=True)
    peers = ["dask", "distributed", "pandas", "pyarrow", "numpy"]
    about = [
        f"Python {platform.python_version()}, swath {swath.__version__}, "
        + ", ".join(f"{peer} {version(peer)}" for peer in peers),
        f"{os.cpu_count()} cores, Linux {platform.release()}, {words.rounds} rounds",
        "two worker processes of one thread, kept for all runs",
        f"{shutil.disk_usage(data).total >> 30} GiB of disk",
    ]
    head = "# Summary\n\n" + "".join(f"- {line}\n" for line in about) + "\n"
    frame = Frame(words.frame, words.out, words.rounds, head)
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.Client(host="127.0.0.1", **how):
        for name in words.only.split(","):
            for case in CASES[name](data, 16 if words.sixteenth else 1):
                print(case.name, file=sys.stderr, flush=True)
                frame.measure(case)
    frame.close()


if __name__ == "__main__":
    main()
