"""The keywords that all readers, or all writers, have in common, passed on as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from swath._swath import (
        _Durability,
        _Engine,
        _HardLinks,
        _PageCache,
        _Progress,
        _Replace,
        _Verify,
    )


class How(NamedTuple):
    """How to read: the keywords of `read` that all readers have."""

    workers: int = 0
    chunk_size: int = 0
    engine: _Engine = "auto"
    page_cache: _PageCache = "auto"
    progress: _Progress = None
    verify: _Verify = None
    profile: bool = True


class Leave(NamedTuple):
    """How to write a file: the keywords that all writers have."""

    durability: _Durability = "full"
    replace: _Replace = True
    hard_links: _HardLinks = "refuse"
    workers: int = 0
    progress: _Progress = None
