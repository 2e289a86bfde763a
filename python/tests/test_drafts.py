"""Drafts that several processes write: one file, once, and an error for bytes that are missing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import swath


def part(token: str, number: int) -> str:
    with swath.open_shared(token) as out:
        out.write(bytes([65 + number]) * 1000, number * 1000)
    assert out.receipt is not None
    return out.receipt


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_write_one_file(tmp_path: Path, way: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    draft = swath.create_shared(path, 5000)
    with multiprocessing.get_context(way).Pool(2) as pool:
        receipts = pool.starmap(part, [(draft.token, number) for number in range(5)])
    assert path.read_bytes() == b"old"
    draft.commit(receipts)
    assert path.read_bytes() == b"".join(bytes([65 + number]) * 1000 for number in range(5))
    assert os.listdir(tmp_path) == ["out"]


def test_missing_bytes_are_an_error_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with swath.create_shared(path, 5000) as draft:
        receipts = [part(draft.token, number) for number in (0, 1, 3)]
        with pytest.raises(swath.InvalidError, match="2000 of its 5000 bytes were not written") as caught:
            draft.commit(receipts)
        assert (caught.value.offset, caught.value.length) == (2000, 1000)
    assert os.listdir(tmp_path) == []
    with swath.create_shared(path, 3) as draft:
        draft.commit([], gaps=True)
    assert path.read_bytes() == bytes(3)


def test_what_is_over_says_so(tmp_path: Path) -> None:
    path = tmp_path / "out"
    draft = swath.create_shared(path, 4, durability="none")
    out = swath.open_shared(draft.token)
    assert out.receipt is None and draft.length == 4
    with pytest.raises(swath.Error) as caught:
        swath.create_shared(path, 4)
    assert caught.value.reason == "Busy"
    draft.abort()
    draft.abort()
    with pytest.raises(swath.ChangedError, match="the draft of this token is over"):
        out.write(b"late", 0)
    with pytest.raises(swath.ChangedError):
        swath.open_shared(draft.token)
    with pytest.raises(RuntimeError, match="the draft has ended; try: begin"):
        draft.commit([])
    with pytest.raises(swath.ChangedError):
        out.finish()
    with pytest.raises(RuntimeError, match="the writer has ended; try: open"):
        out.write(b"late", 0)
    for token in ("", "{}", draft.token[:-1]):
        with pytest.raises(swath.CorruptError):
            swath.open_shared(token)
    with swath.create_shared(path, 4) as draft, pytest.raises(KeyError):
        with swath.open_shared(draft.token) as out:
            out.write(b"half", 0)
            raise KeyError
    assert out.receipt is None


def test_what_is_wrong_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out"
    draft = swath.create_shared(path, 4)
    with pytest.raises(TypeError, match=r"try: pass \[receipt\]"):
        draft.commit(part.__name__)
    with pytest.raises(TypeError, match="None is not the receipt"):
        draft.commit([None])  # type: ignore[list-item]
    with pytest.raises(swath.CorruptError):
        draft.commit(["{}"])
    out = swath.open_shared(draft.token)
    with pytest.raises(swath.InvalidError, match="extend past its length of 4"):
        out.write(b"too long", 0)
    with pytest.raises(swath.Error) as caught:
        out.finish()
    assert caught.value.reason == "Poisoned"
    for length in (-1, 1.5, "4"):
        with pytest.raises((TypeError, OverflowError)):
            swath.create_shared(path, length)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        swath.create_shared(path, 4, durability="some")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        swath.create_shared(tmp_path / "missing" / "out", 4)
    draft.abort()
    assert os.listdir(tmp_path) == []


def test_threads_write_through_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with swath.create_shared(path, 64 << 16) as draft:
        out = swath.open_shared(draft.token)
        write: Any = lambda n: out.write(memoryview(bytes([n]) * (1 << 16)), n << 16)
        threads = [threading.Thread(target=write, args=(number,)) for number in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert out.finish() == out.finish(durability="none") == out.receipt
        draft.commit([out.receipt])
    assert path.read_bytes() == b"".join(bytes([n]) * (1 << 16) for n in range(64))


def test_a_child_of_a_fork_does_not_discard_the_draft(tmp_path: Path) -> None:
    draft = swath.create_shared(tmp_path / "out", 1000)
    child = os.fork()
    if child == 0:
        try:
            draft.abort()
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    draft.commit([part(draft.token, 0)])


def test_after_a_killed_beginner_the_next_writer_cleans_up(tmp_path: Path) -> None:
    path = tmp_path / "out"
    script = (
        "import os, signal, sys, swath\n"
        "draft = swath.create_shared(sys.argv[1], 1 << 20)\n"
        "swath.open_shared(draft.token).write(bytes(1000), 0)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert sorted(os.listdir(tmp_path)) == [".out.swath-lock", ".out.swath-tmp"]
    with swath.append(path) as out:
        out.write(b"next")
    assert os.listdir(tmp_path) == ["out"]
