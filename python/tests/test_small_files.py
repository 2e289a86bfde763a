"""A small file is read on the thread of its caller: a thread would take longer than the file."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import swath

numpy = pytest.importorskip("numpy")

READERS: dict[str, Callable[..., Any]] = {
    "a.safetensors": swath.load_safetensors,
    "a.npy": swath.read_npy,
    "a.mtx": swath.read_mtx,
    "a.csv": swath.read_csv,
    "b.csv": lambda path, **how: swath.read_csv(path, float, **how),
    "a.arrow": swath.read_arrow,
}


def filled(folder: Path, rows: int) -> None:
    values = numpy.arange(3.0 * rows).reshape(rows, 3)
    swath.save_safetensors(folder / "a.safetensors", {"a": values, "b": values})
    swath.write_npy(folder / "a.npy", values)
    ids = numpy.arange(rows)
    swath.write_mtx(folder / "a.mtx", swath.Coo((rows, rows), ids, ids, values[:, 0]))
    swath.write_csv(folder / "a.csv", values, names=["x", "y", "z"])
    swath.write_csv(folder / "b.csv", values)
    swath.write_arrow(folder / "a.arrow", values, names=["x", "y", "z"])


def threads(name: str, path: Path) -> set[int]:
    """The threads that read, as far as progress is reported."""
    found: set[int] = set()
    READERS[name](path, progress=lambda *_: found.add(threading.get_ident()))
    return found


def test_small_files_are_read_where_they_are_asked_for(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    for name in READERS:
        assert threads(name, tmp_path / name) == {threading.get_ident()}, name


def test_large_and_packed_files_leave_this_thread_to_signals(tmp_path: Path) -> None:
    filled(tmp_path, 100_000)
    for name in READERS:
        assert threading.get_ident() not in threads(name, tmp_path / name), name
    packed = tmp_path / "small.csv.gz"
    packed.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * 100))
    assert threading.get_ident() not in threads("a.csv", packed)
