"""Values that a table written from Python never loses: nanoseconds, types, and the reason of an error."""

from __future__ import annotations

import datetime
import decimal
import json
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
        ("names", "rename="), ("skipfooter", "skip_footer="),
    ]:  # fmt: skip
        # `csv_dtypes` has no names of its own.
        for verb in (swath.read_csv, swath.stream_csv, swath.csv_dtypes)[: 2 if word == "names" else 3]:
            with pytest.raises(TypeError, match=f"{verb.__name__}.* no keyword {word}=; try: use {ours}"):
                verb(path, **{word: 1})
    with pytest.raises(TypeError, match="dtype= is the type of an array; try: .*dtypes="):
        swath.read_csv(path, dtype={"a": int})
    with pytest.raises(TypeError, match=r"read_csv\(\) has no keyword skiprow=; try: use skip_rows="):
        swath.read_csv(path, skiprow=1)


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


def column_of(table: Any, name: str) -> list[Any]:
    return pa.table(table)[name].to_pylist()


def each_reader(rows: list[list[str]], **words: Any) -> list[Any]:
    """The rows with a header, as CSV, JSON Lines and text of fixed width, read and streamed."""
    names, *values = rows
    comma = "".join(",".join(row) + "\n" for row in rows).encode()
    fixed = "".join("".join(field.ljust(6) for field in row).rstrip() + "\n" for row in rows).encode()
    objects = "".join(json.dumps(dict(zip(names, row))) + "\n" for row in values).encode()
    widths = [6] * len(names)
    found = [
        swath.read_csv(memoryview(comma), **words),
        swath.read_fixed(memoryview(fixed), widths=widths, **words),
        swath.read_jsonl(memoryview(objects), **words),
    ]
    for stream in (
        swath.stream_csv(memoryview(comma), **words),
        swath.stream_fixed(memoryview(fixed), widths=widths, **words),
        swath.stream_jsonl(memoryview(objects), **words),
    ):
        found.append(pa.RecordBatchReader.from_stream(stream).read_all())
    assert swath.csv_dtypes(memoryview(comma), **words) == found[0].types
    return found


def test_columns_have_words_of_their_own() -> None:
    rows = [["name", "b", "c"], ["x", "NA", "NA"], ["-", "-", "yes"], ["z", "", "no"]]
    for key in ("b", 1):
        words = {"null_values": {key: "-", "c": ["NA", "?"]}, "true_values": {"c": ["yes"]}, "false_values": {2: "no"}}
        for table in each_reader(rows, **words):
            assert column_of(table, "name") == ["x", "-", "z"]
            assert column_of(table, "b") == ["NA", None, None]
            assert column_of(table, "c") == [None, True, False]
    # The other columns keep the default words, of which JSON has none.
    rows = [["n", "m"], ["-", "1"], ["2", "NA"]]
    for at, table in enumerate(each_reader(rows, null_values={"n": "-"})):
        assert column_of(table, "n") == ([None, "2"] if at % 3 == 2 else [None, 2])
        assert column_of(table, "m") == (["1", "NA"] if at % 3 == 2 else [1, None])
    # A column that is not read has them too, and a type that is given.
    data = memoryview(b"n,m\n-,1\n2,?\n")
    assert column_of(swath.read_csv(data, columns=["m"], null_values={"n": "-", "m": "?"}), "m") == [1, None]
    table = swath.read_csv(data, dtypes={"n": "float32"}, null_values={"n": ["-"]})
    assert column_of(table, "n") == [None, 2.0] and column_of(table, "m") == ["1", "?"]
    assert column_of(swath.read_csv(data, null_values={"m": []}), "m") == ["1", "?"]
    date = memoryview(b"d,e\n-,-\n2.1.2024,3.1.2024\n")
    table = swath.read_csv(date, formats={"d": "%d.%m.%Y", "e": "%d.%m.%Y"}, null_values={"d": "-", "e": "-"})
    assert column_of(table, "d") == [None, datetime.date(2024, 1, 2)]


