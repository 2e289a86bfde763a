"""`swath.dask` on a cluster of processes that are killed: the whole right file, or the old one.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import battery
import swath
from swath import job

distributed = pytest.importorskip("distributed")
import cloudpickle  # noqa: E402
import dask  # noqa: E402
import dask.bag  # noqa: E402

# Workers need not be able to import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
PARTS = 12
IN_A_PUSH = 4
TEXT = "".join(f"line {n} {'x' * (n % 40)}\n" for n in range(12_000))
RIGHT = TEXT.upper().encode()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    how = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    settings = {
        "distributed.scheduler.allowed-failures": 10,
        "distributed.worker.memory.terminate": False,
        # A worker that is killed twice in this time would not come back.
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.comm.timeouts.connect": "5s",
        "logging.distributed": "critical",
    }
    with dask.config.set(settings):
        with distributed.LocalCluster(processes=True, **how) as made:
            yield made


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as made:
        made.wait_for_workers(2, timeout=30)
        yield made


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text(TEXT)
    return path


def upper(lines: Any) -> Any:
    return map(str.upper, lines)


def names(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("in"))


def jobs(folder: Path) -> list[str]:
    return [str(folder / name) for name in names(folder) if ".job-" in name]


def test_a_cluster_writes_the_file_of_the_serial_program(
    client: Any, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    lines = swath.dask.read_text(source, parts=PARTS)
    assert swath.dask.append(out, lines.map(str.upper)).parts == PARTS
    assert out.read_bytes() == RIGHT and names(tmp_path) == ["out"]
    assert lines.map(len).sum().compute() == len(TEXT)
    moved = lines.repartition(3).map(str.upper)
    swath.dask.append(out, moved)
    assert out.read_bytes() == RIGHT
    views = swath.dask.read_records(source, form="views", parts=4)
    swath.dask.append(out, views.persist().map(bytes).map(bytes.upper))
    assert out.read_bytes() == RIGHT
    # The dashboard shows them by these names.
    tasks = client.run_on_scheduler(lambda dask_scheduler: [*map(str, dask_scheduler.task_prefixes)])
    shown = " ".join(tasks)
    assert "swath-append" in shown and "swath-read-text" in shown, shown


def test_a_cluster_is_an_executor(client: Any, source: Path, tmp_path: Path) -> None:
    plan = job.plan(source, tmp_path / "out", parts=PARTS)
    job.run(client.get_executor(), plan, lambda block: bytes(block).upper())
    assert (tmp_path / "out").read_bytes() == RIGHT and names(tmp_path) == ["out"]
    plan = job.plan(source, tmp_path / "out", parts=PARTS)
    with pytest.raises(ZeroDivisionError) as caught:
        job.run(client.get_executor(), plan, lambda block: 1 // 0, retries=1)  # type: ignore
    assert f"{source} at bytes " in caught.value.__notes__[0]
    assert names(tmp_path) == ["out"]


def test_all_workers_of_a_cluster_do_parts(client: Any, source: Path, tmp_path: Path) -> None:
    def pid(block: Any) -> bytes:
        time.sleep(0.02)
        return b"%d\n" % os.getpid()

    job.run(client.get_executor(), job.plan(source, tmp_path / "out", parts=PARTS), pid, workers=3)
    assert len({*(tmp_path / "out").read_text().split()}) == 2


def test_a_part_that_fails_is_done_again_by_a_cluster(
    client: Any, source: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "in.mark"

    def fails_once(block: Any) -> bytes:
        if b"line 7 " in bytes(block) and not mark.exists():
            mark.touch()
            raise OSError("a passing fault")
        return bytes(block).upper()

    job.run(client.get_executor(), job.plan(source, tmp_path / "out", parts=PARTS), fails_once)
    assert mark.exists() and (tmp_path / "out").read_bytes() == RIGHT


def test_a_future_commits(client: Any, source: Path, tmp_path: Path) -> None:
    lines = swath.dask.read_text(source, parts=PARTS)
    made = swath.dask.append(tmp_path / "out", lines, upper, compute=False)
    future = client.compute(made)
    assert future.result().bytes == len(RIGHT)
    assert (tmp_path / "out").read_bytes() == RIGHT and names(tmp_path) == ["out"]


def test_two_attempts_of_one_part_at_once(client: Any, tmp_path: Path) -> None:
    plan = job.plan([], tmp_path / "out", parts=2)
    writes = swath._dask_writing.Writing(slowly, "", "utf-8", False, False)
    workers = [*client.scheduler_info()["workers"]]
    futures = [
        client.submit(writes, part, part.index, workers=[worker], pure=False)
        for part in plan.parts
        for worker in workers
    ]
    done = [one for future in futures for one in future.result()]
    assert len({it.attempt for it in done}) == 4
    plan.commit(done)
    assert (tmp_path / "out").read_bytes() == b"0 1 2 0 1 2 "


def slowly(index: int) -> Iterator[str]:
    for n in range(3):
        time.sleep(0.05)
        yield f"{n} "


def test_a_worker_that_is_retired_during_the_job(
    cluster: Any, client: Any, source: Path, tmp_path: Path
) -> None:
    # As an adaptive cluster does it.
    begun = threading.Timer(0.1, cluster.scale, (1,))
    begun.start()
    try:
        swath.dask.append(tmp_path / "out", swath.dask.read_text(source, parts=PARTS), slow_upper)
    finally:
        begun.join()
        cluster.scale(2)
    assert (tmp_path / "out").read_bytes() == RIGHT and names(tmp_path) == ["out"]


def slow_upper(lines: Any) -> Any:
    time.sleep(0.03)
    return map(str.upper, lines)


# One worker is killed, in each phase.


def die_once(mark: Path) -> None:
    """Kills the first process that comes here."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except (FileExistsError, FileNotFoundError):
        # Workers keep what tests before this one prepared, and the folders of these are gone.
        return
    os.kill(os.getpid(), signal.SIGKILL)


