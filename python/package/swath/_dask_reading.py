"""Reading for Dask: the work of a partition on its worker, and the collections of partitions."""

from __future__ import annotations

import codecs
import errno
import glob
import importlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import swath
from swath import job
from swath._compressed import HEAD, refuse
from swath._errors import build
from swath._sources import only_file_of

if TYPE_CHECKING:
    from swath._swath import Buffer

# Bytes read at one time, and converted to items at one time: Dask's workers return larger memory to the
# system each time.
STEP = 1 << 20
SLICE = 64 << 10


def imported(name: str) -> Any:
    """Imports a module of Dask or scipy; without it, the error says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        needed = {"dask.dataframe": "'dask[dataframe]'", "dask.array": "'dask[array]'"}.get(name)
        needed = needed or ("'swath[dask]'" if package == "dask" else package)
        what = error.name or package
        text = f"swath.dask needs {what}, which is not installed; try: run pip install {needed}"
        raise ImportError(text, name=what) from error


# Inputs and parts.


def inputs_of(paths: Any) -> list[str]:
    """Returns the paths, with patterns replaced by the files that match."""
    is_one = isinstance(paths, (str, bytes, os.PathLike))
    if not is_one and (hasattr(paths, "read") or not isinstance(paths, Iterable)):
        raise TypeError(
            f"{paths!r} is neither a path nor an iterable of paths; try: pass a list of paths"
        )
    given = [os.fsdecode(path) for path in ([paths] if is_one else paths)]
    found = [path for one in given for path in _matching(one)]
    if not found:
        raise ValueError("no paths given; try: pass at least one path")
    return found


def _matching(path: str) -> list[str]:
    scheme, _, rest = path.partition("://")
    if rest and scheme == "file":
        path = rest
    elif rest and scheme.isalnum() and not os.path.exists(path):
        raise ValueError(
            f"{path}: only files of a file system can be read; try: copy it to one, or use Dask's own reader"
        )
    if not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path), key=imported("dask.utils").natural_sort_key)
    if os.path.lexists(path):
        return only_file_of(path, found)
    if not found:
        hint = "check the pattern, and the folder it starts from"
        text = f"cannot read {path}: no file matches this pattern; try: {hint}"
        raise build("Io", errno.ENOENT, text, path, None, hint)
    return found


def parts_of(
    paths: Any, parts: int, part_size: int, division: Literal["records", "groups"] | int = "records"
) -> list[job.Part]:
    """Divides inputs into parts, one for each partition."""
    imported("dask")
    return job.divide(inputs_of(paths), parts=parts, part_size=part_size, division=division)


# Work of a partition on its worker.


@dataclass(frozen=True)
class Reads:
    """Reads a part: calls ``of`` for each piece, and checks that the inputs are still the same."""

    def __call__(self, part: job.Part) -> Any:
        where = ""
        try:
            part.check_inputs()
            found = []
            for piece in part.pieces:
                where = f", {piece.path} at bytes {piece.offset}..{piece.offset + piece.length}"
                found.append(self.of(piece))
            part.check_inputs()
            return self.joined(found)
        except Exception as error:
            error.add_note(f"in partition {part.index}{where}")
            raise

    def of(self, piece: job.Piece) -> Any:
        raise NotImplementedError

    def joined(self, found: list[Any]) -> Any:
        """Joins the results of the pieces."""
        return found[0] if len(found) == 1 else [one for piece in found for one in piece]


@dataclass(frozen=True)
class Items(Reads):
    """Reads a part in steps, so that the items of a step fit into the processor's cache."""

    delimiter: bytes | str | int | None
    workers: int

    def __call__(self, part: job.Part) -> Run:
        return Run(self, part)

    def steps(self, part: job.Part) -> Iterator[list[Any]]:
        """Yields the items in lists."""
        where = ""
        try:
            part.check_inputs()
            for piece in part.pieces:
                # The start of a quoted field depends on all earlier bytes.
                step = max(piece.length, 1) if self.delimiter == "csv" else STEP
                end = piece.offset + piece.length
                for at in range(piece.offset, end, step):
                    where = f", {piece.path} at bytes {at}..{min(at + step, end)}"
                    yield from self.items(piece, (at, min(step, end - at)))
            part.check_inputs()
        except Exception as error:
            error.add_note(f"in partition {part.index}{where}")
            raise

    def items(self, piece: job.Piece, extent: tuple[int, int]) -> Iterator[list[Any]]:
        """Yields the items that begin in an extent, in lists."""
        data = _bytes_of(piece, extent, self.delimiter, self.workers)
        return map(self.made_of, _slices(data, self.delimiter), itertools.repeat(extent[0]))

    def made_of(self, data: Buffer, at: int) -> list[Any]:
        """Splits bytes that were read at offset ``at`` into items."""
        raise NotImplementedError


