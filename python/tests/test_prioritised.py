"""Bytes that are needed first come first, and stay whatever happens later."""

from __future__ import annotations

import gc

import pytest

import swath


def test_classes_come_in_their_order(make):
    path = make("file", 8 << 20)
    data = path.read_bytes()
    with swath.read_prioritised(path, 16, chunk_size=65536) as reading:
        assert reading.classes == list(range(16))
        seen = []
        whole = b""
        for cls, chunks in reading:
            seen.append(cls)
            whole += b"".join(map(bytes, chunks))
    assert seen == list(range(16)) and whole == data


def test_chunks_of_a_plan_come_as_they_were_listed(make):
    path = make("file", 3 << 20)
    data = path.read_bytes()
    plan = [(2 << 20, 100, 1), (0, 4096, 0), (5, 0, 1), (1 << 20, 70_000, 1), (100, 10, 7)]
    reading = swath.read_prioritised(path, plan, window=1)
    assert reading.classes == [0, 1, 7]
    for cls in [7, 0, 1]:
        expected = [data[at : at + size] for at, size, own in plan if own == cls]
        assert [bytes(chunk) for chunk in reading.wait(cls)] == expected
        assert reading.is_ready(cls)
    assert all(chunk.readonly for chunk in reading.wait(1))
    with pytest.raises(ValueError, match="no class 3"):
        reading.wait(3)


def test_views_outlive_the_read(make):
    path = make("file", 4 << 20)
    data = path.read_bytes()
    reading = swath.read_prioritised(path, 8)
    [first] = reading.wait(0)
    del reading
    gc.collect()
    swath.read(path)
    assert bytes(first) == data[: len(first)] and len(first) > 0


def test_a_cancelled_read_keeps_what_is_complete(make):
    path = make("file", 32 << 20)
    data = path.read_bytes()
    reading = swath.read_prioritised(path, 64, window=1)
    [first] = reading.wait(0)
    reading.cancel()
    assert [bytes(chunk) for chunk in reading.wait(0)] == [bytes(first)]
    assert bytes(first) == data[: len(first)]
    if not reading.is_ready(63):
        with pytest.raises(swath.CancelledError):
            reading.wait(63)


def test_what_a_callback_raises_is_raised_by_wait(make):
    path = make("file", 16 << 20)

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    reading = swath.read_prioritised(path, 4, progress=stop)
    with pytest.raises((Enough, swath.CancelledError)):
        for cls in range(4):
            reading.wait(cls)


def test_what_a_callback_raises_at_the_last_byte_is_raised_too(make):
    path = make("file", 1 << 20)

    class Late(Exception):
        pass

    def stop(done, total):
        if done == total:
            raise Late

    reading = swath.read_prioritised(path, [(0, 1 << 20, 0)], progress=stop)
    with pytest.raises((Late, swath.CancelledError)):
        reading.wait(0)


def test_a_small_file_has_fewer_classes(make):
    path = make("file", 3)
    reading = swath.read_prioritised(path, 10)
    assert b"".join(bytes(chunk) for _, chunks in reading for chunk in chunks) == path.read_bytes()
    assert len(reading.classes) <= 3
    # A large number does not make that many classes.
    for count in (10**6, 2**32 - 1):
        reading = swath.read_prioritised(path, count)
        assert [b"".join(chunks) for _, chunks in reading] == [
            path.read_bytes()[at : at + 1] for at in range(3)
        ]


def test_a_plan_of_lists_or_of_rows(make):
    path = make("file", 100)
    plan = [(0, 10, 0), (50, 5, 1)]
    for given in [plan, [list(it) for it in plan], iter(plan)]:
        assert [cls for cls, _ in swath.read_prioritised(path, given)] == [0, 1]
    np = pytest.importorskip("numpy")
    assert bytes(swath.read_prioritised(path, np.array(plan)).wait(1)[0]) == path.read_bytes()[50:55]
    with pytest.raises(ValueError, match="negative"):
        swath.read_prioritised(path, [(-1, 5, 0)])


def test_what_is_no_plan(make):
    path = make("file", 100)
    for wrong in [0, -1, "x", [(0, 1)], [(0, 1, -1)], [(2**64 - 1, 2, 0)], None]:
        with pytest.raises((TypeError, ValueError, OverflowError)):
            swath.read_prioritised(path, wrong)
    with pytest.raises(swath.TruncatedError):
        swath.read_prioritised(path, [(50, 100, 0)]).wait(0)
    with pytest.raises(FileNotFoundError):
        swath.read_prioritised(path.with_name("missing"), 3)
