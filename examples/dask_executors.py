"""One job on any executor: a pool of processes, then Dask's, with the same function and the same output."""

import hashlib
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import distributed

import swath


def digests(block: memoryview) -> bytes:
    """The digest of each line of a block of whole lines."""
    lines = bytes(block).splitlines()
    return b"".join(hashlib.sha256(line).hexdigest().encode() + b"\n" for line in lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "in.txt"
        source.write_text("".join(f"line {n}\n" for n in range(30_000)))

        with ProcessPoolExecutor(2) as pool:
            done = swath.job.run(pool, swath.job.plan(source, folder / "a.txt", parts=8), digests)
            print(done)

        how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with distributed.Client(host="127.0.0.1", **how) as client:
            plan = swath.job.plan(source, folder / "b.txt", parts=8)
            swath.job.run(client.get_executor(), plan, digests)

        serial = digests(memoryview(source.read_bytes()))
        assert (folder / "a.txt").read_bytes() == (folder / "b.txt").read_bytes() == serial


if __name__ == "__main__":
    main()
