"""Tables of any types: each type, each option, each error, and what Python gets."""

from __future__ import annotations

import datetime
import io
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import battery
import swath

np = pytest.importorskip("numpy")

ALL = (
    "flag,small,whole,large,x,day,moment,nano,zoned,word,nothing\n"
    "true,-7,9007199254740993,18446744073709551615,0.1,1980-02-29,2024-01-02T03:04:05.25,"
    "2024-01-02 03:04:05.123456789,2024-01-02T03:04:05+02:00,Ann,\n"
    ',,,,,,,,,"",NA\n'
    "FALSE,8,-1,0,-1e300,0001-01-01,1969-12-31 23:59,1969-12-31 23:59:59,2024-01-02 00:00Z,"
    '"Bob, ""Jr.""\nof York",null\n'
)
TYPES = ["bool", "int64", "int64", "uint64", "float64", "date", "timestamp[us]", "timestamp[ns]"]
TYPES += ["timestamp[us, UTC]", "text", "null"]


@pytest.fixture
def everything(tmp_path: Path) -> Path:
    path = tmp_path / "all.csv"
    path.write_text(ALL)
    return path


def read(text: str | bytes, **how: Any) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return swath.read_csv(memoryview(data), **how)


def test_types_are_those_of_all_values(everything: Path) -> None:
    table = swath.read_csv(everything)
    assert table.types == swath.csv_dtypes(everything) == TYPES
    assert table.shape == (3, 11)
    text = table["word"].tolist()
    assert text == ["Ann", "", 'Bob, "Jr."\nof York']


def test_columns_are_arrays_of_numpy(everything: Path) -> None:
    table = swath.read_csv(everything)
    assert [str(dtype) for dtype in table.dtypes] == [
        "bool", "int64", "int64", "uint64", "float64", "datetime64[D]", "datetime64[us]",
        "datetime64[ns]", "datetime64[us]", "object", "float64",
    ]  # fmt: skip
    for name, dtype in zip(table, table.dtypes):
        assert table[name].dtype == dtype, name
    assert isinstance(table["flag"], np.ma.MaskedArray)
    assert table["flag"].tolist() == [True, None, False]
    assert table["whole"].tolist() == [2**53 + 1, None, -1]
    assert table["large"].tolist() == [2**64 - 1, None, 0]
    np.testing.assert_array_equal(table["x"], [0.1, np.nan, -1e300])
    days = table["day"].tolist()
    assert days == [datetime.date(1980, 2, 29), None, datetime.date(1, 1, 1)]
    moments = np.array(["2024-01-02T03:04:05.25", "NaT", "1969-12-31T23:59"], "M8[us]")
    np.testing.assert_array_equal(table["moment"], moments)
    assert table["nano"][0] == np.datetime64("2024-01-02T03:04:05.123456789")
    assert table["zoned"][0] == np.datetime64("2024-01-02T01:04:05"), "in UTC"
    assert np.isnan(table["nothing"]).all()


def test_values_and_bits_are_those_in_memory(everything: Path) -> None:
    table = swath.read_csv(everything)
    assert np.asarray(table.values(0)).tolist() == [1, 0, 0]
    assert np.asarray(table.values(1)).tolist() == [-7, 0, 8], "missing ones are zero"
    assert bytes(table.validity(1)) == bytes(table.validity(0)) == b"\x05"
    assert bytes(table.validity(10)) == b"\x00"
    with pytest.raises(TypeError, match="of type text, not of numbers; try: use table"):
        table.values(9)
    with pytest.raises(ValueError, match="column 11 of 11"):
        table.values(11)


def test_one_batch_without_gaps_is_not_copied() -> None:
    table = read("n,t\n1,2024-01-01T00:00\n2,2024-01-02T00:00\n")
    for index, name in enumerate(["n", "t"]):
        memory = np.asarray(table.values(index))
        assert np.shares_memory(memory, table[name])
        assert np.shares_memory(memory[1:], table[1:][name])
        assert not table[name].flags.writeable


