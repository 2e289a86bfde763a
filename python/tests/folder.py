"""The files that examples read, and nothing else: a folder for them to run in."""

from __future__ import annotations

import importlib.util
import json
import struct
from pathlib import Path


def fill(folder: Path) -> None:
    """Makes the files that the examples of the documentation name."""
    (folder / "data.bin").write_bytes(bytes(range(250)) * 4000)
    (folder / "copy.bin").write_bytes(bytes(range(250)) * 4000)
    (folder / "data.f8").write_bytes(struct.pack("<1000d", *range(1000)))
    (folder / "words.txt").write_text("one two three\nfour five\n")
    (folder / "points.csv").write_text("x,y\n1,0.5\n2,1.5\n3,2.5\n")
    people = 'name,born,height\nAnn,1980-02-29,1.62\n"Bob, Jr.",,1.8\nCid,2001-11-05,\n'
    (folder / "people.csv").write_text(people)
    (folder / "edges.el").write_text("0 1\n1 2\n2 0\n")
    graph = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n"
    (folder / "graph.mtx").write_text(graph)
    images = folder / "images"
    images.mkdir()
    for size, name in enumerate("abc", 1):
        (images / f"{name}.png").write_bytes(name.encode() * size * 100)
    tensors(folder / "a.safetensors", "weight", (2, 3))
    tensors(folder / "b.safetensors", "bias", (3,))
    if importlib.util.find_spec("numpy"):
        import numpy

        numpy.save(folder / "array.npy", numpy.arange(12.0).reshape(3, 4))
    if importlib.util.find_spec("pyarrow"):
        import pyarrow

        table = pyarrow.table({"x": [1, 2, 3], "y": [0.5, 1.5, 2.5]})
        with pyarrow.ipc.new_file(folder / "table.arrow", table.schema) as file:
            file.write_table(table)


def tensors(path: Path, name: str, shape: tuple[int, ...]) -> None:
    """A safetensors file with one tensor of singles."""
    count = 1
    for size in shape:
        count *= size
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * count]}
    header = json.dumps({name: entry}).encode()
    values = struct.pack(f"<{count}f", *range(count))
    path.write_bytes(struct.pack("<Q", len(header)) + header + values)
