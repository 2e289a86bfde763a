"""`swath.job` and functions, arguments and executors that are wrong: what the error says, and what is left."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from pathlib import Path
from typing import Any

import pytest

import swath
from swath import job

LINES = 5_000


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("".join(f"line {n}\n" for n in range(LINES)))
    return path


def names(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("in"))


def upper(block: Any) -> bytes:
    return bytes(block).upper()


def forgets(block: Any) -> Any:
    if b"line 4999\n" not in bytes(block):
        return bytes(block).upper()


def ends_the_process(block: Any) -> bytes:
    os._exit(3)


@pytest.mark.parametrize("function", [lambda block: None, forgets])
def test_a_function_that_returns_none_is_an_error_and_the_old_file_stays(
    text: Path, tmp_path: Path, function: Any
) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    plan = job.plan(text, out, parts=4)
    what = r'returned None for part \d, not bytes; try: return bytes, b"" for nothing'
    with ThreadPoolExecutor(2) as pool, pytest.raises(TypeError, match=what) as caught:
        job.run(pool, plan, function, block_size=1000)
    assert f"of the job {plan.folder}, {text} at bytes " in caught.value.__notes__[0]
    assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]


def test_an_attempt_with_none_or_text_keeps_nothing(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=2)
    with pytest.raises(TypeError, match="returned None for part 1, not bytes"):
        job.attempt(plan.part(1), forgets)
    with pytest.raises(TypeError, match=r"returned a str for part 0, not bytes; try: return text.encode"):
        job.attempt(plan.part(0), lambda block: str(bytes(block)))  # type: ignore
    assert plan.done() == [] and os.listdir(plan.folder) == ["JOB"]
    # No bytes are an output.
    plan.commit([job.attempt(part, lambda block: b"") for part in plan.parts])
    assert (tmp_path / "out").read_bytes() == b""
    own = job.plan([], tmp_path / "own", parts=3)
    with pytest.raises(TypeError, match="returned None for part 2, not bytes"):
        job.attempt(own.part(2), lambda index: None)  # type: ignore[arg-type, return-value]


def test_counts_below_0_are_refused_by_name_with_what_to_pass(text: Path, tmp_path: Path) -> None:
    for name in ("parts", "part_size"):
        told = rf"^{name}=-1: below 0; try: pass how many .* or 0 for "
        with pytest.raises(ValueError, match=told):
            job.plan(text, tmp_path / "out", **{name: -1})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=told):
            job.divide(text, **{name: -1})  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=rf"^{name}='2': a str is not a count; try: pass"):
            job.plan(text, tmp_path / "out", **{name: "2"})  # type: ignore[arg-type]
    plan = job.plan(text, tmp_path / "out")
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ValueError, match="^retries=-1: below 0; try: pass how often"):
            job.run(pool, plan, upper, retries=-1)
        with pytest.raises(TypeError, match="^retries=None: None is not a count; try: pass how often"):
            job.run(pool, plan, upper, retries=None)  # type: ignore[arg-type]
        # Nothing was begun, so the plan is as good as before.
        assert job.run(pool, plan, upper, retries=0).bytes == text.stat().st_size


def test_what_is_not_a_plan_or_an_executor_is_refused_with_what_to_pass(
    text: Path, tmp_path: Path
) -> None:
    plan = job.plan(text, tmp_path / "out")
    with ThreadPoolExecutor(1) as pool:
        for wrong, kind in ((str(text), "a str"), (plan.parts, "a list"), (None, "None"), (7, "an int")):
            with pytest.raises(TypeError, match=rf"^{kind} is not the plan of a job; try: pass swath.job"):
                job.run(pool, wrong, upper)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="^a Plan has no submit; try: pass an executor, such as"):
            job.run(plan, pool, upper)  # type: ignore[arg-type]
    plan.abort()


def test_a_worker_that_is_lost_is_an_error_with_the_job_and_how_to_go_on(
    text: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for _ in range(2):
            # The second time the pool is broken before it is given a part.
            plan = job.plan(text, out, parts=4)
            with pytest.raises(BrokenExecutor) as caught:
                job.run(pool, plan, ends_the_process)
            [note] = caught.value.__notes__
            assert plan.folder in note and "; try: plan the job again with smaller parts" in note
    assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]


class Wordless:
    """An executor whose exceptions lose their notes on the way."""

    def submit(self, function: Any, /, *args: Any, **how: Any) -> Future[Any]:
        made: Future[Any] = Future()
        try:
            made.set_result(function(*args, **how))
        except Exception as error:
            made.set_exception(type(error)(*error.args))
        return made


def test_the_error_of_any_engine_names_the_part(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=3)
    with pytest.raises(ZeroDivisionError) as caught:
        job.run(Wordless(), plan, lambda block: b"" if 1 // 0 else b"", retries=1)
    [note] = caught.value.__notes__
    assert note.startswith("in part ") and note.endswith(f" of the job {plan.folder}")
    # One that an attempt has written is not repeated.
    plan = job.plan(text, tmp_path / "out", parts=3)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError) as caught:
        job.run(pool, plan, lambda block: b"" if 1 // 0 else b"", retries=0)
    assert len(caught.value.__notes__) == 1


class Cancelling:
    """An executor that is lost after its first part, as when Dask's scheduler ends."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, function: Any, /, *args: Any, **how: Any) -> Any:
        self.submitted += 1
        if self.submitted == 1:
            return Wordless().submit(function, *args, **how)
        return Lost()


