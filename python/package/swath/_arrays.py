"""Files of plain numbers, and of numpy's own format, as numpy arrays."""

from __future__ import annotations

import ast
import io
import math
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, Unpack

from swath._errors import named, unreadable
from swath._given import plain
from swath._options import ChunkOptions, WriteOptions, output, takes
from swath._swath import JobInput, file_format, read, write_parts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from swath._swath import _Bytes

_NPY = b"\x93NUMPY"
# The longest header that is accepted in a .npy file, in bytes.
_MOST_HEADER = 64 << 10
_RESTORE = "restore the file, or save the array again"


@takes
def read_array(
    source: Any,
    dtype: npt.DTypeLike,
    shape: SupportsIndex | Iterable[SupportsIndex] | None = None,
    *,
    order: Literal["C", "F"] = "C",
    offset: int | None = None,
    starting_in: tuple[int, int | None] | None = None,
    out: _Bytes | None = None,
    readonly: bool = False,
    **options: Unpack[ChunkOptions],
) -> np.ndarray[Any, Any]:
    """Reads a file of plain numbers as an array; copies the items only if they are misaligned.

    Parameters
    ----------
    source : path, descriptor, open file, bytes in memory, or list of copies
        As for `read`.
    dtype : numpy dtype
        The type of an item; it may be structured, and of either byte order.
    shape : int or tuple of ints
        The shape of the array; one dimension may be -1. Without it, one dimension to the end of the
        file. A file with fewer items is an error; in a file with more, the first ones are read.
    order : {"C", "F"}
        Which index changes fastest in the file: the last or the first.
    offset : int, optional
        Bytes before the first item. Without ``offset`` items begin at byte 0, and a file of another
        format (.npy, safetensors, Arrow, Parquet, an archive, a compressed file) is refused;
        ``offset=0`` reads it as it is.
    starting_in : (offset, length), optional
        Only the items that begin in these bytes of the file; the last one is read to its end. If
        extents cover the file, each item is in exactly one of them. With a shape of several
        dimensions, the first of which is -1, rows take the place of items. Not with ``out``.
    out, readonly
        As for `read`.
    {options}

    Returns
    -------
    numpy.ndarray
        Writable unless ``readonly``. It keeps its memory alive, including that of ``out``.

    Examples
    --------
    >>> swath.read_array("data.f8", "f8", (2, 3))
    array([[0., 1., 2.],
           [3., 4., 5.]])
    >>> swath.read_array("data.f8", "f8", 2, offset=80)
    array([10., 11.])
    >>> swath.read_array("data.f8", "f8", (-1, 2), starting_in=(17, 30))
    array([[4., 5.]])
    """
    from swath._numpy import np

    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise ValueError(f"dtype={dtype}: a file has no objects of Python; try: pass a numeric dtype")
    if dtype.itemsize == 0:
        raise ValueError(f"dtype={dtype}: an item has no bytes; try: pass a dtype with a size")
    if order not in ("C", "F"):
        raise ValueError(f'order={order!r}: not one of "C", "F"')
    dimensions = None if shape is None else _dimensions(shape)
    length = width = None
    if starting_in is not None:
        width = _row(dimensions, order) * dtype.itemsize
    elif dimensions is not None and -1 not in dimensions:
        length = math.prod(dimensions) * dtype.itemsize
    buffer: Any = read(
        source,
        offset=offset or 0,
        length=length,
        starting_in=starting_in,
        delimiter=width,
        out=out,
        readonly=readonly,
        **options,
    )
    if offset is None and (starting_in is None or starting_in[0] == 0):
        _check_magic(source, bytes(memoryview(buffer)[:18]))
    whole, rest = divmod(buffer.nbytes, dtype.itemsize)
    if rest:
        raise ValueError(
            f"cannot read {named(source)} as {dtype}: {rest} of its {buffer.nbytes} bytes from {offset or 0} on "
            f"remain after {whole} items of {dtype.itemsize}; try: pass shape= or offset="
        )
    array = np.frombuffer(buffer, dtype) if buffer.nbytes else np.empty(0, dtype)
    if not array.flags.aligned:
        # Users of arrays expect aligned items, which those of the file are not.
        array = array.copy()
    if dimensions is None:
        return array
    if length is None:
        known = -math.prod(dimensions)
        if whole % known if known else whole:
            raise ValueError(
                f"cannot read {named(source)} as {dtype} of shape {shape}: its {whole} items are not "
                f"a multiple of {known}; try: pass another shape, or offset="
            )
        if not known:
            # With an empty array, -1 could be any size.
            dimensions = tuple(0 if size == -1 else size for size in dimensions)
    return array.reshape(dimensions, order=order)


