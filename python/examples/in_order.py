"""Computes on all cores, and writes what the serial loop would have written."""

import hashlib
import tempfile
from pathlib import Path

import swath


def digest(number: int) -> bytes:
    """Something that releases the interpreter's lock."""
    return hashlib.sha256(number.to_bytes(8, "big") * 10_000).hexdigest().encode() + b"\n"


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "digests.txt"
    with swath.append(path) as out:  # complete at the end of the block, or not there
        out.map_ordered(digest, range(500), workers=4)
    assert path.read_bytes() == b"".join(map(digest, range(500)))

    # Records in, records out: each block of whole lines is a task.
    sums = swath.scan_records(path, lambda block: bytes(block).count(b"a"), block_size=4096)
    print(f"{path.stat().st_size} bytes, {sum(sums)} times the letter a")
