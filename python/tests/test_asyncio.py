"""The verbs can be awaited, several at one time, and end when their task is cancelled."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

import battery
import swath
import swath.asyncio


def test_several_at_one_time(make):
    paths = [make(str(number), 100_000 * number) for number in range(1, 5)]

    async def all_of_them():
        return await asyncio.gather(*map(swath.asyncio.read, paths), swath.asyncio.sum(paths[0]))

    *data, total = asyncio.run(all_of_them())
    assert [bytes(one) for one in data] == [path.read_bytes() for path in paths]
    assert total == sum(paths[0].read_bytes())


def test_classes_hashes_and_files(make, tmp_path):
    path = make("files/one", 3 << 20)

    async def work():
        reading = swath.read_prioritised(path, 4)
        chunks = [await swath.asyncio.wait(reading, cls) for cls in range(4)]
        hashed = await swath.asyncio.hash(path, "blake3")
        return chunks, hashed, await swath.asyncio.ingest(tmp_path / "files")

    chunks, hashed, files = asyncio.run(work())
    assert b"".join(bytes(chunk) for part in chunks for chunk in part) == path.read_bytes()
    assert hashed == swath.hash(path, "blake3") and bytes(files[0]) == path.read_bytes()


def test_errors_are_raised_where_it_is_awaited(tmp_path):
    with pytest.raises(FileNotFoundError):
        asyncio.run(swath.asyncio.read(tmp_path / "missing"))


@pytest.mark.parametrize("cancels", battery.some([1, 2, 5], part=1))
def test_a_cancelled_task_has_ended_its_read(make, caplog, cancels):
    path = make("file", 128 << 20)
    out = bytearray(128 << 20)

    async def work():
        begun, cancelled = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def progress(done, total):
            loop.call_soon_threadsafe(begun.set)
            # However slow this thread's neighbours are, it does not get to the end before.
            cancelled.wait(60)

        task = asyncio.create_task(
            swath.asyncio.read(path, out=out, progress=progress, workers=1, chunk_size=4096)
        )
        await begun.wait()
        for _ in range(cancels):
            task.cancel()
            await asyncio.sleep(0)
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        out.append(1)  # Nobody holds it, else this is a BufferError.
        del out[-1]
        return bytes(out)

    then = asyncio.run(work())
    gc.collect()
    assert not caplog.records, "an exception that nobody retrieved"
    assert then == out, "nobody writes there any more"
    assert then != path.read_bytes(), "it was not read to its end"
