"""Checks, before anything else, that all ranks have called one function with the same arguments.

Otherwise ranks would wait for messages that no rank sends, or the arguments of the first rank would silently
apply to all. The check is one reduction of 16 bytes; only if it finds a difference, ranks exchange the
arguments.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Mapping
from typing import Any

from swath import _ranks

# Options that each rank may choose for itself: those that do not change the result.
OWN = ("workers", "chunk_size", "engine", "page_cache", "progress", "profile")
_LONGEST = 300
_CALL = ""  # No argument has this name.


def same(comm: Any, call: str, /, **given: Any) -> None:
    """Raises the same error on all ranks unless they have passed the same arguments to the same function."""
    MPI = _ranks.mpi()
    texts = {_CALL: call, **{name: _text(name, value) for name, value in given.items()}}
    # Keywords may come in any order.
    told = repr(sorted(texts.items())).encode()
    [word] = struct.unpack("Q", hashlib.blake2b(told, digest_size=8).digest())
    # If the least equals the greatest, all are the same.
    least = bytearray(16)
    mine = struct.pack("QQ", word, word ^ (2**64 - 1))
    comm.Allreduce([mine, MPI.UINT64_T], [least, MPI.UINT64_T], op=MPI.MIN)
    low, high = struct.unpack("QQ", least)
    if low != high ^ (2**64 - 1):
        raise _difference(comm.allgather(texts))


def _difference(ranks: list[dict[str, str]]) -> Exception:
    """Returns the error that names the first argument that differs, and its values on two ranks."""
    names = {name: None for texts in ranks for name in texts}
    name, rank = next(
        (name, rank)
        for name in names
        for rank, texts in enumerate(ranks)
        if texts.get(name) != ranks[0].get(name)
    )
    one, other = (_short(ranks[at].get(name, "not given")) for at in (0, rank))
    if name == _CALL:
        hint = "call the same functions of swath.mpi on all ranks, in the same order"
        return RuntimeError(f"rank 0 has called {one}, and rank {rank} {other}; try: {hint}")
    what = f"{ranks[0][_CALL]}: {name} is {one} on rank 0, and {other} on rank {rank}"
    return ValueError(f"{what}; try: pass the same {name} on all ranks")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _text(name: str, value: Any) -> str:
    """Returns the meaning of a value as text, which is equal for the spellings that are often mixed."""
    try:
        return _named(name, value)
    except Exception:
        # The call will fail, and all ranks will get the error.
        return type(value).__qualname__


def _named(name: str, value: Any) -> str:
    if name == "path":
        return _path(value)
    if name == "dtype":
        return _dtype(value)
    if name == "dtypes" and isinstance(value, Mapping):
        return _plain({key: _dtype(one) for key, one in value.items()})
    if name == "dtypes" and isinstance(value, (list, tuple)):
        return _plain([*map(_dtype, value)])
    return _plain(value)


def _path(path: Any) -> str:
    """Returns a path as it was passed; a relative one begins with this rank's working directory."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return _plain(path)
    try:
        return repr(os.path.join(os.getcwd(), os.fsdecode(path)))
    except OSError:
        return repr(os.fsdecode(path))


def _dtype(dtype: Any) -> str:
    try:
        from swath._numpy import np

        return "None" if dtype is None else np.dtype(dtype).str
    except Exception:
        return _plain(dtype)


def _plain(value: Any) -> str:
    if isinstance(value, type):
        return value.__qualname__
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fsdecode(value)
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, Mapping):
        items = sorted(f"{_plain(key)}: {_plain(one)}" for key, one in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_plain, value)) + "]"
    # Other ranks have other objects of the same kind; the call itself accepts or refuses them.
    return type(value).__qualname__
