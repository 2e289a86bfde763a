"""Results in the order of their items, from several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any


def map_ordered(
    output: Any,
    function: Callable[[Any], Any],
    items: Iterable[Any],
    workers: int,
) -> None:
    """Implements ``Append.map_ordered``."""
    source = iter(items)
    lock = threading.Lock()
    failures: list[tuple[int, BaseException]] = []
    count = 0

    def turn() -> bool:
        nonlocal count
        # An item and its place are taken together, so the order is that of the items.
        with lock:
            if failures:
                return False
            try:
                item = next(source)
                place = output.place()
            except StopIteration:
                return False
            except BaseException as error:
                failures.append((count, error))
                return False
            number = count
            count += 1
        try:
            with place:
                result = function(item)
                if result is not None:
                    place.write(result)
        except BaseException as error:
            with lock:
                failures.append((number, error))
            return False
        return True

    def work() -> None:
        while turn():
            pass

    helpers = [
        threading.Thread(target=work, name=f"swath-map-{number}", daemon=True)
        for number in range(1, workers or os.cpu_count() or 1)
    ]
    for helper in helpers:
        helper.start()
    try:
        work()
    except BaseException as error:
        # Ctrl-C between two items.
        with lock:
            failures.append((count, error))
    for helper in helpers:
        try:
            helper.join()
        except BaseException as error:
            # Ctrl-C: take no further items and wait for the running ones; a second one is raised.
            with lock:
                failures.append((count, error))
            helper.join()
    if failures:
        # Exceptions that end the program come before those of an item.
        raise min(failures, key=lambda it: (isinstance(it[1], Exception), it[0]))[1]
