"""JSON Lines as tables: as Python's own parser and other libraries read them, where they agree."""

import datetime
import io
import json
import pickle
from pathlib import Path

import pytest

import battery
import swath

pa = pytest.importorskip("pyarrow")
hypothesis = pytest.importorskip("hypothesis")
given, st = hypothesis.given, hypothesis.strategies

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(lambda text: not text[:1].isdigit())
COLUMNS = {
    "whole": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "truth": st.booleans(),
    "text é": TEXTS,
}


@st.composite
def objects(draw):
    """Objects of which each column has one type; a value may be missing, or null."""
    keys = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, unique=True))
    value = {key: st.none() | COLUMNS[key] for key in keys}
    some = st.fixed_dictionaries({}, optional=value)
    first = st.fixed_dictionaries({key: COLUMNS[key] for key in keys})
    return [draw(first), *draw(st.lists(some, max_size=12))]


def lines(rows, ascii):
    return "".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows).encode()


@given(objects(), st.booleans(), st.integers(1, 4))
@hypothesis.settings(deadline=None)
def test_objects_are_read_as_python_reads_them(rows, ascii, workers):
    table = swath.read_jsonl(memoryview(lines(rows, ascii)), workers=workers)
    names = list(dict.fromkeys(key for row in rows for key in row))
    assert table.names == names
    assert pa.table(table).to_pylist() == [{name: row.get(name) for name in names} for row in rows]


@given(objects(), st.booleans())
@hypothesis.settings(max_examples=battery.count(part=10, full=400), deadline=None)
def test_other_libraries_read_the_same(rows, ascii):
    data = lines(rows, ascii)
    found = pa.table(swath.read_jsonl(memoryview(data)))
    wanted = found.to_pylist()
    json_of = pytest.importorskip("pyarrow.json")
    peers = [json_of.read_json(io.BytesIO(data)).to_pylist()]
    polars = pytest.importorskip("polars")
    peers.append(polars.read_ndjson(data, infer_schema_length=None).to_dicts())
    for peer in peers:
        assert [{name: row.get(name) for name in found.column_names} for row in peer] == wanted


