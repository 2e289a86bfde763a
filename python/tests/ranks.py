"""The work of ranks in the tests of `swath.mpi`: `mpirun -n N python ranks.py CASE FOLDER ...`.

A check that does not hold on one rank ends the program on all, with its traceback.
"""

from __future__ import annotations

import doctest
import gzip
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import folder as fill
import numpy as np
from mpi4py import MPI

import swath
from swath import _ranks

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size


def raises(kind: type[BaseException], rank: int, call: Any, *words: Any, **how: Any) -> BaseException:
    """All ranks raise the error of ``rank``, which is named."""
    try:
        call(*words, **how)
    except kind as error:
        assert any(note == f"on rank {rank} of {SIZE}" for note in error.__notes__), error.__notes__
        found = error
    else:
        raise AssertionError(f"rank {RANK}: {kind.__name__} was not raised")
    texts = COMM.allgather(str(found))
    assert len({*texts}) == 1, texts
    return found


def made(path: Path, data: bytes) -> Path:
    """A file that all ranks see, unlike any that they have seen."""
    COMM.Barrier()
    if RANK == 0:
        path.unlink(missing_ok=True)
        path.write_bytes(data)
    COMM.Barrier()
    return path


LINES = b"".join(b"line %d %s\n" % (n, b"x" * (n % 37)) for n in range(5_000))
TEXTS = [b"", b"x", b"\n", b"a\nbb\n\nccc", b"one\ntwo\n", LINES, LINES[:-1]]


def text(folder: Path) -> None:
    path = folder / "in.txt"
    for data in TEXTS:
        made(path, data)
        mine = bytes(swath.mpi.read_text(COMM, path))
        assert b"".join(COMM.allgather(mine)) == data
        counted = swath.mpi.read_records(COMM, path, lambda block: bytes(block), block_size=4096)
        assert b"".join(counted) == mine
        offset, length = swath.mpi.extent(COMM, path)
        ends = COMM.allgather((offset, length))
        assert sum(length for _, length in ends) == len(data)
        assert all(begin == sum(it[1] for it in ends[:at]) for at, (begin, _) in enumerate(ends))
    made(path, b"a,b;c,d;e")
    assert b"".join(COMM.allgather(bytes(swath.mpi.read_text(COMM, path, delimiter=";")))) == b"a,b;c,d;e"


CSVS = [
    b"x,y\n1,0.5\n2,1.5\n3,2.5\n",
    b"x,y\n1,2\n",
    b"x,y\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(500)) + b"7,0.25",
    b"1,,3\n4,5,6\n" * 50,
    b"x,y\n",
    b'word,day\n' + b"".join(b'"w, %d\n",2024-01-0%d\n' % (n, n % 9 + 1) for n in range(300)),
    # Types of the parts that are not those of the whole.
    b"x,y\n" + b"1,\n" * 200 + b"007,2024-01-01\n" + b"2,2024-01-01 10:00\n",
    b"x,y\n" + b"1,true\n" * 200 + b"word,3\n",
    b"x\n" + b"9223372036854775808\n" * 200 + b"-1\n" * 200,
]


def csv(folder: Path) -> None:
    path = folder / "in.csv"
    for data in CSVS:
        made(path, data)
        whole = swath.read_csv(path)
        mine = swath.mpi.read_csv(COMM, path)
        assert mine.columns == whole.columns and mine.types == whole.types, (data[:20], mine.types)
        for name in whole.columns:
            column = np.asarray(whole[name])
            parts = COMM.allgather(np.asarray(mine[name]))
            assert {part.dtype for part in parts} == {column.dtype}, (data[:20], name)
            np.testing.assert_array_equal(np.concatenate(parts), column)
        if {*whole.types} <= {"int64", "float64", "null"}:
            array = np.concatenate(COMM.allgather(swath.mpi.read_csv(COMM, path, "f8")))
            np.testing.assert_array_equal(array, swath.read_csv(path, "f8"))
        told = swath.mpi.read_csv(COMM, path, dtypes=whole.types, file_column="file")
        assert told.types[:-1] == whole.types and told.names == [*whole.names, "file"]
    for data, says in [
        (gzip.compress(CSVS[0]), "compressed, and has no parts"),
        (CSVS[0].decode().encode("utf-16"), "utf-16le, and it has no parts"),
    ]:
        made(path, data)
        assert says in str(raises(swath.Error, 0, swath.mpi.read_csv, COMM, path))
    made(path, gzip.compress(b"0 1\n" * 9000))
    for read in (swath.mpi.read_edges, swath.mpi.read_mtx):
        assert "compressed" in str(raises(swath.MalformedError, 0, read, COMM, path))
    raises(TypeError, 0, swath.mpi.read_csv, COMM, path, starting_in=(0, 1))
    made(path, b"x\n" + b"1\n" * 999 + b"word\n")
    error = raises(swath.MalformedError, SIZE - 1, swath.mpi.read_csv, COMM, path, dtypes={"x": "int64"})
    assert "in.csv" in str(error), error


