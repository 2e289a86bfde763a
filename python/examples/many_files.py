"""Reads a folder of small files into one memory, and hands large ones over in parts."""

import tempfile
from pathlib import Path

import swath

with tempfile.TemporaryDirectory() as folder:
    for number in range(1000):
        (Path(folder) / f"{number:04}.txt").write_text(f"file {number}\n" * 50)

    files = swath.ingest(folder)
    longest = max(zip(files.paths, files), key=lambda file: len(file[1]))
    print(f"{len(files)} files, {files.nbytes} bytes, the longest is {Path(longest[0]).name}")

    with swath.ingest_stream(folder, memory=1 << 20) as parts:  # within a megabyte
        lines = sum(bytes(part.data).count(b"\n") for part in parts)
    print(f"{lines} lines")
    assert lines == 50_000