def prepare(phase: str, mark: Path) -> None:
    """On a worker: dies when it comes to the phase."""
    from swath import _dask_reading as reading
    from swath import _dask_writing as writing

    items, batches, call = reading.Items.items, writing.Writing.batches, writing.Writing.__call__

    def items_of(self: Any, path: Any, extent: Any) -> Any:
        if phase == "reading" and extent[0] > 0:
            die_once(mark)
        return items(self, path, extent)

    def batches_of(self: Any, items: Any) -> Any:
        for batch in batches(self, items):
            yield batch
            if phase == "segment":
                die_once(mark)

    def written(self: Any, part: Any, partition: Any) -> Any:
        made = call(self, part, partition)
        if phase == "done":
            die_once(mark)
        return made

    def commit(plan: Any, done: Any) -> Any:
        def told(bytes_done: int, total: int) -> None:
            if phase == "place" or phase == "commit" and bytes_done == total:
                die_once(mark)

        committed = plan.commit(writing._flat(done), progress=told)
        if phase == "committed":
            die_once(mark)
        return committed

    reading.Items.items = items_of  # type: ignore[method-assign]
    writing.Writing.batches = batches_of  # type: ignore[method-assign]
    writing.Writing.__call__ = written  # type: ignore[method-assign]
    writing._commit = commit


PHASES = ["reading", "segment", "done", "place", "commit", "committed"]


@pytest.mark.parametrize("phase", battery.some(PHASES, part=1))
def test_a_worker_is_killed(client: Any, source: Path, tmp_path: Path, phase: str) -> None:
    out, mark = tmp_path / "out", tmp_path / "in.mark"
    out.write_bytes(b"old")
    client.run(prepare, phase, mark)
    lines = swath.dask.read_text(source, parts=PARTS)
    swath.dask.append(out, lines, upper, compute=False).compute()
    assert mark.exists(), "no worker came to this phase"
    assert out.read_bytes() == RIGHT and names(tmp_path) == ["out"]


