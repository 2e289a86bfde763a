"""Tables for Dask: dataframes and arrays whose partitions parse their extents on workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import swath
from swath import job
from swath._dask_reading import Reads, imported, token_of
from swath._errors import unreadable
from swath._tables import _dtypes, _keys

if TYPE_CHECKING:
    import numpy as np


class Columns(NamedTuple):
    """The columns of all files: those that were chosen, or all."""

    names: list[str]
    # "int64", "float64" or "Int64".
    dtypes: list[str]
    # How `read_csv` finds each.
    keys: list[str | int]
    # Whether these are all columns of the files.
    are_all: bool
    # Whether the names are those of the files.
    are_named: bool
    # The file that the others are compared with.
    first: str


def columns_of(
    inputs: list[str],
    columns: Sequence[str | int] | None,
    how: dict[str, Any],
    sample: int | None,
    dtypes: Any,
) -> Columns:
    """The columns, from the head of the first file, or from all files without ``sample``."""
    extent = (0, 1 if sample is None else max(sample, 1))
    table = swath.read_csv(inputs[0], columns=columns, starting_in=extent, **how)
    names = table.names
    kinds = [str(it.name) for it in table.dtypes]
    for at, kind in enumerate(kinds):
        if kind == "int64" and table.validity(at) is not None:
            kinds[at] = "Int64"
    if sample is None:
        found = [swath.csv_dtypes(path, columns=columns, **how) for path in inputs]
        kinds = ["float64" if "float64" in of_one else "int64" for of_one in zip(*found)]
    are_named = names != [f"column_{at + 1}" for at in range(len(names))]
    if columns is not None:
        keys = _keys(columns)
    elif are_named and len({*names}) == len(names):
        keys = [*names]
    else:
        keys = [*range(len(names))]
    for key, kind in _said(dtypes, columns):
        for at, name in enumerate(names):
            if key in (keys[at], name if are_named else None, at if columns is None else None):
                kinds[at] = kind
    return Columns(names, kinds, keys, columns is None, are_named, inputs[0])


def _said(dtypes: Any, columns: Sequence[str | int] | None) -> list[tuple[str | int, str]]:
    """The types that the caller gave, by name or index."""
    if dtypes is None:
        return []
    chosen = None if columns is None else _keys(columns)
    is_mapping = hasattr(dtypes, "items")
    pairs = [*dtypes.items()] if is_mapping else [*enumerate(dtypes)]
    # Only here: integers that may be missing.
    nullable = {key for key, kind in pairs if str(kind) == "Int64"}
    plain = [(key, "int64" if key in nullable else kind) for key, kind in pairs]
    made = _dtypes(dict(plain) if is_mapping else [kind for _, kind in plain], chosen)
    if is_mapping:
        return [(key, "Int64" if key in nullable else kind) for key, kind in made]
    given = [at for at, (_, kind) in enumerate(pairs) if kind is not None]
    return [
        (key, "Int64" if at in nullable else kind) for at, (key, kind) in zip(given, made)
    ]


@dataclass(frozen=True)
class _Rows(Reads):
    """Rows of CSV files that have the same columns."""

    columns: Columns
    how: dict[str, Any]

    def read(self, piece: job.Piece, dtype: Any, dtypes: Any) -> Any:
        """The rows of a piece, of a file that has the columns of the first one."""
        columns = None if self.columns.are_all else self.columns.keys
        if piece.path != self.columns.first:
            how = {name: it for name, it in self.how.items() if name != "missing"}
            head = swath.read_csv(piece.path, columns=columns, starting_in=(0, 0), **how)
            self.check(piece.path, head.names)
        return swath.read_csv(
            piece.path,
            dtype,
            dtypes=dtypes,
            columns=columns,
            starting_in=piece.extent,
            **self.how,
        )

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

    # By this signature Dask knows that it can leave out columns.
    def __call__(self, part: job.Part, columns: Sequence[str] | None = None) -> Any:
        if columns is None:
            return super().__call__(part)
        return Frame(self.chosen([*columns]), self.how)(part)

    def chosen(self, names: list[str]) -> Columns:
        """Some of the columns."""
        places = [at for name in names for at, it in enumerate(self.columns.names) if it == name]
        dtypes = [self.columns.dtypes[at] for at in places]
        keys = [self.columns.keys[at] for at in places]
        return self.columns._replace(names=names, dtypes=dtypes, keys=keys, are_all=False)

    def of(self, piece: job.Piece) -> Any:
        names, dtypes = self.columns.names, self.columns.dtypes
        if {*dtypes} == {"float64"}:
            # One block of memory, into which the text is parsed: pandas need not copy it.
            import pandas  # type: ignore[import-untyped, unused-ignore]

            return pandas.DataFrame(self.read(piece, "float64", None), columns=names, copy=False)
        table = self.read(piece, None, [it.lower() for it in dtypes])
        for at, (name, dtype) in enumerate(zip(names, dtypes)):
            if dtype == "int64" and table.validity(at) is not None:
                what = f"column {name!r} has missing values, and is of integers"
                hint = f'pass dtypes={{{name!r}: "Int64"}}, or "float64"'
                raise unreadable("Malformed", piece.path, what, hint)
        frame = table.to_pandas()
        frame.columns = names
        return _typed(frame, dtypes)

    def joined(self, found: list[Any]) -> Any:
        import pandas  # type: ignore[import-untyped, unused-ignore]

        if len(found) == 1:
            return found[0]
        return pandas.concat(found, ignore_index=True) if found else self.empty()

    def empty(self) -> Any:
        """A frame without rows."""
        import pandas

        columns = {at: pandas.Series([], dtype=it) for at, it in enumerate(self.columns.dtypes)}
        frame = pandas.DataFrame(columns)
        frame.columns = self.columns.names
        return frame


def _typed(frame: Any, dtypes: list[str]) -> Any:
    """With integers that may be missing, also if none of this part are."""
    if "Int64" not in dtypes:
        return frame
    names = frame.columns
    frame.columns = range(len(names))
    frame = frame.astype({at: it for at, it in enumerate(dtypes) if it == "Int64"})
    frame.columns = names
    return frame


@dataclass(frozen=True)
class Numbers(_Rows):
    """An array of two dimensions."""

    dtype: Any

    def of(self, piece: job.Piece) -> np.ndarray[Any, Any]:
        made: np.ndarray[Any, Any] = self.read(piece, self.dtype, None)
        return made

    def joined(self, found: list[Any]) -> np.ndarray[Any, Any]:
        from swath._numpy import np

        if len(found) == 1:
            one: np.ndarray[Any, Any] = found[0]
            return one
        empty = np.empty((0, len(self.columns.names)), self.dtype)
        return np.concatenate([empty, *found])


def frame_of(label: str, reads: Frame, parts: list[job.Part]) -> Any:
    """A dataframe with a partition for each part."""
    token_of(parts[0])  # Dask's own tokens see parts as ours do.
    return imported("dask.dataframe").from_map(reads, parts, meta=reads.empty(), label=label)


def array_of(label: str, reads: Numbers, parts: list[job.Part]) -> Any:
    """An array with a chunk of rows for each part."""
    array = imported("dask.array").Array
    from swath._numpy import np

    name = f"{label}-{token_of(reads, parts)}"
    graph = {(name, part.index, 0): (reads, part) for part in parts}
    chunks = ((np.nan,) * len(parts), (len(reads.columns.names),))
    return array(graph, name, chunks, dtype=np.dtype(reads.dtype))
