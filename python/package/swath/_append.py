"""Results in the order of their items, from several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from itertools import islice
from time import perf_counter
from typing import Any

# Seconds of work that a thread takes at one time, and the most items: much more than the ten microseconds or so
# that a lock, a place and its bytes cost.
_TURN = 0.001
_MOST = 4096
# Results are held until they have this many bytes.
_FULL = 256 << 10


def map_ordered(
    output: Any, function: Callable[[Any], Any], items: Iterable[Any], workers: int, chunksize: int
) -> None:
    """Implements ``Append.map_ordered``."""
    mapping = _Mapping(output, function, items, chunksize)
    helpers = [
        threading.Thread(target=mapping.work, name=f"swath-map-{number}", daemon=True)
        for number in range(1, workers or os.cpu_count() or 1)
    ]
    for number, helper in enumerate(helpers):
        try:
            helper.start()
        except RuntimeError:
            # No more threads can be started: those that are there do it all.
            del helpers[number:]
            break
    try:
        mapping.work()
    except BaseException as error:
        # Ctrl-C between two items.
        mapping.fail(error)
    for helper in helpers:
        try:
            helper.join()
        except BaseException as error:
            # Ctrl-C: take no further items and wait for the running ones; a second Ctrl-C is raised.
            mapping.fail(error)
            helper.join()
    mapping.end()


class _Mapping:
    """The state that the threads share: the items that are left, and the failures."""

    def __init__(
        self, output: Any, function: Callable[[Any], Any], items: Iterable[Any], chunksize: int
    ) -> None:
        self.output = output
        self.function = function
        self.source = iter(items)
        self.lock = threading.Lock()
        # Numbers of items, and their exceptions.
        self.failures: list[tuple[int, BaseException]] = []
        # Number of items taken.
        self.count = 0
        self.is_chosen = chunksize == 0
        self.chunksize = chunksize or 1

    def work(self) -> None:
        """Takes turns until nothing is left."""
        while self._turn():
            pass

    def fail(self, error: BaseException) -> None:
        """Records a failure after the items that were taken."""
        with self.lock:
            self.failures.append((self.count, error))

    def end(self) -> None:
        """Raises the exception of the first item; one that ends the program precedes all others."""
        if self.failures:
            raise min(self.failures, key=lambda it: (isinstance(it[1], Exception), it[0]))[1]

    def _turn(self) -> bool:
        # Items and their place are taken under one lock, so places follow the order of the items.
        with self.lock:
            if self.failures:
                return False
            number = self.count
            try:
                items, seconds = self._take()
                if not items:
                    return False
                place = self.output.place()
            except BaseException as error:
                self.failures.append((number, error))
                return False
        began = perf_counter()
        before = self.output._begin_turn()
        try:
            with place:
                held: list[bytes] = []
                size = 0
                for number, item in enumerate(items, number):
                    result = self.function(item)
                    if result is None:
                        continue
                    if type(result) is bytes:
                        held.append(result)
                        size += len(result)
                        if size < _FULL:
                            continue
                        result = None
                    # Other bytes are written at once: the next call may change them.
                    place.write(b"".join(held))
                    held, size = [], 0
                    if result is not None:
                        place.write(result)
                if held:
                    place.write(b"".join(held))
        except BaseException as error:
            with self.lock:
                self.failures.append((number, error))
            return False
        finally:
            self.output._end_turn(before)
        self._learn(len(items), seconds + perf_counter() - began)
        return True

    def _take(self) -> tuple[list[Any], float]:
        """Returns the next items and their seconds. Items before a failure of the source are still
        processed."""
        items: list[Any] = []
        began = perf_counter()
        try:
            items.extend(islice(self.source, self.chunksize))
        except BaseException as error:
            self.failures.append((self.count + len(items), error))
        self.count += len(items)
        return items, perf_counter() - began

    def _learn(self, count: int, seconds: float) -> None:
        """Chooses the number of items per turn from the time that the last ones took."""
        if self.is_chosen:
            fitting = int(count * _TURN / max(seconds, 1e-9))
            self.chunksize = max(1, min(fitting, 2 * count, _MOST))
