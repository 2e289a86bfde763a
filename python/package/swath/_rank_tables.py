"""Types on which all ranks agree, of tables that they read in parts."""

from __future__ import annotations

import os
from typing import Any

import swath
from swath import _ranks
from swath._errors import unreadable

# Types of two parts, and their common type.
_JOINED = {
    frozenset({"int64", "float64"}): "float64",
    frozenset({"date", "timestamp[us]"}): "timestamp[us]",
}


def check_encoding(path: Any, table: swath.Table) -> None:
    """Fails for a file whose bytes are not those of its text."""
    report = table.report or {}
    encoding = report["encoding"]
    if encoding != "utf-8" or report["replaced"]:
        what = f"its encoding is {encoding}, and it has no parts"
        if report["replaced"]:
            what = "some of its bytes are not UTF-8 and were replaced, and it has no parts"
        hint = "convert it with `iconv -t UTF-8`"
        raise unreadable("Unsupported", os.fsdecode(path), what, hint)


def kinds(table: swath.Table) -> list[str]:
    """Returns the types of the columns of the file."""
    return [str(column["type"]) for column in (table.report or {})["columns"]]


def agreed(comm: Any, path: Any, table: swath.Table, how: dict[str, Any]) -> list[str]:
    """Returns the types of the columns of the whole file."""
    found = comm.allgather(kinds(table))
    joined = [_joined({*column}) for column in zip(*found)]
    if None in joined:
        how = {word: given for word, given in how.items() if word not in _OF_A_READ}
        return _ranks.first(comm, lambda: swath.csv_dtypes(path, **how))
    return [str(kind) for kind in joined]


# Options of `read_csv` that do not change types.
_OF_A_READ = {"rename", "file_column", "missing"}


def _joined(types: set[str]) -> str | None:
    """Returns the type that holds parts of these types; ``None`` if it depends on all
    fields."""
    # Parts without values do not matter.
    some = types - {"null"}
    if len(some) < 2:
        return next(iter(some), "null")
    return _JOINED.get(frozenset(some))