class Lost:
    def result(self) -> Any:
        raise CancelledError

    def cancel(self) -> None:
        raise ConnectionError("the client is closed")


def test_parts_that_an_executor_cancels_end_the_job_and_are_not_tried_again(
    text: Path, tmp_path: Path
) -> None:
    plan, executor = job.plan(text, tmp_path / "out", parts=4), Cancelling()
    with pytest.raises(CancelledError) as caught:
        job.run(executor, plan, upper)
    [note] = caught.value.__notes__
    assert plan.folder in note and "; try: plan the job again, and run it on a new executor" in note
    assert executor.submitted == 4 and names(tmp_path) == []


def test_an_executor_with_keywords_of_its_own_gets_none_of_ours(text: Path, tmp_path: Path) -> None:
    class Strict:
        def submit(self, function: Any, /, *args: Any) -> Any:
            return Wordless().submit(function, *args)

    job.run(Strict(), job.plan(text, tmp_path / "out"), upper, delimiter="\n", workers=2)  # type: ignore
    assert (tmp_path / "out").read_bytes() == text.read_bytes().upper()


def test_messages_count_in_the_singular_too(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"a")
    plan = job.plan(path, tmp_path / "out")
    assert "1 part for " in repr(plan) and "0 of 1 part, 0 bytes" in repr(plan.status())
    with pytest.raises(IndexError, match="part 1: the job has 1 part; try: "):
        plan.part(1)
    path.write_bytes(b"ab")
    with pytest.raises(swath.ChangedError, match="it had 1 byte when the job was planned, and has 2"):
        plan.check_inputs()
    plan.abort()


def test_an_attempt_reads_the_file_that_was_planned_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other, away = tmp_path / "mine", tmp_path / "other", tmp_path / "away"
    for folder in (mine, other):
        folder.mkdir()
        (folder / "in.txt").write_text("".join(f"{folder.name[0]} {n}\n" for n in range(LINES)))
    path, secret = mine / "in.txt", other / "in.txt"
    os.utime(secret, ns=(0, path.stat().st_mtime_ns))
    secret.chmod(0o600)
    from swath import _job_reading as reading

    real = reading.scan_records

    def scan_records(*words: Any, **how: Any) -> Any:
        # The name leads to another file after the input was opened, and back.
        mine.rename(away)
        other.rename(mine)
        found = real(*words, **how)
        mine.rename(other)
        away.rename(mine)
        return found

    monkeypatch.setattr(reading, "scan_records", scan_records)
    plan = job.plan(path, tmp_path / "out", parts=1)
    plan.commit([job.attempt(plan.part(0), bytes)])
    plan.remove()
    assert (tmp_path / "out").read_bytes() == path.read_bytes()
    monkeypatch.undo()
    plan = job.plan(path, tmp_path / "out", parts=1)
    mine.rename(away)
    other.rename(mine)
    # Of the same length and time, but closed to those whom the planned one lets in.
    with pytest.raises(swath.ChangedError, match="fewer users may read it"):
        plan.part(0).pieces[0].open()
    plan.abort()
