"""Matrices and graphs as scipy sparse arrays, or as plain arrays without scipy."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from swath._errors import a_thing, named, unreadable
from swath._given import plain
from swath._made import check_numbers
from swath._options import MatrixOptions, ReadOptions, WriteOptions, how, output, takes
from swath._swath import read_matrix, write_matrix

if TYPE_CHECKING:
    import numpy as np

_Form = Literal["coo", "csr", "csc"]
_MOST = 2**31 - 1


class Coo(NamedTuple):
    """A matrix by coordinates; used where scipy is not installed.

    >>> import numpy
    >>> swath.Coo((2, 2), numpy.array([0, 1]), numpy.array([1, 0]), None).shape
    (2, 2)
    """

    shape: tuple[int, int]
    rows: np.ndarray[Any, Any]
    columns: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any] | None


class Compressed(NamedTuple):
    """A matrix by compressed rows or columns; used where scipy is not installed.

    The entries of row (column) ``r`` have the indices ``offsets[r]`` up to ``offsets[r + 1]``.

    >>> import numpy
    >>> rows = swath.Compressed((2, 2), numpy.array([0, 1, 1]), numpy.array([1]), None)
    >>> [int(column) for column in rows.indices[rows.offsets[0]:rows.offsets[1]]]
    [1]
    """

    shape: tuple[int, int]
    offsets: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any] | None


@takes
def read_mtx(source: Any, form: _Form = "coo", **options: Unpack[MatrixOptions]) -> Any:
    """Reads a Matrix Market file.

    Parameters
    ----------
    source : path, descriptor, open file, bytes in memory, or list of copies
        As for `read`.
    form : {"coo", "csr", "csc"}
        Coordinates, compressed rows or compressed columns. The file is parsed directly into that
        form.
    {options}

    Returns
    -------
    scipy.sparse.coo_array, csr_array or csc_array
        ``Coo`` or ``Compressed`` where scipy is not installed.

    Raises
    ------
    swath.MalformedError
        With the line and the byte of the fault.

    Examples
    --------
    >>> graph = swath.read_mtx("graph.mtx", "csr")
    >>> graph.shape
    (3, 3)
    """
    return _matrix(source, form, options, format="mtx")


def _base(base: str | int) -> str:
    """Returns the number of the first vertex, as a word."""
    return base if isinstance(base, str) else str(int(base))


@takes
def read_edges(
    source: Any,
    form: _Form = "coo",
    *,
    base: Literal["auto", "0", "1", 0, 1] = "auto",
    vertices: int | None = None,
    **options: Unpack[MatrixOptions],
) -> Any:
    """Reads a list of edges: two numbers per line, and optionally a weight.

    ``base`` is the number of the first vertex: 0, 1 or "auto". ``vertices`` is the number of vertices; without it,
    the greatest vertex decides. That differs between parts that are read with ``starting_in=``, so pass the number
    for all of them. All else is as for `read_mtx`.

    Examples
    --------
    >>> swath.read_edges("edges.el", vertices=4).shape
    (4, 4)
    """
    return _matrix(source, form, options, format="edges", base=_base(base), vertices=vertices)


def _matrix(source: Any, form: _Form, options: MatrixOptions, **more: Any) -> Any:
    from swath._numpy import np

    more |= {word: given for word, given in options.items() if word not in ReadOptions.__annotations__}
    row_count, column_count, _, first, second, raw = read_matrix(source, form, how(options), **more)
    shape = (row_count, column_count)
    if max(shape) > 2**63 - 1:
        what = f"{row_count} x {column_count} is larger than numpy's indices"
        hint = "convert it with `swath convert`"
        raise unreadable("TooLarge", named(source), what, hint)
    # The parser guarantees that indices are below the shape and offsets rise: no check is needed.
    wide = max(shape) > _MOST
    one, other = np.asarray(first), np.asarray(second)
    one = _signed(one, wide if form == "coo" else int(one[-1]) > _MOST)
    other = _signed(other, wide)
    values = None if raw is None else _values(np.asarray(raw))
    try:
        from scipy import sparse  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        made = Coo if form == "coo" else Compressed
        return made(shape, one, other, values)
    if values is None:
        values = np.ones(len(other))
    if form == "coo":
        return _coo_array(sparse, shape, one, other, values)
    kind = sparse.csr_array if form == "csr" else sparse.csc_array
    return kind((values, other, one), shape=shape)


def _coo_array(sparse: Any, shape: tuple[int, int], rows: Any, columns: Any, values: Any) -> Any:
    """Builds a scipy array, without scipy's four serial passes over indices that the parser has checked."""
    matrix = sparse.coo_array(shape, dtype=values.dtype)
    if not hasattr(matrix, "coords"):  # Before scipy 1.13.
        return sparse.coo_array((values, (rows, columns)), shape=shape)
    matrix.coords = (rows, columns)
    matrix.data = values
    matrix.has_canonical_format = False
    return matrix


