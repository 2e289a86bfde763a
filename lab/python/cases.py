"""Cases of a record: contestants that do the same work, and their goals."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import swath

GIB = 1 << 30
Run = Callable[[], Any]


class Case:
    """Contestants that do the same work."""

    def __init__(self, name: str, paths: list[Path], cold: bool = False) -> None:
        self.name = name
        self.paths = paths
        self.cold = cold
        self.runs: dict[str, Run] = {}
        self.checks: dict[str, Callable[[Any], bool]] = {}
        self.absent: dict[str, str] = {}
        self.goals: list[tuple[str, str, float]] = []
        self.costs: list[tuple[str, str, float]] = []
        self.repeats = 1
        # Bytes of memory that are touched and given back before each run.
        self.touched = 4 * GIB

    def add(self, name: str, run: Run, check: Callable[[Any], bool]) -> None:
        self.runs[name] = run
        self.checks[name] = check

    def goal(self, ours: str, theirs: str, ratio: float) -> None:
        """Requires `ours` to be `ratio` times as fast as `theirs`."""
        self.goals.append((ours, theirs, ratio))

    def cost(self, ours: str, theirs: str, seconds: float) -> None:
        """Requires `ours` to take at most `seconds` more than `theirs`."""
        self.costs.append((ours, theirs, seconds))

    def prepare(self) -> None:
        if self.cold:
            os.sync()
            try:
                Path("/proc/sys/vm/drop_caches").write_text("3")
            except OSError:
                for path in self.paths:
                    with open(path, "rb") as file:
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        else:
            for path in self.paths[:8]:
                swath.sum(path)
        # Touch each page: a cold run also takes memory for the page cache.
        np.empty(self.touched, np.uint8)[::4096] = 1

    def seconds(self, name: str) -> float:
        """Prepares, times and checks one run of a contestant."""
        self.prepare()
        gc.collect()
        start = time.perf_counter()
        for _ in range(self.repeats):
            result = self.runs[name]()
        seconds = (time.perf_counter() - start) / self.repeats
        assert self.checks[name](result), f"{self.name}: {name}: wrong result"
        return seconds

    def told(self) -> dict[str, Any]:
        """Returns the values for the frame."""
        goals = [
            {"subject": ours, "gauge": {"speed_against": [theirs]}, "bound": {"at_least": ratio}}
            for ours, theirs, ratio in self.goals
        ]
        goals += [
            {"subject": ours, "gauge": {"time_beyond": theirs}, "bound": {"at_most": seconds * 1e6}}
            for ours, theirs, seconds in self.costs
        ]
        return {"id": self.name, "entrants": list(self.runs), "absent": self.absent, "goals": goals}


def plain_read(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read()
