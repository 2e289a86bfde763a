"""Files of plain numbers as numpy arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from swath._swath import read

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from swath._swath import _Bytes, _Engine, _PageCache, _Progress, _Verify


def read_array(
    path: Any,
    dtype: npt.DTypeLike,
    shape: SupportsIndex | Iterable[SupportsIndex] | None = None,
    order: Literal["C", "F"] = "C",
    *,
    offset: int = 0,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    out: _Bytes | None = None,
    readonly: bool = False,
    verify: _Verify = None,
    profile: bool = True,
) -> np.ndarray[Any, Any]:
    """Reads a file of plain numbers as an array, without a copy if its items begin where such items may.

    Parameters
    ----------
    path : path, descriptor, open file, or list of copies
        As for `read`.
    dtype : numpy dtype
        What an item is; it may be structured, and of either byte order.
    shape : int or tuple of ints
        Of the array; one of them may be -1. Without it, one dimension to the end of the file. A file
        with fewer items is an error; of one with more, the first are read.
    order : {"C", "F"}
        Which index changes fastest in the file: the last or the first.
    offset : int
        Bytes before the first item.
    workers, chunk_size, engine, page_cache, progress, out, readonly, verify, profile
        As for `read`.

    Returns
    -------
    numpy.ndarray
        Writable, unless ``readonly``; it keeps the memory, that of ``out`` if it is given.
    """
    import numpy as np

    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise ValueError(f"dtype={dtype}: objects have no bytes in a file")
    if dtype.itemsize == 0:
        raise ValueError(f"dtype={dtype}: an item has no bytes")
    if order not in ("C", "F"):
        raise ValueError(f'order={order!r}: it is one of "C", "F"')
    dimensions = None if shape is None else _dimensions(shape)
    length = None
    if dimensions is not None and -1 not in dimensions:
        length = math.prod(dimensions) * dtype.itemsize
    buffer: Any = read(
        path,
        offset=offset,
        length=length,
        workers=workers,
        chunk_size=chunk_size,
        engine=engine,
        page_cache=page_cache,
        progress=progress,
        out=out,
        readonly=readonly,
        verify=verify,
        profile=profile,
    )
    whole, rest = divmod(buffer.nbytes, dtype.itemsize)
    if rest:
        raise ValueError(
            f"cannot read {path!r} as {dtype}: {rest} of its {buffer.nbytes} bytes from {offset} on "
            f"are left behind {whole} items of {dtype.itemsize}; try: length by shape=, or offset="
        )
    array = np.frombuffer(buffer, dtype) if buffer.nbytes else np.empty(0, dtype)
    if not array.flags.aligned:
        # Items that began at an odd place in the file: what takes arrays wants them aligned.
        array = array.copy()
    if dimensions is None:
        return array
    if length is None:
        known = -math.prod(dimensions)
        if whole % known if known else whole:
            raise ValueError(
                f"cannot read {path!r} as {dtype} of shape {shape}: its {whole} items are no "
                f"whole number of {known}; try: another shape, or offset="
            )
        if not known:
            # Nothing, of which there is any number.
            dimensions = tuple(0 if size == -1 else size for size in dimensions)
    return array.reshape(dimensions, order=order)


def _dimensions(shape: SupportsIndex | Iterable[SupportsIndex]) -> tuple[int, ...]:
    try:
        dimensions: tuple[int, ...] = (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        dimensions = tuple(map(operator.index, shape))  # type: ignore[arg-type]
    if any(size < -1 for size in dimensions):
        raise ValueError(f"shape={shape}: no dimension is negative")
    if dimensions.count(-1) > 1:
        raise ValueError(f"shape={shape}: one dimension may be -1")
    return dimensions
