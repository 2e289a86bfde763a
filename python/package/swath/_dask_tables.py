"""Tables for Dask: dataframes and arrays whose partitions parse their extents on workers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import swath
from swath import job
from swath._columns import pandas_dtype
from swath._dask_reading import Reads, imported, token_of
from swath._dialect import columns as keys_of, types_of
from swath._errors import unreadable
from swath._sources import FoundPath
from swath._swath import Table

if TYPE_CHECKING:
    import numpy as np

# pandas' types that have no missing values, and their counterparts that do.
NULLABLE = {f"{one}{bits}": f"{two}{bits}" for one, two in (("int", "Int"), ("uint", "UInt")) for bits in (8, 16, 32, 64)}
NULLABLE["bool"] = "boolean"
_NUMBERS = {*NULLABLE, "float32", "float64"} - {"bool"}


class Columns(NamedTuple):
    """The columns of all files: the chosen ones, or all."""

    names: list[str]
    # Names of `csv_dtypes`, or pandas' types with missing values, such as "Int64".
    types: list[str]
    # The key of each column for `read_csv`.
    keys: list[Any]
    # Whether these are all columns of the files.
    are_all: bool
    # Whether the names are those of the files.
    are_named: bool
    # The file with which the others are compared.
    first: str
    # Whether the caller gave the type, for each column.
    told: list[bool]
    # Whether the first rows of the file have only numbers, so that quotes are not expected.
    are_numbers: bool


def opened(parts: list[job.Part], path: str) -> Any:
    """Opens an input as it was when it was divided, even if its name now leads elsewhere; an empty file by its path."""
    pieces = (piece for part in parts for piece in part.pieces if piece.path == path)
    first = next(pieces, None)
    return FoundPath(path) if first is None else first.open()


def columns_of(
    parts: list[job.Part],
    inputs: list[str],
    columns: Sequence[str | int] | None,
    how: dict[str, Any],
    sample: int | None,
    dtypes: Any,
) -> tuple[Columns, dict[str, Any]]:
    """Returns the columns, from the head of the first file or, without ``sample``, from all files; and how to read
    them."""
    extent = (0, 1 if sample is None else max(sample, 1))
    head = opened(parts, inputs[0])
    table = swath.read_csv(head, columns=columns, dtypes=dtypes, starting_in=extent, **how)
    report: dict[str, Any] = table.report or {}
    if report["encoding"] != "utf-8":
        what = f"its encoding is {report['encoding']}, and it has no parts"
        hint = "convert it with `iconv -t UTF-8`"
        raise unreadable("Unsupported", inputs[0], what, hint)
    how = {
        **how,
        "header": report["header"] or False,
        "delimiter": report["delimiter"],
        "comment": report["comment"],
    }
    types = table.types
    if sample is None:
        # Read to the end, to count missing values.
        sources = [opened(parts, path) for path in inputs]
        with swath.stream_csv(sources, columns=columns, dtypes=dtypes, **how) as stream:
            types = stream.types
            for _ in stream:
                pass
            report = stream.report
    told = _told(dtypes, None if columns is None else keys_of("columns", columns))
    found = report["columns"]
    for at, one in enumerate(found):
        if one["told"]:
            mine = (one["name"], one["index"])
            types[at] = next((kind for key, kind in told if key in mine), types[at])
        elif types[at] == "null":
            types[at] = "float64"
        elif one["nulls"]:
            types[at] = NULLABLE.get(types[at], types[at])
    names, keys = table.names, [one["index"] for one in found]
    all_types = table.types
    if columns is not None:
        all_types = swath.csv_dtypes(head, starting_in=extent, **_without_words(how))
    are_numbers = {*all_types} <= _NUMBERS
    made = Columns(
        names, types, keys, columns is None, bool(report["header"]), inputs[0],
        [bool(one["told"]) for one in found], are_numbers,
    )
    return made, how


def _without_words(how: dict[str, Any]) -> dict[str, Any]:
    """Returns the options that the types of all columns depend on."""
    return {name: it for name, it in how.items() if name not in ("rename", "formats", "dictionary")}


def _told(dtypes: Any, chosen: list[str | int] | None) -> list[tuple[str | int, str]]:
    """Returns the types that the caller gave by pandas' names of nullable types."""
    words = [] if dtypes is None else types_of(dtypes, chosen)
    if isinstance(words, str) or not words:
        return []
    given = dtypes.items() if hasattr(dtypes, "items") else zip(chosen or range(len(dtypes)), dtypes)
    nullable = {key for key, kind in given if str(kind) in NULLABLE.values()}
    return [(key, NULLABLE[kind]) for key, kind in words if key in nullable and kind in NULLABLE]


