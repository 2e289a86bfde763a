"""The output of several threads is the serial program's file, or is not there."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import subprocess
import threading
import time

import pytest

import swath


def lines(count):
    return b"".join(b"%d\n" % (number * number) for number in range(count))


@pytest.mark.parametrize("mode", ["ordered", "plain"])
@pytest.mark.parametrize("workers", [0, 1, 4])
def test_items_come_in_their_order(tmp_path, mode, workers):
    path = tmp_path / "out"

    def square(number):
        if random.random() < 0.1:
            os.sched_yield()
        return b"%d\n" % (number * number)

    with swath.append(path, mode=mode) as out:
        out.map_ordered(square, range(5000), workers=workers)
        assert not path.exists()
    assert path.read_bytes() == lines(5000)
    with swath.append(path, mode=mode, durability="none") as out:
        out.write(b"head ")
        out.map_ordered(lambda item: item, iter([b"a", None, bytearray(b"b"), memoryview(b"c")]))
        out.write(b" tail")
    assert path.read_bytes() == b"head abc tail"


@pytest.mark.parametrize("chunksize", [0, 1, 2, 7, 5000, 9999])
@pytest.mark.parametrize("workers", [1, 3])
def test_chunks_do_not_change_the_bytes(tmp_path, workers, chunksize):
    path = tmp_path / "out"
    changed = bytearray(3)

    def made(number):
        if number % 7 == 0:
            return None
        if number % 100 == 50:
            # Larger than what is held.
            return b"x" * (number * 100)
        if workers == 1 and number % 5 == 0:
            # The next call changes it.
            changed[:] = b"%03d" % (number % 1000)
            return changed
        return b"%d\n" % number

    expected = b"".join(bytes(made(number) or b"") for number in range(5000))
    with swath.append(path, durability="none") as out:
        out.map_ordered(made, range(5000), workers=workers, chunksize=chunksize)
    assert path.read_bytes() == expected


@pytest.mark.parametrize("chunksize", [0, 1, 3, 64])
def test_what_comes_first_of_items_and_their_source_is_raised(tmp_path, chunksize):
    def source(fails):
        for number in range(2000):
            if number == fails:
                raise KeyError(number)
            yield number

    def fail(item):
        if item == 1000:
            raise ValueError(item)
        return b"."

    for fails, kind in [(1001, ValueError), (1000, KeyError), (999, KeyError), (0, KeyError)]:
        with pytest.raises(kind, match=str(fails if kind is KeyError else 1000)):
            with swath.append(tmp_path / "out") as out:
                out.map_ordered(fail, source(fails), workers=1, chunksize=chunksize)
        assert os.listdir(tmp_path) == []


def test_a_slow_source_is_not_waited_for(tmp_path):
    came = []

    def source():
        for number in range(40):
            time.sleep(0.002)
            came.append(number)
            yield number

    def done(item):
        # Nothing after it was taken.
        assert came[-1] == item
        return b"."

    with swath.append(tmp_path / "out", durability="none") as out:
        out.map_ordered(done, source(), workers=1)
    assert (tmp_path / "out").read_bytes() == b"." * 40


def test_a_chunksize_is_a_number_of_items(tmp_path):
    with swath.append(tmp_path / "out", durability="none") as out:
        for chunksize in (-1, 1 << 70):
            with pytest.raises(OverflowError):
                out.map_ordered(lambda item: b"", range(3), chunksize=chunksize)
        out.map_ordered(lambda item: b"%d" % item, range(3), chunksize=1 << 40)
    assert (tmp_path / "out").read_bytes() == b"012"


def interrupted(seconds):
    """Ctrl-C for this thread, that late."""
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_a_place_that_nobody_frees_is_waited_for_until_ctrl_c(tmp_path):
    out = swath.append(tmp_path / "out", window=2, durability="none")
    places = [out.place(), out.place()]
    for wait in (out.place, lambda: out.write(b"x")):
        interrupted(0.2)
        with pytest.raises(KeyboardInterrupt):
            wait()
    for place in places:
        place.write(b"a")
        place.finish()
    out.write(b"b")
    assert out.commit() == 3 and (tmp_path / "out").read_bytes() == b"aab"


@pytest.mark.parametrize("end", ["abort", "commit"])
def test_an_output_ends_while_somebody_waits_for_a_place(tmp_path, end):
    out = swath.append(tmp_path / "out", window=1, durability="none")
    held = out.place()
    told = []

    def wait():
        try:
            out.place()
        except RuntimeError as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.1)
    if end == "abort":
        out.abort()
    else:
        with pytest.raises(OSError, match="open"):
            out.commit()
    waiting.join(10)
    assert not waiting.is_alive() and "aborted" in str(told[0])
    del held
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("end", ["abort", "commit"])
@pytest.mark.parametrize("mode", ["ordered", "plain", "segments"])
def test_a_place_whose_output_is_gone_says_so(tmp_path, mode, end):
    out = swath.append(tmp_path / "out", mode=mode, durability="none", **({"window": 3} if mode == "ordered" else {}))
    written, untouched = out.place(), out.place()
    written.write(b"bytes")
    if end == "abort":
        out.abort()
    else:
        with pytest.raises(OSError, match="open|still writing"):
            out.commit()
    if mode != "ordered":
        with pytest.raises(OSError, match="dropped or committed"):
            written.write(b"more")
    for place in (written, untouched):
        with pytest.raises(OSError, match="dropped or committed"):
            place.finish()
    assert os.listdir(tmp_path) == []


def test_places_are_filled_by_threads(tmp_path):
    path = tmp_path / "out"
    with swath.append(path, mode="plain", durability="none") as out:
        places = [out.place() for _ in range(20)]

        def fill(number, place):
            with place:
                inner = place.fork()
                place.write(b"after %d;" % number)
                inner.write(b"%d " % number)
                inner.finish()

        threads = [
            threading.Thread(target=fill, args=(number, place))
            for number, place in enumerate(places)
        ]
        for thread in reversed(threads):
            thread.start()
        for thread in threads:
            thread.join()
        out.write(b"end")
    expected = b"".join(b"%d after %d;" % (number, number) for number in range(20)) + b"end"
    assert path.read_bytes() == expected


def test_an_exception_leaves_what_was_there(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    for mode in ["ordered", "plain"]:
        with pytest.raises(ZeroDivisionError):
            with swath.append(path, mode=mode) as out:
                out.map_ordered(lambda item: b"%d" % (1 // (500 - item)), range(1000), workers=3)
        with pytest.raises(KeyError):
            with swath.append(path, mode=mode) as out:
                out.write(b"half")
                raise KeyError
        assert path.read_bytes() == b"before"
        assert os.listdir(tmp_path) == ["out"]


def test_the_first_failure_in_the_order_of_items_is_raised(tmp_path):
    def fail(item):
        if item >= 10:
            raise ValueError(item)
        return b"."

    with pytest.raises(ValueError, match="^10$"):
        with swath.append(tmp_path / "out") as out:
            out.map_ordered(fail, range(100), workers=1)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_wins_over_the_failure_of_an_item(tmp_path, kind):
    begun = threading.Event()

    def work(item):
        if item == 0:
            begun.wait()
            raise ValueError("an earlier item")
        begun.set()
        raise kind

    with pytest.raises(kind):
        with swath.append(tmp_path / "out") as out:
            out.map_ordered(work, range(2), workers=2)
    assert not (tmp_path / "out").exists()


def test_a_place_that_is_given_up_keeps_the_output_from_being_committed(tmp_path):
    for mode in ["ordered", "plain"]:
        out = swath.append(tmp_path / "out", mode=mode)
        place = out.place()
        place.write(b"half")
        with pytest.raises(KeyError), place:
            raise KeyError
        with pytest.raises(swath.Error) as raised:
            out.commit()
        assert raised.value.reason == "Poisoned"
        with pytest.raises(RuntimeError):
            out.write(b"more")
    assert os.listdir(tmp_path) == []


def test_what_is_open_is_not_committed(tmp_path):
    out = swath.append(tmp_path / "out", mode="plain")
    place = out.place()
    with pytest.raises(swath.Error) as raised:
        out.commit()
    assert raised.value.reason == "Busy"
    del place


@pytest.mark.parametrize("sparse", [False, True])
def test_zeros_become_holes_if_requested(tmp_path, sparse):
    path = tmp_path / "out"
    with swath.append(path, durability="none", sparse=sparse) as out:
        out.map_ordered(lambda chunk: chunk, [b"head", bytes(8 << 20), b"tail"])
    assert path.read_bytes() == b"head" + bytes(8 << 20) + b"tail"
    assert (path.stat().st_blocks * 512 < 4 << 20) == sparse
    with pytest.raises(ValueError, match='sparse= need mode="ordered"'):
        swath.append(path, mode="plain", sparse=True)


def test_segments_are_read_back_by_the_command(tmp_path):
    command = shutil.which("swath")
    if command is None:
        pytest.skip("the command is not on PATH")
    folder = tmp_path / "log"
    with swath.append(folder, mode="segments", durability="none") as out:
        out.map_ordered(lambda number: b"%d\n" % (number * number), range(1000), workers=2)
    copied = tmp_path / "copied"
    subprocess.run([command, "cp", folder, copied], check=True)
    assert copied.read_bytes() == lines(1000)


def test_what_cannot_be_written_says_so(tmp_path):
    with pytest.raises(swath.Error) as raised:
        swath.append(tmp_path / "no" / "out")
    assert raised.value.filename == str(tmp_path / "no" / "out")
    path = tmp_path / "there"
    path.write_bytes(b"x")
    with pytest.raises(FileExistsError):
        with swath.append(path, replace=False) as out:
            out.write(b"y")
    assert path.read_bytes() == b"x"
    for wrong in [{"mode": "fast"}, {"durability": "data"}, {"mode": "plain", "window": 3}]:
        with pytest.raises(ValueError):
            swath.append(path, **wrong)
    out = swath.append(path)
    with pytest.raises((TypeError, BufferError)):
        out.write("text")
    out.abort()
    out.abort()
    with pytest.raises(TypeError):
        with swath.append(tmp_path / "other") as out, out.place() as place:
            place.fork()


def test_random_trees_of_places_equal_the_serial_program(tmp_path):
    for seed in range(20):
        path = tmp_path / str(seed)
        choose = random.Random(seed)
        counter = itertools.count()

        def grow(place, depth):
            """Writes and forks; returns the serial program's bytes."""
            expected = b""
            for _ in range(choose.randrange(4)):
                if depth and choose.random() < 0.5:
                    with place.fork() as branch:
                        expected += grow(branch, depth - 1)
                else:
                    text = b"%d," % next(counter)
                    place.write(text)
                    expected += text
            return expected

        with swath.append(path, mode="plain", durability="none") as out:
            with out.place() as root:
                expected = grow(root, 4)
        assert path.read_bytes() == expected, seed


