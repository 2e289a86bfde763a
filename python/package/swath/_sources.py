"""The files of a table: one, or several with the same columns."""

from __future__ import annotations

import errno
import glob
import os
import re
import stat
from collections.abc import Iterable
from typing import Any

from swath._dialect import check_order
from swath._errors import build


class FoundPath(str):
    """A path that was found, not named: it is opened without waiting, and anything but a file is an error."""

    __slots__ = ()
    is_found_by_swath = True


def open_at_once(path: Any) -> int:
    """Opens a file without waiting for the other end of a pipe, but waits for another process's lease on it."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_NONBLOCK)
    except BlockingIOError:
        held = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(held).st_mode):
                raise
            return os.open(f"/proc/self/fd/{held}", flags)
        finally:
            os.close(held)


def files_of(source: Any, verify: Any = None) -> list[Any]:
    """Returns the sources of a table. With ``verify``, a list names copies of one file instead."""
    if verify is not None:
        return [source]
    if isinstance(source, (str, bytes, os.PathLike)):
        return _of_path(source)
    if not _lists_sources(source):
        return [source]
    check_order("source", source)
    found = [file for one in source for file in _of_item(one)]
    if not found:
        raise ValueError("no files given; try: pass at least one path")
    return found


def _lists_sources(source: Any) -> bool:
    """Returns whether it has other sources as its items, and is not one itself."""
    if isinstance(source, (list, tuple)):
        return True
    if hasattr(source, "fileno") or hasattr(source, "getbuffer") or hasattr(source, "read"):
        return False
    kind = getattr(getattr(source, "dtype", None), "kind", None)
    if kind is not None:
        return kind in "USO"
    try:
        memoryview(source).release()
    except TypeError:
        return isinstance(source, Iterable)
    return False


def _of_item(one: Any) -> list[Any]:
    if isinstance(one, (str, bytes, os.PathLike)):
        return _of_path(one)
    if one is None or isinstance(one, (int, list, tuple)):
        raise TypeError(
            f"a list names the files of one table: not {one!r}; try: pass paths, or verify= for copies of "
            "one file"
        )
    return [one]


def _of_path(path: Any) -> list[Any]:
    """Returns the files that a path means: one, those of a folder, or those that match a pattern."""
    name = os.fsdecode(path)
    if os.path.isdir(name):
        entries = [one for one in os.listdir(name) if not one.startswith(".")]
        if not entries:
            hint = "check the folder, or pass the path of a file"
            raise _missing(name, "there is no file in this folder", hint)
        return _files_among(name, [os.path.join(name, one) for one in sorted(entries, key=_natural)])
    if "*" not in name:
        return [path]
    found = sorted(glob.glob(name, recursive=True), key=_natural)
    if os.path.lexists(name):
        return only_file_of(path, found)
    if not found:
        hint = "check the pattern, and the folder it starts from"
        raise _missing(name, "no file matches this pattern", hint)
    return _files_among(name, found)


def only_file_of(path: Any, found: list[str]) -> list[Any]:
    """The file whose name is a pattern; an error if that matches other files, which the file would hide."""
    name = os.fsdecode(path)
    others = sum(one != name for one in found)
    if others:
        hint = "put each of `*?[` in the file's name into brackets, as `[*]`, or pass the paths of the files"
        what = f"it is a file, and a pattern that matches {others} others"
        raise build("Invalid", errno.EINVAL, f"cannot read {name}: {what}; try: {hint}", name, None, hint)
    return [path]


def _files_among(name: str, found: list[str]) -> list[Any]:
    """Returns the files; fails for a pipe among them, which would wait for another program."""
    for one in found:
        mode = os.stat(one).st_mode if os.path.exists(one) else stat.S_IFREG
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            hint = "name the files: this one is a pipe, a device or a socket"
            raise build("Invalid", errno.EINVAL, f"cannot read {one}: it is not a file; try: {hint}", one, None, hint)
    return [FoundPath(one) for one in found]


def _missing(name: str, what: str, hint: str) -> Exception:
    text = f"cannot read {name}: {what}; try: {hint}"
    return build("Io", errno.ENOENT, text, name, None, hint)


def _natural(name: str) -> list[tuple[int, str]]:
    """Returns a sort key in which numbers count by their value: ``day-9`` comes before ``day-10``."""
    parts = re.split(r"(\d+)", name)
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]
