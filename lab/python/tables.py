"""Measures tables as people have them beside polars, pyarrow and duckdb, and leaves a record.

    python lab/python/tables.py --out DIR [--data DIR] [--rounds 9] [--size 200] [--only nine,thirty]
        [--quick] [--frame PROGRAM]

    nine, twelve, thirty
                       columns of numbers, decimals, dates, times, words, quoted texts; a tenth is missing
    three              three numeric columns of those thirty
    missing            doubles, of which 1, 20 and 50 % are missing, as a table and as an array
    scientific, crlf, bits
                       numbers as `numpy.savetxt` writes them; lines that end in CR and LF; 64 columns of 0 and 1
    few                50 rows, beside `numpy.loadtxt`
    objects            the nine columns as JSON Lines
    compressed         the nine columns as .csv.gz and .csv.zst
    column             a sum of one of nineteen columns
    parquet            nineteen columns into a Parquet file
    stream             a sum per group in duckdb, of a file four times as large as the memory
    write              numbers and texts as CSV
    memory             what a table takes at most beside itself (printed, not part of the record)

The frame is that of ``record.py``: contestants take turns, all with two threads; the files are in the page
cache, except those of ``stream``. ``--size`` is in megabytes of text. Files are made from a fixed seed in
``--data``, or in a temporary folder that is removed. ``stream`` runs in a memory group, which only root can make.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

THREADS = 2
os.environ["POLARS_MAX_THREADS"] = str(THREADS)

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pc
import pyarrow.json as pj
import pyarrow.parquet as pq
from record import Case, Frame, version
from table_files import made, made_compressed

import swath

pa.set_cpu_count(THREADS)
pa.set_io_thread_count(THREADS)
DUCK = duckdb.connect()
DUCK.execute(f"set threads={THREADS}")

OURS = "swath.read_csv"
PEERS = ["polars.read_csv", "pyarrow.csv.read_csv", "duckdb read_csv"]


def by_polars(path: Path, columns: list[str] | None = None) -> Any:
    return pl.read_csv(path, columns=columns, try_parse_dates=True, infer_schema_length=1000)


def by_pyarrow(path: Path, columns: list[str] | None = None) -> Any:
    return pc.read_csv(path, convert_options=pc.ConvertOptions(include_columns=columns or []))


def by_duckdb(path: Path, columns: list[str] | None = None) -> Any:
    chosen = ", ".join(columns) if columns else "*"
    return DUCK.sql(f"select {chosen} from read_csv('{path}')").to_arrow_table()


def reading(name: str, path: Path, times: float, columns: list[str] | None = None) -> Case:
    """Returns a case that reads a file into an Arrow table, `times` as fast as the best peer."""
    case = Case(name, [path])
    rows = swath.read_csv(path, columns=columns).shape[0]

    def is_right(result: Any) -> bool:
        return bool(getattr(result, "num_rows", None) == rows or result.shape[0] == rows)

    case.add(OURS, lambda: swath.read_csv(path, columns=columns, workers=THREADS), is_right)
    readers = [by_polars, by_pyarrow, by_duckdb]
    for peer, read in zip(PEERS, readers):
        try:
            assert is_right(read(path, columns)), "another number of rows"
        except Exception as error:
            case.absent[peer] = str(error).splitlines()[0]
            continue
        case.add(peer, partial(read, path, columns), is_right)
        case.goal(OURS, peer, times)
    case.touched = 4 * path.stat().st_size
    return case


def mixed_cases(kind: str, data: Path, size: int) -> Iterator[Case]:
    yield reading(f"{kind} columns", made(data, kind, size), 2)


def three_cases(data: Path, size: int) -> Iterator[Case]:
    columns = ["whole1", "decimal1", "decimal3"]
    yield reading("three numeric columns of thirty", made(data, "thirty", size), 5, columns)


def missing_cases(data: Path, size: int) -> Iterator[Case]:
    for percent, times in ((1, 4), (20, 3), (50, 2.5)):
        path = made(data, f"missing-{percent}", size)
        yield reading(f"doubles, {percent} % missing", path, times)
        case, ours = Case(f"doubles, {percent} % missing, into an array", [path]), "swath.read_csv(dtype)"
        rows = by_pyarrow(path).num_rows
        readers = {ours: lambda path=path: swath.read_csv(path, "f8", workers=THREADS)}
        readers |= {"polars.read_csv": partial(by_polars, path), "pyarrow.csv.read_csv": partial(by_pyarrow, path)}
        for name, run in readers.items():
            case.add(name, run, lambda result, rows=rows: result.shape[0] == rows)
            if name != ours:
                case.goal(ours, name, 3)
        case.touched = 4 * path.stat().st_size
        yield case


def number_cases(kind: str, name: str, data: Path, size: int) -> Iterator[Case]:
    yield reading(name, made(data, kind, size), 3)


def few_cases(data: Path, size: int) -> Iterator[Case]:
    path = data / "few.csv"
    np.savetxt(path, np.random.default_rng(9).random((50, 4)), delimiter=",", fmt="%.6f")
    case = Case("50 rows", [path])
    case.repeats, case.touched = 1000, 1 << 20
    runs: dict[str, Callable[[], Any]] = {
        OURS: lambda: swath.read_csv(path),
        "swath.read_csv(dtype)": lambda: swath.read_csv(path, "f8"),
        "numpy.loadtxt": lambda: np.loadtxt(path, delimiter=","),
        "polars.read_csv": lambda: pl.read_csv(path, has_header=False),
        "pyarrow.csv.read_csv": lambda: pc.read_csv(path),
    }
    for name, run in runs.items():
        case.add(name, run, lambda result: result.shape[0] in (49, 50))
    for name in (OURS, "swath.read_csv(dtype)"):
        case.goal(name, "numpy.loadtxt", 1)
    yield case


def compressed_cases(data: Path, size: int) -> Iterator[Case]:
    plain = made(data, "nine", size)
    for ending in ("gz", "zst"):
        path = made_compressed(plain, ending)
        yield reading(f"nine columns, .csv.{ending}", path, 1.2)


def object_cases(data: Path, size: int) -> Iterator[Case]:
    path = made(data, "objects", size)
    case, ours = Case("JSON Lines, nine keys", [path]), "swath.read_jsonl"
    runs: dict[str, Callable[[], Any]] = {
        ours: lambda: swath.read_jsonl(path, workers=THREADS),
        "polars.read_ndjson": lambda: pl.read_ndjson(path),
        "pyarrow.json.read_json": lambda: pj.read_json(path),
        "duckdb read_json": lambda: DUCK.sql(f"select * from read_json('{path}')").to_arrow_table(),
    }
    rows = swath.read_jsonl(path).shape[0]
    for name, run in runs.items():
        case.add(name, run, lambda result: result.shape[0] == rows)
        if name != ours:
            case.goal(ours, name, 1.5)
    case.touched = 4 * path.stat().st_size
    yield case


def column_cases(data: Path, size: int) -> Iterator[Case]:
    path, name = made(data, "nineteen", size), "decimal3"

    def streamed(**options: Any) -> float:
        batches = pa.RecordBatchReader.from_stream(swath.stream_csv(path, workers=THREADS, **options))
        return sum(pa.compute.sum(batch.column(name)).as_py() for batch in batches)

    case, ours = Case("sum of one of nineteen columns", [path]), "swath.stream_csv"
    total = by_pyarrow(path)[name].to_numpy()
    runs: dict[str, Callable[[], Any]] = {
        ours: streamed,
        f"{ours}(columns=)": partial(streamed, columns=[name]),
        "polars.scan_csv": lambda: pl.scan_csv(path).select(pl.col(name).sum()).collect().item(),
        "duckdb read_csv": lambda: DUCK.sql(f"select sum({name}) from read_csv('{path}')").fetchall()[0][0],
    }
    for each, run in runs.items():
        case.add(each, run, lambda found: bool(np.isclose(found, np.nansum(total))))
    for each in ("polars.scan_csv", "duckdb read_csv"):
        case.goal(ours, each, 1)
        case.goal(f"{ours}(columns=)", each, 1)
    yield case


def parquet_cases(data: Path, size: int) -> Iterator[Case]:
    path, out = made(data, "nineteen", size), data / "written.parquet"

    def streamed(**options: Any) -> None:
        stream = pa.RecordBatchReader.from_stream(swath.stream_csv(path, workers=THREADS, **options))
        with pq.ParquetWriter(out, stream.schema) as writer:
            for batch in stream:
                writer.write_batch(batch)

    runs: dict[str, Callable[[], Any]] = {
        "swath.read_csv": lambda: pq.write_table(pa.table(swath.read_csv(path, workers=THREADS)), out),
        "swath.stream_csv": streamed,
        "swath.stream_csv(block_size=)": partial(streamed, block_size=16 << 20),
        "polars.sink_parquet": lambda: pl.scan_csv(path, try_parse_dates=True).sink_parquet(out),
        "pyarrow": lambda: pq.write_table(by_pyarrow(path), out),
        "duckdb copy": lambda: DUCK.execute(f"copy (from read_csv('{path}')) to '{out}' (format parquet)"),
    }
    case, rows = Case("nineteen columns into Parquet", [path]), by_pyarrow(path).num_rows
    for name, run in runs.items():
        case.add(name, run, lambda _: pq.read_metadata(out).num_rows == rows)
        run()
        print(f"{name}: {out.stat().st_size / 1e6:.1f} MB, {pq.read_metadata(out).num_row_groups} groups of rows")
    for name in ("swath.read_csv", "swath.stream_csv(block_size=)"):
        case.goal(name, "duckdb copy", 1.2)
    case.touched = 4 * path.stat().st_size
    yield case
    out.unlink()


class Group:
    """A control group that limits the memory of child processes, if this user may make one."""

    def __init__(self, limit: int) -> None:
        self.path = Path("/sys/fs/cgroup/memory")
        old = self.path.is_dir()
        self.path = (self.path if old else Path("/sys/fs/cgroup")) / f"swath-tables-{os.getpid()}"
        self.path.mkdir()
        (self.path / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(limit))

    def enter(self) -> None:
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def close(self) -> None:
        self.path.rmdir()


class Limited(Case):
    """A case whose contestants run in child processes with little memory."""

    group: Group

    def seconds(self, name: str) -> float:
        with open(self.paths[0], "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        words = [sys.executable, __file__, "--child", name, str(self.paths[0])]
        done = subprocess.run(words, preexec_fn=self.group.enter, stdout=subprocess.PIPE, text=True, check=True)
        seconds, total = done.stdout.split()
        assert self.checks[name](float(total)), f"{self.name}: {name}: {total}"
        return float(seconds)


GROUPED = "select word1, sum(decimal1), count(*) from {} group by word1 order by word1"


def grouped(how: str, path: str) -> None:
    """Does the work of a child; prints its seconds, and the sum of all sums."""
    import time

    start = time.perf_counter()
    if how.startswith("duckdb"):
        if "limit" in how:
            DUCK.execute("set memory_limit = '192MiB'")
        rows = DUCK.sql(GROUPED.format(f"read_csv('{path}')")).fetchall()
    elif how.startswith("polars"):
        lazy = pl.scan_csv(path, infer_schema_length=1000).group_by("word1")
        lazy = lazy.agg(pl.col("decimal1").sum(), pl.len()).sort("word1")
        rows = lazy.collect(engine="streaming").rows()
    else:
        columns = ["word1", "decimal1"]
        types = {"dtypes": ["text", "float64"]} if "dtypes" in how else {}
        batches = pa.RecordBatchReader.from_stream(
            swath.stream_csv(path, columns=columns, workers=THREADS, **types)
        )
        DUCK.register("batches", batches)
        rows = DUCK.sql(GROUPED.format("batches")).fetchall()
    print(time.perf_counter() - start, sum(row[1] for row in rows))


def stream_cases(data: Path, size: int) -> Iterator[Case]:
    path = made(data, "nine", 8 * size)
    limit = path.stat().st_size // 4
    case = Limited(f"stream of a file in a quarter of its size, {limit >> 20} MiB", [path])
    ours = "swath.stream_csv, duckdb"
    try:
        case.group = Group(max(limit, 256 << 20))
    except OSError as error:
        print(f"{case.name}: no memory group: {error}", file=sys.stderr)
        return
    total = DUCK.sql(f"select sum(decimal1) from read_csv('{path}')").fetchall()[0][0]

    def is_right(found: float) -> bool:
        return abs(found - total) < 1e-6 * abs(total)

    peers = ["duckdb read_csv", "duckdb read_csv, memory_limit", "polars.scan_csv, streaming"]
    for name in (ours, f"{ours}, dtypes=", *peers):
        case.add(name, lambda: None, is_right)
    for name in (ours, f"{ours}, dtypes="):
        case.goal(name, "duckdb read_csv", 1.5)
    try:
        yield case
    finally:
        case.group.close()


def write_cases(data: Path, size: int) -> Iterator[Case]:
    for kind, name in (("nine", "numbers and texts"), ("missing-1", "doubles")):
        path, out = made(data, kind, size), data / "written.csv"
        table = by_pyarrow(path)
        frame, least = pl.from_arrow(table), 0.7 * path.stat().st_size
        DUCK.register("given", table)
        case = Case(f"{name} to CSV", [])
        runs: dict[str, Callable[[], Any]] = {
            "swath.write_csv": lambda t=table: swath.write_csv(out, t, durability="none"),
            "polars.write_csv": lambda f=frame: f.write_csv(out),
            "pyarrow.csv.write_csv": lambda t=table: pc.write_csv(t, out),
            "duckdb copy": lambda: DUCK.execute(f"copy given to '{out}' (format csv, header)"),
        }
        for each, run in runs.items():
            case.add(each, run, lambda _, least=least: out.stat().st_size > least)
        for each in [*runs][1:]:
            case.goal("swath.write_csv", each, 1.5)
        case.touched = 4 * path.stat().st_size
        yield case
        DUCK.unregister("given")
        out.unlink(missing_ok=True)


CASES: dict[str, Callable[[Path, int], Iterator[Case]]] = {
    "nine": partial(mixed_cases, "nine"),
    "twelve": partial(mixed_cases, "twelve"),
    "thirty": partial(mixed_cases, "thirty"),
    "three": three_cases,
    "missing": missing_cases,
    "scientific": partial(number_cases, "scientific", "17-digit scientific"),
    "crlf": partial(number_cases, "crlf", "CRLF"),
    "bits": partial(number_cases, "bits", "64 columns of 0 and 1"),
    "few": few_cases,
    "objects": object_cases,
    "compressed": compressed_cases,
    "column": column_cases,
    "parquet": parquet_cases,
    "stream": stream_cases,
    "write": write_cases,
}

READ_ONCE = """
import swath, sys
def peak():
    # `ru_maxrss` may be that of the process that started this one.
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
rows = [swath.read_csv(path, workers=2).shape for path in sys.argv[1:2]]
print("small", peak())
table = swath.read_csv(sys.argv[2], workers=2)
large = peak()
import pyarrow
print("large", large, pyarrow.table(table).get_total_buffer_size())
"""


def print_memory(data: Path, size: int) -> None:
    """Prints the peak memory of reading a table, less the table."""
    small = made(data, "nine", 1)
    plain = made(data, "nine", 2 * size)
    paths = [plain, made(data, "thirty", size), made(data, "missing-50", size)]
    paths += [made_compressed(plain, ending) for ending in ("gz", "zst")]
    for path in paths:
        words = [sys.executable, "-c", READ_ONCE, str(small), str(path)]
        found = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        before, peak, result = int(found[1]), int(found[3]), int(found[4])
        beside = (peak - before - result) / (1 << 20)
        print(f"{path.name}: {result >> 20} MiB of table, {beside:.0f} MiB beside it at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder for the files, which are kept there")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, default=200, help="megabytes of text")
    parser.add_argument("--only", default=",".join([*CASES, "memory"]))
    parser.add_argument("--quick", action="store_true", help="4 MB: to see it run")
    parser.add_argument("--frame", type=Path, help="swath-benches, if cargo is not to make it")
    words = parser.parse_args()
    size = 4 if words.quick else words.size
    words.out.mkdir(parents=True, exist_ok=True)
    about = [
        f"Python {platform.python_version()}, swath {swath.__version__}, "
        + ", ".join(f"{it} {version(it)}" for it in ["polars", "pyarrow", "duckdb", "numpy"]),
        f"{os.cpu_count()} cores, Linux {platform.release()}, {words.rounds} rounds, {THREADS} threads each",
        f"files of {size} MB, warm",
    ]
    head = "# Summary\n\n" + "".join(f"- {line}\n" for line in about) + "\n"
    frame = Frame(words.frame, words.out, words.rounds, head)
    with tempfile.TemporaryDirectory() as made_here:
        data = words.data.absolute() if words.data else Path(made_here)
        data.mkdir(parents=True, exist_ok=True)
        for name in words.only.split(","):
            if name == "memory":
                print_memory(data, size)
                continue
            for case in CASES[name](data, size):
                print(case.name, file=sys.stderr, flush=True)
                frame.measure(case)
    frame.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        grouped(*sys.argv[2:4])
    else:
        main()