def test_several_batches_are_one_column(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    rows = [f"{n},name {n},{n / 8},{n % 3 == 0}" for n in range(150_000)]
    path.write_text("n,word,x,flag\n" + "\n".join(rows) + "\n")
    table = swath.read_csv(path)
    assert table.types == ["int64", "text", "float64", "bool"]
    assert table["n"].tolist() == list(range(150_000))
    assert table["word"][-1] == "name 149999" and len(table["word"]) == 150_000
    assert int(table["flag"].sum()) == 50_000
    part = table[100_000:100_003]
    assert part["word"].tolist() == [f"name {n}" for n in range(100_000, 100_003)]
    assert part.shape == (3, 4) and table[70_000:].shape == (80_000, 4)
    assert table[["x", "n"]][149_999:]["x"].tolist() == [149_999 / 8]
    pyarrow = pytest.importorskip("pyarrow")
    whole = pyarrow.table(table)
    assert whole["n"].num_chunks > 1 and whole["n"].to_pylist() == list(range(150_000))
    assert pyarrow.record_batch(table).num_rows == 150_000


def test_a_table_shows_names_types_and_its_first_rows(everything: Path) -> None:
    lines = repr(swath.read_csv(everything, columns=["flag", "day", "zoned", "word"])).split("\n")
    assert lines == [
        "<swath.Table: 3 rows, 4 columns>",
        "flag   day         zoned                word",
        "bool   date        timestamp[us, UTC]   text",
        "true   1980-02-29  2024-01-02 01:04:05  Ann",
        "–      –           –",
        "false  0001-01-01  2024-01-02 00:00:00  Bob, \"Jr.\"\\nof York",
    ]
    shown = repr(read("x\n" + "\n".join(map(str, range(9)))))
    assert shown.endswith("3\n4\n…")
    wide = repr(read(",".join(f"c{n}" for n in range(30)) + "\n" + ",".join(["1"] * 30)))
    assert "c9     …" in wide and "c10" not in wide
    assert repr(read("a\n" + "\x1b[31m" + "w" * 90)).endswith("\\u{1b}[31mwwwwwwwwwwwwwwwwww…")
    assert repr(read("a,b\n")) == "<swath.Table: 0 rows, 2 columns>\na     b\nnull  null"


def test_the_report_says_how_it_was_read() -> None:
    text = "ä;;ä\n1;x;\n2;y;3\n3\n0.5;z;4\n"
    table = read(text.encode(), ragged="set-aside")
    report = table.report
    assert report == read(text.encode(), ragged="set_aside").report
    assert report["delimiter"] == ";" and report["header"] == 1 and report["encoding"] == "utf-8"
    assert report["rows"] == 3 == len(table)
    assert report["set_aside"] == {"count": 1, "lines": [{"file": 0, "line": 4}]}
    assert report["renamed"] == [
        {"index": 1, "from": "", "to": "column_2"},
        {"index": 2, "from": "ä", "to": "ä_2"},
    ]
    for column in report["columns"]:
        for word in ("rounded", "padded", "as_text"):
            assert column.pop(word) == {"count": 0, "line": None, "file": None}
    assert report["columns"] == [
        {"name": "ä", "index": 0, "type": "float64", "told": False, "nulls": 0, "line": 5, "file": 0},
        {"name": "column_2", "index": 1, "type": "text", "told": False, "nulls": 0, "line": 2, "file": 0},
        {"name": "ä_2", "index": 2, "type": "int64", "told": False, "nulls": 1, "line": 3, "file": 0},
    ]
    report["rows"] = 7
    assert table.report["rows"] == 3, "each is a dict of its own"
    assert table[:1].report == table.report == table[["ä"]].report
    assert read("1 2\n3 4\n").report["delimiter"] == "blanks"
    assert read("x\n1\n").report["delimiter"] is None
    assert swath._swath.make_texts("a", ["b"]).report is None


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_tables_of_all_types_survive_a_pickle(everything: Path, protocol: int) -> None:
    whole = swath.read_csv(everything, dictionary=True)
    for table in [whole, whole[1:], whole[:0], whole[["word"]], whole[[]]]:
        again = pickle.loads(pickle.dumps(table, protocol))
        assert repr(again) == repr(table) and again.report == table.report
        assert again.types == table.types and len(again) == len(table)
    kept: list[pickle.PickleBuffer] = []
    text = pickle.dumps(whole, 5, buffer_callback=kept.append)
    assert len(kept) == 1 and len(text) < 3000
    assert repr(pickle.loads(text, buffers=kept)) == repr(whole)


def test_a_slice_sends_its_own_texts() -> None:
    table = read("word\n" + "".join(f"a text of some length {n}\n" for n in range(9000)))
    assert len(pickle.dumps(table[:3])) < 3000
    assert pickle.loads(pickle.dumps(table[4000:4002]))["word"].tolist() == [
        "a text of some length 4000",
        "a text of some length 4001",
    ]


def test_damaged_pickles_are_errors(everything: Path) -> None:
    function, (buffer, _) = swath.read_csv(everything, dictionary=True).__reduce_ex__(5)
    good = bytes(buffer)
    import random

    dice = random.Random(3)
    for _ in range(400):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        data = data[: dice.choice([len(data), dice.randrange(len(data))])]
        try:
            repr(function(data))
        except ValueError as error:
            assert "the pickled table is damaged" in str(error)
    with pytest.raises(ValueError, match="damaged: .*no schema"):
        function(b"")


TOLD: list[tuple[Any, str, str, Any]] = [
    ("int8", "+007", "int8", 7),
    ("uint16", "65535", "uint16", 65535),
    ("<i8", "7", "int64", 7),
    ("i16", "7", "int16", 7),
    ("i32", "7", "int32", 7),
    ("i64", "7", "int64", 7),
    ("u16", "7", "uint16", 7),
    ("u32", "7", "uint32", 7),
    ("u64", "7", "uint64", 7),
    ("f32", "0.5", "float32", 0.5),
    ("f64", "0.1", "float64", 0.1),
    ("i2", "7", "int16", 7),
    ("f4", "0.5", "float32", 0.5),
    (int, "7", "int64", 7),
    (float, "7", "float64", 7.0),
    ("float32", "0.1", "float32", float(np.float32(0.1))),
    (np.float32, "0.5", "float32", 0.5),
    (np.dtype("u1"), "255", "uint8", 255),
    ("Int64", "7", "int64", 7),
    (bool, "true", "bool", True),
    (str, "007", "text", "007"),
    ("text", "NA.", "text", "NA."),
    (np.dtype("U9"), "1", "text", "1"),
    ("dictionary", "a", "dictionary", "a"),
    ("category", "a", "dictionary", "a"),
    (datetime.date, "2024-02-29", "date", datetime.date(2024, 2, 29)),
    ("M8[D]", "2024-02-29", "date", datetime.date(2024, 2, 29)),
    (datetime.datetime, "2024-02-29", "timestamp[us]", datetime.datetime(2024, 2, 29)),
    ("timestamp[s]", "2024-02-29T01:02:03", "timestamp[s]", datetime.datetime(2024, 2, 29, 1, 2, 3)),
    ("datetime64[ms]", "2024-02-29 01:02", "timestamp[ms]", datetime.datetime(2024, 2, 29, 1, 2)),
    ("timestamp[us, UTC]", "2024-02-29T01:00+01", "timestamp[us, UTC]", datetime.datetime(2024, 2, 29)),
    ("null", "NA", "null", None),
]


@pytest.mark.parametrize(("dtype", "field", "word", "value"), TOLD, ids=lambda it: str(it)[:30])
def test_a_type_can_be_told_in_many_words(dtype: Any, field: str, word: str, value: Any) -> None:
    text = f"a,b\n{field},1\n"
    for dtypes in [{"a": dtype}, {0: dtype}, [dtype, None]]:
        table = read(text, dtypes=dtypes)
        assert table.types == [word, "int64"]
        [found] = table["a"].tolist()
        assert found == value or value is None and found != found
        assert table.report["columns"][0]["told"]


def test_values_that_are_not_what_their_text_says_are_counted() -> None:
    text = "a,b\n1,0.1\n007,0.1000000000000000055\n+3,0.10000000000000001\n"
    [a, b] = read(text, dtypes={"a": "int64"}).report["columns"]
    assert a["padded"] == {"count": 2, "line": 3, "file": 0} and a["rounded"]["count"] == 0
    assert b["rounded"] == {"count": 1, "line": 3, "file": 0} and b["padded"]["count"] == 0
    [zero] = read("z\n-0\n0\n", dtypes={"z": "int8"}).report["columns"]
    assert zero["padded"] == {"count": 1, "line": 2, "file": 0} and zero["as_text"]["count"] == 0
    [_, b] = read(text, dtypes={"b": "float32"}).report["columns"]
    assert b["rounded"] == {"count": 2, "line": 3, "file": 0}


def test_arrays_warn_of_numbers_that_are_others_than_in_the_text() -> None:
    text = memoryview(b"zip,x\n7,0.1234567890123456789\n007,2\n+8,3\n")
    lost = "column 'zip': 2 numbers lost zeros or a sign, from line 3 on"
    with pytest.warns(swath.ChangedValueWarning, match=lost) as found:
        assert swath.read_csv(text, "f8", columns=["zip"]).ravel().tolist() == [7, 7, 8]
    (only,) = found
    assert only.filename == __file__ and only.message.report["columns"][0]["padded"]["count"] == 2
    rounded = f"{lost}; column 'x': 1 number rounded in the last digits, from line 2 on"
    with pytest.warns(swath.ChangedValueWarning, match=rounded):
        swath.read_csv(text, "f8")
    with pytest.warns(swath.ChangedValueWarning, match="column 'zip': 1 number lost zeros or a sign"):
        swath.read_csv(memoryview(b"zip\n-0\n0\n"), "i8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert swath.read_csv(memoryview(b"zip,x\n-0,0.5\n"), "f8").shape == (1, 2)
        assert swath.read_csv(memoryview(b"zip,x\n7,0.5\n,-0.25\n"), "f8").shape == (2, 2)


def test_types_of_other_libraries_are_types() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for dtype, word in [
        (pyarrow.int16(), "int16"),
        (pyarrow.float32(), "float32"),
        (pyarrow.float64(), "float64"),
        (pyarrow.string(), "text"),
        (pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), "dictionary"),
        (pyarrow.bool_(), "bool"),
        (pyarrow.date32(), "date"),
        (pyarrow.timestamp("ns"), "timestamp[ns]"),
        (pyarrow.timestamp("ms", "UTC"), "timestamp[ms, UTC]"),
        (pandas.Int32Dtype(), "int32"),
        (pandas.CategoricalDtype(), "dictionary"),
        (pandas.DatetimeTZDtype("us", "UTC"), "timestamp[us, UTC]"),
        (polars.Float32, "float32"),
        (polars.String, "text"),
        (polars.Date, "date"),
    ]:
        assert swath._types.type_word(dtype) == word, dtype


@pytest.mark.parametrize(
    ("dtypes", "kind", "says"),
    [
        ({"a": "int7"}, TypeError, "dtypes=…: 'int7' is not a type of a column; the types are bool, int8"),
        ({"a": complex}, TypeError, "complex.*is not a type"),
        ({"a": dict}, TypeError, "dict.*is not a type"),
        ({"a": np.dtype("f2")}, TypeError, "float16.*is not a type"),
        ({"a": 5}, TypeError, "5 is not a type"),
        (b"int64", TypeError, "neither a dtype nor a mapping nor a sequence"),
        ({"b": "int64"}, swath.InvalidError, "no column `b`"),
        ({7: "int64"}, swath.InvalidError, "7"),
        ({-1: "int64"}, ValueError, "indices count from 0"),
        ({1.5: "int64"}, TypeError, "neither a name nor an index"),
        (["int64", "int64"], (ValueError, swath.InvalidError), "2|1"),
        ({"a": "int64", 0: "text"}, swath.InvalidError, "two types"),
    ],
)
def test_what_is_no_type_is_named(dtypes: Any, kind: Any, says: str) -> None:
    for verb in (read, lambda text, **how: swath.csv_dtypes(memoryview(text.encode()), **how)):
        with pytest.raises(kind, match=says):
            verb("a\n1\n", dtypes=dtypes)


@pytest.mark.parametrize(
    ("text", "how", "says"),
    [
        ("a\n1\nx\n", {"dtypes": {"a": "int64"}}, "on line 3.*not a value of type.*column `a`: `x`"),
        ("a\n1\n300\n", {"dtypes": {"a": "uint8"}}, "on line 3.*out of the range.*column `a`: `300`"),
        ("a,b\n1,2\n3\n", {}, "on line 3.*1 field where 2 are expected; try: .*ragged"),
        ('a,b\n1,2\n3,"4\n', {}, "on line 3.*never closed; try: close it"),
        ('a,b\n1,2\n3,"4"5\n', {}, "on line 3.*after a closing quote"),
        ("a,b\n1,2\n3\r,4\n", {}, "on line 3.*carriage return|on line 3"),
        (b"a,b\n1,2\n3,\xff\n", {}, "on line 3.*UTF-8.*try: pass the encoding"),
        ("", {}, "try: |empty|no"),
        ("a\n2024-01-32\n", {"dtypes": {"a": "date"}}, "on line 2"),
        ("a\n31.13.2024\n", {"formats": {"a": "%d.%m.%Y"}}, "on line 2.*column `a`"),
        ("a\n2024-01-01T00:00:00.5\n", {"dtypes": {"a": "timestamp[s]"}}, "more digits"),
        ("a\nx\n", {"dtypes": {"a": "int8"}}, "try: .*another type with dtypes=, or add the word to null_values="),
        ("a\n\xff\n".encode("latin-1"), {}, "try: pass the encoding of the file with encoding=, or replace such bytes with encoding_errors=$"),
        ("a,b\nx,1,2\n", {}, "as R writes it.*try: .*skip_rows= and header=.*with rename="),
        ("a,b\0\n1,2\n", {}, "on line 1.*a NUL byte in the name of column index 1.*try: .*with rename="),
        ("t\n1677-09-21T00:12:43.145224192\n", {"dtypes": {"t": "timestamp[ns]"}}, "out of the range"),
        ("t\n9999-12-31T23:59-01\n", {"dtypes": {"t": "timestamp[us, UTC]"}}, "years 1 to 9999 in UTC"),
    ],
)
def test_a_fault_has_line_column_and_what_to_try(text: Any, how: dict[str, Any], says: str) -> None:
    with pytest.raises(swath.MalformedError, match=says) as raised:
        read(text, **how)
    assert "<memory>" in str(raised.value)
    with pytest.raises(swath.MalformedError, match=says):
        source = memoryview(text if isinstance(text, bytes) else text.encode())
        list(swath.stream_csv(source, **how))


OPTIONS: list[tuple[str | bytes, dict[str, Any], dict[str, Any]]] = [
    ("a|b\n1|2\n", {"delimiter": "|"}, {"a": [1], "b": [2]}),
    ("a  b\n1 \t 2\n", {"delimiter": "blanks"}, {"a": [1], "b": [2]}),
    ("1,2\n3,4\n", {"header": False}, {"column_1": [1, 3], "column_2": [2, 4]}),
    ("1,2\n3,4\n", {"header": "absent"}, {"column_1": [1, 3], "column_2": [2, 4]}),
    ("1,2\n3,4\n", {"header": True}, {"1": [3], "2": [4]}),
    ("1,2\n3,4\n", {"header": "present"}, {"1": [3], "2": [4]}),
    ("a,a\nx,y\n1,2\n", {"header": 2}, {"a_x": [1], "a_y": [2]}),
    ("#1,2\n3,4\n", {"comment": "#", "header": False}, {"column_1": [3], "column_2": [4]}),
    ("a,b\n#1,2\n", {}, {"a": ["#1"], "b": [2]}),
    ("a,b\n'1,5',2\n", {"quote": "'"}, {"a": ["1,5"], "b": [2]}),
    ('a,b\n"1,2\n', {"quote": None}, {"a": ['"1'], "b": [2]}),
    ("a,b\nx\\,y,2\n", {"escape": "\\"}, {"a": ["x,y"], "b": [2]}),
    ("junk, of three, fields\n\na\n1\n", {"skip_rows": 2}, {"a": [1]}),
    ("a\n1\n2\nx\n", {"rows": 2}, {"a": [1, 2]}),
    ('a,b\n1,x\n\nTotal\n"2\n",,\n', {"skip_footer": 2}, {"a": [1], "b": ["x"]}),
    ("a,b\n007,\n", {"dtypes": "text"}, {"a": ["007"], "b": [None]}),
    ("a,d\n1,1.2.2020\n", {"dtypes": float, "formats": {"d": "%d.%m.%Y"}}, {"a": [1.0], "d": [datetime.date(2020, 2, 1)]}),
    ("a\n1\n", {"rows": 0}, {"a": []}),
    ("a,b\n1,2\n", {"rename": {"a": "A", 1: "B"}}, {"A": [1], "B": [2]}),
    ("a,b\n1,2\n", {"columns": ["b", 0], "rename": {"a": "x"}}, {"b": [2], "x": [1]}),
    ("d\n31.12.2024\n", {"formats": {"d": "%d.%m.%Y"}}, {"d": [datetime.date(2024, 12, 31)]}),
    (
        "t\n1700000000001\n",
        {"formats": {"t": "epoch_ms"}, "dtypes": {"t": "timestamp[ms]"}},
        {"t": [datetime.datetime(2023, 11, 14, 22, 13, 20, 1000)]},
    ),
    ("a,b\n-,1\n2,-\n", {"null_values": ["-"]}, {"a": [None, 2], "b": [1, None]}),
    ("a,b\n-,1\n2,\n", {"null_values": ["-"]}, {"a": [None, 2], "b": [1, None]}),
    ("a,b\nNA,1\n,2\n", {"null_values": []}, {"a": ["NA", ""], "b": [1, 2]}),
    ("a\nja\nnein\n", {"true_values": ["ja"], "false_values": ["nein"]}, {"a": [True, False]}),
    ("a;b\n1.234,5;2\n", {"decimal": ",", "thousands": "."}, {"a": [1234.5], "b": [2]}),
    ("a,b\né,1\n".encode("latin-1"), {"encoding": "latin-1"}, {"a": ["é"], "b": [1]}),
    ("a,b\n€,1\n".encode("cp1252"), {"encoding": "cp1252"}, {"a": ["€"], "b": [1]}),
    ("a,b\nポ|ソ,1\n".encode("cp932"), {"encoding": "cp932"}, {"a": ["ポ|ソ"], "b": [1]}),
    (b"a,b\nx\xffy,1\n", {"encoding_errors": "replace"}, {"a": ["x\ufffdy"], "b": [1]}),
    ("a,b\né,1\n".encode("utf-16"), {}, {"a": ["é"], "b": [1]}),
    ("a,b\né,1\n".encode("utf-16-be"), {"encoding": "utf-16-be"}, {"a": ["é"], "b": [1]}),
    ("\ufeffa,b\né,1\n".encode(), {}, {"a": ["é"], "b": [1]}),
    ("a,b\n1\n2,3\n", {"ragged": "pad"}, {"a": [1, 2], "b": [None, 3]}),
    ("a,b\n1\n2,3\n", {"ragged": "set-aside"}, {"a": [2], "b": [3]}),
    ("a,b\n1\n2,3,4\n", {"ragged": "drop", "delimiter": ","}, {"a": [1, 2], "b": [None, 3]}),
    ("a\n1,2\n3,4\n", {"fields": 2}, {"a": [1, 3], "column_2": [2, 4]}),
    ("a\nx\ny\nx\n", {"dictionary": True}, {"a": ["x", "y", "x"]}),
    ("a\n1\n", {"file_column": "file"}, {"a": [1], "file": ["<memory>"]}),
    ("xxa\n1\n2\nyy", {"offset": 2, "length": 6}, {"a": [1, 2]}),
    ("a\n1\n2\n3\n", {"starting_in": (4, 2)}, {"a": [2]}),
    ("sep=;\na;b\n1;2\n", {}, {"a": [1], "b": [2]}),
    ('a,b\n1,"x\ny"\n', {}, {"a": [1], "b": ["x\ny"]}),
]


@pytest.mark.parametrize(("text", "how", "wanted"), OPTIONS, ids=lambda it: str(it)[:40])
def test_each_option_does_what_it_says(text: Any, how: dict[str, Any], wanted: dict[str, Any]) -> None:
    data = memoryview(text if isinstance(text, bytes) else text.encode())
    table = swath.read_csv(data, **how)
    assert {name: table[name].tolist() for name in table} == wanted
    found: dict[str, Any] = {name: [] for name in wanted}
    with swath.stream_csv(data, **how) as stream:
        assert stream.names == table.names and stream.types == table.types
        for part in stream:
            for name in part:
                found[name] += part[name].tolist()
    assert found == wanted
    same = {name: it for name, it in how.items() if name not in ("rename", "file_column")}
    types = table.types[: -1 if "file_column" in how else None]
    assert swath.csv_dtypes(data, **same) == types


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        ({"header": 0}, ValueError, "header=0: .*try: pass True"),
        ({"header": -1}, ValueError, "header=-1"),
        ({"header": None}, TypeError, "header=None: not one of .*try: pass header=False"),
        ({"header": "yes"}, TypeError, "header='yes'"),
        ({"delimiter": ""}, ValueError, "delimiter='': not one byte"),
        ({"delimiter": 5}, TypeError, "delimiter=5"),
        ({"delimiter": "ab"}, ValueError, "`delimiter` cannot be `ab`; try: pass one ASCII"),
        ({"delimiter": ",\""}, swath.InvalidError, "delimiter, quote"),
        ({"delimiter": '"'}, swath.InvalidError, "delimiter, quote"),
        ({"decimal": ",", "comment": ","}, swath.InvalidError, "decimal point"),
        ({"decimal": None}, (TypeError, ValueError), "decimal"),
        ({"skip_rows": -1}, ValueError, "skip_rows=-1: not a number of lines"),
        ({"skip_rows": 1.5}, TypeError, "skip_rows=1.5"),
        ({"skip_footer": -1}, ValueError, "skip_footer=-1: not a number of rows"),
        ({"skip_footer": 1_000_001}, swath.InvalidError, "try: pass a smaller number as skip_footer="),
        ({"dtypes": "integer8"}, TypeError, "'integer8' is not a type of a column"),
        ({"dtypes": {"a"}}, TypeError, "neither a dtype nor a mapping nor a sequence"),
        ({"rows": "ten"}, TypeError, "rows='ten'"),
        ({"rename": ["x"]}, TypeError, "rename=.*not a mapping"),
        ({"rename": str.upper}, TypeError, "not a function"),
        ({"rename": {"a": 5}}, TypeError, "5 is not a text"),
        ({"rename": {"z": "x"}}, swath.InvalidError, "no column `z`"),
        ({"formats": "%Y"}, TypeError, "formats='%Y': not a mapping"),
        ({"formats": {"a": "%Q"}}, swath.InvalidError, "%Q"),
        ({"null_values": "NA"}, TypeError, r"null_values='NA': not a list of texts; try: pass null_values=\['NA'\]"),
        ({"null_values": [0]}, TypeError, "0 is not a text"),
        ({"true_values": 1}, TypeError, "true_values=1"),
        ({"encoding": "cp500"}, ValueError, "encoding='cp500': not an encoding of the WHATWG"),
        ({"encoding": "ebcdic"}, ValueError, "encoding='ebcdic': not an encoding of the WHATWG"),
        ({"encoding": 5}, ValueError, "encoding=5: not an encoding"),
        ({"encoding_errors": "strict"}, ValueError, 'encoding_errors="strict": not one of "error", "replace"'),
        ({"encoding": "utf-16"}, ValueError, "encoding='utf-16': .*try: pass \"auto\""),
        ({"ragged": "skip"}, ValueError, 'ragged="skip": not one of "error", "pad", "set-aside", "drop"$'),
        ({"fields": "2"}, TypeError, "fields='2': not a number of fields"),
        ({"fields": 0}, swath.InvalidError, "try: pass a number of at least 1 as fields="),
        ({"columns": ["z"]}, swath.InvalidError, "no column `z`"),
        ({"columns": ["a", 0]}, swath.InvalidError, "selected twice"),
        ({"columns": "a"}, TypeError, r"columns=\['a'\]"),
        ({"file_column": 5}, TypeError, "file_column=5"),
        ({"union_by_name": "yes"}, TypeError, "union_by_name='yes': neither True nor False; try: pass True"),
        ({"union_by_name": True, "header": False}, swath.InvalidError, "try: leave out union_by_name=, or header="),
        ({"missing": 0}, TypeError, "missing= is for an array"),
        ({"starting_in": 5}, TypeError, "starting_in"),
        ({"null_values": ["x"], "missing_words": ["y"]}, TypeError, "are the same"),
    ],
)
def test_options_that_mean_nothing_are_named(how: dict[str, Any], kind: Any, says: str) -> None:
    with pytest.raises(kind, match=says):
        read("a,b\n1,2\n", **how)