class Run(Sequence[Any]):
    """The items of a part, read again by each loop over them; a pickle has them all."""

    def __init__(self, reads: Items, part: job.Part) -> None:
        self.reads, self.part = reads, part

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.reads.steps(self.part))

    def __len__(self) -> int:
        return sum(map(len, self.reads.steps(self.part)))

    def __getitem__(self, index: Any) -> Any:
        return [*self][index]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, ([*self],)


def _bytes_of(piece: job.Piece, extent: tuple[int, int], delimiter: Any, workers: int) -> Buffer:
    data = swath.read(piece.open(), starting_in=extent, delimiter=delimiter, workers=workers, readonly=True)
    if extent[0] == 0:
        refuse(piece.path, bytes(data[:HEAD]), "lines")
    return data


@dataclass(frozen=True)
class Lines(Items):
    """Lines of text, or of bytes without an encoding."""

    encoding: str | None
    errors: str

    def __post_init__(self) -> None:
        if isinstance(self.delimiter, int) or self.delimiter == "csv":
            text = f"delimiter={self.delimiter!r}: not one byte; try: use read_records"
            raise ValueError(text)
        if self.encoding is None:
            return
        end = self.delimiter or "\n"
        end = end.decode("latin-1") if isinstance(end, bytes) else end
        name = codecs.lookup(self.encoding).name
        if end.isascii() and "".encode(name) + end.encode(name) != end.encode("latin-1"):
            if not name.startswith("utf-8"):
                raise ValueError(
                    f"encoding={self.encoding!r}: its lines do not end with one byte; try: convert the "
                    "files to UTF-8, or use Dask's own reader"
                )

    def made_of(self, data: Buffer, at: int) -> list[Any]:
        if self.encoding is None:
            return _split(bytes(data), self.delimiter)
        encoding = self.encoding
        if at > 0 and codecs.lookup(encoding).name == "utf-8-sig":
            encoding = "utf-8"  # Only at the beginning of the file is it a byte order mark.
        if self.delimiter in (None, "\n", b"\n"):
            return _lines(data.decode(encoding, self.errors), data)
        # Split the bytes, not the text: in the text, the delimiter may be another character.
        lines = _split(bytes(data), self.delimiter)
        return [line.decode(encoding, self.errors) for line in lines]