def graph_texts() -> list[bytes]:
    random = np.random.default_rng(7)
    pairs = random.integers(0, 300, (4_000, 2))
    plain = b"".join(b"%d %d\n" % (a, b) for a, b in pairs.tolist())
    weighted = b"".join(b"%d %d %.3f\n" % (a, b, a / 7 - b) for a, b in pairs.tolist())
    far = b"".join(b"%d %d\n" % (a, b) for a, b in sorted(pairs.tolist(), key=lambda it: -it[0]))
    return [
        plain,
        plain[:-1],
        weighted,
        far,
        b"# of vertices\n0 1",
        b"5 0\n",
        b"1 2\n3 4\n5 1\n",
        b"0 0\n0 0\n0 1\n0 0\n",
        b"70000 3\n2 70001\n",
    ]


def compare(found: Any, whole: Any) -> None:
    """The blocks of all ranks are the rows of one process, entry for entry."""
    assert found.shape == whole.shape
    assert found.entries == len(whole.indices), (found.entries, len(whole.indices))
    assert found.offsets.dtype == np.int64
    assert found.indices.dtype == (np.int32 if max(whole.shape) < 2**31 else np.int64)
    blocks = COMM.allgather(found)
    firsts = [block.first for block in blocks]
    assert firsts == [whole.shape[0] * rank // SIZE for rank in range(SIZE)], firsts
    counts = np.concatenate([np.diff(block.offsets) for block in blocks])
    np.testing.assert_array_equal(counts, np.diff(whole.indptr))
    np.testing.assert_array_equal(np.concatenate([it.indices for it in blocks]), whole.indices)
    if blocks[0].values is None:
        assert set(whole.data.tolist()) <= {1.0} and all(it.values is None for it in blocks)
    else:
        np.testing.assert_array_equal(np.concatenate([it.values for it in blocks]), whole.data)
        assert {it.values.dtype for it in blocks} == {whole.data.dtype}
    part = found.csr()
    end = found.first + part.shape[0]
    assert (part != whole[found.first : end]).nnz == 0


def graphs(folder: Path) -> None:
    path = folder / "in.el"
    for data in graph_texts():
        made(path, data)
        for how in ({}, {"sort": True}, {"vertices": 80_000}, {"values": "float32"}, {"base": 0}):
            compare(swath.mpi.read_edges(COMM, path, **how), swath.read_edges(path, "csr", **how))
    made(path, graph_texts()[2])
    how = {"sum_duplicates": True}
    compare(swath.mpi.read_edges(COMM, path, **how), swath.read_edges(path, "csr", **how))
    heads = {"general": b"3 4 2", "symmetric": b"4 4 3"}
    for kind, sizes in heads.items():
        head = b"%%%%MatrixMarket matrix coordinate real %s\n%s\n" % (kind.encode(), sizes)
        made(path, head + b"1 1 0.5\n3 2 1.5\n" + (b"4 2 -1" if kind == "symmetric" else b""))
        for expand in (True, False):
            whole = swath.read_mtx(path, "csr", expand=expand)
            compare(swath.mpi.read_mtx(COMM, path, expand=expand), whole)
    for data in (b"", b"# nothing\n"):
        made(path, data)
        raises(swath.MalformedError, 0, swath.mpi.read_edges, COMM, path)
    made(path, b"1 2\n" * 500 + b"1 x\n")
    error = raises(swath.MalformedError, SIZE - 1, swath.mpi.read_edges, COMM, path)
    assert "in.el" in str(error) and "byte" in str(error), error
    raises(swath.NotFoundError, 0, swath.mpi.read_edges, COMM, folder / "missing")


def exchange(folder: Path) -> None:
    """Long messages go in pieces: here those of more than a few items."""
    for most in (1, 3, 1000):
        for kind in (np.uint32, np.float64, np.complex128):
            items = (np.arange(5 * SIZE) + 1000 * RANK).astype(kind)
            counts = [5 + (to - RANK) % 2 - (to + 1 - RANK) % 2 for to in range(SIZE)]
            counts[-1] += 5 * SIZE - sum(counts)
            taken = _ranks.exchange(COMM, items, counts, most)
            sent = COMM.allgather((items, _ranks.starts(counts)))
            for found, (items, starts) in zip(taken, sent):
                np.testing.assert_array_equal(found, items[starts[RANK] : starts[RANK + 1]])


def shared(folder: Path) -> None:
    path = folder / "in.bin"
    for size in (1_000_000, 1, 0):
        data = made(path, np.arange(size, dtype="u4").tobytes()[:size]).read_bytes()
        with swath.mpi.read_shared(COMM, path) as memory:
            assert memory.data == data and memory.data.readonly and len(memory) == size
            assert bytes(memory.array()) == data
    memory = swath.mpi.read_shared(COMM, made(path, bytes(64)))
    kept = memory.array("f8") if RANK == SIZE - 1 else None
    raises_on_node(memory.free)
    del kept
    memory.free()
    memory.free()
    raises(swath.NotFoundError, 0, swath.mpi.read_shared, COMM, folder / "missing")
    raises(swath.InvalidError, 0, swath.mpi.read_shared, COMM, folder)
    made(path, b"")
    if RANK == 0:
        os.truncate(path, 1 << 42)
    COMM.Barrier()
    error = raises(swath.OutOfMemoryError, 0, swath.mpi.read_shared, COMM, path)
    assert "/dev/shm" in str(error)


def raises_on_node(call: Any) -> None:
    try:
        call()
    except BufferError as error:
        assert "in use" in str(error)
    else:
        raise AssertionError("it was freed")


def bytes_of(rank: int) -> bytes:
    size = {1: 0, 2: 3 << 20}.get(rank, 1000 * rank + 7)
    return np.random.default_rng(rank).integers(0, 256, size, "u1").tobytes()


def appends(folder: Path) -> None:
    path = folder / "out.bin"
    whole = b"".join(map(bytes_of, range(SIZE)))
    mine = bytes_of(RANK)
    ways = {
        "bytes": mine,
        "view": memoryview(bytearray(mine)),
        "array": np.frombuffer(mine, "u1"),
        "pieces": [mine[at : at + 1000] for at in range(0, len(mine), 1000)],
        "generator": (mine[at : at + 99_999] for at in range(0, len(mine), 99_999)),
    }
    for way, data in ways.items():
        assert swath.mpi.append(COMM, path, data, durability="none") == len(whole), way
        assert path.read_bytes() == whole, way
        COMM.Barrier()
    assert swath.mpi.append(COMM, path, mine) == len(whole)
    parts = folder / "parts"
    assert swath.mpi.append(COMM, parts, iter([mine[:7], mine[7:]]), segments=True) == len(whole)
    if RANK == 0:
        swath_cat = os.popen(f"swath cat {parts}").buffer.read()
        assert swath_cat == whole
    raises(swath.Error, 0, swath.mpi.append, COMM, parts, mine, segments=True)
    assert swath.mpi.append(COMM, folder / "empty", b"") == 0
    assert (folder / "empty").read_bytes() == b""
    assert swath.mpi.append(COMM, path, np.arange(4, dtype="u2").reshape(2, 2)) == 8 * SIZE
    COMM.Barrier()
    left = sorted(os.listdir(folder))
    assert not [name for name in left if ".swath" in name], left


def refusals(folder: Path) -> None:
    """A failure of one rank is one of all, and the old file stays."""
    path = made(folder / "out.bin", b"old")
    last = SIZE - 1
    wrong: dict[Any, Any] = {TypeError: "text", BufferError: memoryview(b"abcd")[::2]}
    for kind, data in wrong.items():
        data = data if RANK == last else b"x"
        raises(kind, last, swath.mpi.append, COMM, path, data)
        raises(kind, last, swath.mpi.append, COMM, folder / "parts", data, segments=True)

    told = raises(TypeError, last, swath.mpi.append, COMM, path, None if RANK == last else b"x")
    assert str(told).startswith("None is neither bytes nor an iterable of bytes; try: pass"), told
    pieces = [b"x", None] if RANK == last else [b"x"]
    told = raises(TypeError, last, swath.mpi.append, COMM, path, pieces)
    assert str(told).startswith("a piece of the data is None, not bytes; try: yield"), told

    def failing() -> Any:
        yield b"x"
        if RANK == last:
            raise KeyError("of the caller")

    raises(KeyError, last, swath.mpi.append, COMM, path, failing())
    raises(KeyError, last, swath.mpi.append, COMM, folder / "parts", failing(), segments=True)
    raises(swath.NotFoundError, 0, swath.mpi.append, COMM, folder / "missing" / "out", b"x")
    raises(FileExistsError, 0, swath.mpi.append, COMM, path, b"x", replace=False)
    made(folder / "in.txt", LINES)
    raises(ZeroDivisionError, 0, swath.mpi.read_records, COMM, folder / "in.txt", lambda _: 1 // 0)
    COMM.Barrier()
    (folder / "in.txt").unlink(missing_ok=True)
    # One rank may write small files only.
    data = bytes(1 << 20)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if RANK == last:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    if last > 0:
        error = raises(swath.Error, last, swath.mpi.append, COMM, path, data)
        assert "out.bin at bytes" in str(error) and error.errno == 27, error
    raises(swath.Error, last, swath.mpi.append, COMM, folder / "parts", data, segments=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    # Two jobs on one target.
    held = swath.append(path) if RANK == last else None
    COMM.Barrier()
    error = raises(swath.Error, 0, swath.mpi.append, COMM, path, b"x")
    assert error.reason == "Busy", error
    COMM.Barrier()
    if held:
        held.abort()
    COMM.Barrier()
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(folder)) == ["out.bin"], os.listdir(folder)


class Odd(Exception):
    """Cannot be sent to another rank."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def changes(folder: Path) -> None:
    """A file that is cut, extended or replaced while ranks read it."""
    path = folder / "in.txt"

    def cut(_: Any) -> None:
        if RANK == 0 and path.stat().st_size > 10:
            os.truncate(path, 10)

    for size in (1, 200):
        made(path, LINES * size)
        try:
            swath.mpi.read_records(COMM, path, cut, block_size=4096)
        except (swath.ChangedError, swath.TruncatedError) as error:
            assert "in.txt" in str(error), error
        else:
            raise AssertionError("it was cut")

    def odd(_: Any) -> None:
        raise Odd(1, 2)

    made(path, LINES)
    expected = Odd if RANK == 0 else RuntimeError
    try:
        swath.mpi.read_records(COMM, path, odd)
    except expected as error:
        assert "1 and 2" in str(error)
        assert any("on rank 0" in note for note in error.__notes__)


def exchanged(folder: Path) -> None:
    """A file that is another one except while ranks look at it."""
    path, other = made(folder / "seen.txt", LINES * 9), made(folder / "other.txt", LINES * 900)
    divide, check = swath.job.divide, _ranks.Share.check

    def away(*words: Any, **how: Any) -> Any:
        parts = divide(*words, **how)
        path.rename(folder / "aside.txt")
        other.rename(path)
        return parts

    def back(share: Any) -> None:
        if RANK == 0:
            path.rename(other)
            (folder / "aside.txt").rename(path)
        COMM.Barrier()
        check(share)

    swath.job.divide, _ranks.Share.check = away, back
    try:
        raises(swath.ChangedError, 0, swath.mpi.read_text, COMM, path)
    finally:
        swath.job.divide, _ranks.Share.check = divide, check


def differs(call: Any, *words: str) -> None:
    """All ranks raise the same error, which has these words."""
    try:
        call()
    except (ValueError, RuntimeError) as error:
        told = str(error)
    else:
        raise AssertionError(f"rank {RANK}: nothing was raised; {words}")
    texts = COMM.allgather(told)
    assert len({*texts}) == 1, texts
    assert all(word in told for word in (*words, "rank 0", f"rank {SIZE - 1}", "; try: ")), told


def arguments(folder: Path) -> None:
    """The last rank passes something else than the others, who would wait for it, or be misread."""
    if SIZE == 1:
        return
    is_last, mpi = RANK == SIZE - 1, swath.mpi
    path, out = made(folder / "in.txt", LINES), folder / "out"
    (folder / f"own-{RANK}").mkdir()
    for data in (b"A", b"B"):
        # Of the same size and age, so that only their names tell them apart.
        if RANK == 0:
            (folder / f"{data.decode()}.csv").write_bytes(b"x,y\n" + b"1,2\n" * 99)
            os.utime(folder / f"{data.decode()}.csv", (1, 1))
    table, other = folder / "A.csv", folder / "B.csv"
    COMM.Barrier()
    one: Any = "f8" if is_last else "i8"
    types = {"x": "float64"} if is_last else None
    differs(lambda: mpi.append(COMM, out, b"x", segments=is_last), "segments is False", "True")
    differs(lambda: mpi.append(COMM, out, b"x", replace=is_last), "append: replace is")
    differs(lambda: mpi.append(COMM, f"{out}{is_last}", b"x"), "append: path is", "outTrue'")
    durability: Any = "none" if is_last else "full"
    differs(lambda: mpi.append(COMM, out, b"x", durability=durability), "durability is 'full'")
    differs(lambda: mpi.read_text(COMM, other if is_last else table), "path is", "A.csv", "B.csv")
    differs(lambda: mpi.extent(COMM, other if is_last else table), "extent: path is")
    differs(lambda: mpi.read_shared(COMM, other if is_last else table), "read_shared: path is")
    differs(lambda: mpi.read_text(COMM, path, delimiter="x" if is_last else None), "delimiter is")
    differs(lambda: mpi.read_records(COMM, path, len, delimiter=8 + is_last), "is 8 on rank 0, and 9")
    differs(lambda: mpi.read_csv(COMM, table, dtypes=types), "dtypes is None", "{'x': '<f8'}")
    differs(lambda: mpi.read_csv(COMM, table, one), "dtype is <i8 on rank 0, and <f8")
    how = {"columns": ["x"]} if is_last else {}
    differs(lambda: mpi.read_csv(COMM, table, **how), "columns is not given on rank 0, and ['x']")
    differs(lambda: mpi.read_edges(COMM, path, base="x" if is_last else 0), "base is 0")
    differs(lambda: mpi.read_edges(COMM, path, sort=is_last), "sort is False")
    differs(lambda: mpi.read_mtx(COMM, path, values="none" if is_last else "auto"), "values is")
    call: Any = mpi.extent if is_last else mpi.read_text
    differs(lambda: call(COMM, path), "has called swath.mpi.read_text, and rank", "extent; try: call")
    here = os.getcwd()
    os.chdir(folder / f"own-{RANK}" if is_last else folder)
    differs(lambda: mpi.read_text(COMM, "in.txt"), "arguments/in.txt'", f"own-{SIZE - 1}/in.txt'")
    os.chdir(here)
    # Options that ranks may choose for themselves, and other words for the same.
    ways: list[Any] = [str(path), path, os.fsencode(path)]
    mine = mpi.read_text(COMM, ways[RANK % 3], workers=RANK % 2)
    assert b"".join(COMM.allgather(bytes(mine))) == LINES
    dtype: Any = np.dtype("float64") if is_last else "f8"
    page_cache = "drop" if is_last else "keep"
    array = mpi.read_csv(COMM, table, dtype, workers=int(is_last), page_cache=page_cache)
    assert sum(COMM.allgather(len(array))) == 99
    COMM.Barrier()
    assert not out.exists() and not (folder / "outTrue").exists()


def every(folder: Path) -> None:
    cases = (text, csv, graphs, exchange, shared, appends, refusals, changes, exchanged, arguments)
    for case in cases:
        own = folder / case.__name__
        if RANK == 0:
            own.mkdir()
        COMM.Barrier()
        case(own)


def examples(folder: Path) -> None:
    """Those of the documentation, on one rank."""
    fill.fill(folder)
    os.chdir(folder)
    found = [swath.mpi, *(getattr(swath.mpi, name) for name in swath.mpi.__all__)]
    found += [vars(swath.mpi.Shared)["array"]]
    for thing in found:
        name = getattr(thing, "__name__", "swath.mpi")
        test = doctest.DocTestParser().get_doctest(thing.__doc__, {"swath": swath}, name, None, 0)
        is_class = thing is swath.mpi.Rows
        assert test.examples or is_class, f"{name} has no example"
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
        assert not runner.summarize(verbose=False).failed, name


def killed(folder: Path, rank: str, delay: str, way: str) -> None:
    """One rank is killed at a random moment of reading, writing, or the commit."""
    data = bytes([65 + RANK]) * (256 << 10)
    COMM.Barrier()
    if RANK == int(rank) and os.fork() == 0:
        # By another process: a thread would wait for the interpreter's lock.
        time.sleep(float(delay))
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    for turn in range(10_000):
        assert swath.mpi.read_text(COMM, folder / "in.txt").nbytes >= 0
        out = folder / (f"parts-{turn}" if way == "segments" else "out")
        swath.mpi.append(COMM, out, data, segments=way == "segments", durability="none")
        if turn == 0 and RANK == 0:
            print("began", flush=True)


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        COMM.Abort(1)