@pytest.mark.parametrize(
    "how",
    [
        {"formats": {"a": "%Y-%m-%d"}}, {"rename": {"a": "b"}}, {"dictionary": True}, {"file_column": "f"},
        {"union_by_name": True},
        {"true_values": ["x"]}, {"dtypes": ["int64"]}, {"null_values": {"a": ["x"]}},
    ],
)  # fmt: skip
def test_an_array_has_options_of_its_own(how: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="dtype"):
        read("a\n1\n", dtype="f8", **how)
    assert read("# c\na\n1\n-\n", dtype="f8", null_values=["-"]).shape == (2, 1)
    assert read("1,2\n", dtype="f8", header=True).shape == (0, 2)
    assert read("a\nb\n1\n", dtype="f8", header=2).tolist() == [[1]]
    assert read("x\na;b\n1,5;\"2\n\"\n3\n", dtype="f8", skip_rows=1, columns=["a"], decimal=",", ragged="pad").tolist() == [[1.5], [3]]
    assert read("a\n1\n2\n3\n", dtype="i1", rows=2).tolist() == [[1], [2]]
    assert read("1.000.000\n", dtype="i4", thousands=".", decimal=",").tolist() == [[1_000_000]]


def test_encodings_are_those_of_python_where_both_have_them() -> None:
    for name, text in [
        ("shift_jis", "日本語ソ"), ("euc_jp", "日本語ソ"), ("iso2022_jp", "日本語ソ"), ("euc_kr", "한국어"), ("cp949", "똠방"),
        ("big5", "功許蓋"), ("gbk", "中国"), ("gb18030", "中国\U0001f600"), ("koi8_r", "Привет"), ("koi8_u", "Її"),
        ("cp1250", "Łódź"), ("cp1251", "Привет"), ("cp1253", "Αθήνα"), ("cp1254", "İğ"), ("cp1255", "שלום"),
        ("cp1256", "سلام"), ("cp1257", "ąž"), ("cp1258", "đ"), ("cp866", "Да"), ("cp874", "ไทย"), ("iso8859_2", "Łódź"),
        ("iso8859_5", "Привет"), ("iso8859_7", "Αθήνα"), ("iso8859_15", "€"), ("mac_roman", "Köln"),
    ]:  # fmt: skip
        table = swath.read_csv(memoryview(f'n,t\n1,"{text}"\n'.encode(name)), encoding=name)
        assert table["t"].tolist() == [text], name
        assert table.report["encoding"] != "utf-8" and table.report["replaced"] == 0


