"""Measures the package beside what users pick today, and leaves a record.

    python lab/python/record.py --data DIR --out DIR [--rounds 9] [--only read,ingest]
        [--library DIR/libswath.so] [--frame PROGRAM]

Contestants of a case take turns in this process, in the frame of all recorded measurements: a child,
`swath-benches python` (made by cargo; --frame names another), says whose turn it is, and leaves
raw.csv and summary.md. Warm: the files are read before each run. Cold: written back and dropped from
the page cache before each run (as root of the whole machine). Then, right before the run, more
memory than it takes is touched and given back, so that nobody is the first to get it from a host.
Results are compared with what was written. Peers that are not installed are named as absent.

The Rust library is measured in the same process, by its C library with nothing of Python between:
``cargo xtask install-c --prefix DIR`` makes it.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import swath
from cases import GIB, Case, plain_read
from small import small_cases


class Frame:
    """The measuring program, which chooses the next contestant and keeps the times."""

    def __init__(self, program: Path | None, out: Path, rounds: int, head: str) -> None:
        root = Path(__file__).resolve().parents[2]
        made = ["cargo", "run", "-q", "--release", "--manifest-path", root / "Cargo.toml"]
        words = [program] if program else [*made, "-p", "swath-benches", "--"]
        words += ["python", out, rounds]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.child = subprocess.Popen([str(word) for word in words], text=True, **pipes)
        self.say(head)

    def say(self, what: Any) -> None:
        print(json.dumps(what), file=self.child.stdin, flush=True)

    def measure(self, case: Case) -> None:
        self.say(case.told())
        for line in self.child.stdout:
            name = json.loads(line)
            if name is None:
                return
            self.say(case.seconds(name))
        sys.exit(f"{case.name}: the frame has ended")

    def close(self) -> None:
        self.child.stdin.close()
        if self.child.wait() != 0:
            sys.exit("the frame has failed")


def big_file(data: Path, size: int) -> Path:
    path = data / f"bytes-{size}"
    if not path.exists() or path.stat().st_size != size:
        block = np.random.default_rng(1).integers(0, 256, 64 << 20, "u1").tobytes()
        with open(path, "wb") as file:
            for _ in range(size // len(block)):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    return path


class Library:
    """The Rust library through its C functions, without Python between the call and the bytes."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        for name in ("swath_buffer_data", "swath_buffer_len"):
            getattr(self.library, name).argtypes = [ctypes.c_void_p]
        self.library.swath_buffer_data.restype = ctypes.c_void_p
        self.library.swath_buffer_len.restype = ctypes.c_size_t
        self.library.swath_buffer_free.argtypes = [ctypes.c_void_p]

    def read(self, path: Path) -> Any:
        buffer = ctypes.c_void_p()
        status = self.library.swath_read(bytes(path), None, ctypes.byref(buffer), None)
        assert status == 0, status
        data = self.library.swath_buffer_data(buffer)
        view = (ctypes.c_ubyte * self.library.swath_buffer_len(buffer)).from_address(data)
        weakref.finalize(view, self.library.swath_buffer_free, buffer.value)
        return view

    def read_into(self, path: Path, target: bytearray) -> Any:
        view = (ctypes.c_ubyte * len(target)).from_buffer(target)
        status = self.library.swath_read_into(bytes(path), None, view, ctypes.c_size_t(len(target)), None)
        assert status == 0, status
        return target


def read_cases(data: Path, quick: bool, library: Library | None) -> list[Case]:
    path = big_file(data, (256 << 20) if quick else 2 * GIB)
    size = path.stat().st_size
    whole = swath.sum(path)

    def check(result: Any) -> bool:
        view = np.frombuffer(result, np.uint8)
        return len(view) == size and int(view.sum(dtype=np.uint64)) == whole

    cases = []
    reused = bytearray(size)

    def add_library(case: Case, ours: str, read: Callable[[Library], Any], check: Any) -> None:
        if library is None:
            case.absent["the Rust library"] = "no --library"
            return
        case.add("the Rust library", lambda: read(library), check)
        case.goal(ours, "the Rust library", 0.97)

    case = Case("read, warm, reused", [path])
    case.add("swath.read(out=)", lambda: swath.read(path, out=reused), check)

    def readinto() -> Any:
        with open(path, "rb", buffering=0) as file:
            view = memoryview(reused)
            while view:
                view = view[file.readinto(view) :]
        return reused

    case.add("readinto", readinto, check)
    case.add("open().read()", lambda: plain_read(path), check)
    case.goal("swath.read(out=)", "open().read()", 5)
    add_library(case, "swath.read(out=)", lambda it: it.read_into(path, reused), check)
    cases.append(case)
    for cold in (False, True):
        case = Case(f"read, {'cold' if cold else 'warm, fresh'}", [path], cold)
        case.add("swath.read", lambda: swath.read(path), check)
        case.add("open().read()", lambda: plain_read(path), check)
        case.add("numpy.fromfile", lambda: np.fromfile(path, np.uint8), check)
        add_library(case, "swath.read", lambda it: it.read(path), check)
        case.touched = 4 * size
        if cold:
            past = "swath.read(page_cache='bypass')"
            case.add(past, lambda: swath.read(path, page_cache="bypass"), check)
            case.goal(past, "numpy.fromfile", 2.5)
        if not cold:
            case.goal("swath.read", "open().read()", 4)
        case.goal("swath.read", "numpy.fromfile", 2.5 if cold else 1.5)
        cases.append(case)
    return cases


