"""Jobs of many processes: the bytes of the serial program, once, whatever happens to the processes."""

from __future__ import annotations

import copy
import fcntl
import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import swath
from swath import job

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
LINES = 5_000


def upper(block: Any) -> bytes:
    return bytes(block).upper()


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("".join(f"line {n} {'x' * (n % 23)}\n" for n in range(LINES)))
    return path


def serial(*paths: Path) -> bytes:
    """Returns the output of the serial program."""
    return b"".join(line.upper() for path in paths for line in path.open("rb"))


def worked(part: job.Part) -> job.Done:
    return job.attempt(part, upper)


def names(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("in"))


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_write_the_file_of_the_serial_program(text: Path, tmp_path: Path, way: str) -> None:
    out = tmp_path / "out.txt"
    plan = job.plan(text, out, parts=5)
    with multiprocessing.get_context(way).Pool(2) as pool:
        done = pool.map(worked, plan.parts[::-1])
    assert not out.exists(), "nothing is visible before the commit"
    committed = plan.commit(done)
    assert (committed.bytes, committed.parts) == (text.stat().st_size, 5)
    assert out.read_bytes() == serial(text)
    again = plan.commit(done)
    assert (again.bytes, again.crc32c) == (committed.bytes, committed.crc32c)
    plan.remove()
    assert names(tmp_path) == ["out.txt"]