def test_a_byte_of_no_character_has_its_place_in_the_file() -> None:
    data = memoryview("n,t\n1,ソ\n2,".encode("cp932") + b"\xfd\n")
    with pytest.raises(swath.MalformedError, match="not shift_jis at byte 11 of the file.*try: .*encoding_errors="):
        swath.read_csv(data, encoding="sjis")
    table = swath.read_csv(data, encoding="sjis", encoding_errors="replace")
    assert table["t"].tolist() == ["ソ", "\ufffd"] and table.report["replaced"] == 1
    assert swath.read_csv(memoryview(b"a\n1,2\n"), ragged="drop", delimiter=",").report["dropped"] == 1


def test_a_comment_among_numbers_is_counted() -> None:
    table = read("#1,2\n3,4\n")
    assert (len(table), table.report["comment"], table.report["comments"]) == (1, "#", 1)
    assert len(read("#1,2\n3,4\n", comment=None)) == 1
    assert len(read("#red,2\nblue,4\n", header=False)) == 2
    assert read("#1,2\n3,4\n", dtype="i8").tolist() == [[3, 4]]


def test_many_files_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in [10, 9, 1]:
        (folder / f"day-{number}.csv").write_text(f"n,word\n{number},w{number}\n")
    (folder / ".hidden").write_text("junk")
    for source in [
        folder,
        str(folder),
        os.fsencode(folder),
        f"{folder}/*.csv",
        folder / "day-*",
        f"{tmp_path}/**/*.csv",
        [folder / f"day-{n}.csv" for n in (1, 9, 10)],
        (str(folder / f"day-{n}.csv") for n in (1, 9, 10)),
        np.array([str(folder / f"day-{n}.csv") for n in (1, 9, 10)]),
        [folder / "day-1.csv", f"{folder}/day-9*", io.BytesIO(b"n,word\n10,w10\n")],
    ]:
        if hasattr(source, "send"):
            source = [*source]
        table = swath.read_csv(source)
        assert table["n"].tolist() == [1, 9, 10], source
        assert swath.csv_dtypes(source) == ["int64", "text"]
        assert [one["n"].tolist() for one in swath.stream_csv(source)] == [[1], [9], [10]]
    assert swath.read_csv(folder.glob("day-1*")).shape == (2, 2)
    files = swath.read_csv(folder, file_column="file")["file"].tolist()
    assert files == [str(folder / f"day-{n}.csv") for n in (1, 9, 10)]
    (folder / "day-9.csv").write_text("n,word\n0.5,w9\n")
    assert swath.read_csv(folder).types == ["float64", "text"]
    (folder / "day-9.csv").write_text("late,n\nx,0.5\n")
    with pytest.raises(swath.MalformedError, match="try: set union_by_name= to unite"):
        swath.read_csv(folder)
    for table in [
        swath.read_csv(folder, union_by_name=True, dtypes={"n": "float32"}),
        next(swath.stream_csv(folder, union_by_name=True, dtypes={"n": "float32"})),
    ]:
        assert (table.names, table.types) == (["n", "word", "late"], ["float32", "text", "text"])
    assert swath.csv_dtypes(folder, union_by_name=True) == ["float64", "text", "text"]
    assert swath.read_csv(folder, union_by_name=True)["late"].tolist() == [None, "x", None]
    assert swath.read_fixed(folder, union_by_name=True, header=True).shape == (3, 2)
    (folder / "day-9.csv").write_text("n,word\n0.5,w9\n")
    (folder / "star*.csv").write_text("n,word\n7,seven\n")
    assert swath.read_csv(folder / "star*.csv")["n"].tolist() == [7], "a name, not a pattern"


