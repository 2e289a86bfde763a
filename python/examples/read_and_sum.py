"""Reads a file of doubles as an array, and sums another one without keeping it."""

import tempfile
from pathlib import Path

import numpy as np

import swath

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "numbers.f8"
    np.arange(1_000_000, dtype="f8").tofile(path)

    numbers = swath.read_array(path, "f8", (1000, 1000))  # in place of numpy.fromfile
    print(f"mean {numbers.mean()}, byte sum {swath.sum(path)}, xxh3 {swath.hash(path)}")

    reused = bytearray(8_000_000)  # the fastest way to read again and again
    for _ in range(3):
        swath.read(path, out=reused)
    assert np.array_equal(np.frombuffer(reused), numbers.ravel())
