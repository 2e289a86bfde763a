"""Batteries: tests that try as many cases as there is time for.

A push tries a slice, from a seed that follows from the commit; `cargo xtask torture` tries all of them. The
variables are those of `reference/src/battery.rs`, which describes them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

FAILED = Path(__file__).parents[2] / "reference/failed-seeds.txt"
FIRST = int(os.environ.get("SWATH_SEED", "0"))
IS_FULL = "SWATH_TORTURE" in os.environ

T = TypeVar("T")


def count(*, part: int, full: int) -> int:
    """How many cases this run tries."""
    return full if IS_FULL else part


def lack(capability: str, reason: str) -> NoReturn:
    """Skips this test, which needs what the machine lacks, and lists it: see `xtask/may-be-absent.txt`."""
    if "SWATH_SKIPS" in os.environ:
        with open(os.environ["SWATH_SKIPS"], "a") as skips:
            skips.write(f"{capability}: {reason}\n")
    pytest.skip(f"{capability}: {reason}")


def some(items: Iterable[T], *, part: int) -> list[T]:
    """About ``part`` of the items, others for each seed and spread over all of them; in `torture` all of them."""
    every = list(items)
    stride = 1 if IS_FULL else max(1, -(-len(every) // part))
    return every[FIRST % stride :: stride]


def seeds(name: str, *, part: int, full: int) -> Iterator[int]:
    """The seeds of the battery ``name``: those that failed once, then ``part`` of a push or ``full``."""
    rows = [line.split() for line in FAILED.read_text().splitlines() if not line.startswith("#")]
    yield from (int(row[1]) for row in rows if row[0] == name)
    until = float(os.environ.get("SWATH_UNTIL", "inf"))
    start, tried = time.monotonic(), 0
    outcome = "failed"
    try:
        while tried < count(part=part, full=full) and (tried == 0 or time.time() < until):
            print(f"to repeat this case: cargo xtask torture --only {name} --seed {FIRST + tried}")
            yield FIRST + tried
            tried += 1
        outcome = "passed"
    finally:
        if "SWATH_BATTERIES" in os.environ:
            with open(os.environ["SWATH_BATTERIES"], "a") as notes:
                notes.write(f"{name} {FIRST} {tried} {time.monotonic() - start:.1f} {outcome}\n")
