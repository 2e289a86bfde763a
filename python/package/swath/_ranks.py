"""The common work of the ranks of an MPI program: errors, shares of a file, and exchange."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import swath
from swath import job
from swath._compressed import HEAD, refuse
from swath._errors import named, unreadable
from swath._sources import FoundPath

if TYPE_CHECKING:
    import numpy as np

_T = TypeVar("_T")

# Messages have 32-bit counts of items before MPI 4.
MOST_ITEMS = 2**31 - 1


def mpi() -> Any:
    """Imports mpi4py; without it, the error says how to install it."""
    try:
        from mpi4py import MPI  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ModuleNotFoundError:
        raise ImportError(
            "swath.mpi needs mpi4py, which is not installed; try: run pip install 'swath[mpi]'",
            name="mpi4py",
        ) from None
    return MPI


@contextmanager
def together(comm: Any) -> Iterator[None]:
    """Runs each rank's own work: if one rank fails, all raise. No rank may wait for another inside."""
    mpi()
    error: BaseException | None = None
    try:
        yield
    except BaseException as caught:
        error = caught
    agree(comm, error)


def agree(comm: Any, error: BaseException | None) -> None:
    """Raises the error of the first rank that has one, on all ranks."""
    failed = comm.size if error is None else comm.rank
    first = comm.allreduce(failed, op=mpi().MIN)
    if first == comm.size:
        return
    told = comm.bcast(portable(error, comm) if comm.rank == first else None, root=first)
    if comm.rank == first and error is not None:
        raise error
    raise told from error


def portable(error: BaseException | None, comm: Any) -> BaseException:
    """Adds the rank to an error; returns the error, or one with its text if it cannot be sent."""
    assert error is not None
    error.add_note(f"on rank {comm.rank} of {comm.size}")
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        other = RuntimeError(f"{type(error).__name__}: {error}")
        for note in error.__notes__:
            other.add_note(note)
        return other


def first(comm: Any, call: Callable[[], _T]) -> _T:
    """Calls ``call`` on the first rank, and returns its result on all. If it raises, all do."""
    mpi()
    value: Any = None
    error: BaseException | None = None
    failed = False
    if comm.rank == 0:
        try:
            value = call()
        except BaseException as caught:
            error, failed = caught, True
            value = portable(caught, comm)
    failed, value = comm.bcast((failed, value))
    if not failed:
        made: _T = value
        return made
    raise value if error is None else error


class Share:
    """This rank's bytes of a file, which was the same for all ranks when it began."""

    def __init__(self, comm: Any, path: Any) -> None:
        parts = first(comm, lambda: job.divide([path], parts=comm.size))
        lengths = [sum(piece.length for piece in part.pieces) for part in parts]
        # There are fewer parts than ranks if there are fewer bytes.
        lengths += [0] * (comm.size - len(lengths))
        self.extent = (sum(lengths[: comm.rank]), lengths[comm.rank])
        self.length = sum(lengths)
        # A rank without bytes still detects that the file has changed.
        self._part = next((part for part in parts if part.pieces), None)
        self._path = path

    def open(self) -> Any:
        """Opens the file that was divided, so that no other one is read; an empty file by its path."""
        return FoundPath(self._path) if self._part is None else self._part.pieces[0].open()

    def open_text(self) -> Any:
        """Opens the file as `open` does; fails if it is compressed."""
        source = self.open()
        refuse(named(self._path), bytes(swath.read(source, length=min(HEAD, self.length))))
        return source

    def check(self) -> None:
        """Fails if the file has changed since it was divided."""
        if self._part is not None:
            self._part.check_inputs()


def node_of(comm: Any) -> Any:
    """Returns a communicator of the ranks of this machine, in their order; the caller frees it."""
    return comm.Split_type(mpi().COMM_TYPE_SHARED, comm.rank)


def check_room(path: Any, length: int) -> None:
    """Fails if a machine has no room: with some MPI libraries, the other ranks would wait."""
    try:
        room = os.statvfs("/dev/shm")
    except OSError:
        return
    free = room.f_bavail * room.f_frsize
    if free < length:
        what = f"{length} bytes do not fit into /dev/shm, which has room for {free}"
        hint = "let each rank read its own part, or enlarge /dev/shm"
        raise unreadable("OutOfMemory", named(path), what, hint)


def threads(comm: Any, workers: int) -> int:
    """Returns the threads of this rank: its share of the cores of its machine, unless the caller passes a
    number."""
    # Split on all ranks, because only some may have passed a number.
    node = node_of(comm)
    ranks: int = node.size
    node.Free()
    return workers or max(1, len(os.sched_getaffinity(0)) // ranks)


def syncs(comm: Any) -> bool:
    """Returns whether this rank syncs for its machine, after all ranks of the machine have written. The
    commit, on the first rank, syncs for the machine of that rank."""
    node = node_of(comm)
    node.Barrier()
    is_first: bool = node.rank == 0
    node.Free()
    return is_first and comm.rank != 0


def exchange(
    comm: Any, items: np.ndarray[Any, Any], counts: list[int], most: int = MOST_ITEMS
) -> list[np.ndarray[Any, Any]]:
    """Sends the first ``counts[0]`` items to the first rank, the next ones to the second, and so on; returns
    the items from each rank."""
    from swath._numpy import np

    kind = items.dtype
    coming = comm.alltoall(counts)
    with together(comm):
        taken = np.empty(sum(coming), kind)
    # Offsets within a message have 32 bits too.
    largest = comm.allreduce(max(len(items), len(taken)), op=mpi().MAX)
    sends, takes = starts(counts), starts(coming)
    raw, into = items.view(f"V{kind.itemsize}"), taken.view(f"V{kind.itemsize}")
    unit = mpi().BYTE.Create_contiguous(kind.itemsize).Commit()
    try:
        if largest <= most:
            comm.Alltoallv([raw, counts, sends[:-1], unit], [into, coming, takes[:-1], unit])
        else:
            _in_pieces(comm, (raw, sends), (into, takes), (unit, most))
    finally:
        unit.Free()
    return [taken[takes[rank] : takes[rank + 1]] for rank in range(comm.size)]


def _in_pieces(comm: Any, sent: Any, taken: Any, how: Any) -> None:
    """Exchanges items in pieces of at most ``most``, with one rank after the other."""
    (raw, sends), (into, takes), (unit, most) = sent, taken, how
    # The caller's messages may have the same tags.
    own = comm.Dup()
    try:
        for step in range(own.size):
            to, of = (own.rank + step) % own.size, (own.rank - step) % own.size
            goes, comes = pieces(sends[to], sends[to + 1], most), pieces(takes[of], takes[of + 1], most)
            waiting = [
                own.Irecv([into[begin:end], end - begin, unit], source=of) for begin, end in comes
            ]
            waiting += [own.Isend([raw[begin:end], end - begin, unit], dest=to) for begin, end in goes]
            mpi().Request.Waitall(waiting)
    finally:
        own.Free()


def starts(counts: list[int]) -> list[int]:
    """Returns where each run of items begins, and where the last one ends."""
    found = [0]
    for count in counts:
        found.append(found[-1] + count)
    return found


def pieces(begin: int, end: int, most: int) -> list[tuple[int, int]]:
    return [(at, min(at + most, end)) for at in range(begin, end, most)]