def test_a_pipe_among_the_files_of_a_table_is_an_error_and_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "day-1.csv").write_text("a,b\n1,2\n")
    os.mkfifo(tmp_path / "day-2.csv")
    for source in (tmp_path, tmp_path / "*.csv", [tmp_path / "day-1.csv", tmp_path]):
        for read in (swath.read_csv, swath.stream_csv, swath.read_jsonl):
            with pytest.raises(swath.InvalidError, match="day-2.csv: it is not a file; try: name the files"):
                read(source)


def test_several_files_that_do_not_fit_are_errors(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("a,b\n1,2\n")
    two.write_text("a,c\n1,2\n")
    with pytest.raises(swath.MalformedError, match="two.csv.*`c`.*`b`.*try: "):
        swath.read_csv([one, two])
    with pytest.raises(swath.NotFoundError, match="no file matches this pattern; try: "):
        swath.read_csv(tmp_path / "*.tsv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no file in this folder; try: "):
        swath.read_csv(tmp_path / "empty")
    with pytest.raises(IsADirectoryError):
        swath.read_csv(tmp_path)
    with pytest.raises(ValueError, match="no files given; try: pass at least one path"):
        swath.read_csv([])
    for wrong in ([one, None], [one, 5], [[one], two]):
        with pytest.raises(TypeError, match="a list names the files of one table: not .*; try: "):
            swath.read_csv(wrong)
    for how in ({"offset": 1}, {"length": 5}, {"starting_in": (0, 1)}):
        with pytest.raises(TypeError, match="there are 2; try: read one of them at a time"):
            swath.read_csv([one, one], **how)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(one.read_bytes())
    assert swath.read_csv([one, copy], verify="vote").shape == (1, 2), "copies"
    assert swath.read_csv([one, one]).shape == (2, 2), "files"
    assert swath.read_csv([one, one], "i8").shape == (2, 2), "of an array too"


def test_progress_and_interrupts_are_those_of_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("n,word\n" + "".join(f"{n},w{n}\n" for n in range(300_000)))
    seen: list[tuple[int, int | None]] = []
    swath.read_csv(path, progress=lambda done, total: seen.append((done, total)))
    assert max(done for done, _ in seen) >= path.stat().st_size - 10

    def stop(done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    for verb in (swath.read_csv, swath.csv_dtypes, lambda it, **how: list(swath.stream_csv(it, **how))):
        with pytest.raises(RuntimeError, match="enough"):
            verb(path, progress=stop)


# Streams.


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "long.csv"
    rows = (f'{n},"name ""{n}""\n",{n / 4},{"true" if n % 2 else ""}\n' for n in range(100_000))
    path.write_text("n,word,x,flag\n" + "".join(rows))
    return path


def test_a_stream_has_the_rows_in_order(long: Path) -> None:
    with swath.stream_csv(long, block_size=100_000) as stream:
        assert repr(stream) == "<swath.TableStream: n: int64, word: text, x: float64, flag: bool>"
        assert stream.report["rows"] == 0
        tables = list(stream)
        assert stream.report["rows"] == 100_000
        assert [it["nulls"] for it in stream.report["columns"]] == [0, 0, 0, 50_000]
        assert list(stream) == []
    assert len(tables) > 10
    assert [n for table in tables for n in table["n"].tolist()] == list(range(100_000))
    assert tables[-1]["word"][-1] == 'name "99999"\n'
    assert all(type(table) is swath.Table and table.names == stream.names for table in tables)


def test_a_stream_ends_when_it_is_closed(long: Path) -> None:
    stream = swath.stream_csv(long, block_size=100_000)
    assert len(next(stream)) > 0
    stream.close()
    stream.close()
    with pytest.raises(ValueError, match="the stream is closed; try: "):
        list(stream)
    with swath.stream_csv(long) as stream:
        pass
    for _ in range(2):
        with pytest.raises(ValueError, match="the stream is closed; try: "):
            list(stream)
    with swath.stream_csv(long) as stream:
        assert len(list(stream)) > 0 and list(stream) == []
    with pytest.raises(ValueError, match="read, closed or passed on before; try: call stream_csv again"):
        stream.__arrow_c_stream__()


def test_a_stream_is_what_arrow_libraries_read(long: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    wanted = pyarrow.table(swath.read_csv(long))
    stream = swath.stream_csv(long)
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    assert reader.schema == wanted.schema
    assert reader.read_all().equals(wanted)
    with pytest.raises(ValueError, match="passed on before"):
        pyarrow.RecordBatchReader.from_stream(stream)
    stream = swath.stream_csv(long, block_size=100_000)
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    reader.read_next_batch()
    for _ in range(2):
        with pytest.raises(ValueError, match="the stream was passed on; try: read it there"):
            next(stream)
    assert sum(batch.num_rows for batch in reader) > 90_000
    stream = swath.stream_csv(long, block_size=100_000)
    first = next(stream)
    rest = pyarrow.RecordBatchReader.from_stream(stream).read_all()
    assert len(first) + len(rest) == 100_000 and rest["n"][0].as_py() == len(first)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(swath.stream_csv(long))
    assert frame.shape == (100_000, 4) and frame["word"][7] == 'name "7"\n'
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame.from_arrow(swath.stream_csv(long))
    assert frame.shape == (100_000, 4) and frame["x"].sum() == wanted["x"].to_pandas().sum()
    duckdb = pytest.importorskip("duckdb")
    batches = pyarrow.RecordBatchReader.from_stream(swath.stream_csv(long))
    assert duckdb.sql("select sum(n), count(flag) from batches").fetchall() == [(4999950000, 50000)]
    direct = swath.stream_csv(long)
    assert duckdb.sql("select max(word) from direct").fetchall() == [('name "99999"\n',)]
    whole = swath.read_csv(long)
    assert duckdb.sql("select sum(n) from whole").fetchall() == [(4999950000,)]


def test_errors_of_a_stream_arrive_through_arrow(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "odd.csv"
    path.write_text("n\n" + "1\n" * 200_000 + "x\n")
    told = {"dtypes": {"n": "int64"}, "block_size": 100_000}
    reader = pyarrow.RecordBatchReader.from_stream(swath.stream_csv(path, **told))
    says = "odd.csv.*on line 200002.*not a value of type.*`n`: `x`; try: "
    with pytest.raises(ValueError, match=says):
        reader.read_all()
    stream = swath.stream_csv(path, **told)
    with pytest.raises(swath.MalformedError, match=says):
        for table in stream:
            assert table["n"].tolist() == [1] * len(table)
    assert list(stream) == []
    with pytest.raises(ValueError, match="call stream_csv again"):
        stream.__arrow_c_stream__()
    duckdb = pytest.importorskip("duckdb")
    batches = pyarrow.RecordBatchReader.from_stream(swath.stream_csv(path, **told))
    with pytest.raises(Exception, match="on line 200002"):
        duckdb.sql("select sum(n) from batches").fetchall()
    polars = pytest.importorskip("polars")
    with pytest.raises(Exception, match="on line 200002"):
        polars.DataFrame(swath.stream_csv(path, **told))
    # A file that is gone is not an end.
    path.write_text("n\n" + "1\n" * 3_000_000)
    with swath.stream_csv(path, **told) as stream:
        reader = pyarrow.RecordBatchReader.from_stream(stream)
        reader.read_next_batch()
    with pytest.raises((OSError, ValueError), match="the stream is closed; try: "):
        reader.read_all()
    stream = swath.stream_csv(path, **told)
    next(stream)
    os.truncate(path, 1000)
    with pytest.raises(swath.Error):
        list(stream)


def test_a_stream_keeps_few_rows_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    row = "7,a word that is longer than twelve bytes,0.25\n"
    with open(path, "w") as out:
        out.write("n,word,x\n")
        for _ in range(40):
            out.write(row * 25_000)
    code = (
        "import resource, swath\n"
        f"stream = swath.stream_csv({str(path)!r}, workers=2)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(sum(len(table) for table in stream))\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows, grown = map(int, run.stdout.split())
    assert rows == 1_000_000 and grown < 40, "MiB"


def test_a_stream_belongs_to_its_process(long: Path) -> None:
    stream = swath.stream_csv(long)
    child = os.fork()
    if child == 0:
        try:
            next(stream)
        except RuntimeError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert sum(len(table) for table in stream) == 100_000


def test_a_stream_that_is_forgotten_ends_while_it_is_parsed_ahead(long: Path) -> None:
    code = (
        "import swath, time\n"
        f"for _ in range({battery.count(part=5, full=30)}):\n"
        f"    stream = swath.stream_csv({str(long)!r}, block_size=50_000, progress=lambda *_: time.sleep(0.002))\n"
        "    next(stream)\n"
        "    del stream\n"
        f"stream = swath.stream_csv({str(long)!r}, block_size=50_000)\n"
        "next(stream)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


def test_a_stream_ends_with_the_interpreter(long: Path) -> None:
    code = (
        "import pyarrow, swath, threading\n"
        f"stream = swath.stream_csv({str(long)!r}, block_size=10_000, progress=lambda *_: None)\n"
        "reader = pyarrow.RecordBatchReader.from_stream(stream)\n"
        "threading.Thread(target=reader.read_all, daemon=True).start()\n"
    )
    pytest.importorskip("pyarrow")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


# Numpy and pandas.


def test_an_array_of_a_table_has_what_all_columns_can_be(everything: Path) -> None:
    table = swath.read_csv(everything)
    whole = np.asarray(table)
    assert whole.dtype == object and whole.shape == (3, 11)
    assert whole[0, 0] is True and whole[1, 1] is None and whole[0, 9] == "Ann"
    assert whole[0, 7] == np.datetime64("2024-01-02T03:04:05.123456789")
    assert np.asarray(table[["moment", "zoned"]]).dtype == "M8[us]"
    assert np.asarray(table[["word"]]).tolist() == [["Ann"], [""], ['Bob, "Jr."\nof York']]
    full = read("a,b\ntrue,1\nfalse,2\n")
    assert np.asarray(full[["a"]]).dtype == bool
    assert np.asarray(full).tolist() == [[1, 1], [0, 2]]
    with pytest.raises(ValueError, match="column 'word' is of type object, which float64 cannot express; try: "):
        np.asarray(table[["word"]], "f8")
    with pytest.raises(ValueError, match="column 'day'"):
        np.asarray(table[["day"]], "i8")


def test_pandas_gets_all_types(everything: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = swath.read_csv(everything, dtypes={"word": "dictionary"})
    frame = table.to_pandas()
    assert [str(dtype) for dtype in frame.dtypes] == [
        "boolean", "Int64", "Int64", "UInt64", "float64", "datetime64[s]", "datetime64[us]",
        "datetime64[ns]", "datetime64[us, UTC]", "category", "float64",
    ]  # fmt: skip
    assert frame["day"][0] == pandas.Timestamp("1980-02-29") and frame["day"].isna()[1]
    assert frame["zoned"][0] == pandas.Timestamp("2024-01-02 03:04:05", tz="+02:00")
    assert frame["word"].tolist() == ["Ann", "", 'Bob, "Jr."\nof York']
    text = read("a\nx\nNA\n").to_pandas()["a"]
    assert text[0] == "x" and text.isna()[1] and text.dtype == pandas.Series(["x"]).dtype
    assert read("a\nx\n")[:0].to_pandas()["a"].dtype == text.dtype


# Writing.


def written(tmp_path: Path, data: Any, name: str = "out.csv", **how: Any) -> str:
    swath.write_csv(tmp_path / name, data, **how)
    return (tmp_path / name).read_bytes().decode()


def test_what_was_read_is_written_as_it_was(everything: Path, tmp_path: Path) -> None:
    table = swath.read_csv(everything)
    again = tmp_path / "again.csv"
    swath.write_csv(again, table)
    assert repr(swath.read_csv(again)) == repr(table)
    assert swath.csv_dtypes(again) == TYPES
    once = again.read_bytes()
    swath.write_csv(again, swath.stream_csv(everything))
    assert again.read_bytes() == once
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    for same in [
        pyarrow.table(table),
        pyarrow.record_batch(table),
        pyarrow.RecordBatchReader.from_stream(table),
        polars.DataFrame(table),
        pandas.DataFrame.from_arrow(table),
    ]:
        swath.write_csv(again, same)
        assert swath.read_csv(again)["word"].tolist() == table["word"].tolist(), type(same)


def test_columns_of_python_and_numpy_are_written(tmp_path: Path) -> None:
    utc = datetime.timezone(datetime.timedelta(hours=2))
    columns: dict[str, tuple[Any, list[str]]] = {
        "text": (["a", None], ["a", ""]),
        "array": (np.array(["a,b", ""]), ['"a,b"', '""']),
        "flag": ([True, None], ["true", ""]),
        "bools": (np.array([True, False]), ["true", "false"]),
        "whole": ([1, None], ["1", ""]),
        "large": ([2**64 - 1, 0], ["18446744073709551615", "0"]),
        "double": ([0.5, None], ["0.5", ""]),
        "single": (np.array([0.5, 1], "f4"), ["0.5", "1.0"]),
        "half": (np.array([0.5, 1], "f2"), ["0.5", "1.0"]),
        "byte": (np.array([7, -8], ">i2"), ["7", "-8"]),
        "day": ([datetime.date(2024, 2, 29), None], ["2024-02-29", ""]),
        "moment": ([datetime.datetime(2024, 2, 29, 1, 2, 3), None], ["2024-02-29T01:02:03.000000", ""]),
        "zoned": ([datetime.datetime(2024, 2, 29, 1, tzinfo=utc), None], ["2024-02-28T23:00:00.000000Z", ""]),
        "M8": (np.array(["2024-02-29T01:02", "NaT"], "M8[m]"), ["2024-02-29T01:02:00", ""]),
        "D": (np.array(["2024-02", "NaT"], "M8[M]"), ["2024-02-01", ""]),
        "masked": (np.ma.MaskedArray(["a", "b"], [0, 1]), ["a", ""]),
        "nothing": ([None, None], ["", ""]),
    }
    for name, (values, fields) in columns.items():
        wanted = f"n,{name}\n" + "".join(f"{n},{field}\n" for n, field in enumerate(fields))
        assert written(tmp_path, {"n": [0, 1], name: values}).replace(" ", "T") == wanted, name


def test_numbers_alone_are_written_as_before(tmp_path: Path) -> None:
    assert written(tmp_path, {"a": [1, 2], "f": np.array([0.1, 1], "f4")}) == (
        "a,f\n1,0.1\n2,1.0\n"
    )
    assert written(tmp_path, {"a": np.ma.MaskedArray([1, 2], [0, 1])}) == 'a\n1\nNA\n'
    assert written(tmp_path, np.array([[True, False]])) == "1,0\n"
    assert written(tmp_path, {"u": [2**64 - 1]}) == f"u\n{2**64 - 1}\n"


def test_options_of_writing(tmp_path: Path) -> None:
    data = {"n": [1, 2], "word": ["a", None]}
    assert written(tmp_path, data, quoting="all") == '"n","word"\n"1","a"\n"2",\n'
    assert written(tmp_path, data, null="NA") == "n,word\n1,a\n2,NA\n"
    for word in ("crlf", "\r\n"):
        assert written(tmp_path, data, line_end=word) == "n,word\r\n1,a\r\n2,\r\n"
    assert written(tmp_path, data, line_end="\n") == "n,word\n1,a\n2,\n"
    assert written(tmp_path, data, delimiter=";", names=["x", "y"]) == "x;y\n1;a\n2;\n"
    assert written(tmp_path, {"x": [0.125], "w": ["a"]}, digits=2) == "x,w\n0.12,a\n"
    assert written(tmp_path, {"x": [1, 2]}, line_end="crlf") == "x\r\n1\r\n2\r\n"
    assert written(tmp_path, [[1, 2]], quoting="all") == '"1","2"\n'
    assert written(tmp_path, np.array([["a", "b"], ["c", "d,e"]])) == 'a,b\nc,"d,e"\n'
    assert written(tmp_path, ["a", None]) == "a\nNA\n"
    with pytest.raises(swath.Error, match="quote"):
        written(tmp_path, {"w": ["a,b"], "x": [1]}, quoting="none")
    for how, says in [
        ({"quoting": "some"}, 'quoting="some": not one of "minimal", "all", "none"'),
        ({"line_end": "\r"}, 'line_end=.*not one of "lf", "crlf"'),
        ({"null": "1"}, "could be read as a value; try: "),
        ({"delimiter": ",,"}, "not one byte"),
        ({"names": ["a"]}, "1 names for 2 columns"),
    ]:
        with pytest.raises(ValueError, match=says):
            written(tmp_path, data, **how)


def test_a_name_decides_about_compression(tmp_path: Path) -> None:
    import bz2
    import gzip

    for data in [{"n": [1, 2]}, {"n": [1, 2], "w": ["a", "b"]}, np.array([[1, 2]])]:
        plain = written(tmp_path, data)
        for end, unpack in [("gz", gzip.decompress), ("bz2", bz2.decompress)]:
            swath.write_csv(tmp_path / f"out.csv.{end}", data)
            assert unpack((tmp_path / f"out.csv.{end}").read_bytes()).decode() == plain
        swath.write_csv(tmp_path / "out.csv.zst", data)
        header = not isinstance(data, dict)
        table = swath.read_csv(tmp_path / "out.csv.zst", header=not header)
        assert len(table) == (1 if header else 2)


@pytest.mark.parametrize(
    ("values", "kind", "says"),
    [
        ([1, "a"], TypeError, "column 'odd' has dtype object"),
        (["a", 1], TypeError, "column 'odd' has"),
        ([True, 2, None], TypeError, "column 'odd'"),
        ([True, 1], TypeError, "column 'odd' has dtype object.*all bool or all int"),
        ([1.5, np.True_], TypeError, "column 'odd' has dtype object"),
        (np.array([65, 0x110000], "u4").view("<U2"), ValueError, r"past U\+10FFFF at index 0, .*; try: "),
        (["a", "b\udc80"], ValueError, "column 'odd' has half of a surrogate pair at index 1, .*; try: "),
        ((n for n in range(3)), TypeError, r"column 'odd': a generator is not a column; try: pass list"),
        ([np.timedelta64(1, "s"), None], TypeError, "column 'odd' has durations.*; try: "),
        ([np.datetime64("9999-01-01"), np.datetime64(1, "ns")], OverflowError, "column 'odd' has moments"),
        ([object()], TypeError, "column 'odd' has dtype object"),
        ([b"a"], TypeError, r"column 'odd' has dtype \|S1"),
        ([datetime.timedelta(1)], TypeError, "column 'odd'"),
        ([datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1)], TypeError, "column 'odd'"),
        ([-1, 2**64 - 1, None], OverflowError, "column 'odd' has -1"),
        ([10**30, None], OverflowError, "column 'odd' has"),
        (np.array([2**40], "M8[Y]"), OverflowError, "column 'odd' has"),
        (np.array(["2024"], "M8[ps]"), TypeError, "column 'odd' has dtype"),
    ],
)
def test_columns_that_cannot_be_written_are_named(tmp_path: Path, values: Any, kind: Any, says: str) -> None:
    for write in (swath.write_csv, swath.write_jsonl, swath.write_arrow):
        with pytest.raises(kind, match=says):
            write(tmp_path / "out", {"fine": [1], "odd": values})
    assert not (tmp_path / "out").exists()


def test_a_row_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"d": pyarrow.array([0, 10**7], pyarrow.date32()), "t": ["a", "b"]})
    with pytest.raises((swath.Error, TypeError), match="`d`.*9999"):
        swath.write_csv(tmp_path / "out.csv", table)

    def failing() -> Any:
        yield pyarrow.record_batch({"w": ["a"]})
        raise ValueError("of the caller")

    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"w": pyarrow.string()}), failing())
    with pytest.raises(swath.Error, match="of the caller"):
        swath.write_csv(tmp_path / "out.csv", reader)
    assert not (tmp_path / "out.csv").exists()


def test_json_lines_and_arrow_files_have_all_types(everything: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import json

    table = swath.read_csv(everything)
    path = tmp_path / "out.jsonl"
    assert swath.write_jsonl(path, table) == path.stat().st_size
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["flag"] is True and rows[1]["x"] is None and rows[2]["word"].startswith("Bob")
    assert list(rows[0]) == table.names and rows[0]["large"] == 2**64 - 1
    for name, opened in [
        ("out.arrow", pyarrow.ipc.open_file),
        ("out.feather", pyarrow.ipc.open_file),
        ("out", pyarrow.ipc.open_file),
        ("out.arrows", pyarrow.ipc.open_stream),
    ]:
        path = tmp_path / name
        assert swath.write_arrow(path, table) == path.stat().st_size
        with pyarrow.memory_map(str(path)) as file:
            assert opened(file).read_all().equals(pyarrow.table(table)), name
    swath.write_arrow(tmp_path / "n.arrow", np.array([[1, 2], [3, 4]]))
    assert swath.read_arrow(tmp_path / "n.arrow").names == ["column_1", "column_2"]
    swath.write_jsonl(tmp_path / "n.jsonl", {"l": pyarrow.array([[1, 2], None])})
    assert (tmp_path / "n.jsonl").read_text() == '{"l":[1,2]}\n{"l":null}\n'
    with pytest.raises(ValueError, match="two columns are named `a`"):
        swath.write_jsonl(tmp_path / "x.jsonl", pyarrow.table([[1], [2]], names=["a", "a"]))


def test_a_stream_is_copied_in_bounded_memory(long: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv.gz"
    wanted: Callable[[Path], Any] = lambda it: swath.read_csv(it)["word"].tolist()
    swath.write_csv(out, swath.stream_csv(long, block_size=50_000), progress=lambda *_: None)
    assert wanted(out) == wanted(long)
    import pyarrow

    batches = pyarrow.RecordBatchReader.from_stream(swath.stream_csv(long))
    swath.write_csv(out, batches)
    assert wanted(out) == wanted(long)
    import duckdb

    relation = duckdb.sql("select n, word from read_csv(?)", params=[str(long)])
    assert swath.write_csv(out, relation) == out.stat().st_size


def test_the_least_number_of_nanoseconds_is_never_a_missing_value() -> None:
    pandas = pytest.importorskip("pandas")
    frame = read("t\n1677-09-21T00:12:43.145224192\n").to_pandas()
    assert frame["t"].tolist() == ["1677-09-21T00:12:43.145224192"]
    frame = read("t\n1677-09-21T00:12:43.145224193\n").to_pandas()
    assert not pandas.isna(frame["t"]).any()


def test_a_nul_is_text_in_a_field_and_an_error_in_a_name() -> None:
    table = read("a\0,b\nx\0y,1\n", rename={0: "a"})
    assert table["a"].tolist() == ["x\0y"]
    with pytest.raises(ValueError, match="two columns have the name `b`"):
        read("a,b\n1,2\n", rename={"a": "b"})


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_feather_files_of_other_writers_are_read_by_the_command(tmp_path: Path, compression: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    pandas = pytest.importorskip("pandas")
    rows = 3000
    table = pyarrow.table({
        "n": pyarrow.array([None if at % 7 == 0 else at for at in range(rows)], "int32"),
        "text": pyarrow.array(["same", "other"] * (rows // 2)),
        "kind": pyarrow.array(["a", None, "b"] * (rows // 3)).dictionary_encode(),
        "at": pyarrow.array([datetime.datetime(2024, 2, 29)] * rows, pyarrow.timestamp("us", "UTC")),
    })
    # Their default is LZ4.
    usual = {} if compression == "lz4" else {"compression": compression}
    feather.write_feather(table, tmp_path / "a.feather", **usual)
    table.to_pandas(types_mapper=pandas.ArrowDtype).to_feather(tmp_path / "b.feather", **usual)
    with pyarrow.ipc.new_stream(
        tmp_path / "c.arrows", table.schema,
        options=pyarrow.ipc.IpcWriteOptions(compression=None if compression == "uncompressed" else compression),
    ) as stream:
        stream.write_table(table, max_chunksize=1000)
    for name in ["a.feather", "b.feather", "c.arrows"]:
        out = tmp_path / f"{name}.arrow"
        subprocess.run(["swath", "convert", tmp_path / name, out], check=True, capture_output=True)
        back = pyarrow.ipc.open_file(out).read_all()
        assert back.equals(table.cast(back.schema)), name
        first = subprocess.run(["swath", "head", "-n", "2", tmp_path / name], check=True, capture_output=True)
        assert b"other" in first.stdout
