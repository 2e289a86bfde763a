"""Reading for Dask: what a partition does on its worker, and the collections that consist of partitions."""

from __future__ import annotations

import codecs
import errno
import glob
import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import swath
from swath import job
from swath._errors import build, unreadable

if TYPE_CHECKING:
    from swath._swath import Buffer

# How compressed files begin, which have no parts.
_COMPRESSED = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00")


def imported(name: str) -> Any:
    """A module of Dask or scipy; without it, an error that says what to install."""
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
    """Paths, with patterns replaced by the files that match."""
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
    if not glob.has_magic(path) or os.path.exists(path):
        return [path]
    found = sorted(glob.glob(path), key=imported("dask.utils").natural_sort_key)
    if not found:
        hint = "check the pattern, and the folder it starts from"
        text = f"cannot read {path}: no file matches this pattern; try: {hint}"
        raise build("Io", errno.ENOENT, text, path, None, hint)
    return found


def parts_of(
    paths: Any, parts: int, part_size: int, division: Literal["bytes", "inputs"] | int = "bytes"
) -> list[job.Part]:
    """The parts of inputs, one for each partition."""
    imported("dask")
    return job.divide(inputs_of(paths), parts=parts, part_size=part_size, division=division)


# What a partition does on its worker.


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
        """What all pieces are together."""
        return found[0] if len(found) == 1 else [one for piece in found for one in piece]


def _bytes_of(piece: job.Piece, delimiter: Any, workers: int) -> Buffer:
    data = swath.read(
        piece.path, starting_in=piece.extent, delimiter=delimiter, workers=workers, readonly=True
    )
    if piece.offset == 0 and bytes(data[:6]).startswith(_COMPRESSED):
        hint = "unpack it with `swath decompress`, or use Dask's own reader"
        raise unreadable("UnknownFormat", piece.path, "it is compressed, and has no lines", hint)
    return data


@dataclass(frozen=True)
class Lines(Reads):
    """Lines of text, or of bytes without an encoding."""

    delimiter: bytes | str | None
    workers: int
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

    def of(self, piece: job.Piece) -> list[str] | list[bytes]:
        data = _bytes_of(piece, self.delimiter, self.workers)
        if self.encoding is None:
            return _split(bytes(data), self.delimiter)
        if self.delimiter in (None, "\n", b"\n"):
            return _lines(data.decode(self.encoding, self.errors), data)
        # Not by the text: the byte may be another character there.
        lines = _split(bytes(data), self.delimiter)
        return [line.decode(self.encoding, self.errors) for line in lines]


def _lines(text: str, data: Buffer) -> list[str]:
    lines = text.splitlines(keepends=True)
    count = data.count(b"\n")
    if len(lines) == count + (not text.endswith("\n") and text != ""):
        return lines
    # It has other characters that end lines for Python, but not in a file.
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _split(data: bytes, delimiter: bytes | str | None) -> list[bytes]:
    """Records with the delimiter at their ends."""
    end = b"\n" if delimiter is None else delimiter
    end = end.encode() if isinstance(end, str) else end
    if end == b"\n":
        lines = data.splitlines(keepends=True)
        if len(lines) == data.count(b"\n") + (not data.endswith(b"\n") and data != b""):
            return lines
    records = data.split(end)
    last = records.pop()
    made = [record + end for record in records]
    return [*made, last] if last else made


@dataclass(frozen=True)
class Bytes(Reads):
    """Records as bytes."""

    delimiter: bytes | str | int | None
    workers: int

    def of(self, piece: job.Piece) -> list[bytes]:
        if self.delimiter == "csv":
            return swath.scan_records(
                piece.path,
                bytes,
                delimiter="csv",
                block_size=1,
                starting_in=piece.extent,
                workers=self.workers,
            )
        data = bytes(_bytes_of(piece, self.delimiter, self.workers))
        if isinstance(self.delimiter, int):
            width = self.delimiter
            return [data[at : at + width] for at in range(0, len(data), width)]
        return _split(data, self.delimiter)


@dataclass(frozen=True)
class Records(Reads):
    """Records as views of what was read."""

    delimiter: bytes | str | int | None
    workers: int

    def of(self, piece: job.Piece) -> Views:
        lengths = [len(it) for it in Bytes(self.delimiter, self.workers).of(piece)]
        return Views([(_bytes_of(piece, self.delimiter, self.workers), lengths)])

    def joined(self, found: list[Any]) -> Views:
        return Views([run for views in found for run in views.runs])


class Views(Sequence[memoryview]):
    """Records of a partition: views of the memory that was read, which travels as a whole."""

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

    def __call__(self, part: job.Part) -> list[tuple[str, Buffer]]:
        part.check_inputs()
        files = swath.ingest([piece.path for piece in part.pieces], workers=self.workers)
        part.check_inputs()
        places = zip(files.paths, memoryview(files.offsets), memoryview(files.lengths))
        return [(path, files.arena[at : at + length]) for path, at, length in places]


# Bags.


def _told(part: job.Part) -> tuple[str, str]:
    return "swath.job.Part", part.to_json()


def token_of(*things: Any) -> str:
    """The same for the same bytes of the same files: paths, extents, sizes and times count."""
    tokenize = imported("dask.tokenize")
    tokenize.normalize_token.register(job.Part, _told)
    return str(tokenize.tokenize(*things))


def bag_of(label: str, reads: Reads, parts: list[job.Part]) -> Any:
    """A bag with a partition for each part."""
    name = f"{label}-{token_of(reads, parts)}"
    bag = imported("dask.bag").Bag
    return bag({(name, part.index): (reads, part) for part in parts}, name, len(parts))
