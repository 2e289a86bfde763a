"""Children that were forked read as their parents do; several interpreters' threads at one time, too."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest

import battery
import swath


def work(path):
    data = swath.read(path, workers=3, chunk_size=65536)
    files = swath.ingest([path, path])
    return len(data), swath.sum(path), [len(file) for file in files]


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_children_read_as_their_parents_do(make, how):
    path = str(make("file", 5 << 20))
    expected = work(path)
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map(work, [path] * 4) == [expected] * 4


def test_a_child_that_exits_gives_nothing_back_twice(make):
    path = make("file", 3 << 20)
    data = swath.read(path)
    child = os.fork()
    if child == 0:
        # Without the interpreter's end, as servers do it.
        os._exit(0 if data == path.read_bytes() and swath.read(path) == data else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert data == path.read_bytes()


def in_child(work):
    """Whether `work` is true in a child that was forked, and ends there."""
    child = os.fork()
    if child == 0:
        # A child that hangs is ended.
        signal.alarm(20)
        right = False
        try:
            right = bool(work())
        finally:
            os._exit(0 if right else 1)
    status = os.waitpid(child, 0)[1]
    print("the child ended with status", status)
    return status == 0


def refused(call):
    try:
        call()
    except RuntimeError as error:
        return "forked" in str(error)
    return False


def test_what_goes_on_in_the_parent_is_refused_in_a_child(make):
    path = make("file", 3 << 20)
    with swath.ingest_stream([path] * 50, part_size=65536) as stream:
        reading = swath.read_prioritised(path, 10)
        next(stream)

        def child():
            nonlocal stream, reading
            right = refused(lambda: next(stream)) and refused(lambda: reading.wait(9))
            stream.close()
            reading.cancel()
            del stream, reading
            return right

        assert in_child(child)
        assert sum(len(part.data) for part in stream) + 65536 == 150 << 20
        assert b"".join(b"".join(chunks) for _, chunks in reading) == path.read_bytes()


@pytest.mark.parametrize("mode", ["ordered", "plain", "segments"])
def test_a_child_leaves_the_output_of_its_parent_alone(tmp_path, mode):
    path = tmp_path / "out"
    with swath.append(path, mode=mode, durability="none") as out:
        out.write(b"a" * 10)
        place = out.place()

        def child():
            nonlocal out, place
            right = refused(lambda: out.write(b"x")) and refused(out.commit)
            right = right and refused(place.finish) and refused(lambda: place.write(b"y"))
            out.abort()
            try:
                with out, place:
                    raise KeyError
            except KeyError:
                del out, place
                return right

        assert in_child(child)
        place.write(b"b")
        place.finish()
        out.write(b"c")
    if mode in ("ordered", "plain"):
        assert path.read_bytes() == b"a" * 10 + b"bc"
    assert os.listdir(tmp_path) == ["out"]


def test_a_child_commits_outputs_of_its_own_as_its_parent_did(tmp_path):
    def commit(name):
        path = tmp_path / name
        with swath.append(path, mode="plain", durability="none") as out:
            first, second = out.place(), out.place()
            # The part before it is not known yet, so it has to be moved in the end.
            for place, byte in [(second, b"b"), (first, b"a")]:
                with place:
                    place.write(byte * (9 << 20))
        return path.read_bytes() == b"a" * (9 << 20) + b"b" * (9 << 20)

    assert commit("parent") and in_child(lambda: commit("child")) and commit("again")


def test_children_are_forked_while_callbacks_run(make):
    path = make("file", 1 << 20)
    over = threading.Event()

    def many():
        while not over.is_set():
            swath.read(path, chunk_size=16384, progress=lambda done, total: None)

    threads = [threading.Thread(target=many) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(battery.count(part=25, full=100)):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_threads_read_at_one_time(make):
    paths = [make(str(number), 1 << 20) for number in range(4)]
    expected = [path.read_bytes() for path in paths]
    wrong = []

    def many(number):
        for _ in range(20):
            if swath.read(paths[number % 4], workers=2, chunk_size=65536) != expected[number % 4]:
                wrong.append(number)

    threads = [threading.Thread(target=many, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_interpreter_ends_while_something_is_being_read(make):
    path = make("file", 64 << 20)
    script = f"""
import swath, threading
reading = swath.read_prioritised({str(path)!r}, 100, progress=lambda done, total: None)
stream = swath.ingest_stream([{str(path)!r}] * 20, progress=lambda done, total: None)
threading.Thread(target=swath.read, args=({str(path)!r},), daemon=True).start()
next(stream)
view = reading.wait(0)
"""
    for _ in range(5):
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stderr) == (0, "")


# Each of them runs Python below a function of Swath, on a daemon thread, until the interpreter ends.
ENDLESS = {
    "a generator of paths": "swath.ingest(slowly())",
    "a path": "swath.read(Slow())",
    "the progress of a read": "swath.read(path, chunk_size=4096, progress=lambda done, total: None)",
    "results in order": """
with swath.append(f"out-{threading.get_ident()}") as out:
    out.map_ordered(lambda number: b"%d" % number, range(200), workers=2)
""",
}


@pytest.mark.parametrize("call", ENDLESS)
def test_the_interpreter_ends_while_daemon_threads_call(make, tmp_path, call):
    path = make("file", 100_000)
    script = f"""
import swath, threading, time

path = {str(path)!r}
threads = [threading.Event() for _ in range(4)]

def slowly():
    for _ in range(5):
        time.sleep(0.001)
        yield path

class Slow:
    def __fspath__(self):
        time.sleep(0.001)
        return path

def work(has_begun):
    while True:
        try:
            exec(call)
        except swath.CancelledError:
            pass  # the interpreter ends
        has_begun.set()

call = compile({ENDLESS[call]!r}, "call", "exec")
for has_begun in threads:
    threading.Thread(target=work, args=(has_begun,), daemon=True).start()
for has_begun in threads:
    has_begun.wait()
"""
    for _ in range(battery.count(part=5, full=50)):
        words = [sys.executable, "-c", script]
        run = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert (run.returncode, run.stderr) == (0, "")


def test_importing_is_quick_and_asks_for_nothing(make):
    script = "import sys, swath; print(sorted({'numpy', 'scipy', 'asyncio', 'tqdm'} & {*sys.modules}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_child_that_was_forked_among_reading_and_writing_threads_does_not_hang(make, tmp_path):
    small = [str(make(f"small/{number}", 1000)) for number in range(20)]
    large = str(make("large", 3 << 20))
    is_over = threading.Event()

    def reads_and_writes(number: int) -> None:
        while not is_over.is_set():
            swath.read(large, workers=2, chunk_size=65536)
            swath.ingest(small)
            swath.sum(small[0])
            with swath.append(tmp_path / f"out-{number}", durability="none", replace=True) as out:
                out.write(b"line\n")

    def goes_on() -> bool:
        data = swath.read(small[0])
        return len(swath.ingest(small)) == 20 and len(swath.read(large)) == 3 << 20 and len(data) == 1000

    # Modules that Python imports at the first use are imported now: a fork during an import leaves its lock taken.
    assert goes_on()
    threads = [threading.Thread(target=reads_and_writes, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(battery.count(part=60, full=10_000)):
            assert in_child(goes_on), f"child {number}"
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
