"""What a table written from Python never loses: nanoseconds, types, and the reason of an error."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

import swath

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

NANOS = "2020-01-01 00:00:00.123456789"
DAY = datetime.datetime(2020, 1, 1)
WRITERS = [swath.write_csv, swath.write_jsonl]


def read_back(tmp_path: Path, values: Any) -> Any:
    path = tmp_path / "t.arrow"
    swath.write_arrow(path, {"a": values})
    return pa.ipc.open_file(path.read_bytes()).read_all()["a"]


def text(tmp_path: Path, values: Any) -> list[str]:
    path = tmp_path / "t.csv"
    swath.write_csv(path, {"a": values, "n": [0] * len(values)})
    return [line.partition(",")[0] for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("other", [None, pd.NaT, DAY, pd.Timestamp("1999"), np.datetime64("2021-01-01")])
@pytest.mark.parametrize("first", [pd.Timestamp(NANOS), np.datetime64(NANOS)])
def test_nanoseconds_in_a_list_are_kept(tmp_path: Path, first: Any, other: Any) -> None:
    for values in ([first, other], [other, first]):
        column = read_back(tmp_path, values)
        assert column.type == pa.timestamp("ns")
        at = values.index(first)
        assert column[at].value == pd.Timestamp(NANOS).value
        gone = other is None or other is pd.NaT
        assert column[1 - at].value == (None if gone else pd.Timestamp(other).value)
        assert text(tmp_path, values)[at].replace("T", " ") == NANOS


def test_moments_with_a_zone_are_kept_in_utc(tmp_path: Path) -> None:
    berlin = pd.Timestamp(NANOS, tz="Europe/Berlin")
    aware = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    column = read_back(tmp_path, [berlin, aware, None])
    assert column.type == pa.timestamp("ns", "UTC")
    assert column[0].value == berlin.value and column[1].value == pd.Timestamp(aware).value
    with pytest.raises(TypeError, match="column 'a' has dtype object"):
        text(tmp_path, [berlin, DAY])
    with pytest.raises(TypeError, match="column 'a' has dtype object"):
        text(tmp_path, [berlin, np.datetime64(NANOS)])


def test_moments_without_nanoseconds_are_in_microseconds(tmp_path: Path) -> None:
    for values in ([pd.Timestamp("2020"), None], [DAY], [pd.Timestamp("2020").as_unit("ns"), DAY]):
        assert read_back(tmp_path, values).type == pa.timestamp("us")
    far = [datetime.datetime(9999, 1, 1), pd.Timestamp("2020")]
    assert read_back(tmp_path, far)[0].as_py() == far[0]


def test_moments_that_no_unit_keeps_are_refused(tmp_path: Path) -> None:
    far = [datetime.datetime(9999, 1, 1), pd.Timestamp(NANOS)]
    days = [np.datetime64("3000-01-01"), np.datetime64(NANOS)]
    for values in (far, days, days[::-1]):
        with pytest.raises(OverflowError, match="column 'a' has moments .*; try: pass texts"):
            text(tmp_path, values)


def test_nanoseconds_among_objects_of_pandas_are_refused(tmp_path: Path) -> None:
    series = pd.Series([pd.Timestamp(NANOS), None, pd.NaT], dtype=object)
    for data in ({"a": series}, pd.DataFrame({"a": series}), series.rename("a")):
        for write in [*WRITERS, swath.write_arrow]:
            with pytest.raises(TypeError, match="column 'a' has dtype object, and nanoseconds.*to_datetime"):
                write(tmp_path / "x", data)
    swath.write_csv(tmp_path / "x", {"a": pd.to_datetime(series)})
    assert "123456789" in (tmp_path / "x").read_text()


def test_durations_are_refused(tmp_path: Path) -> None:
    for values in ([pd.Timedelta(1)], [np.timedelta64(1, "s"), None, 2], [datetime.timedelta(1)]):
        with pytest.raises(TypeError, match="column 'a' has durations.*; try: convert them to numbers"):
            text(tmp_path, values)


def extended() -> list[tuple[str, Any]]:
    made = [
        ("pandas.period", pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")})),
        ("pandas.period", {"a": pd.period_range("2020-01", periods=2, freq="M")}),
        ("pandas.interval", pd.DataFrame({"a": pd.interval_range(0, 2)})),
        ("arrow.bool8", pa.table({"a": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1], "int8"))})),
        ("arrow.bool8", {"a": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1], "int8")), "b": [1, 2]}),
    ]
    uuid = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))
    opaque = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "x", "y"), pa.array(["t"]))
    nested = pa.StructArray.from_arrays([pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], "int8"))], ["f"])
    made += [("arrow.uuid", pa.table({"a": uuid})), ("arrow.opaque", pa.table({"a": opaque}))]
    return [*made, ("arrow.bool8", pa.table({"a": nested}))]


@pytest.mark.parametrize(("kind", "data"), extended())
def test_extension_types_are_not_written_as_their_storage(tmp_path: Path, kind: str, data: Any) -> None:
    for write in WRITERS:
        says = f"column `a` is of type {kind}, .*; try: convert it to text or to its storage"
        with pytest.raises(TypeError, match=says):
            write(tmp_path / "x", data)
    assert not (tmp_path / "x").exists()
    swath.write_arrow(tmp_path / "x.arrow", data)
    raw = (tmp_path / "x.arrow").read_bytes()
    assert kind.encode() in raw, "the metadata stay"


def test_text_of_an_extension_type_for_json_is_text(tmp_path: Path) -> None:
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"k":1}', None]))
    swath.write_csv(tmp_path / "x.csv", pa.table({"a": texts, "n": [1, 2]}))
    assert (tmp_path / "x.csv").read_text() == 'a,n\n"{""k"":1}",1\n,2\n'


def test_what_is_not_a_table_is_named(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    for data, says in [
        ((n for n in range(3)), r"a generator is not a table; try: pass list\(data\)"),
        ({1, 2}, r"a set is not a table; try: pass list\(data\)"),
        (polars.LazyFrame({"a": [1]}), r"a polars.LazyFrame is not a table; try: .*\.collect\(\)"),
        (7, "a int is not a table; try: pass a table"),
        (None, "a NoneType is not a table; try: pass a table"),
    ]:
        for write in [*WRITERS, swath.write_arrow]:
            with pytest.raises(TypeError, match=says):
                write(tmp_path / "x", data)


def test_a_missing_keyword_of_pandas_is_named_as_here(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    for word, ours in [
        ("sep", "delimiter="), ("nrows", "rows="), ("usecols", "columns="), ("parse_dates", "formats= or dtypes="),
        ("names", "rename="), ("encoding_errors", "encoding="),
    ]:  # fmt: skip
        for verb in (swath.read_csv, swath.stream_csv, swath.csv_dtypes):
            with pytest.raises(TypeError, match=f"{verb.__name__}.* no keyword {word}=; try: use {ours}"):
                verb(path, **{word: 1})
    with pytest.raises(TypeError, match="dtype= is the type of an array; try: .*dtypes="):
        swath.read_csv(path, dtype={"a": int})
    with pytest.raises(TypeError, match="unexpected keyword"):
        swath.read_csv(path, other=1)


def test_an_empty_field_stays_missing_beside_other_words() -> None:
    data = memoryview(b"a,b\n1,-\n,2\n")
    for words in ({"null_values": ["-"]}, {"missing_words": ["-"]}):
        np.testing.assert_array_equal(swath.read_csv(data, "f8", **words), [[1, np.nan], [np.nan, 2]])
        table = swath.read_csv(data, **words)
        assert table.types == swath.csv_dtypes(data, **words) == ["int64", "int64"]
        assert table["a"].tolist() == [1, None] and table["b"].tolist() == [None, 2]
    data = memoryview(b"a,b\n1,3\n,2\n")
    assert swath.read_csv(data, null_values=[])["a"].tolist() == ["1", ""]
    with pytest.raises(swath.MalformedError, match="column `a`"):
        swath.read_csv(data, "f8", null_values=[])


@pytest.mark.parametrize(("word", "kind"), [("i8", "int"), ("u8", "uint")])
def test_a_word_for_two_types_is_refused(tmp_path: Path, word: str, kind: str) -> None:
    with pytest.raises(TypeError, match=f"'{word}' is {kind}64 in numpy and {kind}8 in Arrow; try: write"):
        swath.read_csv(memoryview(b"a\n1\n"), dtypes={"a": word})


def damaged_arrays() -> dict[str, Any]:
    """Arrays that contradict themselves, as a faulty library makes them; pyarrow checks them only when asked to."""
    buffer, ints = pa.py_buffer, np.array([0, 2], "i4").tobytes()
    view = np.array([20, 0, 7, 99], "i4").tobytes()
    keys = pa.array([0, 9], pa.int32())
    return {
        "a view without its buffer": pa.Array.from_buffers(
            pa.string_view(), 1, [None, buffer(view), buffer(b"a" * 20)]
        ),
        "a text that is not UTF-8": pa.Array.from_buffers(
            pa.string(), 1, [None, buffer(ints), buffer(b"\xff\xfe")]
        ),
        "a key out of range": pa.DictionaryArray.from_arrays(keys, pa.array(["x"]), safe=False),
        "offsets that go back": pa.Array.from_buffers(
            pa.string(), 2, [None, buffer(np.array([0, 2, 1], "i4").tobytes()), buffer(b"ab")]
        ),
    }


@pytest.mark.parametrize("what", damaged_arrays())
def test_arrays_that_contradict_themselves_are_refused(tmp_path: Path, what: str, capfd: Any) -> None:
    array = damaged_arrays()[what]
    for end, write in (("csv", swath.write_csv), ("jsonl", swath.write_jsonl), ("arrow", swath.write_arrow)):
        path = tmp_path / f"t.{end}"
        # A stream of batches, and columns one by one.
        columns = {"a": array, "n": [0] * len(array)}
        for data, error in ((pa.table({"a": array}), ValueError), (columns, TypeError)):
            with pytest.raises(error, match="not as Arrow's C interface says"):
                write(path, data)
            assert not path.exists()
    assert capfd.readouterr() == ("", "")
