"""What is built from Rust."""

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, Self, SupportsIndex, TypeVar, final, overload

from typing_extensions import Buffer as _Buffer

from swath._how import How, Leave

_R = TypeVar("_R")

# numpy's arrays: they say that they are buffers from Python 3.12 on.
class _Array(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Bytes = _Buffer | _Array
_Sub = _Bytes | SupportsIndex
_Edge = _Bytes | tuple[_Bytes, ...]

class _HasFileno(Protocol):
    def fileno(self) -> int: ...

_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Input = _Path | int | _HasFileno | _Bytes | Sequence[_Path]
_Shards = _Input | Sequence[_Input]
_Engine = Literal["auto", "serial", "pool", "ring"]
_PageCache = Literal["auto", "keep", "drop", "bypass"]
_Progress = bool | Callable[[int, int | None], object] | None
_Verify = Literal["vote"] | _Path | None
_Division = Literal["records", "lines", "bytes", "inputs", "groups"] | int
_Durability = Literal["full", "none"]
_HardLinks = Literal["refuse", "break"]
_Extent = tuple[int, int | None] | Sequence[int]
_Symlinks = Literal["files", "skip", "follow"]

__version__: str

@final
class Buffer:
    @property
    def nbytes(self) -> int: ...
    @property
    def readonly(self) -> bool: ...
    def tobytes(self) -> bytes: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> Buffer: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __contains__(self, value: object, /) -> bool: ...
    def find(self, sub: _Sub, start: int | None = None, end: int | None = None, /) -> int: ...
    def rfind(self, sub: _Sub, start: int | None = None, end: int | None = None, /) -> int: ...
    def index(self, sub: _Sub, start: int | None = None, end: int | None = None, /) -> int: ...
    def rindex(self, sub: _Sub, start: int | None = None, end: int | None = None, /) -> int: ...
    def count(self, sub: _Sub, start: int | None = None, end: int | None = None, /) -> int: ...
    def startswith(
        self, prefix: _Edge, start: int | None = None, end: int | None = None, /
    ) -> bool: ...
    def endswith(
        self, suffix: _Edge, start: int | None = None, end: int | None = None, /
    ) -> bool: ...
    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str: ...
    def split(self, sep: _Bytes | None = None, maxsplit: int = -1) -> list[bytes]: ...
    def rsplit(self, sep: _Bytes | None = None, maxsplit: int = -1) -> list[bytes]: ...
    def splitlines(self, keepends: bool = False) -> list[bytes]: ...
    def partition(self, sep: _Bytes, /) -> tuple[bytes, bytes, bytes]: ...
    def rpartition(self, sep: _Bytes, /) -> tuple[bytes, bytes, bytes]: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]: ...
    def __copy__(self) -> Buffer: ...
    def __deepcopy__(self, _memo: Any, /) -> Buffer: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __release_buffer__(self, buffer: memoryview, /) -> None: ...
    __hash__: None  # type: ignore[assignment]

@final
class Files(Sequence[memoryview]):
    @property
    def paths(self) -> list[str]: ...
    @property
    def errors(self) -> dict[int, OSError]: ...
    @property
    def offsets(self) -> Buffer: ...
    @property
    def lengths(self) -> Buffer: ...
    @property
    def arena(self) -> Buffer: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> memoryview: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[memoryview]: ...
    def index(self, value: object, start: int = 0, stop: int | None = None) -> int: ...
    def count(self, value: object) -> int: ...
    # By the sequence protocol.
    def __iter__(self) -> Iterator[memoryview]: ...
    def __reversed__(self) -> Iterator[memoryview]: ...
    def __contains__(self, value: object) -> bool: ...

@final
class Part:
    @property
    def index(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def data(self) -> Buffer: ...
    @property
    def is_last(self) -> bool: ...

@final
class Stream:
    def __iter__(self) -> Self: ...
    def __next__(self) -> Part: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: object) -> None: ...
    def close(self) -> None: ...

@final
class Prioritised:
    @property
    def classes(self) -> list[int]: ...
    def wait(self, cls: int) -> list[memoryview]: ...
    def is_ready(self, cls: int) -> bool: ...
    def prioritise(self, cls: int) -> bool: ...
    def cancel(self) -> None: ...
    def __iter__(self) -> Iterator[tuple[int, list[memoryview]]]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: object) -> None: ...