def columns_of_numbers(
    parts: list[job.Part],
    inputs: list[str],
    columns: Sequence[str | int] | None,
    how: dict[str, Any],
) -> tuple[Columns, dict[str, Any]]:
    """Returns the columns of an array, from the head of the first file; and how to read them."""
    head = opened(parts, inputs[0])
    table = swath.read_csv(head, columns=columns, starting_in=(0, 1), **how)
    report: dict[str, Any] = table.report or {}
    names, keys = table.names, [one["index"] for one in report["columns"]]
    are_named = bool(report["header"])
    how = {**how, "header": report["header"] or False, "comment": report["comment"]}
    how["delimiter"] = report["delimiter"]
    return Columns(names, [], keys, columns is None, are_named, inputs[0], [], True), how


@dataclass(frozen=True)
class _Rows(Reads):
    """Rows of CSV files that have the same columns."""

    columns: Columns
    how: dict[str, Any]

    @property
    def chosen_keys(self) -> list[Any] | None:
        return None if self.columns.are_all else self.columns.keys

    def check(self, path: str, names: list[str]) -> None:
        """Fails if a file has other columns than the first one."""
        ours = self.columns.names
        if names != ours and (self.columns.are_named or len(names) != len(ours)):
            what = f"its columns are {names}, and those of the first file {ours}"
            hint = "read files with other columns apart, or name those that all have in columns="
            raise unreadable("Malformed", path, what, hint)


@dataclass(frozen=True)
class Frame(_Rows):
    """A dataframe of pandas."""

    # This signature tells Dask that it can leave out columns.
    def __call__(self, part: job.Part, columns: Sequence[str] | None = None) -> Any:
        if columns is None:
            return super().__call__(part)
        return Frame(self.chosen([*columns]), self.how)(part)

    def chosen(self, names: list[str]) -> Columns:
        """Returns some of the columns."""
        places = [at for name in names for at, it in enumerate(self.columns.names) if it == name]
        types = [self.columns.types[at] for at in places]
        keys = [self.columns.keys[at] for at in places]
        told = [self.columns.told[at] for at in places]
        return self.columns._replace(names=names, types=types, keys=keys, told=told, are_all=False)

    def of(self, piece: job.Piece) -> Any:
        names, types = self.columns.names, self.columns.types
        self.check_head(piece)
        table = self.read(piece)
        for at, (name, kind) in enumerate(zip(names, types)):
            if kind in NULLABLE and table.validity(at) is not None:
                what = f"column {name!r} has missing values, and is of type {kind}"
                other = "" if kind == "bool" else ', or "float64"'
                hint = f'pass dtypes={{{name!r}: "{NULLABLE[kind]}"}}{other}'
                raise unreadable("Malformed", piece.path, what, hint)
        frame = table.to_pandas()
        frame.columns = names
        return _typed(frame, types)

    def check_head(self, piece: job.Piece) -> None:
        """Fails if a file has other columns than the first one."""
        if piece.path != self.columns.first:
            how = {**self.how, "columns": self.chosen_keys}
            head = swath.read_csv(piece.open(), **how, starting_in=(0, 0))
            self.check(piece.path, head.names)

    def read(self, piece: job.Piece) -> Table:
        """Reads the rows of a piece as a table. The types of the sample never change a value."""
        back = {it: kind for kind, it in NULLABLE.items()}
        wanted = [back.get(it, it) for it in self.columns.types]
        # Where a type would restrict the form of numbers, it is derived from the values.
        safe = [
            kind if told or kind not in _NUMBERS else None
            for kind, told in zip(wanted, self.columns.told)
        ]
        are_numbers = self.columns.are_numbers and {*wanted} <= _NUMBERS
        if are_numbers and self.how.get("quote", '"') == '"':
            # Without quotes, an extent does not depend on earlier bytes; a text would keep the quotes.
            with suppress(swath.MalformedError):
                table = self.parsed(piece, safe, quote=None)
                if table.types == wanted:
                    return table
        table = self.parsed(piece, safe)
        if table.types == wanted:
            return table
        for at, (found, kind) in enumerate(zip(table.types, wanted)):
            if found not in (kind, "null") and not (kind == "float64" and _are_exact(table, at)):
                raise self.other(piece, table, at)
        return self.parsed(piece, wanted)

    def parsed(self, piece: job.Piece, types: Sequence[str | None], **more: Any) -> Table:
        keys = self.chosen_keys
        keyed = zip(range(len(types)) if keys is None else keys, types)
        how = {**self.how, "columns": keys, **more}
        how["dtypes"] = {key: kind for key, kind in keyed if kind is not None}
        table: Table = swath.read_csv(piece.open(), **how, starting_in=piece.extent)
        return table

    def other(self, piece: job.Piece, table: Table, at: int) -> Exception:
        """Returns the error for a column whose type is not that of the sample."""
        one = (table.report or {})["columns"][at]
        name, found, kind = self.columns.names[at], table.types[at], self.columns.types[at]
        line = "" if one["line"] is None else f" because of line {one['line']}"
        what = f"column {name!r} is of type {found}{line}, and of type {kind} in the sample"
        hint = f'pass dtypes={{{name!r}: "{found}"}}, or sample=None to look at all rows'
        return unreadable("Malformed", piece.path, what, hint)

    def joined(self, found: list[Any]) -> Any:
        import pandas  # type: ignore[import-untyped, unused-ignore]

        if len(found) == 1:
            return found[0]
        if not found:
            return self.empty()
        for at, kind in enumerate(self.columns.types):
            if kind == "dictionary":
                unite_categories(found, at)
        return pandas.concat(found, ignore_index=True)

    def empty(self) -> Any:
        """Returns a frame without rows."""
        import pandas

        types = [pandas_dtype(it) for it in self.columns.types]
        frame = pandas.DataFrame({at: pandas.Series([], dtype=it) for at, it in enumerate(types)})
        frame.columns = self.columns.names
        return frame


