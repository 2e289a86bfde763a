"""Whatever `read` takes, every reader takes: paths, open files, pipes, memory, copies."""

from __future__ import annotations

import bz2
import gzip
import inspect
import io
import lzma
import mmap
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import swath
from swath._compressed import refuse_compressed
from swath._sources import FoundPath, open_at_once

numpy = pytest.importorskip("numpy")


def plain(read: Any) -> Any:
    """Returns a value that can be compared."""
    if hasattr(read, "tocoo"):
        coo = read.tocoo()
        return [coo.shape, coo.row.tolist(), coo.col.tolist(), coo.data.tolist()]
    if isinstance(read, tuple):
        return [one.tolist() if hasattr(one, "tolist") else one for one in read]
    if isinstance(read, swath.Table):
        return {name: read[name].tolist() for name in read}
    if isinstance(read, dict):
        return {name: one.tolist() for name, one in read.items()}
    return read.tolist() if isinstance(read, numpy.ndarray) else read


def prioritised(source: Any, **how: Any) -> bytes:
    with swath.read_prioritised(source, [(0, 10, 0), (20, 30, 1)], **how) as reading:
        return b"".join(bytes(chunk) for _, chunks in reading for chunk in chunks)


def tables(stream: swath.TableStream) -> list[Any]:
    """All of a stream."""
    found: dict[str, list[Any]] = {name: [] for name in stream.names}
    for table in stream:
        for name in table:
            found[name] += table[name].tolist()
    return [*found.items()]


READERS: dict[str, Callable[..., Any]] = {
    "read": lambda it, **how: bytes(swath.read(it, **how)),
    "sum": swath.sum,
    "hash": swath.hash,
    "scan_records": lambda it, **how: b"".join(swath.scan_records(it, bytes, **how)),
    "read_prioritised": prioritised,
    "read_array": lambda it, **how: swath.read_array(it, "u1", **how),
    "read_npy": swath.read_npy,
    "read_csv": swath.read_csv,
    "stream_csv": lambda it, **how: tables(swath.stream_csv(it, **how)),
    "read_csv array": lambda it, **how: swath.read_csv(it, "f8", **how),
    "read_jsonl": swath.read_jsonl,
    "stream_jsonl": lambda it, **how: tables(swath.stream_jsonl(it, **how)),
    "read_fixed": swath.read_fixed,
    "stream_fixed": lambda it, **how: tables(swath.stream_fixed(it, **how)),
    "read_mtx": swath.read_mtx,
    "read_edges": lambda it, **how: swath.read_edges(it, "csr", **how),
    "read_arrow": swath.read_arrow,
    "load_safetensors": swath.load_safetensors,
    "stream_safetensors": lambda it, **how: dict(swath.stream_safetensors(it, **how)),
}
each = pytest.mark.parametrize("name", READERS)
# They read here and there, and what comes in order has no there.
BY_POSITION = {"read_prioritised"}


def file_for(name: str, folder: Path) -> Path:
    """A file that this reader reads."""
    path = folder / "file"
    if name == "read_npy":
        swath.write_npy(path, numpy.arange(200.0).reshape(4, 50))
    elif name.endswith("_safetensors"):
        swath.save_safetensors(path, {"a": numpy.arange(9), "b": numpy.ones((2, 2), "f4")})
    elif name == "read_arrow":
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})
        with pyarrow.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    elif name.endswith("_jsonl"):
        path.write_text("".join(f'{{"a": {n}, "b": {n}.5}}\n' for n in range(300)))
    elif name.endswith("_fixed"):
        path.write_text("".join(f"{n:4} {n}.5\n" for n in range(300)))
    elif name == "read_mtx":
        lines = "".join(f"{n} {n} {n}.5\n" for n in range(1, 51))
        path.write_text(f"%%MatrixMarket matrix coordinate real general\n50 50 50\n{lines}")
    else:
        path.write_text("".join(f"{n} {n + 1}\n" for n in range(300)))
    return path


@contextmanager
def pipe_of(path: Path) -> Iterator[int]:
    """The end of a pipe that somebody writes the file into, in pieces."""
    end, begin = os.pipe()

    def write() -> None:
        # A reader that refuses it reads nothing.
        with suppress(BrokenPipeError), open(begin, "wb", buffering=0) as out:
            data = path.read_bytes()
            for at in range(0, len(data), 700):
                out.write(data[at : at + 700])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield end
    finally:
        os.close(end)
        writer.join()


def test_all_readers_are_here() -> None:
    public = {name for name in swath.__all__ if name.startswith(("read", "load_", "stream_"))}
    public |= {"sum", "hash", "scan_records"}
    assert {name.partition(" ")[0] for name in READERS} == public


