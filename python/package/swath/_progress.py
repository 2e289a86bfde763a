"""The bar of ``progress=True``."""

from __future__ import annotations

import sys
import threading
from typing import Any


class Bar:
    """Counts bytes: by tqdm where that is installed, else by a line on standard error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0
        self._bar: Any = None

    def __call__(self, done: int, total: int | None) -> None:
        """Called by workers, which may overtake each other."""
        with self._lock:
            if done <= self._done:
                return
            if self._bar is None:
                self._bar = _begin(total)
            self._bar.update(done - self._done)
            self._done = done

    def close(self) -> None:
        """Ends the line."""
        with self._lock:
            if self._bar is not None:
                self._bar.close()


def _begin(total: int | None) -> Any:
    try:
        from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return _Line(total)
    return tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024)


class _Line:
    def __init__(self, total: int | None) -> None:
        self._total = total
        self._done = 0
        self._shown = -1

    def update(self, more: int) -> None:
        self._done += more
        mega = self._done >> 20
        if mega != self._shown:
            self._shown = mega
            whole = f" of {self._total / 2**20:.0f}" if self._total else ""
            print(f"\r{mega}{whole} MiB", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