@pytest.mark.parametrize("mode", ["ordered", "plain", "segments"])
def test_the_function_of_map_ordered_does_not_write_to_its_own_output(tmp_path, mode):
    calls = [lambda out: out.write(b"x"), lambda out: out.place(), lambda out: out.map_ordered(bytes, [])]
    for number, call in enumerate(calls):
        with (
            pytest.raises(RuntimeError, match="return the bytes"),
            swath.append(tmp_path / str(number), mode=mode) as out,
        ):
            out.map_ordered(lambda _: call(out) and None, range(10), workers=2)  # noqa: B023
    # To another output, in the same thread, and to its own afterwards.
    with swath.append(tmp_path / "a", mode=mode) as out, swath.append(tmp_path / "b", mode=mode) as other:
        inner = lambda item: other.map_ordered(lambda it: it, [item], workers=1)  # noqa: E731
        out.map_ordered(lambda item: inner(b"%d" % item) or b"a", range(3), workers=1)
        out.write(b"end")
        other.write(b"end")
    if mode != "segments":
        assert (tmp_path / "a").read_bytes() == b"aaaend"
        assert (tmp_path / "b").read_bytes() == b"012end"


def test_where_no_thread_can_be_started_this_one_does_it_all(tmp_path, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    with swath.append(tmp_path / "out") as out:
        out.map_ordered(lambda item: b"%d" % item, range(10), workers=4)
    assert (tmp_path / "out").read_bytes() == b"0123456789"
