"""Datasets of many files or records, for torch's own ``DataLoader``.

>>> from swath.torch import FileDataset
>>> dataset = FileDataset("images")
>>> len(dataset)
3
>>> dataset[0] == open(dataset.paths[0], "rb").read()
True
>>> loader = DataLoader(dataset, batch_size=64, num_workers=2)     # doctest: +SKIP
>>> for batch in loader:                                           # doctest: +SKIP
...     print(len(batch))                                          # batch: a list of bytes

This module does not import torch, which calls only ``__len__`` and ``__getitems__`` of a dataset. Forked and
spawned workers open files of their own.
"""

from __future__ import annotations

import bisect
import itertools
import os
import random
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import swath
from swath._errors import unreadable
from swath._sources import open_at_once

_R = TypeVar("_R")

__all__ = ["FileDataset", "RecordDataset", "ShuffledSampler"]


def __dir__() -> list[str]:
    return [*__all__]


def _is_one(paths: Any) -> bool:
    return isinstance(paths, (str, bytes, os.PathLike))


def _listed(paths_or_folder: Any) -> list[str]:
    """Returns files ordered by name as bytes, a folder's own before those of its subfolders, as `ingest`
    does."""
    if not _is_one(paths_or_folder):
        return [os.fsdecode(path) for path in paths_or_folder]
    if not os.path.isdir(paths_or_folder):
        return [os.fsdecode(paths_or_folder)]
    found: list[str] = []

    def fail(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(os.fsdecode(paths_or_folder), onerror=fail):
        folders.sort(key=os.fsencode)
        paths = (os.path.join(folder, name) for name in sorted(names, key=os.fsencode))
        # An inaccessible file is an error, as is a dangling link.
        found.extend(path for path in paths if stat.S_ISREG(os.stat(path).st_mode))
    return found


class FileDataset(Generic[_R]):
    """A map-style dataset whose items are files.

    `swath.ingest` reads a whole batch at once, so a ``DataLoader`` needs few workers.

    Parameters
    ----------
    paths_or_folder : path, or iterable of paths
        A folder is walked once, when the dataset is made; a dangling link in it is an error.
    decode : callable
        Makes an item from the bytes of a file, a read-only memoryview that it may keep. By default an item is
        ``bytes``: a copy. If the ``DataLoader`` has workers, items are pickled, so they must not be memoryviews:
        torch would wait for the batch forever.

    Examples
    --------
    >>> dataset = swath.torch.FileDataset("images")
    >>> len(dataset[0]), type(dataset[0])
    (100, <class 'bytes'>)
    >>> dataset = swath.torch.FileDataset("images", decode=len)
    >>> dataset.__getitems__([0, 2])
    [100, 300]
    """

    @overload
    def __init__(self: FileDataset[bytes], paths_or_folder: Any) -> None: ...

    @overload
    def __init__(self, paths_or_folder: Any, decode: Callable[[memoryview], _R]) -> None: ...

    def __init__(self, paths_or_folder: Any, decode: Callable[[memoryview], Any] = bytes) -> None:
        self.paths: list[str] = _listed(paths_or_folder)
        self._decode: Callable[[memoryview], _R] = decode

    def __len__(self) -> int:
        """Returns the number of files."""
        return len(self.paths)

    def __getitem__(self, index: int) -> _R:
        """Returns one file."""
        # Read as in a batch: a name that leads to a pipe by now is an error, without waiting.
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[_R]:
        """Returns a batch of files, read at once."""
        files = swath.ingest([self.paths[index] for index in indices])
        return [self._decode(file) for file in files]


def _state_of(facts: os.stat_result) -> tuple[int, int, int]:
    """Returns the facts that show a change; without the inode on file systems without a device, such as network
    ones."""
    return facts.st_size, facts.st_mtime_ns, facts.st_ino if os.major(facts.st_dev) else 0


class RecordDataset(Generic[_R]):
    """A map-style dataset whose items are records of one width, from one file or several.

    Parameters
    ----------
    paths : path, or iterable of paths
    width : int
        Bytes of each record; the length of each file must be a multiple of it.
    decode : callable
        As for `FileDataset`; makes an item from a record.

    Examples
    --------
    >>> dataset = swath.torch.RecordDataset("data.bin", 1000)
    >>> len(dataset), len(dataset[0])
    (1000, 1000)
    """

    @overload
    def __init__(self: RecordDataset[bytes], paths: Any, width: int) -> None: ...

    @overload
    def __init__(self, paths: Any, width: int, decode: Callable[[memoryview], _R]) -> None: ...

    def __init__(self, paths: Any, width: int, decode: Callable[[memoryview], Any] = bytes) -> None:
        if width <= 0:
            raise ValueError(f"width={width}: a record has at least one byte")
        self.paths: list[Any] = [paths] if _is_one(paths) else list(paths)
        self.width = width
        self._decode: Callable[[memoryview], _R] = decode
        self._ends: list[int] = []
        self._states: list[tuple[int, int, int]] = []
        total = 0
        for path in self.paths:
            state = _state_of(os.stat(path))
            self._states.append(state)
            if state[0] % width:
                raise ValueError(f"{path}: {state[0]} bytes are not a multiple of width={width}")
            total += state[0] // width
            self._ends.append(total)

    def __len__(self) -> int:
        """Returns the number of records."""
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> _R:
        """Returns one record."""
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[_R]:
        """Returns a batch; reads the records of each file at once, neighbours together.

        Raises
        ------
        swath.ChangedError
            For a file that was replaced or written to since the dataset was made.
        """
        places: dict[int, list[tuple[int, int]]] = {}
        for slot, index in enumerate(indices):
            if not -len(self) <= index < len(self):
                raise IndexError(f"record {index} of {len(self)}")
            index %= len(self)
            file = bisect.bisect_right(self._ends, index)
            first = self._ends[file - 1] if file else 0
            places.setdefault(file, []).append((slot, (index - first) * self.width))
        items: list[Any] = [None] * len(indices)
        for file, wanted in places.items():
            plan = [(offset, self.width, 0) for _, offset in wanted]
            with open(open_at_once(self.paths[file]), "rb") as opened:
                if _state_of(os.fstat(opened.fileno())) != self._states[file]:
                    what, hint = "it has changed since the dataset was made", "make the dataset again"
                    raise unreadable("Changed", os.fsdecode(self.paths[file]), what, hint)
                reading = swath.read_prioritised(opened, plan)
                for (slot, _), chunk in zip(wanted, reading.wait(0)):
                    items[slot] = self._decode(chunk)
        return items


class ShuffledSampler:
    """The indices of a dataset in an order that depends only on a seed and an epoch.

    Call ``set_epoch`` before each epoch, as with torch's ``DistributedSampler``. ``rank`` of
    ``replicas`` gets every ``replicas``-th index; if the count is not a multiple of ``replicas``, the
    first indices are repeated.

    Examples
    --------
    >>> dataset = swath.torch.FileDataset("images")
    >>> sampler = swath.torch.ShuffledSampler(dataset, seed=1)
    >>> sampler.set_epoch(0)
    >>> sorted(sampler)
    [0, 1, 2]
    """

    def __init__(self, dataset: Any, seed: int = 0, rank: int = 0, replicas: int = 1) -> None:
        if not 0 <= rank < replicas:
            raise ValueError(f"rank={rank} is not in 0 to replicas - 1 = {replicas - 1}")
        self._count = len(dataset)
        self._seed = seed
        self._rank = rank
        self._replicas = replicas
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Sets the next epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        """Returns the number of indices of this rank."""
        return -(-self._count // self._replicas)

    def __iter__(self) -> Iterator[int]:
        """Iterates over the indices of this rank."""
        order = list(range(self._count))
        random.Random(f"{self._seed}-{self._epoch}").shuffle(order)
        whole = itertools.islice(itertools.cycle(order), len(self) * self._replicas)
        return itertools.islice(whole, self._rank, None, self._replicas)
