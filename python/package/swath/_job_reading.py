"""The input of an attempt: exactly the bytes of its part, in steps, so that large parts fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from swath._swath import read, scan_records

if TYPE_CHECKING:
    from swath._swath import JobPart, Piece

# Default bytes of a block.
_BLOCK = 1 << 20


def ends_of(division: str | int, delimiter: Any) -> Any:
    """Returns where the records of a part end, as for `scan_records`; fails if ``delimiter`` contradicts the
    plan."""
    if division in ("records", "inputs", "groups"):
        return delimiter
    if division == "bytes":
        # Blocks may begin and end anywhere.
        known: tuple[Any, ...] = ()
        ends: Any = 1
    elif division == "lines":
        known, ends = ("\n", b"\n"), None
    else:
        known, ends = (division,), division
    if delimiter is None or any(type(delimiter) is type(it) and delimiter == it for it in known):
        return ends
    has = {"bytes": "bytes without records", "lines": "whole lines"}.get(
        str(division), f"records of {division} bytes"
    )
    raise ValueError(
        f"delimiter={delimiter!r}: the parts of this job have {has}; try: leave out delimiter=, or plan the "
        'job with division="records"'
    )


def blocks_of(
    part: JobPart, delimiter: Any, function: Callable[[Any], Any], how: dict[str, int], step: int
) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """Yields, for each step, the name of its bytes and a call that returns the results of ``function`` for
    its blocks."""
    ends = ends_of(part.division, delimiter)
    if part.division == "lines" and _goes_on(part.pieces):
        for piece, block in _joined(part.pieces, how["block_size"] or _BLOCK):
            yield _named(piece, piece.offset, piece.length), partial(_made_of, function, block)
        return
    # In parts of lines, the lines that begin in the steps are exactly those of the piece.
    is_cut = part.division == "bytes" or isinstance(part.division, int)
    if isinstance(part.division, int):
        step = max(step // part.division, 1) * part.division
    for piece in part.pieces:
        # The start of a quoted field depends on all earlier bytes.
        stride = max(piece.length, 1) if ends == "csv" else step
        end = piece.offset + piece.length
        for at in range(piece.offset, end, stride):
            length = min(stride, end - at)
            where: dict[str, Any] = {"offset": at, "length": length}
            where = where if is_cut else {"starting_in": (at, length)}
            made = partial(_scanned, piece, function, delimiter=ends, **where, **how)
            yield _named(piece, at, length), made


def _scanned(piece: Piece, function: Callable[[Any], Any], **how: Any) -> Any:
    return scan_records(piece.open(), function, **how)


def _made_of(function: Callable[[Any], Any], block: bytes) -> list[Any]:
    return [function(memoryview(block))]


def _named(piece: Piece, at: int, length: int) -> str:
    return f", {piece.path} at bytes {at}..{at + length}"


def _goes_on(pieces: list[Piece]) -> bool:
    """Returns whether a line continues from one piece into the next, which is of another input."""
    return any(
        bytes(read(piece.open(), offset=piece.offset + piece.length - 1, length=1, workers=1)) != b"\n"
        for piece in pieces[:-1]
    )


def _joined(pieces: list[Piece], size: int) -> Iterator[tuple[Piece, bytes]]:
    """Yields blocks of whole lines, with all pieces as one text."""
    begun: list[bytes] = []
    for piece in pieces:
        end = piece.offset + piece.length
        for at in range(piece.offset, end, size):
            data = bytes(read(piece.open(), offset=at, length=min(size, end - at), workers=1))
            cut = data.rfind(b"\n") + 1
            if cut > 0:
                yield piece, b"".join([*begun, data[:cut]])
                begun = []
            begun.append(data[cut:])
    if last := b"".join(begun):
        yield pieces[-1], last
