"""The faces of tables read the same: `read_csv`, `stream_csv`, `convert` and `head` of the command, and the C library.

`reference/src/bin/draw-tables.rs` draws tables that are hard to read, and has the oracle's answer to each. Rust is
compared with the same oracle, value by value, in `crates/formats/tests/promises/typed`.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import battery
import swath

pa = pytest.importorskip("pyarrow")
# Where the command is, there are the C library and what draws.
BUILT = Path(shutil.which("swath") or "swath").parent
SLICE, FULL = 200, 5000


class Case(NamedTuple):
    """A file, its options (word, column, texts), and the oracle's answer, or None for an error."""

    path: Path
    options: list[tuple[str, str | int | None, list[str]]]
    answer: str | None


def drawn(folder: Path, first: int, count: int) -> Iterator[Case]:
    words = [BUILT / "draw-tables", folder, str(first), str(count)]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip().split("\n")
    for name, options, answer in map(json.loads, lines):
        yield Case(folder / name, options, answer)


def keywords(case: Case) -> dict[str, Any]:
    """The options as read_csv takes them."""
    found: dict[str, Any] = {}
    for word, column, texts in case.options:
        text = texts[0] if texts else ""
        if word == "columns":
            found.setdefault(word, []).append(column)
        elif word == "types":
            kind = re.sub(r"^([iuf])(\d+)$", lambda it: {"i": "int", "u": "uint", "f": "float"}[it[1]] + it[2], text)
            if column is None:
                found["dtypes"] = kind
            else:
                found["dtypes"] = {**(found.get("dtypes") or {}), column: kind}
        elif word.endswith("_values"):
            found[word] = texts if column is None else {**found.get(word, {}), column: texts}
        elif column is not None:
            found.setdefault(word, {})[column] = text
        elif word == "header":
            found[word] = int(text) or False
        elif word in ("skip_rows", "skip_footer", "rows", "fields"):
            found[word] = int(text)
        elif text == "none":
            found[word] = None
        else:
            found[word] = text.replace("-", "_") if word == "ragged" else text
    return found


def flags_of(case: Case) -> list[str]:
    """The options as the command takes them."""
    flags, columns, types = [], [], []
    for word, column, texts in case.options:
        key = "" if column is None else f"{column}="
        if word == "columns":
            columns.append(str(column))
        elif word == "types":
            types.append(key + texts[0])
        else:
            flags.append(f"--{word.replace('_', '-')}={key}{','.join(texts)}")
    return flags + [f"--columns={','.join(columns)}"] * bool(columns) + [f"--dtypes={','.join(types)}"] * bool(types)


def command(*words: str | Path) -> bytes:
    return subprocess.run(["swath", *words], check=True, capture_output=True).stdout


def of_convert(case: Case, out: Path) -> Any:
    """Returns the table that the command converts to Arrow, of which its `head` has the first rows."""
    command("convert", "--force", *flags_of(case), case.path, out)
    with pa.ipc.open_file(out) as file:
        table = file.read_all()
    if table.num_rows >= 10:
        # The types of the first rows may be others.
        return table
    head = json.loads(command("head", "--json", *flags_of(case), case.path))
    types = [f"column {json.dumps(it['name'], ensure_ascii=False)} {it['type']} nulls" for it in head["fields"]]
    lines = [line for line in (case.answer or "").split("\n") if line.startswith("column ")]
    assert all(line.startswith(it) for line, it in zip(lines, types, strict=True)), (case, head)
    for at, column in enumerate(table.columns):
        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or pa.types.is_large_string(column.type):
            rows = [row[at] for row in head["first_rows"]]
            assert rows == column.slice(0, len(rows)).to_pylist(), (case, head)
    return table


def is_of_command(case: Case) -> bool:
    """Whether the command has these options; its list of words for missing values is never empty."""
    lists = [(word, column, texts) for word, column, texts in case.options if word.endswith("_values")]
    return all(word == "null_values" and column is None and texts for word, column, texts in lists)


