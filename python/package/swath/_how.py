"""What may be said of every read and of every file that is left, handed on in one piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from swath._swath import _Durability, _Engine, _HardLinks, _PageCache, _Progress, _Verify


class How(NamedTuple):
    """How to read: the keywords of `read` that all verbs have."""

    workers: int = 0
    chunk_size: int = 0
    engine: _Engine = "auto"
    page_cache: _PageCache = "auto"
    progress: _Progress = None
    verify: _Verify = None
    profile: bool = True


class Leave(NamedTuple):
    """How to leave a file: the keywords that all verbs have which write one."""

    durability: _Durability = "full"
    replace: bool = True
    hard_links: _HardLinks = "refuse"
    workers: int = 0
    progress: _Progress = None
