"""What could not be done, to which path, at which bytes, and what to try."""

from __future__ import annotations

import errno as _errno
import os as _os
from typing import Any as _Any


class Error(OSError):
    """Something that was not done.

    ``errno``, ``strerror`` and ``filename`` are those of ``OSError``; ``offset`` and ``length`` say
    which bytes of the file it was about (``None``: all of it), ``reason`` is one word for programs,
    and ``hint`` says what to try.
    """

    offset: int | None = None
    length: int | None = None
    reason: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return self.strerror or ""


class ChangedError(Error):
    """The file changed, or was replaced, while it was read."""


class TruncatedError(Error, EOFError):
    """The file ended before the bytes that were to be read."""


class CorruptError(Error, ValueError):
    """A manifest, a segment or a compressed stream is damaged."""


class MalformedError(Error, ValueError):
    """The text or the header is not what its format asks for."""


class CancelledError(Error):
    """Somebody cancelled it."""


class _InvalidError(Error, ValueError):
    """The options contradict each other, or the file."""


class _NotFoundError(Error, FileNotFoundError):
    """There is nothing of that name."""


class _ExistsError(Error, FileExistsError):
    """There is something of that name."""


class _PermissionError(Error, PermissionError):
    """It is not allowed."""


class _IsFolderError(Error, IsADirectoryError):
    """It is a folder."""


class _NotFolderError(Error, NotADirectoryError):
    """It is no folder."""


class _BrokenPipeError(Error, BrokenPipeError):
    """Nobody reads the pipe any more."""


class _MemoryError(Error, MemoryError):
    """There is not enough memory at hand."""


# By the library's reason: the class, and an errno for what the kernel has not said.
_REASONS: dict[str, tuple[type[Error], int]] = {
    "Truncated": (TruncatedError, _errno.EIO),
    "Changed": (ChangedError, _errno.ESTALE),
    "Cancelled": (CancelledError, _errno.ECANCELED),
    "OutOfMemory": (_MemoryError, _errno.ENOMEM),
    "Invalid": (_InvalidError, _errno.EINVAL),
    "Busy": (Error, _errno.EBUSY),
    "Corrupt": (CorruptError, _errno.EBADMSG),
    "Malformed": (MalformedError, _errno.EBADMSG),
    "TooLarge": (MalformedError, _errno.EOVERFLOW),
    "UnknownFormat": (MalformedError, _errno.EBADMSG),
    "Unsupported": (Error, _errno.ENOTSUP),
    "NoIndex": (Error, _errno.ESPIPE),
}

# By errno, for what the kernel has said: so that ``except FileNotFoundError`` works.
_ERRNOS: dict[int, type[Error]] = {
    _errno.ENOENT: _NotFoundError,
    _errno.EEXIST: _ExistsError,
    _errno.EACCES: _PermissionError,
    _errno.EPERM: _PermissionError,
    _errno.EISDIR: _IsFolderError,
    _errno.ENOTDIR: _NotFolderError,
    _errno.EPIPE: _BrokenPipeError,
}


def named(source: _Any) -> str:
    """As messages call what is read; the first of several stands for all."""
    one = source
    while isinstance(one, (list, tuple)) and one:
        one = one[0]
    if isinstance(one, (str, bytes, _os.PathLike)):
        return _os.fsdecode(one)
    is_open = isinstance(one, int) or hasattr(one, "fileno") and not hasattr(one, "getbuffer")
    return "<open file>" if is_open else "<memory>"


def unreadable(reason: str, path: str, what: str, hint: str) -> Error:
    """The exception for what only Python finds wrong with a file: in the library's words."""
    text = f"cannot read {path}: {what}; try: {hint}"
    return build(reason, None, text, path, None, hint)


def build(
    reason: str,
    errno: int | None,
    text: str,
    path: str,
    extent: tuple[int, int] | None,
    hint: str,
) -> Error:
    """Returns the exception for an error of the library; called by it."""
    kind, usual = _REASONS.get(reason, (Error, _errno.EIO))
    if errno is not None and kind is Error:
        kind = _ERRNOS.get(errno, kind)
    error = kind(usual if errno is None else errno, text, path)
    if extent is not None:
        error.offset, error.length = extent
    error.reason = reason
    error.hint = hint
    return error