def test_segments_are_the_output_where_they_are(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = job.plan(text, out, parts=3, form="segments", durability="none")
    assert (plan.form, plan.folder, plan.target) == ("segments", str(out), str(out))
    plan.commit(map(worked, plan.parts))
    plan.remove()
    read = subprocess.run(["swath", "cat", str(out)], capture_output=True, check=True)
    assert read.stdout == serial(text)


def test_several_inputs_are_one_sequence(text: Path, tmp_path: Path) -> None:
    (tmp_path / "in2.txt").write_bytes(b"short\nwithout an end")
    (tmp_path / "in3.txt").write_bytes(b"")
    inputs = [text, bytes(tmp_path / "in2.txt"), str(tmp_path / "in3.txt")]
    plan = job.plan(inputs, tmp_path / "out", parts=7)
    plan.commit([worked(part) for part in plan.parts])
    assert (tmp_path / "out").read_bytes() == serial(text, tmp_path / "in2.txt")
    whole = job.plan(inputs, tmp_path / "out2", division="inputs", parts=1)
    lens = [os.path.getsize(path) for path in inputs]
    # The third has no bytes.
    assert [[piece.length for piece in part.pieces] for part in whole.parts] == [[it] for it in lens[:2]]
    whole.abort()
    [group] = job.divide(inputs, division="groups")
    assert [piece.length for piece in group.pieces] == lens
    with pytest.raises(swath.InvalidError, match="its last record has"):
        job.divide(tmp_path / "in2.txt", division=7)
    text.write_bytes(text.read_bytes()[:100])
    wide = job.plan(text, tmp_path / "out2", division=10, parts=4)
    assert all(part.pieces[0].offset % 10 == 0 for part in wide.parts)
    wide.abort()


def test_two_attempts_at_once_leave_one_output(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=3)
    for begun in plan.parts:
        begun.writer().write(b"an attempt that never ends")
    first, second = plan.part(1).writer(), plan.part(1).writer()
    assert first.attempt != second.attempt
    with ThreadPoolExecutor(6) as pool:
        done = [*pool.map(worked, plan.parts * 2)]
    assert len({it.attempt for it in done}) == 6
    assert len(plan.done()) == 6
    plan.commit(done)
    assert (tmp_path / "out").read_bytes() == serial(text)
    with pytest.raises(swath.InvalidError, match="committed"):
        plan.abort()


def test_plain_data_travels_as_pickles_and_text(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=2, hard_links="break", replace=False)
    with plan.part(0).writer() as out:
        out.write(b"x")
    done = out.done
    assert done is not None and hash(done) == hash(job.Done(0, done.attempt, 1, done.crc32c))
    piece = plan.part(1).pieces[0]
    for protocol in PROTOCOLS:
        for thing in (plan.part(1), piece, done):
            again = pickle.loads(pickle.dumps(thing, protocol))
            assert again == thing and type(again) is type(thing)
        same = pickle.loads(pickle.dumps(plan, protocol))
        assert (same.id, same.to_json(), len(same)) == (plan.id, plan.to_json(), 2)
        assert same.__reduce__()[1][1] == "break"
    assert copy.deepcopy(done) == done and copy.copy(piece) == piece
    assert len(pickle.dumps(plan.part(1))) < 1000
    for thing in (plan.part(1), piece, done, plan):
        assert json.loads(thing.to_json())
        with pytest.raises(ValueError, match="try: "):
            type(thing).from_json("{}")
    assert job.open(plan.folder).part(1) == plan.part(1)
    assert job.Plan.from_json(plan.to_json()).part(1) == plan.part(1)
    plan.abort()
    committed = job.Committed(1, 2, 3, 4, 5)
    assert repr(pickle.loads(pickle.dumps(committed))) == repr(committed)


def test_an_exception_in_an_attempt_keeps_nothing(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out")
    before = os.listdir(plan.folder)
    with pytest.raises(KeyError):
        with plan.part(0).writer() as out:
            out.write(b"half")
            raise KeyError
    assert out.done is None and os.listdir(plan.folder) == before
    for late in (out.finish, lambda: out.write(b"x")):
        with pytest.raises(RuntimeError, match="has ended; try: "):
            late()
    with pytest.raises(TypeError):
        plan.part(0).writer().write("text")  # type: ignore[arg-type]
    with pytest.raises(swath.InvalidError, match="part 0 is not done"):
        plan.commit([])
    with plan.part(0).writer() as out:
        out.write(memoryview(b"all"))
    assert out.finish() == out.done
    plan.commit([out.finish()])
    assert (tmp_path / "out").read_bytes() == b"all"


def test_a_fork_leaves_the_attempt_to_its_parent(tmp_path: Path) -> None:
    plan = job.plan([], tmp_path / "out")
    with plan.part(0).writer() as out:
        out.write(b"parent")
        child = os.fork()
        if child == 0:
            try:
                out.write(b"child")
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    plan.commit([out.done])
    assert (tmp_path / "out").read_bytes() == b"parent"


HALF = """
import os, signal, sys
from swath import job
part = job.Part.from_json(sys.argv[1])
out = part.writer()
out.write(b"half" * 1_000_000)
if sys.argv[2] == "named":
    print(out.finish().to_json(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["in the middle", "named"])
def test_a_killed_worker_is_replaced(text: Path, tmp_path: Path, when: str) -> None:
    plan = job.plan(text, tmp_path / "out", parts=3)
    words = [sys.executable, "-c", HALF, plan.part(1).to_json(), when]
    killed = subprocess.run(words, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(plan.done()) == (when == "named")
    plan.commit([worked(part) for part in plan.parts])
    assert (tmp_path / "out").read_bytes() == serial(text)


CLIENT = """
import os, signal, sys
from swath import job
plan = job.plan(sys.argv[1], sys.argv[2], parts=4)
print(plan.folder, flush=True)
for part in plan.parts:
    if part.index == 2 and sys.argv[3] == "parts":
        os.kill(os.getpid(), signal.SIGKILL)
    job.attempt(part, lambda block: bytes(block).upper())
def kill(done, total):
    os.kill(os.getpid(), signal.SIGKILL)
plan.commit(plan.done(), progress=kill if sys.argv[3] == "commit" else None)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["parts", "commit", "remove"])
def test_another_client_takes_over_from_one_that_was_killed(
    text: Path, tmp_path: Path, when: str
) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    killed = subprocess.run(
        [sys.executable, "-c", CLIENT, str(text), str(out), when], capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert out.read_bytes() == (serial(text) if when == "remove" else b"old")
    plan = job.open(killed.stdout.strip())
    status = plan.status()
    states = {"parts": "running", "commit": "committing", "remove": "committed"}
    assert status.state == states[when], status
    for first, end in status.missing:
        for index in range(first, end):
            worked(plan.part(index))
    plan.commit(plan.done())
    plan.remove()
    assert out.read_bytes() == serial(text) and names(tmp_path) == ["out"]


def test_what_a_killed_client_left_is_swept(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=2)
    worked(plan.part(0))
    assert job.sweep(tmp_path, timedelta(hours=1)) == []
    [swept] = job.sweep(tmp_path, 0)
    assert (swept.folder, swept.was_committed) == (plan.folder, False)
    assert names(tmp_path) == []
    with pytest.raises(swath.NotFoundError, match="; try: "):
        plan.part(1).writer()
    with pytest.raises(ValueError, match="older_than=-1"):
        job.sweep(tmp_path, -1)
    # A neighbour's plan under a lease is not opened, which would wait for the lease.
    other = tmp_path / "other"
    other.mkdir()
    (other / "JOB").write_bytes(b"{}")
    if os.geteuid() == 0:
        os.chown(other, 65534, 65534)
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)
        with open(other / "JOB", "r+b") as held:
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            assert job.sweep(tmp_path, 0) == []
            assert fcntl.fcntl(held, fcntl.F_GETLEASE) == fcntl.F_WRLCK
        signal.signal(signal.SIGIO, before)
    shutil.rmtree(other)
    gone, kept = (job.plan(text, tmp_path / name) for name in ("a", "b"))
    Path(kept.folder, "notes").write_text("mine")
    with pytest.raises(swath.InvalidError, match="notes in it is not of the job") as caught:
        job.sweep(tmp_path, 0)
    assert caught.value.__notes__ == [f"{gone.folder} was removed"]
    assert sorted(os.listdir(kept.folder)) == ["JOB", "notes"]


@pytest.mark.parametrize("change", ["longer", "shorter", "written", "replaced"])
def test_an_input_that_changed_is_an_error(text: Path, tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    plan = job.plan(text, out, parts=2)
    begun = plan.part(1).writer()
    done = [worked(part) for part in plan.parts]
    if change == "longer":
        text.open("ab").write(b"more\n")
    elif change == "shorter":
        os.truncate(text, 100)
    elif change == "written":
        with text.open("r+b") as file:
            file.write(b"X")
    else:
        (tmp_path / "in.new").write_bytes(text.read_bytes())
        os.replace(tmp_path / "in.new", text)
    for late in (plan.check_inputs, lambda: plan.commit(done)):
        with pytest.raises(swath.ChangedError, match="job was planned") as caught:
            late()
        assert caught.value.filename == str(text)
    for late in (begun.finish, plan.part(1).check_inputs, plan.part(1).writer):
        with pytest.raises(swath.ChangedError, match="part 1 of the job reads it") as caught:
            late()
        assert caught.value.offset == plan.part(1).pieces[0].offset
    assert out.read_bytes() == b"old"
    plan.abort()
    assert names(tmp_path) == ["out"]


def test_a_damaged_segment_is_named_and_its_part_is_done_again(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = job.plan(text, out, parts=3)
    done = [worked(part) for part in plan.parts]
    [bad] = [name for name in os.listdir(plan.folder) if name.startswith("part-000001")]
    path = os.path.join(plan.folder, bad)
    with open(path, "r+b") as file:
        file.seek(1000)
        file.write(b"\0")
    with pytest.raises(swath.CorruptError, match="part 1") as caught:
        plan.commit(done)
    assert caught.value.filename == path and not out.exists()
    os.truncate(path, 10)
    with pytest.raises(swath.CorruptError, match="part 1 wrote has 10 bytes"):
        plan.commit(done)
    done[1] = worked(plan.part(1))
    plan.commit(done)
    assert out.read_bytes() == serial(text)


def test_receipts_are_those_of_the_job(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=2)
    done = [worked(part) for part in plan.parts]
    other = job.plan(text, tmp_path / "other", parts=2)
    with pytest.raises(swath.CorruptError, match="is not there"):
        other.commit(done)
    with pytest.raises(swath.InvalidError, match="not of this job"):
        plan.commit([*done, job.Done(2, done[0].attempt, 0, 0)])
    with pytest.raises(swath.InvalidError, match="not of this job"):
        plan.commit([*done, job.Done(0, "../../etc/passwd", 0, 0)])
    with pytest.raises(TypeError, match="is not a receipt; try: "):
        plan.commit([1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="one receipt.*; try: "):
        plan.commit(done[0])  # type: ignore[arg-type]
    other.abort()


def test_only_what_may_be_replaced_is(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with pytest.raises(swath.AlreadyExistsError):
        job.plan(text, out, replace=False)
    with pytest.raises(swath.InvalidError, match="segments need a new folder"):
        job.plan(text, out, form="segments")
    os.link(out, tmp_path / "link")
    for hard_links in ("refuse", "break"):
        plan = job.plan(text, out, hard_links=hard_links, durability="none")  # type: ignore[arg-type]
        done = [worked(part) for part in plan.parts]
        if hard_links == "refuse":
            with pytest.raises(swath.Error, match="names|links"):
                plan.commit(done)
            plan.abort()
        else:
            pickle.loads(pickle.dumps(plan)).commit(done)
    assert out.read_bytes() == serial(text) and (tmp_path / "link").read_bytes() == b"old"


def test_bad_arguments_are_refused_by_name(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for how, told in [
        ({"form": "folder"}, 'form="folder": not one of "file", "segments"'),
        ({"division": "line"}, 'division="line": not one of'),
        ({"division": 0}, "division=0: neither"),
        ({"durability": "some"}, 'durability="some"'),
        ({"parts": 2_000_000}, "more than the 1000000"),
    ]:
        with pytest.raises(ValueError, match=told):
            job.plan(text, out, **how)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not a list of paths"):
        job.plan(text.open(), out)  # type: ignore[arg-type]
    with pytest.raises(swath.InvalidError, match="not a regular file"):
        job.plan(tmp_path, out)
    with pytest.raises(swath.NotFoundError):
        job.plan(text, tmp_path / "missing" / "out")
    with pytest.raises(swath.NotFoundError):
        job.open(tmp_path / "missing")
    with pytest.raises(swath.NotFoundError, match="which contains a file `JOB`"):
        job.open(tmp_path)
    with pytest.raises(IndexError, match="part 1: the job has 1 part; "):
        (plan := job.plan(text, out)).part(1)
    plan.abort()
    [only] = job.divide(text)
    with pytest.raises(swath.InvalidError, match="belongs to no job"):
        only.writer()
    assert names(tmp_path) == []


def test_a_commit_reports_progress_and_ends_by_an_exception_of_it(text: Path, tmp_path: Path) -> None:
    plan = job.plan(text, tmp_path / "out", parts=2)
    done = [worked(part) for part in plan.parts]

    def fail(done: int, total: int | None) -> None:
        raise KeyError(done)

    with pytest.raises(KeyError):
        plan.commit(done, progress=fail)
    assert not (tmp_path / "out").exists()
    told: list[tuple[int, int | None]] = []
    size = plan.commit(done, progress=lambda *it: told.append(it)).bytes
    assert max(told) == (size, size)


INTERRUPTED = """
import os, signal, sys, threading
from swath import job
plan = job.plan([], sys.argv[1], parts=4, durability="none")
for part in plan.parts:
    with part.writer() as out:
        for _ in range(64):
            out.write(bytes(1 << 20))
once = threading.Lock()
def interrupt(done, total):
    if 0 < done < total:
        # A second signal could come while the first one is handled.
        if once.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
        # The signal is looked at 20 times a second.
        threading.Event().wait(0.2)
try:
    plan.commit(plan.done(), progress=interrupt)
except KeyboardInterrupt:
    print("interrupted", os.path.exists(sys.argv[1]))
plan.commit(plan.done())
print(os.path.getsize(sys.argv[1]))
"""


def test_ctrl_c_ends_a_commit_which_can_be_run_again(tmp_path: Path) -> None:
    words = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "out")]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert run.stdout.split() == ["interrupted", "False", str(256 << 20)], run.stderr


def test_the_lock_is_released_while_bytes_move(tmp_path: Path) -> None:
    plan = job.plan([], tmp_path / "out", durability="none")
    out = plan.part(0).writer()
    data = bytes(64 << 20)
    counts = []

    def count() -> None:
        while not counts or counts[-1] >= 0:
            counts.append(len(counts))
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    while not counts:
        time.sleep(0)
    before = len(counts)
    out.write(data)
    during = len(counts) - before
    counts.append(-1)
    thread.join()
    assert during > 0
    plan.abort()


# What follows is of `run`, on executors.


def fail_once(block: Any) -> bytes:
    """Fails the first time that it sees the last line."""
    text = bytes(block)
    mark = Path(os.environ["SWATH_TEST_MARK"])
    if b"line 4999 " in text and not mark.exists():
        mark.touch()
        raise OSError("a passing fault")
    return text.upper()


def fail_always(block: Any) -> bytes:
    if b"line 4999 " in bytes(block):
        raise ZeroDivisionError("for good")
    return bytes(block)


def ends_the_process(block: Any) -> bytes:
    os._exit(3)


def nothing(block: Any) -> bytes:
    return b""


def numbered(index: int) -> bytes:
    return b"part %d\n" % index


@pytest.fixture(scope="module")
def processes() -> Any:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


def test_an_executor_writes_the_file_of_the_serial_program(
    processes: Any, text: Path, tmp_path: Path
) -> None:
    plan = job.plan(text, tmp_path / "out", parts=9)
    committed = job.run(processes, plan, upper, block_size=1000)
    assert committed.bytes == text.stat().st_size
    assert (tmp_path / "out").read_bytes() == serial(text) and names(tmp_path) == ["out"]
    job.run(processes, job.plan([], tmp_path / "out", parts=3), numbered)
    assert (tmp_path / "out").read_bytes() == b"part 0\npart 1\npart 2\n"
    assert job.run(processes, job.plan(text, tmp_path / "out"), nothing).bytes == 0


def test_records_of_other_kinds_go_through_whole(processes: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(b'a,"b\nc"\n' * 200 + b"d,e\n" * 50)
    for delimiter in ("csv", "e", 8):
        plan = job.plan(path, out, parts=7)
        job.run(processes, plan, upper, delimiter=delimiter, block_size=50)
        assert out.read_bytes() == path.read_bytes().upper()


def test_large_parts_are_read_step_by_step(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_STEP", 1000)
    plan = job.plan(text, tmp_path / "out", parts=3)
    plan.commit([worked(part) for part in plan.parts])
    assert (tmp_path / "out").read_bytes() == serial(text)


def test_a_part_that_fails_is_done_again(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWATH_TEST_MARK", str(tmp_path / "in.mark"))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        job.run(pool, job.plan(text, tmp_path / "out", parts=4), fail_once)
        assert (tmp_path / "out").read_bytes() == serial(text)
        os.unlink(tmp_path / "in.mark")
        plan = job.plan(text, tmp_path / "out2", parts=4)
        with pytest.raises(OSError, match="a passing fault"):
            job.run(pool, plan, fail_once, retries=0)
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("function", [fail_always, ends_the_process])
def test_a_part_that_fails_for_good_aborts_the_job(text: Path, tmp_path: Path, function: Any) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        plan = job.plan(text, out, parts=4)
        with pytest.raises(Exception) as caught:
            job.run(pool, plan, function)
    if function is fail_always:
        [note] = caught.value.__notes__
        assert note.startswith(f"in part 3 of the job {plan.folder}, {text} at bytes ")
    assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]


def test_a_commit_that_fails_keeps_what_the_parts_wrote(
    processes: Any, text: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    plan = job.plan(text, out, parts=2)
    out.mkdir()
    with pytest.raises(swath.Error) as caught:
        job.run(processes, plan, upper)
    assert any(plan.folder in note for note in caught.value.__notes__)
    out.rmdir()
    again = job.open(plan.folder)
    again.commit(again.done())
    again.remove()
    assert out.read_bytes() == serial(text) and names(tmp_path) == ["out"]


def test_any_object_with_submit_will_do(text: Path, tmp_path: Path) -> None:
    class Future:
        def __init__(self, call: Any) -> None:
            self.call = call
            self.cancelled = False

        def result(self) -> Any:
            return self.call()

        def cancel(self) -> None:
            self.cancelled = True

    class Executor:
        def __init__(self) -> None:
            self.made: list[Future] = []

        def submit(self, function: Any, /, *args: Any, **how: Any) -> Future:
            self.made.append(Future(lambda: function(*args, **how)))
            return self.made[-1]

    executor = Executor()
    job.run(executor, job.plan(text, tmp_path / "out", parts=3), upper)
    assert (tmp_path / "out").read_bytes() == serial(text)
    with pytest.raises(ZeroDivisionError):
        job.run(executor, job.plan(text, tmp_path / "out", parts=3), lambda block: 1 / 0, retries=0)
    assert [it.cancelled for it in executor.made] == [False] * 4 + [True] * 2
    assert names(tmp_path) == ["out"]


MPI = """
import sys
from mpi4py.futures import MPIPoolExecutor
from swath import job

def upper(block):
    return bytes(block).upper()

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        print(job.run(pool, job.plan(sys.argv[1], sys.argv[2], parts=5), upper).parts)
"""


def test_ranks_of_mpi_are_an_executor(text: Path, tmp_path: Path) -> None:
    import shutil

    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    script = tmp_path / "in.py"
    script.write_text(MPI)
    words = ["mpirun", "-n", "3", "--oversubscribe", "--allow-run-as-root", sys.executable]
    words += ["-m", "mpi4py.futures", str(script), str(text), str(tmp_path / "out")]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert run.stdout == "5\n", run.stdout + run.stderr
    assert (tmp_path / "out").read_bytes() == serial(text) and names(tmp_path) == ["out"]
