"""Detects compressed files, in which the bytes of a part would not be those of the text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from swath._errors import unreadable
from swath._sources import open_at_once

# Bytes checked at the start of a file.
HEAD = 10
# gzip, zstd, xz.
_BEGINS = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00")
# For bzip2, the first letters alone may be text.
_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")


def is_compressed(head: bytes) -> bool:
    """Returns whether a compressed file begins like this."""
    return head.startswith(_BEGINS) or (head.startswith(b"BZh") and head[4:10] in _BLOCKS)


def refuse(path: str, head: bytes, what: str = "parts") -> None:
    """Fails if a file that begins like this is compressed."""
    if is_compressed(head):
        hint = "unpack it with `swath decompress`, or read it on one process"
        raise unreadable("UnknownFormat", path, f"it is compressed, and has no {what}", hint)


def refuse_compressed(paths: Iterable[Any]) -> None:
    """Fails if a file is compressed."""
    for path in map(os.fsdecode, paths):
        if os.path.isfile(path):
            # It may have become a pipe since.
            with open(open_at_once(path), "rb") as file:
                refuse(path, file.read(HEAD) or b"")
