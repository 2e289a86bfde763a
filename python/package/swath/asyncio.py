"""The same verbs for ``asyncio``: they are made in a thread, and end when the task is cancelled.

>>> import asyncio, swath.asyncio
>>> len(asyncio.run(swath.asyncio.read("/etc/passwd"))) > 0
True
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import swath

_R = TypeVar("_R")

__all__ = ["hash", "ingest", "read", "read_array", "sum", "wait"]


async def read(*args: Any, **how: Any) -> swath.Buffer | memoryview:
    """As `swath.read`."""
    return await _made(swath.read, args, how)


async def read_array(*args: Any, **how: Any) -> Any:
    """As `swath.read_array`."""
    return await _made(swath.read_array, args, how)


async def sum(*args: Any, **how: Any) -> int:
    """As `swath.sum`."""
    return await _made(swath.sum, args, how)


async def hash(*args: Any, **how: Any) -> str:
    """As `swath.hash`."""
    return await _made(swath.hash, args, how)


async def ingest(*args: Any, **how: Any) -> swath.Files:
    """As `swath.ingest`."""
    return await _made(swath.ingest, args, how)


async def wait(reading: swath.Prioritised, cls: int) -> list[memoryview]:
    """As `swath.Prioritised.wait`. Cancelled, it ends the whole read."""
    made = asyncio.get_running_loop().run_in_executor(None, reading.wait, cls)
    try:
        return await asyncio.shield(made)
    except asyncio.CancelledError:
        reading.cancel()
        await _ended(made)
        raise


async def _made(verb: Callable[..., _R], args: tuple[Any, ...], how: dict[str, Any]) -> _R:
    cancelled = threading.Event()
    told = swath._progress.Bar() if how.get("progress") is True else how.get("progress") or None

    def progress(done: int, total: int | None) -> None:
        # About once for each MiB: an exception here ends the read.
        if cancelled.is_set():
            raise asyncio.CancelledError
        if told is not None:
            told(done, total)

    how = {**how, "progress": progress}
    made = asyncio.get_running_loop().run_in_executor(None, lambda: verb(*args, **how))
    try:
        return await asyncio.shield(made)
    except asyncio.CancelledError:
        cancelled.set()
        # Memory that was lent must not be written to any more when this is over.
        await _ended(made)
        raise
    finally:
        if isinstance(told, swath._progress.Bar):
            told.close()


async def _ended(made: asyncio.Future[Any]) -> None:
    """Waits until the read is over, however often the task is cancelled meanwhile."""
    while not made.done():
        try:
            await asyncio.wait([made])
        except asyncio.CancelledError:
            # Whoever cancels again is told when the memory is free, not before.
            continue
    if not made.cancelled():
        # Nobody waits for what it raised any more.
        made.exception()