def unite_categories(frames: list[Any], at: int) -> None:
    """Gives a column the same categories in all frames: pandas would convert different ones to text."""
    from pandas.api.types import union_categoricals  # type: ignore[import-untyped, unused-ignore]

    categories = union_categoricals([frame.iloc[:, at] for frame in frames]).dtype
    for frame in frames:
        frame.isetitem(at, frame.iloc[:, at].astype(categories))


def _array(values: Any) -> np.ndarray[Any, Any]:
    from swath._numpy import np

    return np.asarray(values)


def _are_exact(table: Table, at: int) -> bool:
    """Returns whether a column has integers that doubles hold exactly."""
    from swath._numpy import np

    if table.types[at] not in ("int64", "uint64"):
        return False
    values = np.asarray(table.to_pandas().iloc[:, at].dropna()).astype(table.types[at])
    return bool(np.all(values.astype("float64").astype(object) == values.astype(object)))


def _typed(frame: Any, types: list[str]) -> Any:
    """Converts columns to nullable types, even if this part has no missing values."""
    wanted = {at: it for at, it in enumerate(types) if it in NULLABLE.values()}
    if not wanted:
        return frame
    names = frame.columns
    frame.columns = range(len(names))
    frame = frame.astype(wanted)
    frame.columns = names
    return frame


@dataclass(frozen=True)
class Numbers(_Rows):
    """An array of two dimensions."""

    dtype: Any
    missing: float | None

    def of(self, piece: job.Piece) -> np.ndarray[Any, Any]:
        from swath._numpy import np

        how = {**self.how, "columns": self.chosen_keys}
        if piece.path != self.columns.first:
            head = swath.read_csv(piece.open(), **how, starting_in=(0, 0))
            self.check(piece.path, head.names)
        return _array(
            swath.read_csv(
                piece.open(), np.dtype(self.dtype), missing=self.missing, starting_in=piece.extent, **how
            )
        )

    def joined(self, found: list[Any]) -> np.ndarray[Any, Any]:
        from swath._numpy import np

        if len(found) == 1:
            one: np.ndarray[Any, Any] = found[0]
            return one
        empty = np.empty((0, len(self.columns.names)), self.dtype)
        return np.concatenate([empty, *found])


def frame_of(label: str, reads: Frame, parts: list[job.Part]) -> Any:
    """Returns a dataframe with a partition for each part."""
    token_of(parts[0])  # Registers parts, so that Dask's own tokens see them as ours do.
    return imported("dask.dataframe").from_map(reads, parts, meta=_meta(reads), label=label)


def _meta(reads: Frame) -> Any:
    """Returns the frame as Dask knows it: each partition has categories of its own."""
    clear = imported("dask.dataframe.utils").clear_known_categories
    return clear(reads.empty()) if "dictionary" in reads.columns.types else reads.empty()


def array_of(label: str, reads: Numbers, parts: list[job.Part]) -> Any:
    """Returns an array with a chunk of rows for each part."""
    array = imported("dask.array").Array
    from swath._numpy import np

    name = f"{label}-{token_of(reads, parts)}"
    graph = {(name, part.index, 0): (reads, part) for part in parts}
    chunks = ((np.nan,) * len(parts), (len(reads.columns.names),))
    return array(graph, name, chunks, dtype=np.dtype(reads.dtype))