def test_words_of_a_column_that_there_is_not_are_an_error() -> None:
    data = memoryview(b"a,b\n1,2\n")
    for word in ("null_values", "true_values", "false_values"):
        with pytest.raises(ValueError, match="no column.*`z`") as raised:
            swath.read_csv(data, **{word: {"z": "-"}})
        with pytest.raises(ValueError) as of_types:
            swath.read_csv(data, dtypes={"z": "text"})
        assert str(raised.value) == str(of_types.value)
        with pytest.raises(ValueError, match=f"column index 0 is given `{word}` twice|{word}"):
            swath.read_csv(data, **{word: {"a": "-", 0: "+"}})
        with pytest.raises(TypeError, match=f"{word}=.*; try: leave out dtype="):
            swath.read_csv(data, "f8", **{word: {"a": "-"}})


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"columns": {"b": "z"}}, r"columns=\{'b': 'z'\}.*a mapping.*; try: .*rename="),
        ({"columns": {"b"}}, r"columns=\{'b'\}.*a set.*no order.*; try: pass a list"),
        ({"columns": frozenset(["b"])}, r"columns=.*no order.*; try: pass a list"),
        ({"columns": {"b": 1}.keys()}, None),
        ({"null_values": {"b": 1}}, r"null_values=\{…\}: 1 is not a text"),
        ({"null_values": {"b": None}}, r"null_values=\{…\}: None"),
        ({"null_values": {"b": {"x": "y"}}}, r"null_values=\{…\}"),
        ({"null_values": {True: "x"}}, r"null_values=\{…\}: True is neither a name nor an index"),
        ({"null_values": {"-"}}, None),
        ({"null_values": {"b": {"-", "?"}}}, None),
        ({"null_values": "NA"}, r"null_values='NA': not a list of texts; try: pass null_values=\['NA'\]"),
        ({"true_values": b"yes"}, "true_values=b'yes': not a list"),
        ({"false_values": [b"no"]}, r"false_values=\[…\]: b'no' is not a text"),
        ({"rename": ["x", "y"]}, r"rename=\['x', 'y'\]: not a mapping"),
        ({"formats": "%d"}, "formats='%d': not a mapping"),
        ({"dtypes": {"a", "b"}}, "dtypes=.*neither a dtype nor a mapping nor a sequence"),
        ({"dictionary": "b"}, r"dictionary='b': neither True nor False; try: .*dtypes=\{'b': 'dictionary'\}"),
        ({"dictionary": ["b"]}, r"dictionary=\['b'\]: neither True nor False; try: "),
        ({"skip_rows": True}, "skip_rows=True: not a number of lines"),
        ({"rows": True}, "rows=True: not a number of lines"),
        ({"rows": "1"}, "rows='1': not a number of lines"),
        ({"offset": True}, "offset=True: not a number of bytes"),
        ({"length": True}, "length=True: not a number of bytes"),
        ({"starting_in": (True, None)}, r"starting_in= takes \(offset, length\), two integers.*True"),
        ({"starting_in": "01"}, "starting_in= takes .*: not 01"),
        ({"header": b"auto"}, "header=b'auto'"),
        ({"delimiter": True}, "delimiter=True: not a str or bytes"),
        ({"encoding": True}, "encoding=True"),
        ({"ragged": True}, "ragged"),
        ({"file_column": ["f"]}, r"file_column=\['f'\]: not the name of a column"),
        ({"missing_words": "NA"}, "'NA': not a list of texts"),
    ],
)
def test_arguments_of_another_kind_are_refused(words: dict[str, Any], says: str | None) -> None:
    for verb in (swath.read_csv, swath.stream_csv, swath.read_fixed):
        data = memoryview(b"a b\n1 2\n" if verb is swath.read_fixed else b"a,b\n1,2\n")
        if says is None:
            verb(data, **words)
        elif "missing_words" not in words or verb is swath.read_csv:
            error = ValueError if "encoding" in words else TypeError
            if verb is not swath.read_fixed or not words.keys() & {"delimiter"}:
                with pytest.raises(error, match=says):
                    verb(data, **words)


def test_arguments_of_another_kind_are_refused_elsewhere(tmp_path: Path) -> None:
    data = memoryview(b"a,b\n1,2\n")
    with pytest.raises(TypeError, match="block_size=True: not a number of bytes"):
        swath.stream_csv(data, block_size=True)
    with pytest.raises(TypeError, match="missing=True: not a number"):
        swath.read_csv(data, "f8", missing=True)
    with pytest.raises(TypeError, match=r"columns=\{'b'\}.*no order"):
        swath.read_csv(data, "f8", columns={"b"})
    for words in ({"widths": {3: 4}}, {"widths": {3, 4}}, {"positions": {0: 3}}, {"widths": "34"}):
        with pytest.raises(TypeError, match=r"(widths|positions)=.*: not a list"):
            swath.read_fixed(data, **words)
    with pytest.raises(TypeError, match="no order.*; try: pass a list"):
        swath.read_csv({str(tmp_path / "a.csv"), str(tmp_path / "b.csv")})
    table = {"a": [1], "b": ["x"]}
    for write in [*WRITERS, swath.write_arrow]:
        for names in ("ab", b"ab", {"a": "b"}, {"a", "b"}, [1, 2], 7):
            with pytest.raises(TypeError, match="names=.*; try: pass "):
                write(tmp_path / "x", table, names=names)
    for write in WRITERS:
        with pytest.raises(TypeError, match="digits=True: not a number of digits"):
            write(tmp_path / "x", table, digits=True)
    assert not (tmp_path / "x").exists()


