"""The bar of ``progress=True``."""

from __future__ import annotations

import sys
import threading
from typing import Any


class Bar:
    """Shows progress: with tqdm if it is installed, else with a line on standard error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0
        self._bar: Any = None

    def __call__(self, done: int, total: int | None) -> None:
        """Shows progress. Worker threads call it, and may overtake each other."""
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
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return _Line(total)
    return tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024)


class _Line:
    """One line that is redrawn; where it cannot be redrawn, as in a log, only its last state."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._done = 0
        self._shown = -1
        self._is_terminal = sys.stderr.isatty()

    def update(self, more: int) -> None:
        self._done += more
        mega = self._done >> 20
        if self._is_terminal and mega != self._shown:
            self._shown = mega
            print(f"\r{self._text()}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(f"\r{self._text()}" if self._is_terminal else self._text(), file=sys.stderr)

    def _text(self) -> str:
        whole = f" of {self._total / 2**20:.0f}" if self._total else ""
        return f"{self._done >> 20}{whole} MiB"
