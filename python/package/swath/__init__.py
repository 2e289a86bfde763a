"""Read files as fast as the machine can; write results in parallel, but in order.

>>> import swath
>>> data = swath.read("data.bin")
>>> data.nbytes
1000000

Every function that moves bytes releases the GIL. Ctrl-C ends it, except that a write to ``append``
finishes first and the opening of a pipe waits for its other end. Failures raise ``swath.Error``, an
``OSError`` with ``errno``, ``filename`` and the bytes in its text.

If another process writes, truncates or replaces a file while it is read, you get an error in every
case that ``fstat`` before and after can show, and never silently short data.
"""

import typing as _typing
from collections.abc import Sequence as _Sequence

from swath import _progress as _progress
from swath._arrays import read_array, read_npy, write_npy
from swath._errors import (
    AlreadyExistsError,
    CancelledError,
    ChangedError,
    ChangedValueWarning,
    ClosedPipeError,
    CorruptError,
    Error,
    InvalidError,
    IsFolderError,
    MalformedError,
    NotFolderError,
    NotFoundError,
    OutOfMemoryError,
    PermissionDeniedError,
    TruncatedError,
)
from swath._safetensors import load_safetensors, save_safetensors, stream_safetensors
from swath._sparse import Compressed, Coo, read_edges, read_mtx, write_mtx
from swath._swath import (
    Append,
    Buffer,
    Draft,
    DraftWriter,
    Files,
    Part,
    Place,
    Prioritised,
    Stream,
    Table,
    TableStream,
    __version__,
    append,
    create_shared,
    hash,
    ingest,
    ingest_stream,
    open_shared,
    read,
    read_arrow,
    read_prioritised,
    scan_records,
    sum,
)
from swath._fixed import read_fixed, stream_fixed
from swath._objects import read_jsonl, stream_jsonl
from swath._tables import csv_dtypes, read_csv, stream_csv
from swath._writing import write_arrow, write_csv, write_jsonl

if _typing.TYPE_CHECKING:
    from swath import asyncio as asyncio
    from swath import dask as dask
    from swath import job as job
    from swath import mpi as mpi
    from swath import torch as torch
else:
    _LATE = ("asyncio", "dask", "job", "mpi", "torch")

    def __getattr__(name):
        # Imported at first use: they take as long to import as the rest of the package.
        if name in _LATE:
            import importlib

            return importlib.import_module(f"swath.{name}")
        raise AttributeError(f"module 'swath' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *_LATE})


_Sequence.register(Files)

__all__ = [
    "AlreadyExistsError",
    "Append",
    "Buffer",
    "CancelledError",
    "ChangedError",
    "ChangedValueWarning",
    "ClosedPipeError",
    "Compressed",
    "Coo",
    "CorruptError",
    "Draft",
    "DraftWriter",
    "Error",
    "Files",
    "InvalidError",
    "IsFolderError",
    "MalformedError",
    "NotFolderError",
    "NotFoundError",
    "OutOfMemoryError",
    "Part",
    "PermissionDeniedError",
    "Place",
    "Prioritised",
    "Stream",
    "Table",
    "TableStream",
    "TruncatedError",
    "__version__",
    "append",
    "create_shared",
    "csv_dtypes",
    "hash",
    "ingest",
    "ingest_stream",
    "load_safetensors",
    "open_shared",
    "read",
    "read_array",
    "read_arrow",
    "read_csv",
    "read_edges",
    "read_fixed",
    "read_jsonl",
    "read_mtx",
    "read_npy",
    "read_prioritised",
    "save_safetensors",
    "scan_records",
    "stream_csv",
    "stream_fixed",
    "stream_jsonl",
    "stream_safetensors",
    "sum",
    "write_arrow",
    "write_csv",
    "write_jsonl",
    "write_mtx",
    "write_npy",
]