@each
def test_every_source_gives_what_the_path_gives(tmp_path: Path, name: str) -> None:
    path, read = file_for(name, tmp_path), READERS[name]
    whole = plain(read(path))
    data = path.read_bytes()
    assert plain(read(str(path))) == whole
    assert plain(read(os.fsencode(path))) == whole
    with open(path, "rb") as file:
        file.read(7)
        assert plain(read(file)) == whole
        assert plain(read(file.fileno())) == whole
        assert file.tell() == 7
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert plain(read(mapped)) == whole
    for memory in (memoryview(data), bytearray(data), numpy.frombuffer(data, "u1")):
        assert plain(read(memory)) == whole
    assert plain(read(io.BytesIO(data))) == whole
    assert plain(read(swath.read(path))) == whole


@each
def test_a_pipe_gives_what_the_path_gives(tmp_path: Path, name: str) -> None:
    path, read = file_for(name, tmp_path), READERS[name]
    with pipe_of(path) as end:
        if name in BY_POSITION:
            with pytest.raises(swath.Error, match="cannot read <open file>.*try: "):
                read(end)
        else:
            assert plain(read(end)) == plain(read(path))


def test_a_pipe_that_was_found_is_an_error_and_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for read in (swath.read_csv, swath.stream_csv, swath.read_jsonl, swath.read_fixed, swath.load_safetensors):
        with pytest.raises(swath.Error, match="it is not a file; try: name the files to read"):
            read(FoundPath(pipe))


