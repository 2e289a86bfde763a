"""Exceptions: what failed, on which path, at which bytes, and what to try."""

from __future__ import annotations

import errno as _errno
import os as _os
from typing import Any as _Any


class Error(OSError):
    """An operation of Swath failed.

    ``errno``, ``strerror`` and ``filename`` are those of ``OSError``. ``offset`` and ``length`` are the bytes of
    the file that it concerns (``None``: the whole file), ``reason`` is one word for programs, and ``hint`` says
    what to try.

    >>> try:
    ...     swath.read("data.bin", length=10**9)
    ... except swath.Error as error:
    ...     print(error.filename, error.reason)
    data.bin Truncated
    """

    offset: int | None = None
    length: int | None = None
    reason: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return self.strerror or ""


class ChangedError(Error):
    """The file was changed or replaced while it was read.

    >>> issubclass(swath.ChangedError, OSError)
    True
    """


class TruncatedError(Error, EOFError):
    """The file ends before the requested bytes do.

    >>> try:
    ...     swath.read("data.bin", length=10**9)
    ... except EOFError as error:
    ...     print(type(error))
    <class 'swath.TruncatedError'>
    """


class CorruptError(Error, ValueError):
    """A manifest, a segment or a compressed stream is damaged.

    >>> issubclass(swath.CorruptError, ValueError)
    True
    """


class ChangedValueWarning(UserWarning):
    """Numbers changed: in an array they lost zeros or a sign or were rounded, or in JSON they became null.

    For an array, ``report`` is what ``Table.report`` would be, with the count and the first line for each
    column.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     array = swath.read_csv(memoryview(b"zip\\n007\\n"), "i8")
    >>> print(found[0].message)
    column 'zip': 1 number lost zeros or a sign, from line 2 on; without dtype= a Table has them as they are
    """

    report: dict[str, _Any] | None = None


class MalformedError(Error, ValueError):
    """The text or the header does not follow its format.

    >>> try:
    ...     swath.read_mtx("points.csv")
    ... except swath.MalformedError as error:
    ...     print(error.filename, error.offset)
    points.csv 0
    """


class CancelledError(Error):
    """The operation was cancelled.

    >>> issubclass(swath.CancelledError, swath.Error)
    True
    """


class InvalidError(Error, ValueError):
    """The options contradict each other or the file.

    >>> issubclass(swath.InvalidError, ValueError)
    True
    """


class NotFoundError(Error, FileNotFoundError):
    """There is no file or folder of that name.

    >>> try:
    ...     swath.read("missing.bin")
    ... except FileNotFoundError as error:
    ...     print(type(error))
    <class 'swath.NotFoundError'>
    """


class AlreadyExistsError(Error, FileExistsError):
    """The file exists and must not be replaced.

    >>> try:
    ...     swath.append("data.bin", replace=False).commit()
    ... except FileExistsError as error:
    ...     print(type(error))
    <class 'swath.AlreadyExistsError'>
    """


class PermissionDeniedError(Error, PermissionError):
    """The user may not read or write the path.

    >>> issubclass(swath.PermissionDeniedError, PermissionError)
    True
    """


class IsFolderError(Error, IsADirectoryError):
    """The path is a folder, not a file.

    >>> try:
    ...     swath.read("images")
    ... except IsADirectoryError as error:
    ...     print(type(error))
    <class 'swath.IsFolderError'>
    """


class NotFolderError(Error, NotADirectoryError):
    """Part of the path is not a folder.

    >>> try:
    ...     swath.read("data.bin/more")
    ... except NotADirectoryError as error:
    ...     print(type(error))
    <class 'swath.NotFolderError'>
    """


class ClosedPipeError(Error, BrokenPipeError):
    """No process has the pipe open for reading.

    >>> issubclass(swath.ClosedPipeError, BrokenPipeError)
    True
    """


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory is available.

    >>> issubclass(swath.OutOfMemoryError, MemoryError)
    True
    """


# Tracebacks and pickles name the module `swath`, from which users import them.
for _kind in [*globals().values()]:
    if isinstance(_kind, type) and issubclass(_kind, (OSError, Warning)):
        _kind.__module__ = "swath"


# For each reason of the library, the class, and an errno for failures without one from the kernel.
_REASONS: dict[str, tuple[type[Error], int]] = {
    "Truncated": (TruncatedError, _errno.EIO),
    "Changed": (ChangedError, _errno.ESTALE),
    "Cancelled": (CancelledError, _errno.ECANCELED),
    "OutOfMemory": (OutOfMemoryError, _errno.ENOMEM),
    "Invalid": (InvalidError, _errno.EINVAL),
    "Busy": (Error, _errno.EBUSY),
    "Corrupt": (CorruptError, _errno.EBADMSG),
    "Malformed": (MalformedError, _errno.EBADMSG),
    "TooLarge": (MalformedError, _errno.EOVERFLOW),
    "UnknownFormat": (MalformedError, _errno.EBADMSG),
    "Unsupported": (Error, _errno.ENOTSUP),
    "NoIndex": (Error, _errno.ESPIPE),
}

# By errno of the kernel, so that ``except FileNotFoundError`` works.
_ERRNOS: dict[int, type[Error]] = {
    _errno.ENOENT: NotFoundError,
    _errno.EEXIST: AlreadyExistsError,
    _errno.EACCES: PermissionDeniedError,
    _errno.EPERM: PermissionDeniedError,
    _errno.EISDIR: IsFolderError,
    _errno.ENOTDIR: NotFolderError,
    _errno.EPIPE: ClosedPipeError,
}


def named(source: _Any) -> str:
    """Returns the name of a source for messages; of several, that of the first."""
    one = source
    while isinstance(one, (list, tuple)) and one:
        one = one[0]
    if isinstance(one, (str, bytes, _os.PathLike)):
        return _os.fsdecode(one)
    is_open = isinstance(one, int) or hasattr(one, "fileno") and not hasattr(one, "getbuffer")
    return "<open file>" if is_open else "<memory>"


def a_thing(thing: _Any) -> str:
    """Returns the kind of a value for messages: "None", "an int", "a dict"."""
    if thing is None:
        return "None"
    kind = type(thing).__qualname__
    return f"an {kind}" if kind.startswith((*"aeioAEIO", "nd")) else f"a {kind}"


def unreadable(reason: str, path: str, what: str, hint: str) -> Error:
    """Returns the exception for a fault of a file that only Python finds, in the library's wording."""
    text = f"cannot read {path}: {what}; try: {hint}"
    return build(reason, None, text, path, None, hint)


def build(
    reason: str, errno: int | None, text: str, path: str, extent: tuple[int, int] | None, hint: str
) -> Error:
    """Returns the exception for an error of the library, which calls this."""
    kind, usual = _REASONS.get(reason, (Error, _errno.EIO))
    if errno is not None and kind is Error:
        kind = _ERRNOS.get(errno, kind)
    error = kind(usual if errno is None else errno, text, path)
    if extent is not None:
        error.offset, error.length = extent
    error.reason = reason
    error.hint = hint
    return error
