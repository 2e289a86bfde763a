"""Fixtures of several tests."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import battery

Make = Callable[..., Path]

# A shell starts programs in the background with Ctrl-C ignored, and tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A push runs as many tests of a module as its ``IN_A_PUSH`` says, and those of planted faults."""
    left: list[pytest.Item] = []
    for module in {item.getparent(pytest.Module): None for item in items}:
        part = getattr(getattr(module, "obj", None), "IN_A_PUSH", None)
        tests = [it for it in items if it.getparent(pytest.Module) is module and "planted" not in it.name]
        if part is not None:
            chosen = battery.some(tests, part=part)
            left += [it for it in tests if it not in chosen]
    items[:] = [it for it in items if it not in left]
    config.hook.pytest_deselected(items=left)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a file of ``size`` bytes, the same ones for the same name."""

    def made(name: str, size: int) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(name).randbytes(size))
        return path

    return made