def _slices(data: Buffer, delimiter: bytes | str | int | None) -> Iterator[Buffer]:
    """Yields slices of whole records, of about ``SLICE`` bytes each."""
    if isinstance(delimiter, int):
        width = max(SLICE // delimiter, 1) * delimiter
        yield from (data[at : at + width] for at in range(0, len(data), width))
        return
    end = _end(delimiter)
    at = 0
    while len(data) - at > SLICE:
        cut = data.rfind(end, at, at + SLICE)
        cut = cut if cut >= 0 else data.find(end, at + SLICE)
        if cut < 0:
            break
        yield data[at : cut + 1]
        at = cut + 1
    yield data[at:]


def _end(delimiter: bytes | str | None) -> bytes:
    return b"\n" if delimiter is None else delimiter.encode() if isinstance(delimiter, str) else delimiter


def _lines(text: str, data: Buffer) -> list[str]:
    lines = text.splitlines(keepends=True)
    count = data.count(b"\n")
    if len(lines) == count + (not text.endswith("\n") and text != ""):
        return lines
    # `splitlines` would also split at characters that do not end lines in a file.
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _split(data: bytes, delimiter: bytes | str | int | None) -> list[bytes]:
    """Splits bytes into records, each with its delimiter."""
    if isinstance(delimiter, int):
        return [data[at : at + delimiter] for at in range(0, len(data), delimiter)]
    end = _end(delimiter)
    if end == b"\n":
        lines = data.splitlines(keepends=True)
        if len(lines) == data.count(b"\n") + (not data.endswith(b"\n") and data != b""):
            return lines
    records = data.split(end)
    last = records.pop()
    made = [record + end for record in records]
    return [*made, last] if last else made


@dataclass(frozen=True)
class Bytes(Items):
    """Records as bytes."""

    def items(self, piece: job.Piece, extent: tuple[int, int]) -> Iterator[list[bytes]]:
        if self.delimiter != "csv":
            return super().items(piece, extent)
        how: dict[str, Any] = {"block_size": 1, "workers": self.workers}
        return iter([swath.scan_records(piece.open(), bytes, delimiter="csv", starting_in=extent, **how)])

    def made_of(self, data: Buffer, at: int) -> list[bytes]:
        return _split(bytes(data), self.delimiter)


@dataclass(frozen=True)
class Records(Reads):
    """Records as views of the memory that was read."""

    delimiter: bytes | str | int | None
    workers: int

    def of(self, piece: job.Piece) -> Views:
        extent = (piece.offset, piece.length)
        data = _bytes_of(piece, extent, self.delimiter, self.workers)
        found = Bytes(self.delimiter, self.workers).items(piece, extent)
        return Views([(data, [len(one) for some in found for one in some])])

    def joined(self, found: list[Any]) -> Views:
        return Views([run for views in found for run in views.runs])


class Views(Sequence[memoryview]):
    """The records of a partition: views of the memory that was read, which is sent as a whole."""

    def __init__(self, runs: list[tuple[Buffer, list[int]]]) -> None:
        self.runs = runs

    def __iter__(self) -> Iterator[memoryview]:
        for data, lengths in self.runs:
            view, at = memoryview(data), 0
            for length in lengths:
                yield view[at : at + length]
                at += length

    def __len__(self) -> int:
        return sum(len(lengths) for _, lengths in self.runs)

    def __getitem__(self, index: Any) -> Any:
        return [*self][index]

    def __sizeof__(self) -> int:
        return sum(data.nbytes + 8 * len(lengths) for data, lengths in self.runs)


@dataclass(frozen=True)
class Whole(Reads):
    """Whole files, with their paths."""

    workers: int

    def of(self, piece: job.Piece) -> list[tuple[str, Buffer]]:
        return [(piece.path, swath.read(piece.open(), workers=self.workers))]


# Bags.


def _told(part: job.Part) -> tuple[str, str]:
    return "swath.job.Part", part.to_json()


def token_of(*things: Any) -> str:
    """Returns a token that is equal for the same bytes of the same files: paths, extents, sizes and times
    count."""
    tokenize = imported("dask.tokenize")
    tokenize.normalize_token.register(job.Part, _told)
    return str(tokenize.tokenize(*things))


def bag_of(label: str, reads: Reads, parts: list[job.Part]) -> Any:
    """Returns a bag with a partition for each part."""
    name = f"{label}-{token_of(reads, parts)}"
    imported("dask.bag")
    from swath._dask_bag import Bag

    # Dask drops `list` if one task consumes the items: then no partition is held in memory.
    graph = {(name, part.index): (list, (reads, part)) for part in parts}
    tasks: Any = graph if isinstance(reads, Items) else _plain(graph)
    return Bag(tasks, name, len(parts))


def _plain(graph: dict[Any, Any]) -> dict[Any, Any]:
    return {key: task for key, (_, task) in graph.items()}