def _row(dimensions: tuple[int, ...] | None, order: str) -> int:
    """Returns the items that `starting_in` counts as one: those of a row, or 1."""
    if dimensions is None:
        return 1
    row = math.prod(dimensions[1:])
    if order != "C" or dimensions[:1] != (-1,) or row == 0:
        raise ValueError(
            f'starting_in= with shape={dimensions}, order="{order}": the file is not a sequence of rows; try: '
            'pass a shape of (-1, …) without zeros, and order="C"'
        )
    return row


def _dimensions(shape: SupportsIndex | Iterable[SupportsIndex]) -> tuple[int, ...]:
    try:
        dimensions: tuple[int, ...] = (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        dimensions = tuple(map(operator.index, shape))  # type: ignore[arg-type]
    if any(size < -1 for size in dimensions):
        raise ValueError(f"shape={shape}: a dimension is negative; try: pass -1 for one unknown size")
    if dimensions.count(-1) > 1:
        raise ValueError(f"shape={shape}: only one dimension may be -1; try: pass the others")
    return dimensions


def _check_magic(source: Any, start: bytes) -> None:
    kind = file_format(start)
    if kind is not None:
        name, instead = kind
        what = f"it is not a file of plain numbers, but {name}"
        hint = f"{instead}, or pass offset=0 to read its bytes as they are"
        raise unreadable("UnknownFormat", named(source), what, hint)


@takes
def read_npy(
    source: Any,
    *,
    starting_in: tuple[int, int | None] | None = None,
    readonly: bool = False,
    **options: Unpack[ChunkOptions],
) -> np.ndarray[Any, Any]:
    """Reads a .npy file as the array that was saved. Nothing is copied.

    Parameters
    ----------
    source : path, descriptor, open file, bytes in memory, or list of copies
        As for `read`.
    starting_in : (offset, length), optional
        Only the rows (items of the first dimension) that begin in these bytes of the file; the last one is read
        to its end. If extents cover the file, each row is in exactly one of them. The header is read anyway. An
        array of several dimensions in Fortran order is refused.
    readonly
        As for `read`.
    {options}

    Returns
    -------
    numpy.ndarray
        With the type, shape and order stored in the file; writable unless ``readonly``.

    Raises
    ------
    swath.MalformedError, swath.TruncatedError
        If the header is damaged, or the file does not end where its values do. Python objects are refused:
        ``numpy.load(path, allow_pickle=True)`` would run code from the file.

    Examples
    --------
    >>> swath.read_npy("array.npy").shape
    (3, 4)
    >>> swath.read_npy("array.npy", starting_in=(130, 32))
    array([[4., 5., 6., 7.]])
    """
    how: dict[str, Any] = {"readonly": readonly, **options}
    if starting_in is not None:
        return _rows_of_npy(source, starting_in, how)
    buffer: Any = read(source, **how)
    begin, dtype, shape, is_fortran = _header(source, bytes(memoryview(buffer)[:_MOST_HEADER]))
    _check_length(source, dtype, shape, buffer.nbytes - begin)
    return _made(source, buffer, begin, dtype, shape, is_fortran)


def _rows_of_npy(
    source: Any, starting_in: tuple[int, int | None], how: dict[str, Any]
) -> np.ndarray[Any, Any]:
    """Returns the rows of a .npy file that begin in an extent."""
    quiet = {**how, "progress": None}
    # Opened once: header and values are of one file, even if another one takes its name in the meantime.
    opened = JobInput(source)

    def bytes_in(first: int, length: int | None) -> Any:
        return read(opened, starting_in=(first, length), delimiter=1, **quiet)

    begin, dtype, shape, is_fortran = _header(source, bytes(bytes_in(0, _MOST_HEADER)))
    if len(shape) == 0 or (is_fortran and len(shape) > 1):
        what = f"the array of shape {shape} in {'Fortran' if is_fortran else 'C'} order has no rows"
        raise unreadable("Unsupported", named(source), what, "read the whole file")
    width, end = math.prod(shape[1:]) * dtype.itemsize, begin + math.prod(shape) * dtype.itemsize
    # The last byte of the values, and one after it.
    around = bytes_in(end - 1, 2).nbytes
    if around != 1:
        _check_length(source, dtype, shape, bytes_in(begin, None).nbytes)
    if width == 0:
        # Rows without bytes are at the end of the header.
        count = shape[0] if bytes_in(*starting_in).nbytes and _holds(starting_in, begin - 1) else 0
        return _made(source, b"", 0, dtype, (count, *shape[1:]), False)
    buffer: Any = read(
        opened, offset=begin, length=end - begin, starting_in=starting_in, delimiter=width, **how
    )
    return _made(source, buffer, 0, dtype, (buffer.nbytes // width, *shape[1:]), False)


def _holds(extent: tuple[int, int | None], place: int) -> bool:
    first, length = extent
    return first <= place and (length is None or place < first + length)


def _check_length(source: Any, dtype: np.dtype[Any], shape: tuple[int, ...], there: int) -> None:
    """Fails unless the file ends where its values do."""
    wanted = math.prod(shape) * dtype.itemsize
    if there != wanted:
        what = f"{dtype} of shape {shape} takes {wanted} bytes, but the file has {there}"
        reason = "Truncated" if there < wanted else "Malformed"
        raise unreadable(reason, named(source), what, _RESTORE)


def _made(
    source: Any,
    buffer: Any,
    begin: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    is_fortran: bool,
) -> np.ndarray[Any, Any]:
    """Returns the array whose values begin at byte ``begin`` of the buffer."""
    from swath._numpy import np

    wanted = math.prod(shape) * dtype.itemsize
    try:
        flat = np.empty(math.prod(shape), dtype)
        if wanted:
            flat = np.frombuffer(buffer, dtype, offset=begin)
        if not flat.flags.aligned:
            flat = flat.copy()
        return flat.reshape(shape, order="F" if is_fortran else "C")
    except (OverflowError, ValueError) as error:
        what = f"an array of the shape {shape}: {error}"
        raise unreadable("TooLarge", named(source), what, "look at it with `swath info`") from error


def _header(source: Any, start: bytes) -> tuple[int, np.dtype[Any], tuple[int, ...], bool]:
    """Returns where the values begin, their type and shape, and whether they are in Fortran order."""
    from swath._numpy import np

    file = io.BytesIO(start)
    if not start.startswith(_NPY):
        hint = "call swath.read_array for plain numbers, or swath.read_csv for text"
        raise unreadable("UnknownFormat", named(source), "it is not a .npy file", hint)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file, _MOST_HEADER)
        elif version == (2, 0):
            shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(file, _MOST_HEADER)
        elif version == (3, 0):
            shape, is_fortran, dtype = _third_header(file)
        else:
            raise ValueError(f"unknown version {version}")
    # numpy parses the header as Python source, which can fail in many ways.
    except Exception as error:
        what = f"the header of the .npy file is damaged: {error}"
        raise unreadable("Malformed", named(source), what, _RESTORE) from error
    if any(size < 0 for size in shape):
        what = f"the header of the .npy file is damaged: the shape is {shape}"
        raise unreadable("Malformed", named(source), what, _RESTORE)
    if dtype.hasobject:
        hint = "call numpy.load(path, allow_pickle=True) if you trust its author"
        raise unreadable("Unsupported", named(source), "it holds objects of Python", hint)
    return file.tell(), dtype, shape, is_fortran


def _third_header(file: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Reads the header version that numpy writes for field names beyond Latin-1."""
    from swath._numpy import np

    length = int.from_bytes(file.read(4), "little")
    text = file.read(length)
    if len(text) != length:
        raise ValueError("it is cut off")
    said = ast.literal_eval(text.decode())
    return said["shape"], said["fortran_order"], np.lib.format.descr_to_dtype(said["descr"])


@takes
def write_npy(path: Any, array: Any, **options: Unpack[WriteOptions]) -> int:
    """Writes an array as a .npy file, complete or not at all; returns its length in bytes.

    Parameters
    ----------
    path : path
    array : array
        Any shape, and any type of fixed size. Objects are refused, as are data that the format cannot express,
        such as masks or the columns of a table.
    {options}

    Examples
    --------
    >>> import numpy
    >>> swath.write_npy("out.npy", numpy.arange(4))
    160
    """
    from swath._numpy import np

    to = output(path, options)
    # Converted to numpy's own class: subclasses may order and shape their items differently.
    array = np.asarray(plain("the array", array))
    head = _head_of(array)
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    flat = np.ascontiguousarray(array.T if is_fortran else array).reshape(-1)
    values = flat.view(np.uint8) if array.dtype.itemsize and flat.size else b""
    return write_parts(to, [head, values])


def _head_of(array: np.ndarray[Any, Any]) -> bytes:
    from swath._numpy import np

    said = np.lib.format.header_data_from_array_1_0(array)
    if np.lib.format.descr_to_dtype(said["descr"]) != array.dtype:
        raise TypeError(
            f"the array has dtype {array.dtype}, which the .npy format does not have; try: "
            "convert with astype('float32'), or save array.view('uint8')"
        )
    file = io.BytesIO()
    try:
        np.lib.format.write_array_header_1_0(file, said)
    except UnicodeEncodeError as error:
        text = f"the array has field names beyond Latin-1: {error}; try: rename the fields"
        raise TypeError(text) from error
    except ValueError:
        # Too long for the first version of the format.
        file = io.BytesIO()
        np.lib.format.write_array_header_2_0(file, said)
    return file.getvalue()