def test_a_file_under_the_lease_of_another_process_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "leased"
    path.write_bytes(b"one\ntwo\n" * 1000)
    holder = (
        "import fcntl, signal, sys, time\n"
        "file = open(sys.argv[1], 'r+b')\n"
        "def leave(*_):\n    time.sleep(0.2); fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK); sys.exit()\n"
        "signal.signal(signal.SIGIO, leave)\n"
        "fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )
    for read in (
        lambda: swath.job.divide([path], parts=2, division="lines"),
        lambda: swath.read([path, path]),
        lambda: swath.ingest(tmp_path),
        lambda: swath.read_csv(FoundPath(path)),
        lambda: os.close(open_at_once(path)),
        lambda: refuse_compressed([path]),
    ):
        with subprocess.Popen([sys.executable, "-c", holder, path], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            if process.stdout.readline() != b"held\n":
                pytest.skip("no leases here")
            read()


@each
def test_copies_stand_in_for_each_other(tmp_path: Path, name: str) -> None:
    path, read = file_for(name, tmp_path), READERS[name]
    whole, copy = plain(read(path)), tmp_path / "copy"
    copy.write_bytes(path.read_bytes())
    shards = name.endswith("_safetensors")
    # A list of the files of one table is not one of copies.
    many = name in ("read_csv", "read_csv array", "stream_csv", "read_jsonl", "stream_jsonl", "read_fixed", "stream_fixed")
    for copies in ([path, copy], [tmp_path / "gone", copy], (str(path), copy)):
        # Neither is a list of shards.
        given: Any = [list(copies)] if shards else copies
        assert many or plain(read(given)) == whole
    # Two of three outvote the one that differs.
    third = tmp_path / "third"
    third.write_bytes(b"\xff" * len(path.read_bytes()))
    copies = [third, path, copy]
    assert plain(read([copies] if shards else copies, verify="vote")) == whole
    with pytest.raises(TypeError, match="verify= compares copies of one file"):
        read(path, verify="vote")


def test_standard_input_is_a_source(tmp_path: Path) -> None:
    code = "import sys, swath; print(swath.read_csv(sys.stdin.buffer, 'i8').sum())"
    environment = {**os.environ, "PYTHONPATH": str(Path(swath.__file__).parents[1])}
    path = file_for("read_csv", tmp_path)
    wanted = str(sum(n + n + 1 for n in range(300)))
    words = [sys.executable, "-c", code]
    for how in ({"stdin": path.open("rb")}, {"input": path.read_bytes()}):
        ended = subprocess.run(words, capture_output=True, env=environment, check=True, **how)
        assert ended.stdout.decode().strip() == wanted


def test_shards_may_come_from_anywhere(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    paths = [tmp_path / f"{name}.safetensors" for name in names]
    for number, (name, path) in enumerate(zip(names, paths)):
        swath.save_safetensors(path, {name: numpy.full(3, number)})
    with open(paths[1], "rb") as file:
        memory = memoryview(paths[2].read_bytes())
        shards = [paths[0], file, memory, [tmp_path / "gone", paths[3]]]
        for given in (shards, tuple(shards), iter(shards)):
            loaded = swath.load_safetensors(given)
            assert [loaded[name].tolist() for name in names] == [[n] * 3 for n in range(4)]
        assert dict(swath.stream_safetensors(iter(shards))).keys() == set(names)
    listed = numpy.array([str(path) for path in paths])
    assert swath.load_safetensors(listed).keys() == set(names)


def test_memory_is_held_while_it_is_read_and_no_longer(tmp_path: Path) -> None:
    data = bytearray(os.urandom(1 << 20))
    reading = swath.read_prioritised(data, [(0, 1 << 20, 0)])
    assert bytes(reading.wait(0)[0]) == data
    del reading
    data.append(1)
    stream = swath.stream_safetensors
    swath.save_safetensors(tmp_path / "s", {"a": numpy.arange(1000)})
    shard = bytearray((tmp_path / "s").read_bytes())
    list(stream(shard))
    shard.append(1)


def test_memory_is_not_read_into_itself() -> None:
    data = bytearray(b"0123456789")
    with pytest.raises(ValueError, match="out= overlaps the memory that is read"):
        swath.read(memoryview(data)[:9], out=memoryview(data)[1:])
    other = bytearray(10)
    swath.read(data, out=other)
    assert other == data
    half = memoryview(data)
    swath.read(half[:5], out=half[5:])
    assert data == b"0123401234"


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_a_file_that_is_decoded_is_not_read_by_its_descriptor(tmp_path: Path, module: Any) -> None:
    path = tmp_path / "packed"
    with module.open(path, "wb") as file:
        file.write(b"1,2\n" * 1000)
    layers: list[Callable[[Any], Any]] = [lambda it: it, io.BufferedReader, io.TextIOWrapper]
    reads: list[Callable[[Any], Any]] = [
        swath.read,
        swath.sum,
        swath.read_csv,
        lambda file: swath.hash(file, "blake3"),
        lambda file: list(swath.scan_records(file, bytes)),
    ]
    for layer in layers:
        for read in reads:
            with module.open(path, "rb") as decoder, layer(decoder) as file:
                with pytest.raises(TypeError, match=r"other bytes; try: pass .*memoryview\(file.read\(\)\)"):
                    read(file)
                # As the message says.
                assert len(file.read()) == 4000


def test_open_files_of_the_standard_library_are_read(tmp_path: Path) -> None:
    kinds = (tempfile.TemporaryFile, tempfile.NamedTemporaryFile, tempfile.SpooledTemporaryFile)
    for kind in kinds:
        with kind() as file:
            file.write(b"1,2\n")
            file.flush()
            assert bytes(swath.read(file)) == b"1,2\n", kind
    path = tmp_path / "t.csv"
    path.write_bytes(b"1,2\n")
    for mode in ("r", "rb", "r+", "r+b"):
        with open(path, mode) as opened:
            assert bytes(swath.read(opened)) == b"1,2\n", mode
    with open(path, "rb", buffering=0) as raw:
        assert bytes(swath.read(raw)) == b"1,2\n"


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("table.csv", "1,2\n")
    with zipfile.ZipFile(archive) as files, files.open("table.csv") as member:
        with pytest.raises(TypeError, match="has no descriptor; try: "):
            swath.read_csv(member)
        assert swath.read_csv(memoryview(member.read()), "i8").tolist() == [[1, 2]]
    with tarfile.open(tmp_path / "a.tar", "w") as tape:
        tape.add(archive, "a.zip")
    with tarfile.open(tmp_path / "a.tar") as tape, pytest.raises(TypeError, match="has no descriptor; try: "):
        swath.read(tape.extractfile("a.zip"))
    closed = open(archive, "rb")
    closed.close()
    with pytest.raises(ValueError, match="closed file"):
        swath.read_csv(closed)
    with pytest.raises(BufferError, match="the source has gaps"):
        swath.read(memoryview(bytearray(8))[::2])
    with pytest.raises(ValueError, match="no files given"):
        swath.read_csv([], "i8")
    with pytest.raises(TypeError):
        swath.read_csv(None)
    # The files of a table may lie in memory.
    assert swath.read_csv([bytearray(b"1\n"), memoryview(b"2\n")], "i8").tolist() == [[1], [2]]
    for wrong in ([archive, 5], (None, archive), [bytearray(3)]):
        if wrong != [bytearray(3)]:
            with pytest.raises(TypeError, match="a list names the files of one table: not "):
                swath.read_csv(wrong, "i8")
        with pytest.raises(TypeError, match="copies of one file, each by its path: not "):
            swath.read_csv(wrong, verify="vote")
    with pytest.raises(swath.MalformedError, match="<memory>"):
        swath.read_csv(bytearray(b"1,2\n3\n"), "i8")


@each
def test_every_reader_has_the_same_options(tmp_path: Path, name: str) -> None:
    usual = {
        "workers": 0,
        "engine": "auto",
        "page_cache": "auto",
        "progress": None,
        "verify": None,
        "profile": True,
    }
    options = inspect.signature(getattr(swath, name.partition(" ")[0])).parameters
    for option, default in usual.items():
        assert options[option].default == default, option
        assert options[option].kind is inspect.Parameter.KEYWORD_ONLY, option
    path, read = file_for(name, tmp_path), READERS[name]
    done: list[int] = []
    read(
        path,
        workers=2,
        engine="serial" if name != "read_prioritised" else "pool",
        page_cache="keep",
        progress=lambda bytes, total: done.append(bytes),
        profile=False,
    )
    assert max(done) > 0
    for wrong in ({"engine": "steam"}, {"page_cache": "hold"}, {"progress": 7}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
            read(path, **wrong)
