"""`swath.dask.append(compute=False)`: what its errors say, and that it can be computed again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import swath
from swath import job

dask = pytest.importorskip("dask")
import dask.bag  # noqa: E402


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_partition_that_fails_says_where_the_job_is_and_how_to_go_on(tmp_path: Path) -> None:
    out, may_pass = tmp_path / "out", tmp_path / "in.pass"

    def text(partition: Any) -> Any:
        if not may_pass.exists():
            return None
        return [str(number) for number in partition]

    later = swath.dask.append(out, dask.bag.range(4, npartitions=2), text, compute=False)
    with pytest.raises(TypeError, match="returned None for partition") as caught:
        later.compute(scheduler="sync")
    part, goes_on = caught.value.__notes__
    [folder] = [name for name in names(tmp_path) if ".job-" in name]
    assert part.startswith("in part ") and str(tmp_path / folder) in part
    assert goes_on.startswith(f"the folder of the job stays: {tmp_path / folder}; try: correct")
    assert not out.exists()
    may_pass.touch()
    assert later.compute(scheduler="sync").bytes == 4
    assert out.read_bytes() == b"0123" and names(tmp_path) == ["in.pass", "out"]


def test_a_commit_that_fails_says_where_the_parts_are(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def text(partition: Any) -> Any:
        out.mkdir(exist_ok=True)
        return b"text"

    later = swath.dask.append(out, dask.bag.range(2, npartitions=2), text, compute=False)
    with pytest.raises(swath.IsFolderError) as caught:
        later.compute(scheduler="sync")
    [note] = caught.value.__notes__
    assert note.startswith("what the parts wrote is in ") and "; try: correct the cause" in note
    out.rmdir()
    [folder] = [name for name in names(tmp_path) if ".job-" in name]
    plan = job.open(tmp_path / folder)
    assert plan.commit(plan.done()).bytes == 8
    plan.remove()
    assert out.read_bytes() == b"texttext" and names(tmp_path) == ["out"]


def test_the_job_of_another_output_is_not_taken_over(tmp_path: Path) -> None:
    first, second, folder = tmp_path / "first", tmp_path / "second", tmp_path / "job"
    bag = dask.bag.range(2, npartitions=2)
    later = swath.dask.append(first, bag, lambda _: None, compute=False, folder=folder)
    with pytest.raises(TypeError):
        later.compute(scheduler="sync")
    first.write_bytes(b"precious")
    later = swath.dask.append(second, bag, lambda _: b"x", compute=False, folder=folder)
    with pytest.raises(swath.AlreadyExistsError):
        later.compute(scheduler="sync")
    assert first.read_bytes() == b"precious" and not second.exists()
