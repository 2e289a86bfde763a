"""Fixtures of several tests."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a file of ``size`` bytes, the same ones for the same name."""

    def made(name: str, size: int) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(random.Random(name).randbytes(size))
        return path

    return made