# The client is killed, in each phase. It says how far it is, and kills itself, or is killed.
CLIENT = """
import os, shutil, signal, sys, time
import distributed, swath
from swath import job

address, source, out, phase, planted = sys.argv[1:]

def say(what):
    # In one piece, also from several threads.
    os.write(1, (what + "\\n").encode())
    if what.split()[0] == phase:
        os.kill(os.getpid(), signal.SIGKILL)

def place_then_delete(plan, done):
    with open(out + ".planted", "wb") as file:
        for it in sorted(done, key=lambda it: it.part):
            [name] = [name for name in os.listdir(plan.folder) if it.attempt in name]
            path = os.path.join(plan.folder, name)
            file.write(open(path, "rb").read())
            os.unlink(path)
            time.sleep(0.005)
    os.replace(out + ".planted", out)

begin = job.plan
def plan(*args, **how):
    made = begin(*args, **how)
    say("planned " + made.folder)
    return made

def committed(plan, done):
    say("complete")
    if planted == "planted":
        place_then_delete(plan, done)
    else:
        def told(done, total):
            say("place")
            if done == total:
                say("commit")
        plan.commit(done, progress=told)
    say("committed")
    plan.remove()
    say("removed")

job.plan, job._committed = plan, committed

def upper(lines):
    time.sleep(0.01)
    return map(str.upper, lines)

with distributed.Client(address) as client:
    swath.dask.append(out, swath.dask.read_text(source, parts=12), upper)
"""


