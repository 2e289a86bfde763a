"""Files of plain numbers as numpy arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from swath._swath import read

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def read_array(
    path: Any,
    dtype: npt.DTypeLike,
    shape: int | tuple[int, ...] | None = None,
    order: Literal["C", "F"] = "C",
    *,
    offset: int = 0,
    **how: Any,
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
    **how
        ``workers``, ``chunk_size``, ``engine``, ``page_cache``, ``progress``, ``readonly``,
        ``verify``, ``profile``, as for `read`.

    Returns
    -------
    numpy.ndarray
        Writable, unless ``readonly``; it keeps the memory.
    """
    import numpy as np

    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise ValueError(f"dtype={dtype}: objects have no bytes in a file")
    if dtype.itemsize == 0:
        raise ValueError(f"dtype={dtype}: an item has no bytes")
    dimensions = (shape,) if isinstance(shape, int) else shape
    length = None
    if dimensions is not None and -1 not in dimensions:
        if any(size < 0 for size in dimensions):
            raise ValueError(f"shape={shape}: no dimension is negative")
        length = math.prod(dimensions) * dtype.itemsize
    buffer = read(path, offset=offset, length=length, **how)
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
    return array if dimensions is None else array.reshape(dimensions, order=order)
