"""One file: what comes back is what is in it, whatever is asked for."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import zlib

import pytest

import swath

# Around what is read in one piece, a page, a chunk, and a worker's share.
SIZES = [0, 1, 63, 4095, 4096, 4097, 65536, 65537, (1 << 20) - 1, (1 << 20) + 1, 5 << 20]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("engine", ["auto", "serial", "pool", "ring"])
def test_every_engine_reads_the_same_bytes(make, size, engine):
    path = make("file", size)
    expected = path.read_bytes()
    for workers, chunk_size in [(0, 0), (1, 4096), (3, 65536)]:
        data = swath.read(path, engine=engine, workers=workers, chunk_size=chunk_size)
        assert data == expected
        assert (len(data), data.nbytes, data.tobytes()) == (size, size, expected)


@pytest.mark.parametrize("page_cache", ["auto", "keep", "drop", "bypass"])
def test_every_way_through_the_page_cache(make, page_cache):
    path = make("file", 3_000_001)
    assert swath.read(path, page_cache=page_cache) == path.read_bytes()


def test_a_part_is_that_part(make):
    path = make("file", 3 << 20)
    whole = path.read_bytes()
    for offset, length in [(0, 0), (1, 1), (4095, 4098), (1 << 20, 2 << 20), (3 << 20, 0)]:
        assert swath.read(path, offset=offset, length=length) == whole[offset : offset + length]
        assert swath.sum(path, offset=offset, length=length) == sum(whole[offset : offset + length])
    assert swath.read(path, offset=5) == whole[5:]
    with pytest.raises(swath.TruncatedError, match="request fewer bytes") as raised:
        swath.read(path, offset=10, length=3 << 20)
    assert (raised.value.offset, raised.value.length) == (10, 3 << 20)


def test_whatever_names_a_file(make):
    path = make("n\u00e4me", 10_000)
    expected = path.read_bytes()

    class BytesPath:
        def __fspath__(self):
            return os.fsencode(path)

    for name in [path, str(path), os.fsencode(path), pathlib.PurePath(path), BytesPath()]:
        assert swath.read(name) == expected
    with open(path, "rb") as file:
        file.seek(7)
        assert swath.read(file) == expected
        assert swath.read(file.fileno(), offset=3, length=5) == expected[3:8]
        assert file.tell() == 7, "it is read by position"
    for wrong in [None, 1.5, object(), []]:
        with pytest.raises((TypeError, ValueError)):
            swath.read(wrong)
    with pytest.raises(OSError):
        swath.read(1_000_000)


def test_a_name_that_is_no_unicode(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    with open(path, "wb") as file:
        file.write(b"odd")
    assert swath.read(path) == b"odd"
    assert swath.read(os.fsdecode(path)) == b"odd"
    with pytest.raises(FileNotFoundError) as raised:
        swath.read(path + b"?")
    assert os.fsencode(raised.value.filename) == path + b"?"


def test_memory_of_the_callers_is_filled(make):
    path = make("file", 2 << 20)
    expected = path.read_bytes()
    out = bytearray(2 << 20)
    view = swath.read(path, out=out)
    assert isinstance(view, memoryview) and view.obj is out
    assert out == expected
    part = memoryview(out)[100:200]
    assert swath.read(path, offset=7, out=part) == expected[7:107]
    assert out[:100] == expected[:100] and out[200:] == expected[200:], "nothing else is touched"
    assert swath.read(path, out=bytearray()) == b""
    with pytest.raises(BufferError):
        swath.read(path, out=bytes(10))
    with pytest.raises(BufferError):
        swath.read(path, out=memoryview(out)[::2])
    with pytest.raises(ValueError):
        swath.read(path, out=out, length=5)
    with pytest.raises(TypeError):
        swath.read(path, out=out, readonly=True)
    with pytest.raises(swath.TruncatedError):
        swath.read(path, out=bytearray((2 << 20) + 1))


def test_pipes_and_files_of_the_kernel_are_read_to_their_end(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    sent = bytes(range(256)) * 5000

    def send():
        with open(fifo, "wb") as file:
            file.write(sent)

    thread = threading.Thread(target=send)
    thread.start()
    assert swath.read(fifo) == sent
    thread.join()
    assert swath.read("/proc/self/status").tobytes().startswith(b"Name:")


def test_sums_and_hashes(make):
    path = make("file", 3_333_333)
    data = path.read_bytes()
    assert swath.sum(path) == sum(data)
    assert swath.sum(path, chunk_size=4096, workers=3) == sum(data)
    check = make("check", 0)
    check.write_bytes(b"123456789")
    assert swath.hash(check, "crc32c") == "e3069283"
    assert swath.hash(check, "crc32c") != f"{zlib.crc32(b'123456789'):08x}", "not zlib's"
    empty = make("empty", 0)
    assert swath.hash(empty) == "2d06800538d394c2"
    assert swath.hash(empty, "blake3").startswith("af1349b9")
    assert swath.hash(path, "crc32c", chunk_size=4096) == swath.hash(path, "crc32c")
    with pytest.raises(ValueError, match='"xxh3", "crc32c", "blake3"'):
        swath.hash(path, "md5")


def test_copies_stand_in_for_each_other(make, tmp_path):
    path = make("one", 3 << 20)
    expected = path.read_bytes()
    two, three = tmp_path / "two", tmp_path / "three"
    two.write_bytes(expected)
    assert swath.read([path, two]) == expected
    assert swath.read([tmp_path / "missing", two]) == expected
    damaged = bytearray(expected)
    damaged[1_500_000] ^= 1
    three.write_bytes(damaged)
    assert swath.read([three, path, two], verify="vote") == expected
    with pytest.raises(TypeError, match="copies"):
        swath.read(path, verify="vote")
    manifest = tmp_path / "sums"
    subprocess.run(
        [sys.executable, "-m", "swath", "manifest", path, "-o", manifest], check=True
    )
    assert swath.read([three, two], verify=manifest) == expected


def test_what_nobody_may_ask_for(make):
    path = make("file", 10)
    with pytest.raises(ValueError, match="truncating a mapped file"):
        swath.read(path, engine="map")
    with pytest.raises(ValueError, match='engine="fast": not one of "auto"'):
        swath.read(path, engine="fast")
    with pytest.raises(ValueError):
        swath.read(path, page_cache="warm")
    with pytest.raises(OverflowError):
        swath.read(path, offset=-1)
    with pytest.raises(TypeError):
        swath.read(path, progress=3)


def test_progress_counts_to_the_end_and_what_it_raises_is_raised(make, capsys):
    path = make("file", 9 << 20)
    seen = []
    swath.read(path, progress=lambda done, total: seen.append((done, total)))
    assert max(seen) == (9 << 20, 9 << 20)

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        swath.read(path, progress=stop, chunk_size=4096)
    swath.read(path, progress=True)
    assert capsys.readouterr().err
    swath.read(path, progress=False)
    assert not capsys.readouterr().err


def test_the_module_runs_the_command_that_is_installed(tmp_path):
    def run(*words, path):
        words = [sys.executable, "-m", "swath", *words]
        return subprocess.run(words, capture_output=True, text=True, env={"PATH": path})

    missing = run("sum", path=str(tmp_path))
    assert missing.returncode == 2 and "try: install it" in missing.stderr
    command = tmp_path / "swath"
    command.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
    command.chmod(0o755)
    ran = run("sum", "a b", "", "--x", path=str(tmp_path))
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "sum|a b||--x|", "")
    real = shutil.which("swath")
    if real is not None:
        told = run("--version", path=os.path.dirname(real))
        assert told.stdout.strip() == f"swath {swath.__version__}"


def test_a_profile_that_cannot_be_used_is_a_warning(make, tmp_path):
    path = make("file", 100_000)
    code = (
        "import sys, warnings, swath\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    assert len(swath.read(sys.argv[1])) == 100_000\n"
        "    assert len(swath.ingest([sys.argv[1]])) == 1\n"
        "    assert len(swath.read(sys.argv[1], profile=False)) == 100_000\n"
        "assert [w.category for w in told] == [RuntimeWarning] * 2, told\n"
        "assert 'cannot use the profile' in str(told[0].message), told[0]\n"
        "warnings.simplefilter('error')\n"
        "try:\n"
        "    swath.read(sys.argv[1])\n"
        "except RuntimeWarning:\n"
        "    print('raised')\n"
    )
    folder = tmp_path / "swath"
    folder.mkdir()
    # No profile can be looked up in a folder that leads to itself.
    (folder / "profiles").symlink_to("profiles")
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    words = [sys.executable, "-c", code, str(path)]
    damaged = subprocess.run(words, capture_output=True, text=True, env=env)
    assert (damaged.returncode, damaged.stdout, damaged.stderr) == (0, "raised\n", "")
