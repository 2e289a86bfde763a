"""Blocks hold whole records, in the order of the file."""

from __future__ import annotations

import os
import threading

import pytest

import swath


@pytest.mark.parametrize("workers", [0, 1, 4])
@pytest.mark.parametrize("block_size", [1, 64, 4096, 0])
def test_every_record_is_in_one_block(make, workers, block_size):
    path = make("file", 0)
    text = b"".join(b"%d,%s\n" % (number, b"x" * (number % 90)) for number in range(3000)) + b"end"
    path.write_bytes(text)
    blocks = swath.scan_records(path, bytes, workers=workers, block_size=block_size)
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    counts = swath.scan_records(path, lambda block: bytes(block).count(b"\n"), block_size=100)
    assert sum(counts) == 3000


def test_other_delimiters(make):
    path = make("file", 0)
    path.write_bytes(b"a;b;c;")
    assert swath.scan_records(path, bytes, delimiter=b";", block_size=1) == [b"a;", b"b;", b"c;"]
    assert swath.scan_records(path, bytes, delimiter=2, block_size=1) == [b"a;", b"b;", b"c;"]
    path.write_bytes(b'1,"a\nb"\n2,c\n')
    rows = swath.scan_records(path, bytes, delimiter="csv", block_size=1)
    assert rows == [b'1,"a\nb"\n', b"2,c\n"]
    for wrong in [b"", b"ab", "tsv", 0, -1, 1.5]:
        with pytest.raises(ValueError):
            swath.scan_records(path, bytes, delimiter=wrong)
    path.write_bytes(b"12345")
    with pytest.raises(swath.Error):
        swath.scan_records(path, bytes, delimiter=2)
    with pytest.raises(swath.Error):
        swath.scan_records(path, bytes, record_limit=1, block_size=1)


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_values_are_combined_in_the_order_of_the_file(make, workers):
    path = make("file", 0)
    text = b"".join(b"%d\n" % number for number in range(5000))
    path.write_bytes(text)
    how = {"workers": workers, "block_size": 100}
    joined = swath.scan_records(path, bytes, combine=lambda left, right: left + right, **how)
    assert joined == text
    path.write_bytes(b"")
    assert swath.scan_records(path, bytes, combine=lambda left, right: left + right, **how) is None
    path.write_bytes(b"1\n")
    assert swath.scan_records(path, bytes, combine=None, **how) == [b"1\n"]
    never = swath.scan_records(path, bytes, combine=lambda left, right: 1 / 0, **how)
    assert never == b"1\n", "one value is not combined with anything"


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("blocks", [2, 3, 2000])
def test_what_combine_raises_is_raised_and_ends_the_call(make, workers, blocks):
    path = make("file", 0)
    path.write_bytes(b"line\n" * blocks)
    calls = []

    def fail(left, right):
        raise KeyError("mine")

    def count(block):
        calls.append(1)

    with pytest.raises(KeyError, match="mine"):
        swath.scan_records(path, count, combine=fail, workers=workers, block_size=5)
    # Blocks that are read at one time are looked at before any of them is combined.
    path.write_bytes(b"line\n" * (8 << 20))
    calls.clear()
    with pytest.raises(KeyError, match="mine"):
        swath.scan_records(path, count, combine=fail, workers=workers, block_size=1 << 14)
    assert len(calls) < 2560 * 3 // 4, "the call went on"
    with pytest.raises(TypeError):
        swath.scan_records(path, bytes, combine=3, workers=workers, block_size=5)


def test_a_byte_may_be_said_as_text(make, tmp_path):
    path = make("file", 100_000)
    expected = swath.scan_records(path, bytes, delimiter=b";", block_size=1000)
    assert swath.scan_records(path, bytes, delimiter=";", block_size=1000) == expected
    with pytest.raises(ValueError):
        swath.scan_records(path, bytes, delimiter="ab")