def ingest_cases(data: Path, quick: bool, _: Library | None) -> list[Case]:
    count = 10_000 if quick else 100_000
    folder = data / f"tree-{count}"
    if not folder.exists():
        block = random.Random(2).randbytes(10_000)
        for number in range(count):
            parent = folder / f"{number // 1000:03}"
            parent.mkdir(parents=True, exist_ok=True)
            (parent / f"{number:06}").write_bytes(block)
        os.sync()
    paths = [str(path) for path in sorted(folder.glob("*/*"))]
    total = count * 10_000

    def one(path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def pooled() -> list[bytes]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(one, paths))

    def check(result: Any) -> bool:
        return len(result) == count and sum(map(len, result)) == total

    case = Case("ingest, warm", [])
    swath.ingest(paths)
    case.add("swath.ingest", lambda: swath.ingest(paths), check)
    case.add("ThreadPoolExecutor(8)", pooled, check)
    case.add("plain loop", lambda: [one(path) for path in paths], check)
    case.goal("swath.ingest", "ThreadPoolExecutor(8)", 10)
    case.goal("swath.ingest", "plain loop", 1.5)
    return [case]


def tensor_cases(data: Path, quick: bool, _: Library | None) -> list[Case]:
    size = (2 << 20) if quick else 10_000_000
    shards = [data / f"model-{size}-{number}.safetensors" for number in range(2)]
    generator = np.random.default_rng(3)
    if not all(shard.exists() for shard in shards):
        for number, shard in enumerate(shards):
            tensors = {
                f"layer.{layer}": generator.random(size // 4, "f4")
                for layer in range(number, 200, 2)
            }
            swath.save_safetensors(shard, tensors)
    first = "layer.150"
    expected = swath.load_safetensors(shards, names=[first])[first].copy()

    def check(result: dict[str, Any]) -> bool:
        found = np.asarray(result[first])
        return len(result) == 200 and found.nbytes >= size // 4 * 4 and bool(
            (np.frombuffer(found.tobytes(), "f4")[:1000] == expected[:1000]).all()
        )

    loaders: dict[str, Run] = {"swath.load_safetensors": lambda: swath.load_safetensors(shards)}
    absent: dict[str, str] = {}
    try:
        from safetensors.numpy import load, load_file

        def reference() -> dict[str, Any]:
            return {name: it for shard in shards for name, it in load_file(shard).items()}

        def copying() -> dict[str, Any]:
            return {name: it for shard in shards for name, it in load(plain_read(shard)).items()}

        loaders["safetensors.numpy.load_file"] = reference
        loaders["safetensors.numpy.load(read)"] = copying
    except ImportError as error:
        absent["safetensors"] = str(error)
    try:
        from runai_model_streamer import SafetensorsStreamer

        def runai() -> dict[str, Any]:
            tensors = {}
            with SafetensorsStreamer() as streamer:
                streamer.stream_files([str(shard) for shard in shards])
                for name, tensor in streamer.get_tensors():
                    tensors[name] = tensor.clone().numpy()
            return tensors

        loaders["runai-model-streamer"] = runai
    except Exception as error:  # Whatever it needs and does not find.
        absent["runai-model-streamer"] = str(error).splitlines()[0]
    try:
        import torch
        from fastsafetensors import SafeTensorsFileLoader, SingleGroup

        def fast() -> dict[str, Any]:
            loader = SafeTensorsFileLoader(SingleGroup(), torch.device("cpu"), nogds=True)
            loader.add_filenames({0: [str(shard) for shard in shards]})
            buffer = loader.copy_files_to_device()
            tensors = {name: buffer.get_tensor(name).clone().numpy() for name in loader.get_keys()}
            buffer.close()
            loader.close()
            return tensors

        loaders["fastsafetensors"] = fast
    except Exception as error:
        absent["fastsafetensors"] = str(error).splitlines()[0]
    cases = []
    for cold in (False, True):
        case = Case(f"safetensors, {'cold' if cold else 'warm'}", shards, cold)
        case.touched = 800 * size
        case.absent = absent
        for name, run in loaders.items():
            try:
                assert check(run())
            except Exception as error:
                case.absent = {**case.absent, name: (str(error) or repr(error)).splitlines()[0]}
                continue
            case.add(name, run, check)
        ours = "swath.load_safetensors"
        if cold:
            past = f"{ours}(page_cache='bypass')"
            for theirs in [*case.runs][1:]:
                case.goal(ours, theirs, 1)
                case.goal(past, theirs, 1)
            case.add(past, lambda: swath.load_safetensors(shards, page_cache="bypass"), check)
        else:
            case.goal(ours, "runai-model-streamer", 3.5)
            case.goal(ours, "fastsafetensors", 3.5)
            case.goal(ours, "safetensors.numpy.load(read)", 1.5)
        cases.append(case)

        def one() -> Any:
            for name, tensor in swath.stream_safetensors(shards, order=[first]):
                return {name: tensor}

        early = Case(f"first tensor, {'cold' if cold else 'warm'}", shards, cold)

        def is_first(result: dict[str, Any]) -> bool:
            return bool((result[first] == expected).all())

        early.add("swath.stream_safetensors, first", one, is_first)
        early.add(ours, lambda: swath.load_safetensors(shards), is_first)
        early.goal("swath.stream_safetensors, first", ours, 10)
        cases.append(early)
    return cases