NAN = float("nan")


def test_nan_in_a_list_stays_nan_beside_none(tmp_path: Path) -> None:
    odd = np.array([1.0, NAN, None], object)
    for values in ([1.0, NAN, None], (1.0, NAN, None), odd, [np.float64(1), NAN, None], np.ma.array(odd, mask=[0, 0, 1])):
        assert text(tmp_path, values) == ["1.0", "nan", ""]
        column = read_back(tmp_path, values)
        assert str(column.to_pylist()) == "[1.0, nan, None]" and column.type == pa.float64()
        swath.write_jsonl(tmp_path / "t.jsonl", {"a": values})
        assert (tmp_path / "t.jsonl").read_text() == '{"a":1.0}\n{"a":null}\n{"a":null}\n'
    assert text(tmp_path, [NAN, None]) == ["nan", ""]
    swath.write_csv(tmp_path / "t.csv", [[1.0, NAN], [None, 2]])
    assert (tmp_path / "t.csv").read_text() == "1.0,nan\n,2.0\n"
    # A value that pandas takes for missing is missing.
    for values in (pd.Series([1.0, NAN, None]), pd.Series([1.0, NAN, None], dtype=object), [1.0, pd.NA, pd.NaT]):
        assert text(tmp_path, values) == ["1.0", "", ""]
    assert text(tmp_path, pd.Series(["x", NAN, None], dtype=object)) == ["x", "", ""]
    assert text(tmp_path, [DAY, np.datetime64("NaT"), None])[1:] == ["", ""]
    polars = pytest.importorskip("polars")
    assert text(tmp_path, polars.Series([1.0, NAN, None])) == ["1.0", "nan", ""]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["x", NAN, None], "a text at index 0, a number at index 1; try: "),
        ([None, DAY, NAN], "a moment at index 1, a number at index 2"),
        ([1, 2.5, "a"], "a number at index 0, a text at index 2"),
        ([1, "a"], "a number at index 0, a text at index 1"),
        (np.array([1, "a"], object), "a number at index 0, a text at index 1"),
        ([True, 1], "a boolean at index 0, a number at index 1"),
        ([None, 1.5, True], "a number at index 1, a boolean at index 2"),
        ([True, NAN], "a boolean at index 0, a number at index 1"),
        ([datetime.date(2024, 1, 1), DAY], "a date at index 0, a moment at index 1"),
        ([None, decimal.Decimal("1.5"), 1], "a Decimal at index 1"),
        ([decimal.Decimal("NaN"), None], "a Decimal at index 0"),
        ([b"x", None], "a bytes at index 0"),
    ],
)
def test_values_of_two_kinds_are_named_with_their_rows(tmp_path: Path, values: Any, says: str) -> None:
    for write in [*WRITERS, swath.write_arrow]:
        with pytest.raises(TypeError, match=f"column 'a' has dtype object, which cannot be written exactly: {says}"):
            write(tmp_path / "x", {"a": values})
    assert not (tmp_path / "x").exists()


def test_whole_numbers_beside_doubles_are_doubles(tmp_path: Path) -> None:
    for values in ([1, 2.5, None], [None, 2.5, 1][::-1], np.array([1, 2.5, None], object), [np.int8(1), np.float64(2.5), pd.NA]):
        assert text(tmp_path, values) == ["1.0", "2.5", ""]
        assert read_back(tmp_path, values).to_pylist() == [1.0, 2.5, None]
    assert text(tmp_path, [2**53, 2.5, None]) == ["9007199254740992.0", "2.5", ""]
    assert text(tmp_path, [1, NAN, None]) == ["1.0", "nan", ""]
    assert text(tmp_path, [2**64, 0.5, None])[0] == "1.8446744073709552e+19"
    for values, wrong in [
        ([2**53 + 1, 2.5, None], "9007199254740993 at index 0"),
        ([None, 0.5, -(2**53) - 1], "-9007199254740993 at index 2"),
        ([2**63 - 1, NAN, None], f"{2**63 - 1} at index 0"),
        ([10**400, 2.5], f"{10**400} at index 0"),
    ]:
        for write in [*WRITERS, swath.write_arrow]:
            with pytest.raises(OverflowError, match=f"column 'a' has {wrong}, which is not a double; try: "):
                write(tmp_path / "x", {"a": values})
    with pytest.raises(TypeError, match="longdouble|float128"):
        text(tmp_path, [np.longdouble(1) / 3, None])