def test_a_block_may_be_kept(make):
    path = make("file", 3 << 20)
    blocks = swath.scan_records(path, lambda block: block, delimiter=b"\x00", block_size=65536)
    assert b"".join(blocks) == path.read_bytes()
    assert all(block.readonly for block in blocks)


@pytest.mark.parametrize("workers", [1, 4])
def test_blocks_that_are_kept_are_not_written_to_again(make, workers):
    path = make("file", 24 << 20)
    text = path.read_bytes()
    for delimiter in [b"\x00", 1 << 19]:
        kept = []

        def keep(block):
            # Every third one, so that some memory is used again and some is not.
            kept.append(block if len(kept) % 3 == 0 else None)
            return bytes(block[:50]), len(block)

        heads = swath.scan_records(path, keep, delimiter=delimiter, workers=workers)
        assert sum(size for _, size in heads) == len(text)
        swath.scan_records(path, len, delimiter=delimiter, workers=workers)
        views = [view for view in kept if view is not None]
        assert len(views) >= 8
        starts = {head: size for head, size in heads}
        for view in views:
            at = text.find(bytes(view[:50]))
            assert view == text[at : at + starts[bytes(view[:50])]]
            assert isinstance(view.obj, swath.Buffer) and view.readonly


def test_what_the_function_raises_is_raised(make):
    path = make("file", 1 << 20)

    def fail(block):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        swath.scan_records(path, fail, delimiter=b"\n", block_size=1000)


def test_pipes_too(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    thread = threading.Thread(target=lambda: fifo.write_bytes(b"line\n" * 100_000))
    thread.start()
    assert sum(swath.scan_records(fifo, lambda block: bytes(block).count(b"\n"))) == 100_000
    thread.join()


@pytest.mark.parametrize("workers", [0, 1, 4])
@pytest.mark.parametrize("block_size", [1, 100, 0])
def test_records_that_contain_bytes_are_those_that_a_loop_finds(make, workers, block_size):
    path = make("file", 0)
    lines = [b"%d%s" % (number, b"ERROR " * (number % 7 == 0)) for number in range(3000)]
    path.write_bytes(b"\n".join(lines))
    how = {"workers": workers, "block_size": block_size}
    assert swath.scan_records(path, "count", **how) == 3000
    for word in [b"ERROR", b"9", b"", b"\n", b"ERROR 1", b"OR \n"]:
        found = [line for line in lines if word in line]
        assert swath.scan_records(path, "count", containing=word, **how) == len(found)
        blocks = swath.scan_records(path, bytes, containing=word, **how)
        assert b"".join(blocks).splitlines() == found
        assert all(blocks), "no call for a block without them"
        joined = swath.scan_records(path, bytes, combine=lambda a, b: a + b, containing=word.decode(), **how)
        assert (joined or b"").splitlines() == found
    path.write_bytes(b"aabbab")
    assert swath.scan_records(path, "count", containing=b"b", delimiter=2, **how) == 2
    assert swath.scan_records(path, bytes, containing=b"ba", delimiter=2, **how) == []
    path.write_bytes(b'"a\nb",1\na,2\n')
    assert swath.scan_records(path, "count", delimiter="csv", **how) == 2
    assert swath.scan_records(path, "count", containing="\nb", delimiter="csv", **how) == 1


def test_a_function_is_called_or_counts(make):
    path = make("file", 10)
    for wrong in [{"function": "sum"}, {"function": "count", "combine": max}]:
        with pytest.raises(ValueError, match="count"):
            swath.scan_records(path, **wrong)
    for wrong in [5, ["a"], bytearray(b"a")]:
        with pytest.raises(TypeError, match="containing"):
            swath.scan_records(path, "count", containing=wrong)


def test_nothing_is_combined_after_an_exception(make):
    path = make("file", 0)
    path.write_bytes(b"a\n" * 50)
    calls = []

    def combine(left, right):
        calls.append(left)
        raise KeyError

    with pytest.raises(KeyError):
        swath.scan_records(path, bytes, combine=combine, containing="a", block_size=4, workers=1)
    assert len(calls) == 1
