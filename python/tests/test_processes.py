"""Children that were forked read as their parents do; several interpreters' threads at one time, too."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading

import pytest

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


def test_importing_is_quick_and_asks_for_nothing(make):
    script = "import sys, swath; print(sorted({'numpy', 'scipy', 'asyncio', 'tqdm'} & {*sys.modules}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