def test_singles_are_the_shortest_text_that_reads_back(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(7)
    singles = rng.integers(0, 2**32, 2000, "u4").view("f4")
    singles = np.concatenate([np.float32([0.1, 1 / 3, 1e10, 16777216, 3e-45, -0.0]), singles[np.isfinite(singles)]])
    halves = np.float16([0.1, 1 / 3, 1000, 6e-8, 65504])
    path = tmp_path / "t.csv"
    for values in (singles, halves):
        wide = values.astype("f4")
        arrow = pa.array(values)
        for data in [
            values, values.reshape(-1, 1), {"a": values}, {"a": [*values, None][:-1]}, np.ma.array(values),
            pd.DataFrame({"a": wide}), polars.DataFrame({"a": wide}), pa.table({"a": arrow}), {"a": arrow}, arrow,
        ]:  # fmt: skip
            swath.write_csv(path, data)
            lines = [line for line in path.read_text().splitlines() if line != "a"]
            assert [np.float32(line) for line in lines] == wide.tolist()
            # numpy finds the shortest too.
            digits = [len(np.format_float_scientific(one, unique=True, trim="-").partition("e")[0]) for one in wide]
            found = [len(np.format_float_scientific(np.float64(line), trim="-").partition("e")[0]) for line in lines]
            assert found == digits
            if not isinstance(data, np.ndarray):
                swath.write_jsonl(tmp_path / "t.jsonl", data, names=["a"])
                texts = [line[5:-1] for line in (tmp_path / "t.jsonl").read_text().splitlines()]
                assert texts == lines
    assert text(tmp_path, [np.float32(0.1), None]) == ["0.1", ""]
    swath.write_csv(path, {"a": [np.float32(0.1), None]})
    assert path.read_text() == 'a\n0.1\nNA\n'
    assert read_back(tmp_path, [np.float32(0.1), np.float16(2), None]).type == pa.float32()
    at = np.zeros(1, int)
    for kind in ("f4", "f2"):
        one = np.array([0.1], kind)
        swath.write_mtx(tmp_path / "t.mtx", swath.Coo((1, 1), at, at, one))
        assert (tmp_path / "t.mtx").read_text().split()[-1] == str(one[0].astype("f4"))


def test_metadata_of_a_table_is_written(tmp_path: Path) -> None:
    told = {b"swath.rows": b"9", b"other": b"kept"}
    table = pa.table({"row": [0], "column": [1], "value": [5.0]}).replace_schema_metadata(told)
    for name in ("a.arrow", "a.arrows"):
        for given in (table, table.to_batches()[0], table.to_reader()):
            swath.write_arrow(tmp_path / name, given)
            assert swath.read_arrow(tmp_path / name).num_rows == 1
            reader = pa.ipc.open_file if name == "a.arrow" else pa.ipc.open_stream
            assert reader(tmp_path / name).schema.metadata == told
    frame = pd.DataFrame({"v": [1, 2]}, index=pd.Index(["a", "b"], name="id"))
    swath.write_arrow(tmp_path / "b.arrow", pa.Table.from_pandas(frame))
    assert pa.ipc.open_file(tmp_path / "b.arrow").read_pandas().equals(frame)


def test_a_lone_column_with_an_empty_name_is_not_one_without_a_name(tmp_path: Path) -> None:
    given: list[Any] = [pa.table([["Oslo"]], names=[""]), {"": ["Oslo"]}]
    for one in given:
        with pytest.raises(swath.InvalidError, match="name"):
            swath.write_csv(tmp_path / "a.csv", one)
    for array in (pa.array(["Oslo"]), pa.chunked_array([["Oslo"]])):
        swath.write_csv(tmp_path / "a.csv", array)
        assert (tmp_path / "a.csv").read_bytes() == b"Oslo\n"


def test_moments_that_another_unit_cannot_express_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("at\n2020-01-01 10:00:00\n9999-01-01 00:00:00\n")
    table = swath.read_csv(tmp_path / "a.csv")
    for unit in ("ns", "D"):
        with pytest.raises(ValueError, match="cannot express exactly"):
            np.asarray(table, f"M8[{unit}]")
    assert np.asarray(table, "M8[s]")[1, 0] == np.datetime64("9999-01-01")