class Dying:
    """A client in a process of its own."""

    def __init__(self, client: Any, source: Path, out: Path, phase: str, planted: str = "") -> None:
        script = source.with_name("in-client.py")
        script.write_text(CLIENT)
        address = client.scheduler.address
        words = [sys.executable, str(script), address, str(source), str(out), phase, planted]
        self.out = out
        self.old = out.read_bytes() if out.exists() else None
        self.said: list[str] = []
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, text=True, **pipes)

    def kill_after(self, phase: str, seconds: float) -> None:
        """Kills it some time after it has said that it is in a phase."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.split()[0])
            if self.said[-1] == phase:
                time.sleep(seconds)
                break
        self.process.kill()

    def fault(self) -> str | None:
        """Describes the faults once it is dead, and another client has taken over."""
        rest, errors = self.process.communicate(timeout=60)
        self.said += [line.split()[0] for line in rest.splitlines() if line]
        if self.process.returncode not in (0, -signal.SIGKILL):
            return f"the client failed: {errors}"
        found = self.out.read_bytes() if self.out.exists() else None
        allowed = {RIGHT} if "committed" in self.said else {RIGHT, self.old}
        if found not in allowed:
            return f"the target has {found and len(found)} bytes after {self.said}"
        for folder in jobs(self.out.parent):
            try:
                plan = job.open(folder)
            except swath.NotFoundError:
                # Not begun, or almost removed.
                if not job.sweep(self.out.parent, 0):
                    os.rmdir(folder)
                continue
            try:
                self.take_over(plan)
            except swath.Error as error:
                return f"after {self.said}: {error}"
        if "complete" in self.said and self.out.read_bytes() != RIGHT:
            return f"the output is wrong after {self.said}"
        return None

    def take_over(self, plan: job.Plan) -> None:
        if "complete" in self.said:
            # Nothing is done again: all parts were there.
            plan.commit(plan.done())
            plan.remove()
        else:
            plan.abort()


CLIENT_PHASES = ["planned", "complete", "place", "commit", "committed", "removed"]


@pytest.mark.parametrize("phase", battery.some(CLIENT_PHASES, part=1))
def test_the_client_is_killed(client: Any, source: Path, tmp_path: Path, phase: str) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    dying = Dying(client, source, out, phase)
    assert dying.fault() is None
    assert dying.process.returncode == -signal.SIGKILL and phase in dying.said
    assert out.read_bytes() == (b"old" if phase == "planned" else RIGHT)
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("phase", battery.some(["reading", "segment", "done"], part=1))
def test_the_client_is_killed_while_workers_work(
    client: Any, source: Path, tmp_path: Path, phase: str
) -> None:
    dying = Dying(client, source, tmp_path / "out", "")
    moments = {"reading": 0.0, "segment": 0.05, "done": 0.1}
    dying.kill_after("planned", moments[phase])
    assert dying.fault() is None
    assert names(tmp_path) in ([], ["out"])


# Random moments.


def round_of_client(dice: random.Random, client: Any, source: Path, out: Path, planted: str) -> str | None:
    dying = Dying(client, source, out, "", planted)
    phase = "complete" if planted else dice.choice(["planned", "planned", "complete", "place"])
    dying.kill_after(phase, dice.random() * (0.3 if phase == "planned" else 0.03))
    return dying.fault()


def round_of_worker(dice: random.Random, client: Any, source: Path, out: Path) -> str | None:
    pid = dice.choice([*client.run(os.getpid).values()])
    timer = threading.Timer(dice.random() * 0.25, os.kill, (pid, signal.SIGKILL))
    made = swath.dask.append(
        out, swath.dask.read_text(source, parts=PARTS), slow_upper, compute=dice.random() < 0.5
    )
    timer.start()
    try:
        if isinstance(made, job.Committed):
            return None if out.read_bytes() == RIGHT else "the output is wrong"
        made.compute()
    finally:
        timer.join()
    # It may have been killed while it made or removed the folder, which has a hidden name then.
    if any(name.startswith(".") for name in names(out.parent)):
        job.sweep(out.parent, 0)
    return None if out.read_bytes() == RIGHT else "the output is wrong"


@pytest.mark.killed_workers
def test_random_moments(client: Any, source: Path, tmp_path: Path) -> None:
    for number in battery.seeds("killed-workers", part=2, full=40):
        dice = random.Random(number)
        out = tmp_path / f"{number}" / "out"
        out.parent.mkdir()
        if dice.random() < 0.5:
            out.write_bytes(b"old")
        if number % 2:
            fault = round_of_client(dice, client, source, out, "")
        else:
            client.wait_for_workers(2, timeout=30)
            fault = round_of_worker(dice, client, source, out)
        assert fault is None, f"seed {number}: {fault}"
        assert names(out.parent) in ([], ["out"]), number


def test_a_planted_place_then_delete_is_found(client: Any, source: Path, tmp_path: Path) -> None:
    dice = random.Random(1)
    for number in range(10):
        out = tmp_path / f"{number}" / "out"
        out.parent.mkdir()
        if fault := round_of_client(dice, client, source, out, "planted"):
            assert "is not done" in fault or "are not done" in fault, fault
            return
    raise AssertionError("the fault was not found")


# Disks and inputs.


def limited(size: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))


def test_a_full_disk_on_one_worker_is_an_error_that_says_where(
    client: Any, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    [first, _] = client.scheduler_info()["workers"]
    client.run(limited, 8192, workers=[first])
    lines = swath.dask.read_text(source, parts=PARTS)
    try:
        with pytest.raises(swath.Error, match=r"cannot write .*/part-0000.* at bytes 8192") as caught:
            swath.dask.append(out, lines, slow_upper)
    finally:
        client.run(limited, -1, workers=[first])
    assert "in part " in caught.value.__notes__[-1]
    assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]
    swath.dask.append(out, lines, slow_upper)
    assert out.read_bytes() == RIGHT


def test_an_input_that_is_truncated_during_the_job_is_an_error(
    client: Any, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")

    def truncates(lines: Any) -> Any:
        os.truncate(source, 1000)
        return lines

    with pytest.raises(swath.ChangedError, match=r"at bytes \d+\.\.\d+.*part \d+ .*had 3") as caught:
        swath.dask.append(out, swath.dask.read_text(source, parts=PARTS), truncates)
    assert caught.value.filename == str(source)
    assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]
