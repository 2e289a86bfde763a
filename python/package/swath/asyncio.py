"""Swath's readers for ``asyncio``. Each runs in a thread and ends when its task is cancelled.

>>> import asyncio, swath
>>> len(asyncio.run(swath.asyncio.read("data.bin")))
1000000
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import swath

_R = TypeVar("_R")

__all__ = ["hash", "ingest", "read", "read_array", "sum", "wait"]


def __dir__() -> list[str]:
    return [*__all__]


async def read(*args: Any, **how: Any) -> swath.Buffer | memoryview:
    """As `swath.read`.

    >>> import asyncio
    >>> len(asyncio.run(swath.asyncio.read("data.bin", length=64)))
    64
    """
    return await _made(swath.read, args, how)


async def read_array(*args: Any, **how: Any) -> Any:
    """As `swath.read_array`.

    >>> import asyncio
    >>> asyncio.run(swath.asyncio.read_array("data.f8", "f8", 3))
    array([0., 1., 2.])
    """
    return await _made(swath.read_array, args, how)


async def sum(*args: Any, **how: Any) -> int:
    """As `swath.sum`.

    >>> import asyncio
    >>> asyncio.run(swath.asyncio.sum("data.bin"))
    124500000
    """
    return await _made(swath.sum, args, how)


async def hash(*args: Any, **how: Any) -> str:
    """As `swath.hash`.

    >>> import asyncio
    >>> asyncio.run(swath.asyncio.hash("data.bin", "crc32c"))
    '09b0ca70'
    """
    return await _made(swath.hash, args, how)


async def ingest(*args: Any, **how: Any) -> swath.Files:
    """As `swath.ingest`.

    >>> import asyncio
    >>> len(asyncio.run(swath.asyncio.ingest("images")))
    3
    """
    return await _made(swath.ingest, args, how)


async def wait(reading: swath.Prioritised, cls: int) -> list[memoryview]:
    """As `swath.Prioritised.wait`. Cancelling it ends the whole read.

    >>> import asyncio
    >>> reading = swath.read_prioritised("data.bin", 4)
    >>> chunks = asyncio.run(swath.asyncio.wait(reading, 0))
    >>> len(chunks[0])
    250000
    """
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
        # Called about once for each MiB; an exception here ends the read.
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
        # Borrowed memory must not be written to after this returns.
        await _ended(made)
        raise
    finally:
        if isinstance(told, swath._progress.Bar):
            told.close()


async def _ended(made: asyncio.Future[Any]) -> None:
    """Waits until the read has ended, however often the task is cancelled in the meantime."""
    while not made.done():
        try:
            await asyncio.wait([made])
        except asyncio.CancelledError:
            # Another cancellation takes effect only when the memory is free.
            continue
    if not made.cancelled():
        # Retrieves the exception, which no task awaits.
        made.exception()