def of_c(case: Case) -> Any:
    """Returns the table that the C library exports."""
    library = ctypes.CDLL(str(BUILT / "libswath_capi.so"))
    options, stream = ctypes.c_void_p(), (ctypes.c_void_p * 5)()

    def ok(status: int) -> None:
        if status != 0:
            raise OSError(status)

    def strings(texts: list[str]) -> Any:
        return (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])

    ok(library.swath_options_new(ctypes.c_uint32(2), ctypes.byref(options)))  # SWATH_VERB_TABLE_READ
    try:
        for word, column, texts in case.options:
            by: list[Any] = [ctypes.c_size_t(column)] if isinstance(column, int) else [column.encode()] if column else []
            name = "swath_options_set_list" if len(texts) != 1 else "swath_options_set"
            name += "_at" if isinstance(column, int) else "_of" if column else ""
            value = [texts[0].encode()] if len(texts) == 1 else [strings(texts), ctypes.c_size_t(len(texts))]
            ok(library[name](options, *by, word.encode(), *value))
        path = strings([str(case.path)])
        ok(library.swath_table_read(path, ctypes.c_size_t(1), options, stream, None))
        return pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()
    finally:
        library.swath_options_free(options)


def shown(table: Any) -> list[tuple[str, str, str]]:
    """Names, types and values; each NaN is the same."""
    number = {True: pa.int64()}
    columns = zip(table.schema, table.columns)
    return [
        (field.name, str(field.type), repr(column.cast(number.get(pa.types.is_timestamp(field.type), field.type)).to_pylist()))
        for field, column in columns
    ]


def check(case: Case, faces: dict[str, Callable[[Case], Any]]) -> bool:
    """Compares the faces with each other, and with the oracle's names, types and number of rows."""
    found: dict[str, Any] = {}
    for name, read in faces.items():
        try:
            found[name] = shown(table := read(case))
        except (swath.Error, OSError, ValueError, subprocess.CalledProcessError) as error:
            assert case.answer is None, (name, case, error)
        else:
            assert case.answer is not None, (name, case, "the oracle has an error")
            lines = case.answer.strip("\n").split("\n")
            columns = [at for at, line in enumerate(lines) if line.startswith("column ")]
            names = [json.JSONDecoder().raw_decode(lines[at], len("column "))[0] for at in columns]
            assert names == table.column_names, (name, case)
            assert table.num_rows == len(lines) - columns[-1] - 1, (name, case)
    assert len({str(one) for one in found.values()}) <= 1, (case, found)
    return bool(found)


def faces(out: Path) -> dict[str, Callable[[Case], Any]]:
    def stream(case: Case) -> Any:
        with swath.stream_csv(case.path, **keywords(case)) as batches:
            return pa.RecordBatchReader.from_stream(batches).read_all()

    return {
        "read_csv": lambda case: pa.table(swath.read_csv(case.path, **keywords(case))),
        "stream_csv": stream,
        "command": lambda case: of_convert(case, out),
        "C": of_c,
    }


def test_all_faces_read_drawn_tables_and_vectors_alike(tmp_path: Path) -> None:
    tables = 0
    every = faces(tmp_path / "out.arrow")
    cases = drawn(tmp_path, battery.FIRST, battery.count(part=SLICE, full=FULL))
    cases = battery.some(cases, part=SLICE)
    for case in cases:
        chosen = {name: read for name, read in every.items() if name != "command" or is_of_command(case)}
        tables += check(case, chosen)
    assert tables > len(cases) // 2


def test_a_planted_fault_of_one_face_is_found(tmp_path: Path) -> None:
    every = faces(tmp_path / "out.arrow")
    case = next(case for case in drawn(tmp_path, 0, 50) if case.answer and "\n-\n" not in case.answer and is_of_command(case))
    assert check(case, every)
    for name, read in every.items():
        with pytest.raises(AssertionError):
            check(case, {**every, name: lambda case, read=read: read(case).slice(1)})