def _signed(ids: np.ndarray[Any, Any], wide: bool) -> np.ndarray[Any, Any]:
    """Returns signed indices, as scipy needs them: the same memory, unless they must be wider."""
    from swath._numpy import np

    if ids.dtype == np.uint64:
        return ids.view(np.int64)
    return ids.astype(np.int64) if wide else ids.view(np.int32)


def _values(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    from swath._numpy import np

    # Pairs of doubles are complex numbers.
    return values.view(np.complex128)[:, 0] if values.ndim == 2 else values


@takes
def write_mtx(
    path: Any,
    matrix: Any,
    *,
    symmetry: Literal["general", "symmetric", "skew-symmetric", "hermitian"] = "general",
    comment: str | None = None,
    **options: Unpack[WriteOptions],
) -> int:
    """Writes a Matrix Market file, complete or not at all; returns its length in bytes.

    Parameters
    ----------
    path : path
    matrix : scipy sparse array or matrix, Coo, or numpy array of two dimensions
        Values are written so that reading them back with the same type gives the same bits; for
        float32 read with ``values="float32"``. Integers above 2^63 - 1 make the file ``unsigned-integer``, which
        scipy reads too. Masked values, and floats wider than a double, are refused. An array is written in the array
        format: all values column by column, zeros included, without ``symmetry``.
    symmetry : str
        The symmetry of the matrix. Unless it is "general", only the lower half is written, and the upper half is not
        compared with it.
    comment : str, optional
        A comment for the head of the file.
    {options}

    Examples
    --------
    >>> import numpy
    >>> ends = numpy.array([0, 1])
    >>> swath.write_mtx("out.mtx", swath.Coo((2, 2), ends, ends, numpy.array([1.5, 2.5])))
    68
    """
    from swath._numpy import np

    to = output(path, options)
    places: Any = None
    values: Any
    shape: tuple[Any, ...] = getattr(matrix, "shape", ())
    if isinstance(matrix, np.ndarray):
        if symmetry != "general":
            raise ValueError(
                f"symmetry={symmetry!r}: a dense matrix is written whole; try: pass a sparse one, or leave out symmetry="
            )
        values = plain("the matrix", matrix).ravel(order="F")
    elif isinstance(matrix, Coo):
        shape, places, values = matrix.shape, (matrix.rows, matrix.columns), matrix.values
    elif not hasattr(matrix, "tocoo"):
        raise TypeError(
            f"{a_thing(matrix)} is not a matrix; try: convert it with numpy.asarray(matrix), or with "
            "scipy.sparse.coo_array(matrix), which leaves out zeros, or call swath.write_csv"
        )
    else:
        coo = matrix.tocoo()
        shape, places, values = coo.shape, (coo.row, coo.col), coo.data
    if len(shape) != 2:
        raise ValueError(f"a matrix has two dimensions, not {len(shape)}")
    if places is not None:
        rows, columns = _indices("rows", places[0]), _indices("columns", places[1])
        places = rows, columns
    values = None if values is None else _numbers(values)
    if symmetry != "general":
        half = rows > columns if symmetry == "skew-symmetric" else rows >= columns
        places = np.ascontiguousarray(rows[half]), np.ascontiguousarray(columns[half])
        values = None if values is None else values[half]
    given = None
    if values is not None:
        values = np.ascontiguousarray(values)
        given = (values.dtype.name, values)
    return write_matrix(
        to,
        operator.index(shape[0]),
        operator.index(shape[1]),
        places,
        given,
        symmetry=symmetry,
        format="mtx",
        comment=comment,
    )


def _indices(what: str, given: Any) -> np.ndarray[Any, Any]:
    from swath._numpy import np

    array = plain(f"the array of {what}", given)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"the array of {what} has dtype {array.dtype}; try: pass integers")
    # Negative numbers become too large, and are refused.
    return np.ascontiguousarray(array, np.uint64)


def _numbers(given: Any) -> np.ndarray[Any, Any]:
    """Returns the values, unchanged, in a type that the format has."""
    from swath._numpy import np

    array = plain("the array of values", given)
    if array.dtype.kind == "c" and array.dtype.itemsize <= 16:
        return array.astype(np.complex128, copy=False)
    check_numbers("the array of values", array)
    is_unsigned = array.dtype.kind == "u" and array.dtype.itemsize == 8
    if is_unsigned and len(array) and int(array.max()) > 2**63 - 1:
        # Only if needed: the format itself has only signed integers.
        return array.astype(np.uint64, copy=False)
    if array.dtype.kind != "f":
        return array.astype(np.int64, copy=False)
    kind = np.float32 if array.dtype.itemsize <= 4 else np.float64
    return array.astype(kind, copy=False)