def test_duckdb_reads_the_same_and_takes_the_stream(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "log.jsonl"
    rows = [{"id": at, "name": f"n{at}" if at % 3 else None, "x": at / 4} for at in range(5000)]
    path.write_bytes(lines(rows, True))
    wanted = duckdb.sql(f"select sum(id), count(name), sum(x) from read_json('{path}')").fetchall()
    stream = swath.stream_jsonl(path, block_size=1000)
    batches = pa.RecordBatchReader.from_stream(stream)
    assert duckdb.sql("select sum(id), count(name), sum(x) from batches").fetchall() == wanted


def test_what_is_written_is_read_as_the_same_table(tmp_path):
    path = tmp_path / "out.jsonl.zst"
    table = pa.table(
        {
            "n": [1, None],
            "f": [0.5, None],
            "d": [datetime.date(2020, 2, 29), None],
            "t": ['a"\\\n\x01é😀', None],
            "b": [True, None],
        }
    )
    swath.write_jsonl(path, table)
    again = pa.table(swath.read_jsonl(path))
    assert again.to_pylist() == table.to_pylist()
    assert [str(kind) for kind in again.schema.types] == ["int64", "double", "date32[day]", "large_string", "bool"]


def test_options_are_those_of_csv(tmp_path):
    for name, text in (("a", '{"x": "1", "y": "-"}\n'), ("b", '{"x": 2, "z": [1]}\n')):
        (tmp_path / name).write_text(text)
    table = swath.read_jsonl(
        tmp_path, dtypes={"x": "int8"}, null_values=["-"], rename={"z": "list"}, file_column="file"
    )
    assert table.names == ["x", "y", "list", "file"]
    assert table.types == ["int8", "null", "text", "dictionary"]
    assert swath.read_jsonl(memoryview(b'{"a":1}\n{"b":2}\n'), rows=1).names == ["a"]
    assert swath.read_jsonl(memoryview(b'{"a":1,"b":2}\n'), columns=["b"]).types == ["int64"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'{"a":1}\n{"a":tru}\n', "on line 2 at byte 13: not JSON: a value is expected"),
        (b'{"a":1}\n{"a":1,"a":2}\n', "on line 2 at byte 15: a key that the object has already"),
        (b"[1]\n", "on line 1 at byte 0: not JSON Lines: an object is expected"),
        (b'{"a":"\\ud800"}\n', "half of a surrogate pair"),
        (b'{"a":"\xff"}\n', "bytes that are not UTF-8 in column `a`"),
        (b"", "it has no records"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, says):
    with pytest.raises(swath.MalformedError, match=r"; try: |no records") as caught:
        swath.read_jsonl(memoryview(text))
    assert says in str(caught.value)


def test_lines_that_are_not_objects_are_set_aside_and_nan_is_a_number():
    text = b'{"a":1}\nx\n{"a":4,"b":NaN}\n{"late":1,\n{"a":-Infinity}\n'
    with pytest.raises(swath.MalformedError, match="on line 2 at byte 8"):
        swath.read_jsonl(memoryview(text), json_nan=True)
    with pytest.raises(swath.MalformedError, match=r"on line 1 at byte 5: .*try: set json_nan= to"):
        swath.read_jsonl(memoryview(b'{"a":NaN}\n'))
    for how, wanted, lines in [
        ({"json_nan": True}, {"a": [1.0, 4.0, float("-inf")], "b": [None, "nan", None]}, [2, 4]),
        ({}, {"a": [1]}, [2, 3, 4, 5]),
    ]:
        table = swath.read_jsonl(memoryview(text), ragged="set-aside", **how)
        found = {name: column.to_pylist() for name, column in zip(table.names, pa.table(table).columns)}
        assert repr(found).replace("nan", "'nan'") == repr(wanted)
        assert table.report["set_aside"] == {
            "count": len(lines), "lines": [{"file": 0, "line": line} for line in lines]
        }
        with swath.stream_jsonl(memoryview(text), ragged="set-aside", block_size=9, **how) as stream:
            assert sum(len(part) for part in stream) == len(table)
    written = "".join(json.dumps({"x": value}) + "\n" for value in [0.5, float("nan"), float("inf")])
    assert swath.read_jsonl(memoryview(written.encode()), json_nan=True)["x"].tolist()[::2] == [0.5, float("inf")]
    with pytest.raises(swath.InvalidError, match="`pad` of `ragged` has no meaning in JSON Lines"):
        swath.read_jsonl(memoryview(text), ragged="pad")
    with pytest.raises(TypeError, match="json_nan=1: neither True nor False"):
        swath.read_jsonl(memoryview(text), json_nan=1)


NESTED = [
    {"id": 1, "user": {"name": "Ann", "born": "1980-02-29"}, "tags": ["a", "b"], "mixed": {"x": [1]}},
    {"id": 2, "user": {"name": None, "at": [{"lat": 0.5}, {"lat": 3, "lon": None}]}, "tags": [], "mixed": {"x": 1}},
    {"id": 3, "user": None, "tags": None},
]


def test_objects_and_arrays_are_structs_and_lists_if_asked(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(NESTED, True))
    assert swath.read_jsonl(path).types == ["int64", "text", "text", "text"]
    table = pa.table(swath.read_jsonl(path, json_nested=True))
    lat = pa.struct([("lat", pa.float64()), ("lon", pa.null())])
    born = [("name", pa.large_string()), ("born", pa.date32()), ("at", pa.list_(lat))]
    assert table.schema.types == [
        pa.int64(),
        pa.struct(born),
        pa.list_(pa.large_string()),
        pa.struct([("x", pa.large_string())]),
    ]
    assert table.to_pylist() == [
        {
            "id": 1,
            "user": {"name": "Ann", "born": datetime.date(1980, 2, 29), "at": None},
            "tags": ["a", "b"],
            "mixed": {"x": "[1]"},
        },
        {
            "id": 2,
            "user": {"name": None, "born": None, "at": [{"lat": 0.5, "lon": None}, {"lat": 3.0, "lon": None}]},
            "tags": [],
            "mixed": {"x": "1"},
        },
        {"id": 3, "user": None, "tags": None, "mixed": None},
    ]
    table.validate(full=True)
    stream = swath.stream_jsonl(path, json_nested=True, block_size=10)
    assert pa.RecordBatchReader.from_stream(stream).read_all().equals(table)
    swath.write_jsonl(tmp_path / "again.jsonl", table)
    again = swath.read_jsonl(tmp_path / "again.jsonl", json_nested=True)
    assert pa.table(again).drop_columns("user").equals(table.drop_columns("user"))
    swath.write_arrow(tmp_path / "again.arrow", again)
    assert pa.ipc.open_file(tmp_path / "again.arrow").read_all().equals(pa.table(again))
    with pytest.raises(TypeError, match="`user` is of type .*CSV cannot hold"):
        swath.write_csv(tmp_path / "no.csv", again)
    with pytest.raises(swath.MalformedError, match="on line 1 at byte 12: a key that the object has already"):
        swath.read_jsonl(memoryview(b'{"a":{"b":1,"b":2}}\n'), json_nested=True)
    with pytest.raises(TypeError, match="json_nested=1: neither True nor False"):
        swath.read_jsonl(path, json_nested=1)


def test_nested_tables_go_to_polars_pandas_and_duckdb(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(NESTED, True))
    table = swath.read_jsonl(path, json_nested=True)
    assert "…" in repr(table)
    assert [column["type"] for column in table.report["columns"]] == ["int64", "struct", "list", "struct"]
    assert pa.table(pickle.loads(pickle.dumps(table))).equals(pa.table(table))
    with pytest.raises(TypeError, match="pyarrow"):
        table["tags"].tolist()
    pd = pytest.importorskip("pandas")
    frame = pa.table(table).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["user"][0]["name"] == "Ann"
    assert list(frame["tags"][0]) == ["a", "b"]
    pl = pytest.importorskip("polars")
    assert pl.DataFrame(table)["user"].struct.field("born").to_list()[0] == datetime.date(1980, 2, 29)
    duckdb = pytest.importorskip("duckdb")
    nested = pa.table(table)
    assert duckdb.sql("select sum(len(tags)), max(user.at[1].lat) from nested").fetchall() == [(2, 0.5)]


def test_objects_among_other_values_are_counted_as_text() -> None:
    text = memoryview(b'{"a":{"x":1},"b":[1]}\n{"a":"t","b":[0.1000000000000000055]}\n')
    first = {"count": 1, "line": 1, "file": 0}
    [a, b] = swath.read_jsonl(text).report["columns"]
    assert a["as_text"] == first and b["as_text"]["count"] == 0
    [a, b] = swath.read_jsonl(text, json_nested=True).report["columns"]
    assert a["as_text"] == first and b["rounded"] == {"count": 1, "line": 2, "file": 0}


def test_a_table_without_rows_is_an_empty_file_that_is_not_read_back(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    swath.write_jsonl(path, swath.read_csv(memoryview(b"a,b\n")))
    assert path.read_bytes() == b""
    with pytest.raises(swath.MalformedError, match="no records; try: check that the file is complete, or leave it out"):
        swath.read_jsonl(path)