def matrix_cases(data: Path, quick: bool, _: Library | None) -> list[Case]:
    import scipy.io
    import scipy.sparse

    cases = []
    for kind, entries in (("real", 10_000_000), ("pattern", 67_100_000)):
        entries = entries // 50 if quick else entries
        path = data / f"{kind}-{entries}.mtx"
        if not path.exists():
            generator = np.random.default_rng(4)
            size = entries // 10
            rows, columns = (generator.integers(0, size, entries, np.uint32) for _ in range(2))
            values = generator.random(entries) if kind == "real" else None
            swath.write_mtx(path, swath.Coo((size, size), rows, columns, values))
        known = swath.read_mtx(path)
        picked = np.random.default_rng(5).integers(0, entries, 1000)

        def check(result: Any, known: Any = known, picked: Any = picked) -> bool:
            return result.nnz == known.nnz and all(
                bool((mine[picked] == its[picked]).all())
                for mine, its in zip((result.row, result.col, result.data), (known.row, known.col, known.data))
            )

        case = Case(f"read_mtx, {kind}, warm", [path])
        case.add("swath.read_mtx", lambda path=path: swath.read_mtx(path), check)
        case.add("scipy.io.mmread", lambda path=path: scipy.io.mmread(path), check)
        case.goal("swath.read_mtx", "scipy.io.mmread", 8)
        try:
            import fast_matrix_market

            case.add("fast_matrix_market", lambda path=path: fast_matrix_market.mmread(path), check)
        except ImportError as error:
            case.absent["fast_matrix_market"] = str(error)
        case.goal("swath.read_mtx", "fast_matrix_market", 12)
        cases.append(case)
    cases.append(dense_case(data, 5_000_000 // (50 if quick else 1)))
    return cases


def dense_case(data: Path, entries: int) -> Case:
    import scipy.io

    path = data / f"dense-{entries}.mtx"
    values = np.random.default_rng(6).standard_normal(entries)
    if not path.exists():
        with open(path, "w") as file:
            file.write(f"%%MatrixMarket matrix array real general\n{entries // 500} 500\n")
            np.savetxt(file, values, fmt="%.17g")

    def is_it(found: Any) -> bool:
        # In the order of the file, which stores column after column.
        mine = found.data if hasattr(found, "row") else found.T.reshape(-1)
        return np.array_equal(mine, values)

    case = Case("read_mtx, dense, warm", [path])
    case.add("swath.read_mtx", lambda: swath.read_mtx(path), is_it)
    case.add("scipy.io.mmread", lambda: scipy.io.mmread(path), is_it)
    case.goal("swath.read_mtx", "scipy.io.mmread", 3)
    return case


CASES = {
    "read": read_cases,
    "ingest": ingest_cases,
    "safetensors": tensor_cases,
    "mtx": matrix_cases,
    "small": lambda data, quick, _: small_cases(data, quick),
}


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--quick", action="store_true", help="small: to see it run")
    parser.add_argument("--library", type=Path, help="libswath.so, to measure beside the package")
    parser.add_argument("--frame", type=Path, help="swath-benches, if cargo is not to make it")
    words = parser.parse_args()
    library = Library(words.library) if words.library else None
    words.data.mkdir(parents=True, exist_ok=True)
    words.out.mkdir(parents=True, exist_ok=True)
    peers = ["numpy", "scipy", "safetensors", "fast-matrix-market", "runai-model-streamer"]
    peers += ["fastsafetensors", "torch"]
    about = [
        f"Python {platform.python_version()}, swath {swath.__version__}, "
        + ", ".join(f"{peer} {version(peer)}" for peer in peers),
        f"{os.cpu_count()} cores, Linux {platform.release()}, {words.rounds} rounds",
        f"{shutil.disk_usage(words.data).total >> 30} GiB of disk",
    ]
    head = "# Summary\n\n" + "".join(f"- {line}\n" for line in about) + "\n"
    frame = Frame(words.frame, words.out, words.rounds, head)
    for name in words.only.split(","):
        for case in CASES[name](words.data, words.quick, library):
            print(case.name, file=sys.stderr, flush=True)
            frame.measure(case)
    frame.close()


if __name__ == "__main__":
    main()
