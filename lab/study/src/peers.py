"""Loads files on request: reads one JSON array a line, writes one JSON object a line.

Only the load is timed. A sum checks the bytes afterwards, and they are freed before the next
request.
"""

import json
import os
import platform
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None

# Some libraries print their progress on standard output, so answers use another descriptor.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

kept = None


def fromfile(path):
    return numpy.fromfile(path, dtype=numpy.uint8)


def open_read(path):
    with open(path, "rb") as file:
        return file.read()


def readinto(path):
    with open(path, "rb", buffering=0) as file:
        view = memoryview(kept)
        done = 0
        while done < len(view):
            count = file.readinto(view[done:])
            if count == 0:
                raise EOFError("the file ends first")
            done += count
        return view


def keep(path):
    """Makes an array for `readinto` as long as the file, before the timing."""
    global kept
    with open(path, "rb") as file:
        size = file.seek(0, 2)
    if kept is None or len(kept) != size:
        kept = numpy.ones(size, dtype=numpy.uint8)


def byte_sum(data):
    array = numpy.frombuffer(data, dtype=numpy.uint8)
    step = 1 << 20
    blocks = range(0, len(array), step)
    return sum(int(array[at : at + step].sum(dtype=numpy.uint32)) for at in blocks)


def loader(way, path):
    """Returns a way to load a file, and its check: the count of bytes, and their sum."""
    if way == "readinto":
        keep(path)
    load = {"fromfile": fromfile, "open_read": open_read, "readinto": readinto}[way]
    return lambda: load(path), lambda data: (len(data), byte_sum(data))


def answer(way, path):
    """Answers a request; the ways to parse or write are in `parsers.py`."""
    load, check = PARSERS[way](path) if way in PARSERS else loader(way, path)
    cpu, start = time.process_time(), time.perf_counter()
    data = load()
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    count, total = check(data)
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "bytes": count, "sum": total}


version = None if numpy is None else numpy.__version__
print(json.dumps({"python": platform.python_version(), "numpy": version}), flush=True, file=answers)
for line in sys.stdin:
    try:
        print(json.dumps(answer(*json.loads(line))), flush=True, file=answers)
    except Exception as error:  # every failure is an answer
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True, file=answers)
