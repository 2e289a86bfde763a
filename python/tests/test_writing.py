"""The keywords that every writer shares: what it may replace, and how durable it is."""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import swath

numpy = pytest.importorskip("numpy")

ARRAY = numpy.arange(6.0).reshape(2, 3)
ROWS = swath.Coo((2, 2), numpy.array([0, 1]), numpy.array([1, 0]), numpy.array([2.5, 3.5]))


def append(path: Path, **how: Any) -> None:
    with swath.append(path, **how) as out:
        out.write(b"some bytes")


def append_plain(path: Path, **how: Any) -> None:
    append(path, mode="plain", **how)


WRITERS: dict[str, Callable[..., Any]] = {
    "append": append,
    "append plain": append_plain,
    "write_npy": lambda path, **how: swath.write_npy(path, ARRAY, **how),
    "write_mtx": lambda path, **how: swath.write_mtx(path, ROWS, **how),
    "write_csv array": lambda path, **how: swath.write_csv(path, ARRAY, **how),
    "write_csv columns": lambda path, **how: swath.write_csv(path, {"a": [1, 2]}, **how),
    "write_csv text": lambda path, **how: swath.write_csv(path, {"a": ["x", None]}, **how),
    "write_jsonl": lambda path, **how: swath.write_jsonl(path, {"a": ["x", None]}, **how),
    "write_arrow": lambda path, **how: swath.write_arrow(path, {"a": ["x", None]}, **how),
    "save_safetensors": lambda path, **how: swath.save_safetensors(path, {"a": ARRAY}, **how),
}
each = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def test_all_writers_are_here() -> None:
    names = {name.partition(" ")[0] for name in WRITERS}
    public = {name for name in swath.__all__ if name.startswith(("write_", "save_", "append"))}
    assert names == public


@each
def test_an_existing_file_is_written_in_place(tmp_path: Path, write: Any) -> None:
    path, other = tmp_path / "out", tmp_path / "other"
    write(path)
    whole = path.read_bytes()
    path.write_bytes(b"old" * 100_000)
    other.hardlink_to(path)
    write(path, replace="in place")
    assert other.read_bytes() == whole
    assert path.samefile(other)
    with pytest.raises(TypeError, match="replace= takes True, False or 'in place'"):
        write(path, replace="sideways")


@each
def test_an_existing_file_stays_if_it_may_not_be_replaced(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "out"
    write(path, replace=False, durability="none")
    whole = path.read_bytes()
    assert whole
    path.write_bytes(b"of somebody")
    with pytest.raises(FileExistsError) as told:
        write(path, replace=False)
    assert told.value.filename == str(path)
    assert path.read_bytes() == b"of somebody"
    write(path)
    assert path.read_bytes() == whole
    assert os.listdir(tmp_path) == ["out"]


# Of `append`, the caller knows.
telling = pytest.mark.parametrize(
    "write",
    [write for name, write in WRITERS.items() if not name.startswith("append")],
    ids=[name for name in WRITERS if not name.startswith("append")],
)


@telling
def test_writers_tell_how_far_they_are(tmp_path: Path, write: Any) -> None:
    told: list[tuple[int, int | None]] = []
    path = tmp_path / "out"
    size = write(path, progress=lambda done, total: told.append((done, total)))
    assert size == path.stat().st_size
    assert max(done for done, _ in told) == size
    assert {total for _, total in told} <= {None, size}


@telling
def test_what_a_callback_raises_ends_the_writing(tmp_path: Path, write: Any) -> None:
    def refuse(done: int, total: int | None) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        write(tmp_path / "out", progress=refuse)
    assert os.listdir(tmp_path) == []
    with pytest.raises(TypeError, match="progress= takes a bool or a callable"):
        write(tmp_path / "out", progress=3)


@each
def test_further_names_keep_the_old_bytes_only_if_that_is_said(
    tmp_path: Path, write: Any
) -> None:
    path, other = tmp_path / "out", tmp_path / "other"
    path.write_bytes(b"of somebody")
    os.link(path, other)
    with pytest.raises(swath.Error, match=r"out: .*try: "):
        write(path)
    assert path.read_bytes() == b"of somebody"
    write(path, hard_links="break")
    assert path.read_bytes() != b"of somebody"
    assert other.read_bytes() == b"of somebody"


@each
def test_a_word_that_there_is_not_is_refused_with_all_that_there_are(
    tmp_path: Path, write: Any
) -> None:
    path = tmp_path / "out"
    with pytest.raises(ValueError, match='durability="some": not one of "full", "none"'):
        write(path, durability="some")
    with pytest.raises(ValueError, match='hard_links="keep": not one of "refuse", "break"'):
        write(path, hard_links="keep")
    assert not path.exists()


class LateMapping(dict[str, Any]):
    """Calls `late` when its values are asked for."""

    late: Callable[[], None] = staticmethod(lambda: None)

    def items(self) -> Any:
        self.late()
        return super().items()

    def values(self) -> Any:
        self.late()
        return super().values()


class LateArray:
    """As `LateMapping`, for an array and for a sparse matrix."""

    shape = (2, 2)

    def __init__(self, late: Callable[[], None]) -> None:
        self.late = late

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.late()
        return ARRAY

    def tocoo(self) -> Any:
        self.late()
        ends = numpy.array([0, 1])
        return SimpleNamespace(shape=(2, 2), row=ends, col=ends, data=numpy.array([2.5, 3.5]))


@pytest.mark.parametrize("writer", [swath.write_csv, swath.write_jsonl, swath.write_arrow, swath.write_npy,
                                    swath.write_mtx, swath.save_safetensors])  # fmt: skip
def test_a_link_that_appears_while_values_are_prepared_is_not_followed(tmp_path: Path, writer: Any) -> None:
    path, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_bytes(b"private")
    planted = 0

    def plant() -> None:
        nonlocal planted
        planted += 1
        if not path.is_symlink():
            path.symlink_to(victim)

    data: Any = LateArray(plant)
    if writer not in (swath.write_npy, swath.write_mtx):
        data = LateMapping({"a": numpy.array([1.5, 2.5])})
        data.late = plant
    with pytest.raises(swath.Error, match="its path leads to another folder or name"):
        writer(path, data)
    assert planted
    assert victim.read_bytes() == b"private"


def test_all_writers_have_the_same_options() -> None:
    usual = {"durability": "full", "replace": True, "hard_links": "refuse", "workers": 0}
    for name in {name.partition(" ")[0] for name in WRITERS}:
        options = inspect.signature(getattr(swath, name)).parameters
        # The threads of an output are the caller's.
        wanted = usual.keys() - ({"workers"} if name == "append" else set())
        for option in wanted:
            assert options[option].default == usual[option], (name, option)
            assert options[option].kind is inspect.Parameter.KEYWORD_ONLY, (name, option)


def test_numbers_that_json_does_not_have_are_null_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with pytest.warns(swath.ChangedValueWarning, match="2 numbers are NaN or infinite") as found:
        swath.write_jsonl(path, {"x": [1.5, math.nan, math.inf, None]})
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        swath.write_jsonl(path, {"x": [1.5, None]})


def test_a_table_without_columns_or_with_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    for verb in (swath.write_csv, swath.write_jsonl, swath.write_arrow):
        path = tmp_path / "x"
        with pytest.raises(ValueError, match="without columns cannot be written; try: pass a column"):
            verb(path, {})
        with pytest.raises(ValueError, match="a NUL byte in the name of column index 1; try: give the column"):
            verb(path, {"a": ["x"], "b\0": [1]})
        assert not path.exists()
