"""Cases in which the overhead costs more than the work."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np

import swath
from cases import GIB, Case, plain_read


def small_cases(data: Path, quick: bool) -> list[Case]:
    cases = [
        four_kib(data),
        *(read_out(data, size, label) for size, label in [(8 << 10, "8 KiB"), (1 << 20, "1 MiB")]),
        sum_of_a_mebibyte(data),
        one_tensor(data),
        fifty_rows(data),
        tiny_matrix(data),
    ]
    for case in cases:
        case.touched = 1 << 20
        if quick:
            case.repeats = max(case.repeats // 20, 1)
    return [*cases, tiny_items(data, quick), scanned_records(data, quick)]


def four_kib(data: Path) -> Case:
    path = data / "small"
    path.write_bytes(random.Random(5).randbytes(4096))
    expected = path.read_bytes()
    descriptor = os.open(path, os.O_RDONLY)

    def three() -> bytes:
        opened = os.open(path, os.O_RDONLY)
        try:
            return os.pread(opened, 4096, 0)
        finally:
            os.close(opened)

    case = Case("4 KiB, warm", [path])
    case.repeats = 20_000
    name = str(path)
    case.add("os.pread", lambda: os.pread(descriptor, 4096, 0), lambda it: it == expected)
    case.add("swath.read(descriptor)", lambda: swath.read(descriptor, length=4096), expected.__eq__)
    case.add("os.open, os.pread, os.close", three, lambda it: it == expected)
    case.add("swath.read(path)", lambda: swath.read(name), lambda it: it == expected)
    case.add("open().read()", lambda: plain_read(path), lambda it: it == expected)
    case.checks["swath.read(descriptor)"] = lambda it: it == expected
    case.cost("swath.read(descriptor)", "os.pread", 5e-6)
    case.cost("swath.read(path)", "os.pread", 5e-6)
    return case


def read_out(data: Path, size: int, label: str) -> Case:
    path = data / f"small-{size}"
    path.write_bytes(random.Random(size).randbytes(size))
    expected = path.read_bytes()
    target = bytearray(size)
    name = str(path)

    def readinto() -> bytearray:
        with open(name, "rb", buffering=0) as file:
            file.readinto(target)
        return target

    def read() -> bytearray:
        swath.read(name, out=target)
        return target

    case = Case(f"read into {label}, warm", [path])
    case.repeats = 10_000 if size < 1 << 20 else 1000
    case.add("swath.read(out=)", read, expected.__eq__)
    case.add("readinto", readinto, expected.__eq__)
    case.goal("swath.read(out=)", "readinto", 0.85)
    return case


def sum_of_a_mebibyte(data: Path) -> Case:
    path = data / "small-1048576"
    expected = sum(path.read_bytes())
    name = str(path)
    case = Case("sum of 1 MiB, warm", [path])
    case.repeats = 1000
    case.add("swath.sum", lambda: swath.sum(name), expected.__eq__)
    target = bytearray(1 << 20)

    def readinto() -> int:
        with open(name, "rb", buffering=0) as file:
            return file.readinto(target)

    case.add("readinto, without a sum", readinto, (1 << 20).__eq__)
    case.goal("swath.sum", "readinto, without a sum", 1)
    return case


def one_tensor(data: Path) -> Case:
    path = data / "one.safetensors"
    tensor = np.arange(1000, dtype=np.float32)
    header = b'{"a":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + tensor.tobytes())
    name = str(path)

    def is_it(found: Any) -> bool:
        return np.array_equal(found["a"], tensor)

    case = Case("one tensor of 4 kB, warm", [path])
    case.repeats = 1000
    case.add("swath.load_safetensors", lambda: swath.load_safetensors(name), is_it)
    try:
        from safetensors.numpy import load_file
    except ImportError as error:
        case.absent["load_file"] = str(error)
    else:
        case.add("load_file", lambda: load_file(name), is_it)
    case.goal("swath.load_safetensors", "load_file", 1.1)
    return case


def fifty_rows(data: Path) -> Case:
    path = data / "fifty.csv"
    rows = np.arange(100, dtype=np.float64).reshape(50, 2) / 8
    path.write_text("".join(f"{a},{b}\n" for a, b in rows))
    name = str(path)

    def is_it(found: Any) -> bool:
        return np.array_equal(np.asarray(found), rows)

    case = Case("50 rows of numbers, warm", [path])
    case.repeats = 500
    case.add("swath.read_csv", lambda: swath.read_csv(name, "f8"), is_it)
    case.add("numpy.loadtxt", lambda: np.loadtxt(name, delimiter=","), is_it)
    case.goal("swath.read_csv", "numpy.loadtxt", 1)
    return case


def tiny_matrix(data: Path) -> Case:
    import scipy.io

    path = data / "tiny.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.5\n2 3 2\n3 2 4\n")
    name = str(path)
    expected = scipy.io.mmread(name).toarray()

    def is_it(found: Any) -> bool:
        return np.array_equal(found.toarray(), expected)

    case = Case("matrix of 3 entries, warm", [path])
    case.repeats = 500
    case.add("swath.read_mtx", lambda: swath.read_mtx(name), is_it)
    case.add("scipy.io.mmread", lambda: scipy.io.mmread(name), is_it)
    case.goal("swath.read_mtx", "scipy.io.mmread", 1)
    return case


def tiny_items(data: Path, quick: bool) -> Case:
    out = data / "items"
    count = 5000 if quick else 100_000
    items = [b"%05d\n" % it for it in range(count)]
    expected = b"".join(items)

    def mapped() -> bytes:
        with swath.append(out, durability="none") as output:
            output.map_ordered(bytes.swapcase, items)
        return out.read_bytes()

    def loop() -> bytes:
        with open(out, "wb") as file:
            for item in items:
                file.write(bytes.swapcase(item))
        return out.read_bytes()

    case = Case(f"{count:,} items of 6 bytes", [])
    case.touched = 1 << 20
    case.add("swath.map_ordered", mapped, expected.__eq__)
    case.add("loop", loop, expected.__eq__)
    case.goal("swath.map_ordered", "loop", 1 / 3)
    return case


def scanned_records(data: Path, quick: bool) -> Case:
    path = data / "lines"
    block = b"".join(b"%063d\n" % it for it in range(1 << 14))
    count = (16 if quick else 900) << 14
    if not path.exists() or path.stat().st_size != count * 64:
        with open(path, "wb") as file:
            for _ in range(count >> 14):
                file.write(block)
    name = str(path)

    def scanned() -> int:
        return sum(swath.scan_records(name, lambda block: bytes(block).count(b"\n")))

    def counted() -> int:
        return swath.scan_records(name, "count")

    def loop() -> int:
        found = 0
        with open(name, "rb", buffering=0) as file:
            while block := file.read(1 << 20):
                found += block.count(b"\n")
        return found

    case = Case(f"count records in {count * 64 / 1e9:.1f} GB, warm", [path])
    case.touched = GIB
    case.add("swath.scan_records", scanned, count.__eq__)
    case.add("swath.scan_records(count)", counted, count.__eq__)
    case.add("loop over blocks", loop, count.__eq__)
    case.goal("swath.scan_records(count)", "loop over blocks", 2)
    return case
