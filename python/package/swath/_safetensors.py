"""Safetensors as numpy arrays or torch tensors."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Unpack

from swath._errors import a_thing, named, unreadable
from swath._given import plain
from swath._options import ChunkOptions, WriteOptions, how, output, takes
from swath._sources import files_of
from swath._swath import Tensors, load_tensors, save_tensors, stream_tensors

_Framework = Literal["numpy", "torch", "np", "pt"]

# The format's dtypes that numpy has; ml_dtypes has the others, by the names below.
_NUMPY = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "C64": "<c8",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
_ML_DTYPES = {
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
# Warning filters belong to the process: one thread at a time changes them.
_QUIET = threading.Lock()
_TORCH = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "F16": "float16",
    "BF16": "bfloat16",
    "U32": "uint32",
    "I32": "int32",
    "F32": "float32",
    "C64": "complex64",
    "U64": "uint64",
    "I64": "int64",
    "F64": "float64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}


def _forked() -> None:
    global _QUIET
    # After a fork, the thread that held the lock does not exist.
    _QUIET = threading.Lock()


os.register_at_fork(after_in_child=_forked)


@takes
def load_safetensors(
    sources: Any,
    *,
    order: Iterable[str] | None = None,
    names: Iterable[str] | None = None,
    framework: _Framework = "numpy",
    **options: Unpack[ChunkOptions],
) -> dict[str, Any]:
    """Loads tensors by name. Nothing is copied.

    Parameters
    ----------
    sources : path, descriptor, open file or bytes in memory, or iterable of them
        Shards of one model, or the path of the index that lists them (a ``.json``), of their folder, or a pattern
        such as ``"model/*.safetensors"``. A list inside the list names copies of one shard, as for `read`.
    order : iterable of str, optional
        Names that come first in the dictionary, in this order; the others follow in file order.
    names : iterable of str, optional
        Only these tensors; no other data is read.
    framework : {"numpy", "torch", "np", "pt"}
        The kind of tensors; "np" and "pt" are the names in the format's own library. numpy gets bfloat16 and
        float8 from ``ml_dtypes``, if that is installed.
    {options}

    Returns
    -------
    dict of str to numpy.ndarray or torch.Tensor
        Writable. The tensors of a shard share one block of memory, and each keeps all of it alive.

    Raises
    ------
    swath.CorruptError, swath.MalformedError
        For headers that the format's own library refuses, and for duplicate names.
    swath.Error
        For an unknown name, before anything else is read; also a ``ValueError``.

    Examples
    --------
    >>> tensors = swath.load_safetensors(["a.safetensors", "b.safetensors"])
    >>> sorted(tensors)
    ['bias', 'weight']
    >>> tensors["weight"].shape
    (2, 3)
    """
    make = _maker(framework)
    sources = _shards(sources)
    order, names = _list("order", order), _list("names", names)
    rows, memories = load_tensors(sources, how(options), order=order, names=names)
    return {
        name: _made(make, sources, name, dtype, shape, memories[memory], begin, length)
        for name, dtype, shape, memory, begin, length in rows
    }


def _shards(given: Any) -> Any:
    """Returns the shards, those of an iterator as a list, so that messages can name them."""
    if isinstance(given, (str, bytes, os.PathLike)):
        return _of_path(given)
    if isinstance(given, int) or hasattr(given, "fileno"):
        return given
    # An array of text is a list of paths; other memory is a shard.
    if getattr(getattr(given, "dtype", None), "kind", "") not in ("U", "S", "O"):
        try:
            return memoryview(given)
        except TypeError:
            pass
    return list(given)


def _of_path(path: Any) -> Any:
    """Returns a shard or an index; for a folder, its index or else its shards; for a pattern, the files that
    match."""
    found = files_of(path)
    if found == [path]:
        return path
    if not os.path.isdir(path):
        return found
    indices = [one for one in found if one.endswith(".safetensors.index.json")]
    if len(indices) > 1:
        raise ValueError(f"{os.fsdecode(path)} has {len(indices)} indices; try: pass the path of one")
    shards = [one for one in found if one.endswith(".safetensors")]
    # Without either, the error names the folder.
    return indices[0] if indices else shards or path


def _made(make: Any, sources: Any, name: str, word: str, shape: list[int], *where: Any) -> Any:
    """Builds a tensor, or fails with the name of one whose shape its framework does not support."""
    try:
        return make(name, word, shape, *where)
    except (OverflowError, RuntimeError, ValueError) as error:
        what = f"tensor {name!r} of shape {shape}: {error}"
        raise unreadable("TooLarge", named(sources), what, "leave it out with names=") from error


@takes
def stream_safetensors(
    sources: Any,
    *,
    order: Iterable[str] | None = None,
    names: Iterable[str] | None = None,
    framework: _Framework = "numpy",
    **options: Unpack[ChunkOptions],
) -> Iterator[tuple[str, Any]]:
    """Yields tensors as they arrive, the most urgent first, while the others are still being read.

    Parameters
    ----------
    sources : path, descriptor, open file or bytes in memory, or iterable of them
        As for `load_safetensors`; several shards are read at once.
    order : iterable of str, optional
        The names that are needed first; the others follow in file order.
    names, framework
        As for `load_safetensors`.
    {options}

    Yields
    ------
    (str, numpy.ndarray or torch.Tensor)
        Read-only arrays: other tensors in the same memory are still being read. torch has no
        read-only tensors: ``clone()`` a tensor before you change it.

    Examples
    --------
    >>> for name, tensor in swath.stream_safetensors("a.safetensors"):
    ...     print(name, tensor.shape)
    weight (2, 3)
    """
    make = _maker(framework)
    sources = _shards(sources)
    order, names = _list("order", order), _list("names", names)
    stream = stream_tensors(sources, how(options), order=order, names=names)
    return _streamed(stream, make, sources)


def _streamed(stream: Tensors, make: Any, sources: Any) -> Iterator[tuple[str, Any]]:
    with stream:
        for name, dtype, shape, buffer in stream:
            yield name, _made(make, sources, name, dtype, shape, buffer, 0, buffer.nbytes)


def _list(word: str, names: Iterable[str] | None) -> list[str] | None:
    if isinstance(names, (str, bytes)):
        raise TypeError(f"{word}={names!r} is a name, not a list of names; try: pass [{names!r}]")
    return None if names is None else list(names)


def _maker(framework: str) -> Any:
    if framework in ("numpy", "np"):
        return _numpy
    if framework in ("torch", "pt"):
        _check_torch(framework)
        return _torch
    raise ValueError(f'framework={framework!r}: not one of "numpy", "torch", "np", "pt"')


def _check_torch(framework: str) -> None:
    try:
        import torch  # type: ignore[import-not-found, unused-ignore] # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            f"framework={framework!r} needs torch, which is not installed; try: run "
            'pip install torch, or pass framework="numpy"',
            name="torch",
        ) from None


def _dtype(name: str, word: str) -> Any:
    from swath._numpy import np

    if word in _NUMPY:
        return np.dtype(_NUMPY[word])
    if word in _ML_DTYPES:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(
                f"tensor {name!r} has dtype {word}, which numpy does not have; try: run pip "
                'install ml_dtypes, pass framework="torch", or leave it out with names='
            ) from None
        return np.dtype(getattr(ml_dtypes, _ML_DTYPES[word]))
    raise TypeError(
        f"tensor {name!r} has dtype {word}, whose elements are not whole bytes; try: leave it out "
        "with names="
    )


def _numpy(name: str, word: str, shape: list[int], memory: Any, begin: int, length: int) -> Any:
    from swath._numpy import np

    dtype = _dtype(name, word)
    if not length:
        return np.empty(shape, dtype)
    count = length // dtype.itemsize
    return np.frombuffer(memory, dtype, count, begin).reshape(shape)


def _torch(name: str, word: str, shape: list[int], memory: Any, begin: int, length: int) -> Any:
    import torch  # type: ignore[import-not-found, unused-ignore]

    dtype = getattr(torch, _TORCH.get(word, ""), None)
    if dtype is None:
        raise TypeError(f"tensor {name!r} has dtype {word}, which this torch does not have")
    if not length:
        return torch.empty(shape, dtype=dtype)
    # Viewed as bytes: torch cannot view some dtypes directly.
    with _QUIET, warnings.catch_warnings():
        # torch has no read-only tensors, as its documentation says; only this warning is hidden.
        warnings.filterwarnings("ignore", "The given buffer is not writable", UserWarning)
        flat = torch.frombuffer(memory, dtype=torch.uint8, count=length, offset=begin)
    return flat.view(dtype).reshape(shape)


@takes
def save_safetensors(
    path: Any,
    tensors: Mapping[str, Any],
    *,
    metadata: Mapping[str, str] | None = None,
    **options: Unpack[WriteOptions],
) -> int:
    """Writes a safetensors file, complete or not at all; returns its length in bytes.

    Parameters
    ----------
    path : path
    tensors : mapping of str to numpy.ndarray or torch.Tensor
        In any memory layout. The same tensors give the same bytes, in any order. Do not change them until the
        function returns, or the file holds a mix; for a checkpoint during training, pass copies.
    metadata : mapping of str to str, optional
    {options}

    Examples
    --------
    >>> import numpy
    >>> swath.save_safetensors("out.safetensors", {"weight": numpy.zeros(4, "f4")})
    88
    """
    to = output(path, options)
    if not isinstance(tensors, Mapping):
        raise TypeError(
            f"{a_thing(tensors)} is not a mapping of names to tensors; try: pass "
            "{name: numpy.asarray(table[name]) for name in table.columns}"
        )
    rows = [(name, *_described(name, tensor)) for name, tensor in tensors.items()]
    said = None if metadata is None else dict(metadata)
    return save_tensors(to, rows, metadata=said)


def _described(name: str, tensor: Any) -> tuple[str, list[int], Any]:
    from swath._numpy import np

    if any(kind.__module__.partition(".")[0] == "torch" for kind in type(tensor).__mro__):
        import torch

        words = {getattr(torch, kind, None): word for word, kind in _TORCH.items()}
        if tensor.dtype not in words:
            raise TypeError(f"tensor {name!r} has dtype {tensor.dtype}, which the format does not have")
        # Some tensors are only marked as conjugate or negative, which bytes cannot express.
        try:
            whole = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
            flat = whole.reshape(-1).view(torch.uint8)
        except (NotImplementedError, RuntimeError) as error:
            raise TypeError(f"tensor {name!r} cannot be written: {error}") from error
        return words[tensor.dtype], list(tensor.shape), flat.numpy()
    array = plain(f"tensor {name!r}", tensor)
    kinds = {np.dtype(kind): word for word, kind in _NUMPY.items()}
    word = kinds.get(array.dtype.newbyteorder("<"))
    if word is None:
        word = {kind: word for word, kind in _ML_DTYPES.items()}.get(array.dtype.name)
    if word is None:
        raise TypeError(f"tensor {name!r} has dtype {array.dtype}, which the format does not have")
    if word in _NUMPY:
        array = array.astype(_NUMPY[word], copy=False)
    # One dimension of bytes: not every dtype has a buffer.
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return word, list(array.shape), flat
