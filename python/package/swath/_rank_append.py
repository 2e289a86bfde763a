"""One output of all ranks, for `swath.mpi.append`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import swath
from swath import _ranks, job
from swath._errors import a_thing

if TYPE_CHECKING:
    from swath._swath import _Bytes, _Durability, _Path

    _Data = _Bytes | Iterable[_Bytes]

# Pieces of fewer bytes are written together.
_SMALL = 64 << 10
_TOGETHER = 1 << 20


def append_file(comm: Any, path: _Path, data: _Data, how: dict[str, Any]) -> int:
    """Writes one file, each rank at its own place; returns its length."""
    with _ranks.together(comm):
        pieces = [*_each(data)]
        size = sum(piece.nbytes for piece in pieces)
    offset, total = comm.exscan(size) or 0, comm.allreduce(size)
    draft: swath.Draft | None = None

    def begin() -> str:
        nonlocal draft
        draft = swath.create_shared(path, total, **how)
        return draft.token

    token = _ranks.first(comm, begin)
    try:
        with _ranks.together(comm):
            out = swath.open_shared(token)
            for piece in _batches(pieces):
                offset += out.write(piece, offset)
        syncs = _ranks.syncs(comm)
        with _ranks.together(comm):
            receipt = out.finish(durability="full" if syncs else "none")
        receipts = comm.gather(receipt)
        _ranks.first(comm, lambda: draft.commit(receipts) if draft else None)
    finally:
        if draft is not None:
            draft.abort()
    return int(total)


def append_segments(comm: Any, path: _Path, data: _Data, durability: _Durability) -> int:
    """Writes a folder with a segment of each rank; returns its bytes."""
    plan = _ranks.first(
        comm, lambda: job.plan([], path, parts=comm.size, form="segments", durability=durability)
    )
    try:
        with _ranks.together(comm):
            with plan.part(comm.rank).writer() as out:
                for piece in _batches(_each(data)):
                    out.write(piece)
        done = comm.gather(out.done)
    except BaseException as error:
        if comm.rank == 0:
            job._given_up(plan, error)
        raise
    return _ranks.first(comm, lambda: _committed(plan, done))


def _committed(plan: job.Plan, done: list[job.Done]) -> int:
    try:
        return plan.commit(done).bytes
    except swath.Error as error:
        if error.reason != "OutcomeUnknown":
            job._given_up(plan, error)
        raise


def _each(data: Any) -> Iterator[memoryview]:
    """Yields the caller's pieces as bytes."""
    if isinstance(data, str):
        raise TypeError("text has no bytes until it is encoded; try: pass text.encode()")
    try:
        view = memoryview(data)
    except TypeError:
        if not isinstance(data, Iterable):
            what = f"{a_thing(data)} is neither bytes nor an iterable of bytes"
            raise TypeError(f'{what}; try: pass bytes, b"" for none') from None
    else:
        yield _bytes_of(view)
        return
    for piece in data:
        if isinstance(piece, str):
            raise TypeError("text has no bytes until it is encoded; try: pass text.encode()")
        if piece is None:
            raise TypeError('a piece of the data is None, not bytes; try: yield b"" for none')
        yield _bytes_of(memoryview(piece))


def _bytes_of(view: memoryview) -> memoryview:
    if not view.c_contiguous:
        raise BufferError("what is to be written has gaps; try: pass a contiguous copy")
    if view.nbytes == 0:
        return memoryview(b"")
    return view.cast("B")


def _batches(pieces: Iterable[memoryview]) -> Iterator[_Bytes]:
    """Yields the same bytes, with small pieces joined."""
    small = bytearray()
    for piece in pieces:
        if piece.nbytes < _SMALL:
            small += piece
        else:
            if small:
                yield bytes(small)
                small.clear()
            yield piece
        if len(small) >= _TOGETHER:
            yield bytes(small)
            small.clear()
    if small:
        yield bytes(small)
