"""Reads a table with each of several libraries, and shows what it made of it as one line.

``i64 1 2; text "x" -`` is two columns with their types and values; a dash is a missing value.
"""

from __future__ import annotations

import datetime
import io
import json
import math
import warnings
from typing import Any

#: Peers call the same type by other names.
WORDS = {
    "int64": "i64", "uint64": "u64", "float64": "f64", "str": "text",
    "Int64": "i64", "UInt64": "u64", "Int128": "i128", "Float64": "f64", "Boolean": "bool",
    "String": "text", "Date": "date", "Time": "time",
    "Datetime(time_unit='us', time_zone=None)": "timestamp[us]",
    "Datetime(time_unit='us', time_zone='UTC')": "timestamp[us, UTC]",
    "double": "f64", "string": "text", "large_string": "text", "date32[day]": "date", "time32[s]": "time",
    "timestamp[s, tz=UTC]": "timestamp[s, UTC]", "timestamp[us, tz=UTC]": "timestamp[us, UTC]",
    "timestamp[ns, tz=UTC]": "timestamp[ns, UTC]",
    "BIGINT": "i64", "UBIGINT": "u64", "HUGEINT": "i128", "DOUBLE": "f64", "BOOLEAN": "bool",
    "VARCHAR": "text", "DATE": "date", "TIME": "time", "TIMESTAMP": "timestamp[us]",
    "TIMESTAMP WITH TIME ZONE": "timestamp[us, UTC]",
}

Column = tuple[str, str, list[Any]]


def cell(value: Any) -> str:
    """A value as text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        text = value.replace(tzinfo=None).isoformat()
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bytes):
        return repr(value)
    return f"{value:g}" if isinstance(value, float) and value == int_or_none(value) else repr(value)


def int_or_none(value: float) -> int | None:
    """The whole number that a double is, if people would write it as one."""
    is_whole = math.isfinite(value) and value.is_integer() and abs(value) < 100_000
    return int(value) if is_whole else None


def shown(columns: list[Column], has_names: bool) -> str:
    """Columns as text."""
    lines = []
    for name, kind, values in columns:
        before = [json.dumps(name, ensure_ascii=False)] if has_names else []
        cells = list(map(cell, values))
        if len(cells) > 6:
            cells[2:-1] = ["…"]
        lines.append(" ".join([*before, WORDS.get(kind, kind), *cells]))
    return "; ".join(lines)


def by_pandas(data: bytes, **how: Any) -> list[Column]:
    """Returns the table that pandas reads. It cannot tell NaN from a missing value."""
    import pandas as pd

    frame = pd.read_csv(io.BytesIO(data), **how)
    columns = []
    if not isinstance(frame.index, pd.RangeIndex):
        columns.append(("", "index", frame.index.tolist()))
    for at, name in enumerate(frame.columns):
        values = [None if value != value else value for value in frame.iloc[:, at].tolist()]
        columns.append((str(name), str(frame.dtypes.iloc[at]), values))
    return columns


def by_polars(data: bytes, **how: Any) -> list[Column]:
    """Returns the table that polars reads, dates included."""
    import polars as pl

    frame = pl.read_csv(data, **{"try_parse_dates": True, **how})

    def values(name: str) -> list[Any]:
        try:
            return frame[name].to_list()
        # Python has no year 0.
        except ValueError:
            return list(map(Written, frame[name].cast(pl.String).to_list()))

    return [(name, str(frame[name].dtype), values(name)) for name in frame.columns]


def by_pyarrow(data: bytes, **how: Any) -> list[Column]:
    """Returns the table that pyarrow reads; ``how`` has the three kinds of its options."""
    import pyarrow.csv as csv

    options = {
        "read_options": csv.ReadOptions(**how.get("read", {})),
        "parse_options": csv.ParseOptions(**how.get("parse", {})),
        "convert_options": csv.ConvertOptions(**how.get("convert", {})),
    }
    return of_arrow(csv.read_csv(io.BytesIO(data), **options))


def of_arrow(table: Any) -> list[Column]:
    """The columns of an Arrow table."""

    def values(column: Any) -> list[Any]:
        try:
            return column.to_pylist()
        except OverflowError:
            return list(map(Written, column.cast("string").to_pylist()))

    fields = zip(table.schema, table.columns, strict=True)
    return [(field.name, str(field.type), values(column)) for field, column in fields]


class Written:
    """A value that Python does not have, as the peer writes it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def by_duckdb(data: bytes, **how: Any) -> list[Column]:
    """Returns the table that duckdb reads, with one thread, so that rows keep their order."""
    import tempfile

    import duckdb

    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(data)
        file.flush()
        with duckdb.connect(config={"threads": 1}) as base:
            base.execute("SET TimeZone = 'UTC'")
            relation = base.read_csv(file.name, **how)
            rows = relation.fetchall()
            kinds = zip(relation.columns, relation.types, strict=True)
            return [
                (name, str(kind), [row[at] for row in rows])
                for at, (name, kind) in enumerate(kinds)
            ]


READERS: dict[str, Any] = {
    "pandas": by_pandas, "polars": by_polars, "pyarrow": by_pyarrow, "duckdb": by_duckdb,
}


def verdict(reader: Any, data: bytes, has_names: bool, how: dict[str, Any]) -> str:
    """Returns a reader's view of a table: its columns, or ``error``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shown(reader(data, **how), has_names)
        # Each of them has its own; some are not even of the class Exception.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return "error"


def has_typed_tables() -> bool:
    """Whether our package reads tables of any types."""
    import inspect

    import swath

    return "ragged" in inspect.signature(swath.read_csv).parameters


def ours(data: bytes, **options: Any) -> list[Column]:
    """Returns the table that Swath reads."""
    import pyarrow as pa
    import swath

    # Bytes would be a path.
    return of_arrow(pa.table(swath.read_csv(memoryview(data), **options)))
