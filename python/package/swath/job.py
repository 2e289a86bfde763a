"""Jobs of many processes: parallel workers write one correct output, once.

Swath starts no workers: an engine that you already have does (a pool of processes, Dask, MPI, a batch system). This
module is the contract between them::

    plan(inputs, target)    client    which bytes each part reads; a folder for what parts write
    part.writer()           worker    an attempt of a part: bytes in order, then a receipt (Done)
    plan.commit(done)       client    each part once, in order: the output, durable under its name
    plan.abort()            client    removes the folder; the target stays as it was

>>> plan = swath.job.plan("words.txt", "upper.txt", parts=2)
>>> done = []
>>> for part in plan.parts:                      # each in any process, in any order
...     with part.writer() as out:
...         for piece in part.pieces:            # the lines that begin in these bytes
...             lines = swath.read(piece.open(), starting_in=piece.extent)
...             _ = out.write(lines.tobytes().upper())
...     done.append(out.done)
>>> plan.commit(done).bytes
24
>>> plan.remove()
>>> print(swath.read("upper.txt").decode(), end="")
ONE TWO THREE
FOUR FIVE

A part may be done several times, also at the same time. Whichever process is killed, and whenever, the target is
complete or what it was before. Nothing is removed before the output is durable. An input that has changed since the
plan was made is an error. `run` does all of this on any executor.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import datetime
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from swath import _job_trouble, _swath
from swath._errors import ChangedError, Error
from swath._job_reading import blocks_of, ends_of
from swath._swath import Committed, Done, Piece, Plan, SegmentWriter, Status, Swept
from swath._swath import JobInput as Input
from swath._swath import JobPart as Part

if TYPE_CHECKING:
    from swath._swath import _Bytes, _Division, _Durability, _HardLinks, _Path, _Progress

    _Function = Callable[[Any], _Bytes]

__all__ = [
    "Committed",
    "Done",
    "Input",
    "Part",
    "Piece",
    "Plan",
    "SegmentWriter",
    "Status",
    "Swept",
    "attempt",
    "divide",
    "open",
    "plan",
    "run",
    "status",
    "sweep",
]

# Bytes of input whose results an attempt holds at one time.
_STEP = 32 << 20


def __dir__() -> list[str]:
    return [*__all__]


def plan(
    inputs: _Path | Iterable[_Path],
    target: _Path,
    *,
    parts: int = 0,
    part_size: int = 0,
    division: _Division = "records",
    form: Literal["file", "segments"] = "file",
    folder: _Path | None = None,
    durability: _Durability = "full",
    replace: bool = True,
    hard_links: _HardLinks = "refuse",
) -> Plan:
    """Plans a job: looks at the inputs, divides them into parts, and creates the folder of the job.

    Only inputs of length 0 are opened and, for "lines", those that are divided; nothing is created at the target.
    Cost: one stat(2) for each input, and a folder with one file; for "lines" also a short read for each part.

    Parameters
    ----------
    inputs : path, or iterable of paths
        Regular files, read as one sequence of bytes. May be empty: then parts read nothing.
    target : path
        Where the output goes.
    parts : int
        The most parts; none is empty. 0 means as many as ``part_size`` gives, or 1 without inputs. Ignored for
        "inputs".
    part_size : int
        Bytes of input of a part; 0 means 64 MiB. Ignored for "inputs".
    division : {"records", "lines", "bytes", "inputs", "groups"} or int
        Where inputs may be divided, and so what a part has. "records": at any byte; a part has the records that
        begin in its pieces, and each input stands alone. ``delimiter=`` of `run` and `attempt`, or the reader to
        which you pass ``starting_in=``, defines the records: use the same one for all parts. The command `swath job
        run` cannot do such parts. "lines": where lines begin; a part has whole lines, and all inputs are one text.
        "bytes": at any byte; a part has exactly its bytes. "inputs": each input that has bytes is one part.
        "groups": between inputs only; a part may have several. An int: at multiples of this many bytes; the length
        of each input must be such a multiple.
    form : {"file", "segments"}
        "file": one ordinary file; the commit copies the segments to their places, sharing blocks where
        the file system can. "segments": the job's folder is the output; the commit adds a manifest and moves nothing.
        `swath cat` and `swath cp` read it.
    folder : path, optional
        The folder to which parts write; it must not exist. Default: next to the target, ``TARGET.job-XXXXXXXX``. All
        processes must see it under this path.
    durability : {"full", "none"}
        Whether the commit waits until the device has the output.
    replace : bool
        Whether an existing file may be replaced, as in all functions of this package that write. The command `swath job
        plan` refuses to without ``--force``, as all commands do.
    hard_links : {"refuse", "break"}
        How to treat a file that has other names, which keep the old bytes: refuse, or give only this name the new ones.

    Examples
    --------
    >>> plan = swath.job.plan("words.txt", "out.txt", parts=3)
    >>> [part.pieces[0].extent for part in plan.parts]
    [(0, 8), (8, 8), (16, 8)]
    >>> plan.abort()
    """
    _job_trouble.check_counts(parts=parts, part_size=part_size)
    return _swath.plan_job(
        inputs,
        target,
        parts=parts,
        part_size=part_size,
        division=division,
        form=form,
        folder=folder,
        durability=durability,
        replace=replace,
        hard_links=hard_links,
    )


def divide(
    inputs: _Path | Iterable[_Path],
    *,
    parts: int = 0,
    part_size: int = 0,
    division: _Division = "records",
) -> list[Part]:
    """Divides inputs into parts as `plan` does, without a job: for programs that only read.

    Such a part can check its inputs, but has no writer. Parameters are those of `plan`.

    Examples
    --------
    >>> [len(swath.read(piece.open(), starting_in=piece.extent))
    ...  for part in swath.job.divide("words.txt", parts=2) for piece in part.pieces]
    [14, 10]
    """
    _job_trouble.check_counts(parts=parts, part_size=part_size)
    return _swath.divide_inputs(inputs, parts=parts, part_size=part_size, division=division)


def open(folder: _Path, *, hard_links: _HardLinks = "refuse") -> Plan:
    """Opens the plan of a job that another process has begun.

    Examples
    --------
    >>> plan = swath.job.plan("words.txt", "out.txt")
    >>> swath.job.open(plan.folder).id == plan.id
    True
    >>> plan.abort()
    """
    return _swath.open_job(folder, hard_links)


def status(folder: _Path) -> Status:
    """Looks into the folder of a job: returns its progress, and which parts are missing.

    Reads the plan and the names of segments, never their bytes.

    Examples
    --------
    >>> plan = swath.job.plan("words.txt", "out.txt", parts=3)
    >>> with plan.part(1).writer() as out:
    ...     pass
    >>> swath.job.status(plan.folder).missing
    [(0, 1), (2, 3)]
    >>> plan.abort()
    """
    return open(folder).status()


def sweep(folder: _Path, older_than: float | datetime.timedelta) -> list[Swept]:
    """Removes the folders of jobs in ``folder`` in which nothing has changed for a time: those that killed clients
    left.

    Committed outputs stay, also folders of segments. So do jobs that another process is committing, folders of other
    users, and everything else in ``folder``. Choose an age longer than any attempt takes: a running one cannot always
    be detected.

    Parameters
    ----------
    folder : path
        Where the folders of jobs are.
    older_than : float or timedelta
        In seconds, if it is a number.

    Examples
    --------
    >>> swath.job.sweep(".", older_than=7 * 24 * 3600)
    []
    """
    return _swath.sweep_jobs(folder, older_than)


def attempt(
    part: Part,
    function: _Function,
    *,
    delimiter: bytes | str | int | None = None,
    block_size: int = 0,
    workers: int = 1,
) -> Done:
    """Does a part in this process: reads its bytes, writes the results of ``function``, and returns the receipt. `run`
    calls it on workers; call it yourself on an engine that has no executor.

    Unless the job is divided by "records", the command `swath job run` reads the same bytes, so it may do some parts,
    and this function others.

    Parameters
    ----------
    part : Part
    function : callable
        Receives a read-only memoryview of whole records, as in `scan_records`, and returns bytes: ``b""`` for
        nothing. None is an error, because a forgotten ``return`` gives it too. In a job without inputs it receives the
        index of the part, once.
    delimiter : bytes or str of one byte, "csv", or int
        Where records end, as for `scan_records`. Only for parts of "records", "inputs" and "groups": with "lines"
        records are lines, with a width they have that width, and with "bytes" a block begins and ends anywhere.
    block_size : int
        Bytes that ``function`` receives at one time; 0 means 1 MiB.
    workers : int
        Threads that call ``function``; 0 means one per core.

    Examples
    --------
    >>> plan = swath.job.plan("words.txt", "upper.txt")
    >>> done = swath.job.attempt(plan.part(0), lambda block: bytes(block).upper())
    >>> plan.commit([done]).bytes
    24
    >>> plan.remove()
    """
    function, where = _job_trouble.returning(function, part), ""
    try:
        with part.writer() as out:
            if not part.pieces:
                _write(out, [function(part.index)])
            how = {"block_size": block_size, "workers": workers}
            for where, made in blocks_of(part, delimiter, function, how, _STEP):
                _write(out, made())
    except Exception as error:
        error.add_note(f"in part {part.index} of the job {part.folder}{where}")
        raise
    return out.finish()


def _write(out: SegmentWriter, made: list[_Bytes]) -> None:
    for one in made:
        out.write(one)


class _Future(Protocol):
    def result(self) -> Any: ...
    def cancel(self) -> Any: ...


class _Executor(Protocol):
    def submit(self, function: Callable[..., Any], /, *args: Any, **how: Any) -> Any: ...


def run(
    executor: _Executor,
    plan: Plan,
    function: _Function,
    *,
    delimiter: bytes | str | int | None = None,
    block_size: int = 0,
    workers: int = 1,
    retries: int = 2,
    progress: _Progress = None,
) -> Committed:
    """Runs a job on an executor: workers apply ``function`` to the records of each part, and the results are one
    output, in the order of the inputs.

    An executor is any object whose ``submit`` returns futures with ``result`` and ``cancel``:
    ``concurrent.futures.ProcessPoolExecutor``, Dask's ``client.get_executor()``, mpi4py's ``MPIPoolExecutor``. When the
    output is durable, the folder of the job is removed. If a part fails for good, or the executor loses workers or its
    scheduler, the rest is cancelled, the job is aborted, and the target stays as it was. If only the commit fails, the
    parts' output is kept, and the exception says where.

    Parameters
    ----------
    executor : executor
    plan : Plan
    function, delimiter, block_size, workers
        As for `attempt`. Other processes must be able to import or unpickle ``function``.
    retries : int
        How often a failed part is done again.
    progress : bool or callable
        Progress of the commit, as for `write_csv`.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> plan = swath.job.plan("words.txt", "upper.txt", parts=4)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     swath.job.run(pool, plan, lambda block: bytes(block).upper()).bytes
    24
    """
    _job_trouble.check_runnable(executor, plan)
    _job_trouble.check_counts(retries=retries)
    ends_of(plan.division, delimiter)
    how = {"delimiter": delimiter, "block_size": block_size, "workers": workers}
    waiting: dict[_Future, tuple[Part, int]] = {}
    done: list[Done] = []
    try:
        for part in plan.parts:
            waiting[executor.submit(_attempt, part, function, how, retries)] = part, retries
        while waiting:
            for future in _finished(waiting):
                part, left = waiting.pop(future)
                try:
                    done.append(future.result())
                except Exception as error:
                    _job_trouble.name_part(error, part)
                    if left <= 0 or isinstance(error, (ChangedError, *_job_trouble.LOST)):
                        raise
                    again = executor.submit(_attempt, part, function, how, left - 1)
                    waiting[again] = part, left - 1
    except BaseException as error:
        for future in waiting:
            # A lost executor cannot cancel.
            with contextlib.suppress(Exception):
                future.cancel()
        _job_trouble.note_lost(error, plan)
        _given_up(plan, error)
        raise
    return _committed(plan, done, progress)


def _attempt(part: Part, function: _Function, how: dict[str, Any], left: int) -> Done:
    """Calls `attempt` without keywords, which an executor may take for its own, as Dask does ``workers``. Dask also
    runs equal calls only once, so ``left`` differs between the attempts of a part."""
    return attempt(part, function, **how)


def _finished(waiting: dict[_Future, Any]) -> list[_Future]:
    """Returns the futures that have ended; if they cannot be awaited together, the first one, to be waited for."""
    ours = [future for future in waiting if isinstance(future, concurrent.futures.Future)]
    if len(ours) < len(waiting):
        return [next(iter(waiting))]
    first = concurrent.futures.FIRST_COMPLETED
    return [*concurrent.futures.wait(ours, return_when=first).done]


def _given_up(plan: Plan, error: BaseException) -> None:
    """Aborts the job; if that fails, adds a note to the error that ended it."""
    try:
        plan.abort()
    except Error as other:
        error.add_note(f"the job could not be aborted: {other}")


def _committed(plan: Plan, done: Iterable[Done], progress: _Progress = None) -> Committed:
    """Commits a job and removes its folder. The folder stays after a failure that may be temporary."""
    try:
        committed = plan.commit(done, progress=progress)
    except ChangedError as error:
        _given_up(plan, error)
        raise
    except BaseException as error:
        _job_trouble.note_kept(error, plan)
        raise
    plan.remove()
    return committed
