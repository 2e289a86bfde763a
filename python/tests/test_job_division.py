"""The bytes of a part of a job: the same for Python, for the command, and for programs that mix them."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import battery
import swath
from swath import job

# With and without a newline at the end, with and without bytes.
TEXTS = [
    ["one\ntwo\nthree\n"],
    ["one\ntw", "o\nthree\nfo", "ur\n", ""],
    ["a long line that has no end", " here", "", " nor here", "\nbut here\nlast"],
    ["", "\n", "", "\n\nx"],
    ["first\n", "second\n", "third and last\n"],
    ["", ""],
]


def command(*words: str, feed: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["swath", "job", *words], capture_output=True, input=feed)


def done(*words: str) -> bytes:
    run = command(*words)
    assert run.returncode == 0, (words, run.stderr)
    return run.stdout


@pytest.fixture(params=range(len(TEXTS)))
def inputs(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    texts = TEXTS[request.param]
    paths = [tmp_path / f"in{at}" for at in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_text(text)
    return paths


def named(block: Any) -> bytes:
    """Returns the output of `sed 's/^/> /'`."""
    lines = bytes(block).split(b"\n")
    ends = [line + b"\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
    return b"".join(b"> " + line for line in ends)


NAMED = ["sed", "s/^/> /"]


def serial(inputs: list[Path], how: list[str]) -> bytes:
    whole = b"".join(path.read_bytes() for path in inputs)
    return subprocess.run(how, input=whole, capture_output=True, check=True).stdout


def upper(block: Any) -> bytes:
    return bytes(block).upper()


UPPER = ["tr", "a-z", "A-Z"]


def mixed(plan: job.Plan, first: int, function: Any, how: list[str]) -> bytes:
    """Does every other part here, from ``first`` on, and the others by the command; returns the output."""
    theirs = [str(part.index) for part in plan.parts if part.index % 2 != first]
    if theirs:
        done("run", plan.folder, ",".join(theirs), "--", *how)
    for part in plan.parts[first::2]:
        job.attempt(part, function)
    plan.commit(plan.done())
    plan.remove()
    return Path(plan.target).read_bytes()


@pytest.mark.parametrize("first", [0, 1])
def test_lines_are_the_same_for_python_and_the_command(
    inputs: list[Path], tmp_path: Path, first: int
) -> None:
    right = serial(inputs, NAMED)
    for parts in battery.some(range(1, 8), part=3):
        plan = job.plan(inputs, tmp_path / "out", parts=parts, division="lines", durability="none")
        assert plan.division == "lines" and {part.division for part in plan.parts} == {"lines"}
        assert mixed(plan, first, named, NAMED) == right
        words = ["--parts", str(parts), "--force", *map(str, inputs)]
        folder = done("plan", str(tmp_path / "out"), *words).decode().strip()
        assert mixed(job.open(folder), first, named, NAMED) == right


@pytest.mark.parametrize("division", ["bytes", "inputs", "groups", 1])
def test_bytes_and_whole_inputs_are_the_same_for_python_and_the_command(
    inputs: list[Path], tmp_path: Path, division: Any
) -> None:
    right = serial(inputs, UPPER)
    for parts in battery.some((1, 2, 3, 7), part=2):
        for first in (0, 1):
            plan = job.plan(inputs, tmp_path / "out", parts=parts, division=division, durability="none")
            assert plan.division == division
            assert mixed(plan, first, upper, UPPER) == right


def test_records_of_a_width_are_the_same_and_whole(tmp_path: Path) -> None:
    paths = [tmp_path / "in0", tmp_path / "in1", tmp_path / "in2"]
    for path, text in zip(paths, ["aaaabb\nbcccc", "", "dd\ndeeee"]):
        path.write_text(text)

    def turned(block: Any) -> bytes:
        assert len(block) % 4 == 0
        return b"".join(bytes(block[at : at + 4])[::-1] for at in range(0, len(block), 4))

    how = ["perl", "-0777", "-ne", "print map { scalar reverse } unpack '(a4)*', $_"]
    right = serial(paths, how)
    for parts in battery.some(range(1, 8), part=3):
        for first in (0, 1):
            plan = job.plan(paths, tmp_path / "out", parts=parts, division=4)
            assert plan.division == 4
            assert mixed(plan, first, turned, how) == right


def test_parts_of_records_are_not_done_by_the_command(inputs: list[Path], tmp_path: Path) -> None:
    # Each input is taken alone.
    right = b"".join(named(path.read_bytes()) for path in inputs)
    for parts in battery.some(range(1, 8), part=3):
        plan = job.plan(inputs, tmp_path / "out", parts=parts)
        assert plan.division == plan.part(0).division == "records"
        for words in (["run", plan.folder, "0", "--", "cat"], ["read", plan.folder, "0"], ["write", plan.folder, "0"]):
            run = command(*words, feed=b"")
            told = run.stderr.decode()
            assert (run.returncode, run.stdout) == (2, b""), told
            assert f"cannot do parts of {plan.folder}: the job is divided by records" in told
            assert "; try: do its parts with that program, or plan the job with `swath job plan`" in told
        assert plan.done() == []
        assert b"records" in done("status", plan.folder)
        for part in plan.parts:
            job.attempt(part, named)
        done("commit", plan.folder)
        assert (tmp_path / "out").read_bytes() == right
    plan = job.plan(inputs, tmp_path / "out")
    done("abort", plan.folder)
    job.plan(inputs, tmp_path / "out")
    assert b"removed" in done("sweep", "--older-than", "0s", str(tmp_path))
    assert {*os.listdir(tmp_path)} == {"out", *(path.name for path in inputs)}


def test_a_job_without_inputs_has_no_records_and_is_done_by_both(tmp_path: Path) -> None:
    plan = job.plan([], tmp_path / "out", parts=4)
    theirs = ["sh", "-c", 'echo part "$SWATH_PART"']
    assert mixed(plan, 1, lambda index: b"part %d\n" % index, theirs) == b"".join(
        b"part %d\n" % index for index in range(4)
    )


def test_what_a_part_has_can_be_read_by_hand(inputs: list[Path], tmp_path: Path) -> None:
    whole = b"".join(path.read_bytes() for path in inputs)
    for division in ("lines", "bytes", "inputs", "groups", 1):
        for parts in (1, 2, 5):
            read = [
                bytes(swath.read(piece.path, offset=piece.offset, length=piece.length))
                for part in job.divide(inputs, parts=parts, division=division)  # type: ignore[arg-type]
                for piece in part.contents()
            ]
            assert b"".join(read) == whole
    for division in ("records", "inputs", "groups"):
        for part in job.divide(inputs, parts=3, division=division):  # type: ignore[arg-type]
            assert [it.extent for it in part.pieces] == [(it.offset, it.length) for it in part.pieces]


def test_reading_a_part_in_the_wrong_way_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\nthree!!\n")
    for division in ("lines", "bytes", 4):
        for part in job.divide(path, parts=2, division=division):  # type: ignore[arg-type]
            with pytest.raises(ValueError, match=r"exactly these bytes.*; try: pass offset=piece.offset"):
                part.pieces[0].extent
    [part] = job.divide(path)
    with pytest.raises(swath.InvalidError, match="part 0 has the records that begin in these bytes.*; try: "):
        part.contents()
    bad: list[tuple[Any, Any]] = [
        ("lines", "csv"), ("lines", b"\0"), ("lines", 4), ("bytes", "\n"), ("bytes", 1), (4, "\n"), (4, 8)
    ]
    for division, delimiter in bad:
        plan = job.plan(path, tmp_path / "out", division=division)
        with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="; try: leave out delimiter="):
            job.run(pool, plan, upper, delimiter=delimiter)
        with pytest.raises(ValueError, match=re.escape(f"delimiter={delimiter!r}: the parts of this job have ")):
            job.attempt(plan.part(0), upper, delimiter=delimiter)
        assert plan.status().attempts == 0
        plan.abort()
    good: list[tuple[Any, Any]] = [("lines", "\n"), ("lines", b"\n"), (4, 4), ("inputs", "csv"), ("groups", 4)]
    for division, delimiter in good:
        with ThreadPoolExecutor(1) as pool:
            plan = job.plan(path, tmp_path / "out", division=division)
            job.run(pool, plan, upper, delimiter=delimiter)
        assert (tmp_path / "out").read_bytes() == b"ONE\nTWO\nTHREE!!\n"


@pytest.mark.parametrize("step", battery.some([1, 3, 10, 1000], part=2))
def test_steps_and_blocks_of_any_size_give_the_same(
    inputs: list[Path], tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_STEP", step)
    for division, function, how in [
        ("lines", named, NAMED),
        ("bytes", upper, UPPER),
        ("inputs", upper, UPPER),
        (1, upper, UPPER),
    ]:
        plan = job.plan(inputs, tmp_path / "out", parts=3, division=division)  # type: ignore[arg-type]
        plan.commit([job.attempt(part, function, block_size=step) for part in plan.parts])
        plan.remove()
        assert (tmp_path / "out").read_bytes() == serial(inputs, how)


def test_a_division_travels_with_plans_and_parts(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\nthree!!\n")
    for division in ("records", "lines", "bytes", "inputs", "groups", 8):
        plan = job.plan(path, tmp_path / "out", division=division)  # type: ignore[arg-type]
        part, piece = plan.part(0), plan.part(0).pieces[0]
        for again in (pickle.loads(pickle.dumps(plan)), job.open(plan.folder), job.Plan.from_json(plan.to_json())):
            assert again.division == again.part(0).division == division
        for same in (pickle.loads(pickle.dumps(part)), job.Part.from_json(part.to_json())):
            assert same == part and same.division == division
        assert pickle.loads(pickle.dumps(piece)) == piece
        with pytest.raises(ValueError, match="division"):
            job.Part.from_json(part.to_json().replace('"division"', '"was"'))
        plan.abort()


def test_an_executor_does_what_the_command_does(inputs: list[Path], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        for parts in (1, 3, 7):
            plan = job.plan(inputs, tmp_path / "out", parts=parts, division="lines")
            job.run(pool, plan, named, block_size=5)
            assert (tmp_path / "out").read_bytes() == serial(inputs, NAMED)
