"""Many files are a sequence of views, whatever is among them."""

from __future__ import annotations

import collections.abc
import gc
import os
import time

import pytest

import swath


@pytest.fixture
def tree(make, tmp_path):
    for number in range(300):
        make(f"tree/{number % 7}/{number:03}", (number * 37) % 5000)
    make("tree/large", 9 << 20)
    return tmp_path / "tree"


def found(tree):
    return {
        os.path.join(folder, name): open(os.path.join(folder, name), "rb").read()
        for folder, _, names in os.walk(tree)
        for name in names
    }


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_folder_is_walked(tree, workers):
    expected = found(tree)
    files = swath.ingest(tree, workers=workers)
    assert len(files) == 301 and files.nbytes == sum(map(len, expected.values()))
    assert {path: bytes(data) for path, data in zip(files.paths, files)} == expected
    assert files.errors == {}
    assert "301 files" in repr(files)


def test_a_pattern_means_what_matches(tmp_path):
    for name in ("a.txt", "b.bin", "c.txt"):
        (tmp_path / name).write_bytes(name.encode())
    pattern = str(tmp_path / "*.txt")
    assert [bytes(file) for file in swath.ingest(pattern)] == [b"a.txt", b"c.txt"]
    files = swath.ingest([tmp_path / "b.bin", pattern])
    assert [bytes(file) for file in files] == [b"b.bin", b"a.txt", b"c.txt"]
    # A file of that name hides no other.
    (tmp_path / "*.txt").write_bytes(b"star")
    assert [bytes(file) for file in swath.ingest(pattern)] == [b"star", b"a.txt", b"c.txt"]
    (tmp_path / "*.bin2").write_bytes(b"star")
    assert [bytes(file) for file in swath.ingest(str(tmp_path / "*.bin2"))] == [b"star"]
    with pytest.raises(FileNotFoundError, match=r"\*\.none"):
        swath.ingest(str(tmp_path / "*.none"))


def test_it_is_a_sequence(tree):
    paths = sorted(found(tree))
    files = swath.ingest(paths)
    assert files.paths == paths
    assert bytes(files[-1]) == open(paths[-1], "rb").read()
    assert [bytes(data) for data in files[10:2:-3]] == [
        open(path, "rb").read() for path in paths[10:2:-3]
    ]
    with pytest.raises(IndexError, match="file 301 of 301"):
        files[301]
    with pytest.raises(IndexError):
        files[-302]
    offsets, lengths = memoryview(files.offsets), memoryview(files.lengths)
    arena = memoryview(files.arena)
    for index in (0, 7, 300):
        begin = offsets[index]
        assert arena[begin : begin + lengths[index]] == files[index]
    assert files[0].readonly


def test_views_outlive_the_files(tree):
    expected = found(tree)
    files = swath.ingest(sorted(expected))
    views = dict(zip(files.paths, files))
    del files
    gc.collect()
    swath.ingest(tree)
    assert {path: bytes(view) for path, view in views.items()} == expected


def test_what_cannot_be_read_is_raised_left_out_or_kept(tree):
    paths = [*sorted(found(tree))[:5], str(tree / "missing")]
    with pytest.raises(FileNotFoundError, match="missing"):
        swath.ingest(paths)
    assert len(swath.ingest(paths, errors="skip")) == 5
    files = swath.ingest(paths, errors="collect")
    assert len(files) == 6 and list(files.errors) == [5] and bytes(files[5]) == b""
    assert isinstance(files.errors[5], FileNotFoundError)
    assert files.errors[5].filename == paths[5]
    assert len(swath.ingest([])) == 0


@pytest.mark.parametrize("delivery", ["input", "completion"])
def test_a_stream_hands_over_one_after_the_other(tree, delivery):
    expected = found(tree)
    got: dict[str, bytes] = {}
    with swath.ingest_stream(tree, delivery=delivery, part_size=1 << 20, memory=8 << 20) as parts:
        for part in parts:
            assert len(got.get(part.path, b"")) == part.offset
            got[part.path] = got.get(part.path, b"") + bytes(part.data)
            assert part.is_last == (len(got[part.path]) == len(expected[part.path]))
    assert got == expected


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_what_waits_to_be_taken_stays_within_the_bound(make):
    path = make("large", 48 << 20)
    for memory, part_size in [(8 << 20, 1 << 20), (8 << 20, 0), (1 << 20, 0)]:
        with swath.ingest_stream([path, path], memory=memory, part_size=part_size) as parts:
            before = resident()
            first = next(parts)
            time.sleep(0.3)
            assert resident() - before < memory + (8 << 20)
            assert len(first.data) <= memory // 8
            assert sum(len(part.data) for part in parts) + len(first.data) == 96 << 20
    with pytest.raises(ValueError, match="try: pass part_size=131072"):
        swath.ingest_stream(path, memory=1 << 20, part_size=1 << 20)


def test_an_open_file_is_not_taken_for_paths(make):
    path = make("file", 100)
    for verb in [swath.ingest, swath.ingest_stream]:
        with open(path, "rb") as file, pytest.raises(TypeError, match="an open file.*path"):
            verb(file)


def test_what_a_callback_of_a_stream_raises_is_raised_though_the_read_fails(make, tmp_path):
    for number in range(300):
        make(f"many/{number}", 5000)

    def progress(done, total):
        raise ZeroDivisionError(done)

    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            list(swath.ingest_stream(tmp_path / "many", progress=progress))


def test_files_are_a_sequence_of_the_standard_library(make, tmp_path):
    for number, size in enumerate([5, 0, 7, 0]):
        make(f"many/{number}", size)
    files = swath.ingest(tmp_path / "many")
    assert isinstance(files, collections.abc.Sequence)
    assert files.index(b"") == 1 and files.index(b"", 2) == 3 and files.count(b"") == 2
    assert files.index(files[2]) == 2 and files[0] in files and b"other" not in files
    assert [len(data) for data in reversed(files)] == [0, 7, 0, 5]
    for range_ in [(2, 3), (4,), (-1, 3)]:
        with pytest.raises(ValueError, match="no file"):
            files.index(b"", *range_)


def test_a_stream_ends_early(tree):
    parts = swath.ingest_stream(tree, memory=1 << 20)
    first = next(parts)
    parts.close()
    with pytest.raises(ValueError, match="the stream is closed"):
        list(parts)
    whole = swath.ingest_stream(tree)
    assert list(whole) and list(whole) == []
    assert bytes(first.data) == open(first.path, "rb").read()[: len(first.data)]
    del parts
    # Never begun, and given up.
    swath.ingest_stream(tree)
    with pytest.raises(FileNotFoundError):
        list(swath.ingest_stream([tree / "missing"]))
    with pytest.raises(FileNotFoundError):
        list(swath.ingest_stream(tree / "missing"))


def test_a_callback_that_raises_ends_a_stream(tree):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises((Enough, swath.CancelledError)):
        list(swath.ingest_stream(tree, progress=stop))