@final
class Table:
    @property
    def names(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtypes(self) -> list[Any]: ...
    def head(self, n: int = 5) -> Table: ...
    def to_pandas(self) -> Any: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def num_columns(self) -> int: ...
    def values(self, column: int) -> Buffer: ...
    def validity(self, column: int) -> Buffer | None: ...
    def keys(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object, /) -> bool: ...
    @overload
    def __getitem__(self, key: slice | list[str] | list[int], /) -> Table: ...
    @overload
    def __getitem__(self, key: str | SupportsIndex, /) -> Any: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Tensors:
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[str, str, list[int], Buffer]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: object) -> None: ...
    def close(self) -> None: ...

@final
class Place:
    def write(self, data: _Bytes) -> int: ...
    def fork(self) -> Place: ...
    def finish(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

@final
class Append:
    @property
    def mode(self) -> str: ...
    def place(self) -> Place: ...
    def write(self, data: _Bytes) -> int: ...
    def map_ordered(
        self,
        function: Callable[[Any], _Bytes | None],
        items: Iterable[Any],
        *,
        workers: int = 0,
    ) -> None: ...
    def commit(self) -> int: ...
    def abort(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

@final
class Plan:
    @property
    def id(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def form(self) -> Literal["file", "segments"]: ...
    @property
    def division(self) -> _Division: ...
    @property
    def parts(self) -> list[JobPart]: ...
    def part(self, index: int) -> JobPart: ...
    def __len__(self) -> int: ...
    def check_inputs(self) -> None: ...
    def done(self) -> list[Done]: ...
    def status(self) -> Status: ...
    def commit(
        self, done: Iterable[Done], *, workers: int = 0, progress: _Progress = None
    ) -> Committed: ...
    def abort(self) -> None: ...
    def remove(self) -> None: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str, *, hard_links: _HardLinks = "refuse") -> Plan: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class JobPart:
    @property
    def index(self) -> int: ...
    @property
    def division(self) -> _Division: ...
    @property
    def pieces(self) -> list[Piece]: ...
    def contents(self) -> list[Piece]: ...
    @property
    def folder(self) -> str: ...
    def writer(self) -> SegmentWriter: ...
    def check_inputs(self) -> None: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str) -> JobPart: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class Piece:
    @property
    def path(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def extent(self) -> tuple[int, int]: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str) -> Piece: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    __hash__: None  # type: ignore[assignment]

@final
class SegmentWriter:
    @property
    def attempt(self) -> str: ...
    @property
    def done(self) -> Done | None: ...
    def write(self, data: _Bytes) -> int: ...
    def finish(self) -> Done: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

@final
class Done:
    def __new__(cls, part: int, attempt: str, length: int, crc32c: int) -> Self: ...
    @property
    def part(self) -> int: ...
    @property
    def attempt(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def crc32c(self) -> int: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(text: str) -> Done: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Status:
    @property
    def id(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def form(self) -> Literal["file", "segments"]: ...
    @property
    def state(self) -> Literal["running", "complete", "committing", "committed"]: ...
    @property
    def parts(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def attempts(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def missing(self) -> list[tuple[int, int]]: ...
    @property
    def changed(self) -> float | None: ...

@final
class Committed:
    def __new__(
        cls, bytes: int, crc32c: int, parts: int, cloned: int, copied: int
    ) -> Self: ...
    @property
    def bytes(self) -> int: ...
    @property
    def crc32c(self) -> int: ...
    @property
    def parts(self) -> int: ...
    @property
    def cloned(self) -> int: ...
    @property
    def copied(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Swept:
    @property
    def folder(self) -> str: ...
    @property
    def was_committed(self) -> bool: ...

@overload
def read(
    source: _Input,
    *,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    delimiter: bytes | str | int | None = None,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    out: None = None,
    readonly: bool = False,
    verify: _Verify = None,
    profile: bool = True,
) -> Buffer: ...
@overload
def read(
    source: _Input,
    *,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    delimiter: bytes | str | int | None = None,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    out: _Bytes,
    readonly: bool = False,
    verify: _Verify = None,
    profile: bool = True,
) -> memoryview: ...
@overload
def read(
    source: _Input,
    *,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    delimiter: bytes | str | int | None = None,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    out: _Bytes | None,
    readonly: bool = False,
    verify: _Verify = None,
    profile: bool = True,
) -> Buffer | memoryview: ...
def sum(
    source: _Input,
    *,
    offset: int = 0,
    length: int | None = None,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> int: ...
def hash(
    source: _Input,
    algorithm: Literal["xxh3", "crc32c", "blake3"] = "xxh3",
    *,
    offset: int = 0,
    length: int | None = None,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> str: ...
@overload
def scan_records(
    source: _Input,
    function: Callable[[memoryview], _R],
    *,
    combine: None = None,
    delimiter: bytes | str | int | None = None,
    block_size: int = 0,
    record_limit: int = 0,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    workers: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> list[_R]: ...
@overload
def scan_records(
    source: _Input,
    function: Callable[[memoryview], _R],
    *,
    combine: Callable[[_R, _R], _R],
    delimiter: bytes | str | int | None = None,
    block_size: int = 0,
    record_limit: int = 0,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    workers: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> _R | None: ...
def ingest(
    paths_or_folder: _Path | Iterable[_Path],
    *,
    workers: int = 0,
    queue_depth: int = 0,
    errors: Literal["fail", "skip", "collect"] = "fail",
    order: Literal["given", "path", "inode", "extent"] = "given",
    symlinks: _Symlinks = "files",
    progress: _Progress = None,
    profile: bool = True,
) -> Files: ...
def ingest_stream(
    paths_or_folder: _Path | Iterable[_Path],
    *,
    workers: int = 0,
    queue_depth: int = 0,
    errors: Literal["fail", "skip"] = "fail",
    symlinks: _Symlinks = "files",
    memory: int = 0,
    part_size: int = 0,
    delivery: Literal["input", "completion"] = "input",
    progress: _Progress = None,
    profile: bool = True,
) -> Stream: ...
def read_prioritised(
    source: _Input,
    classes: int | Iterable[Iterable[SupportsIndex]],
    *,
    window: int = 0,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> Prioritised: ...
def append(
    path: _Path,
    *,
    mode: Literal["ordered", "plain", "segments"] = "ordered",
    durability: _Durability = "full",
    replace: bool = True,
    hard_links: _HardLinks = "refuse",
    window: int = 0,
    direct: bool = False,
) -> Append: ...
def read_matrix(
    source: _Input,
    form: Literal["coo", "csr", "csc"],
    how: How,
    *,
    format: Literal["auto", "mtx", "edges"] = "auto",
    values: Literal["auto", "none", "int64", "uint64", "float32", "float64", "complex128"] = "auto",
    base: str = "auto",
    vertices: int | None = None,
    expand: bool = True,
    strict: bool = False,
    sort: bool = False,
    sum_duplicates: bool = False,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
) -> tuple[int, int, str, Buffer, Buffer, Buffer | None]: ...
def merge_rows(
    rows: int, counts: list[_Bytes], items: list[_Bytes], size: int
) -> tuple[Buffer, Buffer]: ...
def write_matrix(
    path: _Path,
    row_count: int,
    column_count: int,
    rows: Any,
    columns: Any,
    values: tuple[str, Any] | None,
    leave: Leave,
    *,
    symmetry: Literal["general", "symmetric", "skew-symmetric", "hermitian"] = "general",
    format: Literal["auto", "mtx", "edges"] = "auto",
    comment: str | None = None,
) -> int: ...
@overload
def read_table(
    source: _Input,
    dtype: None,
    how: How,
    *,
    columns: Sequence[str | int] | None = None,
    delimiter: int | Literal["blanks"] | None = None,
    header: Literal["auto", "present", "absent"] = "auto",
    comment: int | None = ...,
    quote: int | None = ...,
    missing: float | None = None,
    missing_words: Sequence[str] | None = None,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    dtypes: Sequence[tuple[str | int, str]] | None = None,
) -> Table: ...
@overload
def read_table(
    source: _Input,
    dtype: str,
    how: How,
    *,
    columns: Sequence[str | int] | None = None,
    delimiter: int | Literal["blanks"] | None = None,
    header: Literal["auto", "present", "absent"] = "auto",
    comment: int | None = ...,
    quote: int | None = ...,
    missing: float | None = None,
    missing_words: Sequence[str] | None = None,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
    dtypes: Sequence[tuple[str | int, str]] | None = None,
) -> tuple[Buffer, list[str] | None]: ...
def read_dtypes(
    source: _Input,
    how: How,
    *,
    columns: Sequence[str | int] | None = None,
    delimiter: int | Literal["blanks"] | None = None,
    header: Literal["auto", "present", "absent"] = "auto",
    comment: int | None = ...,
    quote: int | None = ...,
    missing_words: Sequence[str] | None = None,
    offset: int = 0,
    length: int | None = None,
    starting_in: _Extent | None = None,
) -> list[str]: ...
def write_table(
    path: _Path,
    dtype: str,
    values: Any,
    columns: int,
    leave: Leave,
    *,
    names: Sequence[str] | None = None,
    delimiter: int = ...,
    digits: int | None = None,
) -> int: ...
def read_arrow(
    source: _Input,
    *,
    workers: int = 0,
    chunk_size: int = 0,
    engine: _Engine = "auto",
    page_cache: _PageCache = "auto",
    progress: _Progress = None,
    verify: _Verify = None,
    profile: bool = True,
) -> Table: ...
@final
class Draft:
    @property
    def token(self) -> str: ...
    @property
    def length(self) -> int: ...
    def commit(self, receipts: Iterable[str], *, gaps: bool = False) -> None: ...
    def abort(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

@final
class DraftWriter:
    @property
    def receipt(self) -> str | None: ...
    def write(self, data: _Bytes, offset: int) -> int: ...
    def finish(self, *, durability: _Durability = "full") -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

def create_shared(
    path: _Path,
    length: int,
    *,
    durability: _Durability = "full",
    replace: bool = True,
    hard_links: _HardLinks = "refuse",
) -> Draft: ...
def open_shared(token: str) -> DraftWriter: ...
def plan_job(
    inputs: _Path | Iterable[_Path],
    target: _Path,
    *,
    parts: int,
    part_size: int,
    division: _Division,
    form: Literal["file", "segments"],
    folder: _Path | None,
    durability: _Durability,
    replace: bool,
    hard_links: _HardLinks,
) -> Plan: ...
def divide_inputs(
    inputs: _Path | Iterable[_Path],
    *,
    parts: int,
    part_size: int,
    division: _Division,
) -> list[JobPart]: ...
def open_job(folder: _Path, hard_links: _HardLinks) -> Plan: ...
def restore_plan(text: str, hard_links: _HardLinks) -> Plan: ...
def sweep_jobs(folder: _Path, older_than: float | datetime.timedelta) -> list[Swept]: ...
def import_table(data: Any, name: str | None = None) -> Table: ...
def make_column(
    name: str, is_integer: bool, values: Any, missing: Any | None = None
) -> Table: ...
def restore_buffer(
    data: Any, format: str, shape: Sequence[int], readonly: bool, copy: bool
) -> Buffer: ...
def restore_table(
    names: Sequence[str] | None, columns: Sequence[tuple[str, Any, Any | None]]
) -> Table: ...
def write_parts(
    path: _Path,
    parts: Sequence[_Bytes],
    leave: Leave,
) -> int: ...
def write_columns(
    path: _Path,
    tables: Sequence[Table],
    leave: Leave,
    *,
    names: Sequence[str] | None = None,
    delimiter: int = ...,
    digits: int | None = None,
) -> int: ...
def load_tensors(
    sources: _Shards,
    how: How,
    *,
    order: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[list[tuple[str, str, list[int], int, int, int]], list[Buffer]]: ...
def stream_tensors(
    sources: _Shards,
    how: How,
    *,
    order: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> Tensors: ...
def save_tensors(
    path: _Path,
    tensors: Sequence[tuple[str, str, list[int], Any]],
    leave: Leave,
    *,
    metadata: dict[str, str] | None = None,
) -> int: ...
