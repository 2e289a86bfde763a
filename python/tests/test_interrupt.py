"""Ctrl-C ends long operations, and nothing goes on writing afterwards."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import battery
import swath

# Each in a process of its own, which sends itself the signal as soon as the work is on its way.
SCRIPT = """
import os, signal, sys, threading
import swath

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

started = threading.Event()

def progress(done, total):
    if not started.is_set():
        started.set()
        interrupt()

try:
{body}
except KeyboardInterrupt:
    print("interrupted")
else:
    print("went on")
"""


def interrupted(body: str, *words: str) -> str:
    script = SCRIPT.format(body=textwrap.indent(textwrap.dedent(body), "    "))
    run = subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("verb", battery.some(["read", "sum", "hash"], part=1))
def test_a_long_one_is_ended(make, verb):
    path = make("file", 200 << 20)
    body = f"""
    for _ in range(1000):
        swath.{verb}(sys.argv[1], progress=progress, chunk_size=65536, workers=1)
    """
    assert interrupted(body, str(path)) == "interrupted"


def test_many_files(make, tmp_path):
    for number in range(200):
        make(f"many/{number}", 1 << 20)
    body = """
    for _ in range(1000):
        swath.ingest(sys.argv[1], progress=progress)
    """
    assert interrupted(body, str(tmp_path / "many")) == "interrupted"


def test_waiting_for_a_class(make):
    path = make("file", 200 << 20)
    body = """
    for _ in range(1000):
        reading = swath.read_prioritised(sys.argv[1], 1000, progress=progress)
        for cls, chunks in reading:
            pass
    """
    assert interrupted(body, str(path)) == "interrupted"


@pytest.mark.parametrize(
    "write",
    [
        "swath.save_safetensors(path, {'a': np.zeros(1 << 30, 'u1')}, workers=1)",
        "swath.write_csv(path, np.random.default_rng(1).random((1_000_000, 8)), workers=1)",
    ],
)
def test_a_write_is_ended_and_leaves_nothing(tmp_path, write):
    pytest.importorskip("numpy")
    body = f"""
    import numpy as np, time
    path = sys.argv[1]

    def watch():
        # As soon as the memory is made, and the write on its way.
        while not os.listdir(os.path.dirname(path)):
            time.sleep(0.001)
        interrupt()

    threading.Thread(target=watch, daemon=True).start()
    {write}
    """
    assert interrupted(body, str(tmp_path / "out")) == "interrupted"
    assert not (tmp_path / "out").exists()


def test_memory_that_was_lent_is_not_written_to_any_more(make):
    path = make("file", 200 << 20)
    body = """
    out = bytearray(200 << 20)
    swath.read(sys.argv[1], out=out, progress=progress, chunk_size=4096, workers=2)
    """
    script = SCRIPT.format(body=textwrap.indent(textwrap.dedent(body), "    "))
    script = script.replace(
        'print("interrupted")',
        'before = bytes(out); import time; time.sleep(0.2); print(before == bytes(out))',
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True
    )
    assert run.stdout.strip() == "True", run.stderr


# A callback uses the object whose work waits for it.
REENTERED = """
import sys, threading, swath

stream, said, begun, left = None, [], threading.Event(), threading.Event()

def progress(done, total):
    # A short file may be read before its stream has a name. Its beginning may wait for this callback.
    begun.wait(0.5)
    begun.set()
    if stream is not None and not said:
        said.append("called")
        try:
            {action}
            said.append("returned")
        except BaseException as error:
            said.append(type(error).__name__)
        left.set()

{begin}
begun.set()
try:
    for _ in stream:
        pass
    end = "ended"
except BaseException as error:
    end = type(error).__name__
# A stream that a callback cancels may end before that callback returns.
left.wait(30)
print(*said, end)
"""
STREAMS = {
    "csv": "stream = swath.stream_csv(sys.argv[1], block_size=65536, progress=progress, workers=2)",
    "tensors": "stream = swath.stream_safetensors(sys.argv[1], chunk_size=65536, progress=progress)",
    "ingest": "stream = swath.ingest_stream(sys.argv[1], memory=1 << 20, progress=progress)",
    "prioritised": "stream = swath.read_prioritised(sys.argv[1], 1000, chunk_size=65536, progress=progress)",
}


ACTIONS = ["next(iter(stream))", "stream.report", "stream.close()", "stream.cancel()"]
CALLBACKS = [(kind, action) for kind in STREAMS for action in ACTIONS]


@pytest.mark.parametrize(("kind", "action"), battery.some(CALLBACKS, part=5))
def test_a_callback_that_uses_its_own_stream_does_not_wait_for_itself(tmp_path, kind, action):
    path = tmp_path / "file"
    if kind == "tensors":
        numpy = pytest.importorskip("numpy")
        swath.save_safetensors(path, {f"t{n}": numpy.zeros(1 << 20, "u1") for n in range(8)})
    else:
        path.write_bytes(b"1,2,3,4\n" * (1 << 20))
    script = REENTERED.format(action=action, begin=STREAMS[kind])
    words = [sys.executable, "-c", script, str(path)]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert run.stdout.startswith("called ") and run.returncode == 0, run
    _, in_callback, ended = run.stdout.split()
    ends = ["stream.close()", "stream.cancel()"]
    allowed = {"AttributeError", "returned"} if action in ends + ["stream.report"] else set()
    # A generator says by itself that it runs already.
    assert in_callback in allowed | {"RuntimeError", "ValueError"}, run.stdout
    # Where it was ended, the rest is an error or missing, never a hang.
    assert action in ends or ended == "ended", run.stdout
