"""Tables of others are written as they are, and a Table is used as a DataFrame of pandas is."""

from __future__ import annotations

import datetime
import decimal
import gzip
import lzma

import pytest

import swath

np = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

MOST = 2**53 + 1


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"n,x,m\n1,0.5,\n2,,7\n3,2.5,{MOST}\n")
    return swath.read_csv(path)


def test_a_table_is_written_as_it_was_read(tmp_path, table):
    wanted, path = (tmp_path / "table.csv").read_text(), tmp_path / "again.csv"
    for same in [table, pyarrow.table(table), polars.DataFrame(table), table.to_pandas()]:
        swath.write_csv(path, same)
        assert path.read_text() == wanted, type(same)
    swath.write_csv(path, table["m"])
    assert path.read_text() == f'NA\n7\n{MOST}\n'
    swath.write_csv(path, dict(table))
    assert path.read_text() == wanted.replace("2,,7", "2,nan,7"), "numpy's doubles have NaN alone"
    swath.write_csv(path, table, names=["a", "b", "c"], delimiter=";", digits=2)
    assert path.read_text() == f"a;b;c\n1;0.50;\n2;;7\n3;2.50;{MOST}\n"


def test_what_speaks_arrow_is_written_with_names_and_types(tmp_path):
    path = tmp_path / "out.csv"
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, None], "c": pandas.array([MOST, None], "Int64")})
    swath.write_csv(path, frame)
    assert path.read_text() == f"a,b,c\n1,0.5,{MOST}\n2,,\n"
    batches = [pyarrow.record_batch({"a": pyarrow.array(part, "uint8")}) for part in ([1], [], [2, None])]
    swath.write_csv(path, pyarrow.RecordBatchReader.from_batches(batches[0].schema, batches))
    assert path.read_text() == 'a\n1\n2\nNA\n'
    swath.write_csv(path, batches[0])
    assert path.read_text() == "a\n1\n"
    # A column alone, and columns of several libraries side by side.
    swath.write_csv(path, pyarrow.chunked_array([[1], [None, 3]]))
    assert path.read_text() == '1\nNA\n3\n'
    for series in [pandas.Series([1, 2], name="s"), polars.Series("s", [1, 2])]:
        swath.write_csv(path, series)
        assert path.read_text() == "s\n1\n2\n"
        swath.write_csv(path, {"x": series, "y": np.ma.MaskedArray([5, 6], [1, 0]), "z": [0.5, 1]})
        assert path.read_text() == "x,y,z\n1,,0.5\n2,6,1.0\n"
    swath.write_csv(path, pandas.Series([1, 2]))
    assert path.read_text() == "1\n2\n", "no name, no header"
    small = pyarrow.table({"f": pyarrow.array([0.1], "float32"), "h": pyarrow.array([0.5], "float16")})
    swath.write_csv(path, small)
    assert path.read_text() == "f,h\n0.1,0.5\n"
    again = swath.read_csv(path, dtypes={"f": "float32", "h": "float32"})
    assert again["f"][0] == np.float32(0.1) and again["h"][0] == 0.5
    swath.write_csv(path, {"u": pyarrow.array([2**63 - 1], "uint64")})
    assert path.read_text() == f"u\n{2**63 - 1}\n"


REFUSED = {
    "bytes": ([b"a"], "binary"),
    "span": ([datetime.timedelta(1)], pyarrow.duration("s")),
    "list": ([[1]], pyarrow.list_(pyarrow.int64())),
    "struct": ([{"a": 1}], pyarrow.struct({"a": pyarrow.int64()})),
}
WRITTEN = {
    "text": (["a"], "string", "a"),
    "day": ([datetime.date(2026, 1, 1)], "date32", "2026-01-01"),
    "time": ([datetime.datetime(2026, 1, 1)], pyarrow.timestamp("s"), "2026-01-01 00:00:00"),
    "price": ([decimal.Decimal("0.1")], pyarrow.decimal128(5, 2), "0.10"),
    "flag": ([True], "bool", "true"),
    "nothing": ([None], "null", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_text_does_not_keep_are_refused_by_name(tmp_path, name):
    path, array = tmp_path / "out.csv", pyarrow.array(*REFUSED[name])
    table = pyarrow.table({"n": pyarrow.array([1]), name: array})
    for data in [table, table.to_batches()[0], {"n": [1], name: array}]:
        with pytest.raises(TypeError, match=f"column `{name}` is of type .*; try: "):
            swath.write_csv(path, data)
    assert not path.exists()


@pytest.mark.parametrize("name", WRITTEN)
def test_columns_of_other_types_are_written(tmp_path, name):
    values, kind, text = WRITTEN[name]
    path, array = tmp_path / "out.csv", pyarrow.array(values, kind)
    table = pyarrow.table({"n": pyarrow.array([1]), name: array})
    for data in [table, table.to_batches()[0], {"n": [1], name: array}]:
        swath.write_csv(path, data)
        assert path.read_text().replace("T", " ") == f"n,{name}\n1,{text}\n"
    if name == "text":
        swath.write_csv(path, {"n": [1], name: table.column(name).dictionary_encode()})
        assert path.read_text() == "n,text\n1,a\n"


def test_columns_of_numpy_are_refused_by_name(tmp_path):
    path = tmp_path / "out.csv"
    for values, kind in [
        ([b"a"], "|S1"),
        ([1, "a"], "object"),
        (np.array([1], "m8[s]"), r"timedelta64\[s\]"),
        ([1j], "complex128"),
        (np.ones(1, "longdouble"), "float128"),
        (np.ones(1, [("a", "i4")]), "'a'"),
        (np.ma.MaskedArray([b"a"], [0]), "|S1"),
    ]:
        with pytest.raises(TypeError, match=f"column 'odd' has dtype .*{kind}.*; try: "):
            swath.write_csv(path, {"n": [1], "odd": values})
        if np.asarray(values).dtype.kind not in "OUV":
            with pytest.raises(TypeError, match=f"has dtype .*{kind}.*; try: "):
                swath.write_csv(path, np.ma.asarray(values))
            with pytest.raises(TypeError, match="try: "):
                swath.write_csv(path, np.asarray(values))
    for values in [[2**63], np.array([2**63], "u8"), pyarrow.array([2**63], "uint64")]:
        swath.write_csv(tmp_path / "large.csv", {"odd": values})
        assert (tmp_path / "large.csv").read_text() == f"odd\n{2**63}\n"
    for rounded in [[MOST, 0.5], [2**63, -1], [[1, 2], [MOST, 0.5]], (np.int64(MOST), 0.5)]:
        with pytest.raises(OverflowError, match="would become a double"):
            swath.write_csv(path, rounded)
    at = np.array([0])
    for values, kind in [(np.ones(1, "g"), "float128"), (np.ones(1, "G"), "complex256"), ([None], "obj")]:
        with pytest.raises(TypeError, match=kind):
            swath.write_mtx(path, swath.Coo((1, 1), at, at, values))
    for wrong in [[0.5], [True], ["0"]]:
        with pytest.raises(TypeError, match="array of rows"):
            swath.write_mtx(path, swath.Coo((1, 1), np.array(wrong), at, [1.0]))
    assert not path.exists()


def test_an_index_that_would_be_lost_is_refused(tmp_path):
    path = tmp_path / "out.csv"
    frame = pandas.DataFrame({"a": [1, 2, 3]})
    for odd in [frame[frame.a != 2], frame["a"][frame.a != 2], frame[1:], frame.set_index([[1, 2, 3], [1, 2, 3]])]:
        with pytest.raises(TypeError, match="index.*reset_index"):
            swath.write_csv(path, odd)
    swath.write_csv(path, frame[frame.a != 2].rename_axis("id"))
    assert path.read_text() == "id,a\n0,1\n2,3\n"
    swath.write_csv(path, frame[frame.a != 2].reset_index(drop=True))
    assert path.read_text() == "a\n1\n3\n"


def test_gaps_of_arrays_are_empty_fields(tmp_path):
    path = tmp_path / "out.csv"
    flat = np.ma.MaskedArray([1, 2, 3], [0, 1, 0])
    swath.write_csv(path, flat)
    assert path.read_text() == '1\nNA\n3\n'
    swath.write_csv(path, np.ma.MaskedArray([[1.5, 2], [3, 4]], [[0, 1], [0, 0]]), names=["a", "b"])
    assert path.read_text() == "a,b\n1.5,\n3.0,4.0\n"
    swath.write_csv(path, [flat, flat])
    assert path.read_text() == "1,,3\n1,,3\n", "also inside of a list"
    swath.write_csv(path, {"a": [MOST, np.ma.masked]})
    assert path.read_text() == f'a\n{MOST}\nNA\n'
    swath.write_csv(path, [0.5, np.ma.masked])
    assert path.read_text() == '0.5\nNA\n'
    with pytest.raises(OverflowError, match="would become a double"):
        swath.write_csv(path, [np.ma.MaskedArray([MOST, 1], [0, 1]), np.array([0.5, 1])])
    swath.write_csv(path, np.array([[2**64 - 1, 1]], ">u8"))
    assert path.read_text() == f"{2**64 - 1},1\n"
    swath.write_csv(path, {"u": np.ma.MaskedArray([2**64 - 1, 1], [1, 0], dtype="u8")})
    assert path.read_text() == 'u\nNA\n1\n', "what is too large lies under the mask"


def test_an_array_of_a_table_is_exact_or_an_error(tmp_path, table):
    with pytest.raises(ValueError, match=f"column 'm' has {MOST}, which float64 cannot express exactly; try: "):
        np.asarray(table)
    with pytest.raises(ValueError, match="column 'm'"):
        np.asarray(table, "f8")
    assert np.asarray(table[["n", "x"]]).tolist()[0] == [1, 0.5]
    assert np.asarray(table, object)[2].tolist() == [3, 2.5, MOST]
    assert np.asarray(table[["m"]][1:]).dtype == np.int64
    assert np.asarray(table[["m"]][1:]).tolist() == [[7], [MOST]]
    path = tmp_path / "odd.csv"
    for text, kind in [
        (f"{MOST},0.5", "f8"), ("2.5", "i8"), ("300", "u1"), ("-1", "u8"), ("nan", "i4"), ("1e19", "i8"),
        (f"{2.0**63}", "i8"), ("1,\n,2", "i8"),
    ]:
        path.write_text(text + "\n")
        with pytest.raises(ValueError, match="column"):
            np.asarray(swath.read_csv(path, header="absent"), kind)
    path.write_text("-9223372036854775808,2.0,255\n")
    assert np.asarray(swath.read_csv(path), "i8").tolist() == [[-(2**63), 2, 255]]
    assert np.asarray(swath.read_csv(path)).tolist() == [[-(2.0**63), 2, 255]]
    path.write_text("16777217,0.1\n")
    assert np.asarray(swath.read_csv(path), "f4").dtype == "f4", "singles are rounded, as was asked for"


def test_an_array_of_complex_numbers_or_booleans_is_exact_or_an_error(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n9007199254740993,0.5\n")
    table = swath.read_csv(path)
    for dtype in ["c16", "?", "f8"]:
        with pytest.raises(ValueError, match="cannot express exactly"):
            np.asarray(table, dtype)
    path.write_text("a,b\n9007199254740994,0.5\n")
    assert np.asarray(swath.read_csv(path), "c16").tolist() == [[9007199254740994, 0.5]]
    path.write_text("a,b\n1,0\n")
    assert np.asarray(swath.read_csv(path), "?").tolist() == [[True, False]]


def test_an_array_that_was_released_is_an_error(tmp_path):
    class Once:
        def __init__(self):
            self.taken = pyarrow.record_batch({"a": [1]}).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.taken

    once = Once()
    swath.write_csv(tmp_path / "out.csv", once)
    with pytest.raises(ValueError, match="already released.*request it again"):
        swath.write_csv(tmp_path / "out.csv", once)
    moved = Once()
    pyarrow.record_batch(moved)
    with pytest.raises(ValueError, match="already released"):
        swath.write_csv(tmp_path / "out.csv", moved)
    assert (tmp_path / "out.csv").read_text() == "a\n1\n"


def test_pandas_gets_names_and_types(table):
    frame = table.to_pandas()
    assert list(frame) == ["n", "x", "m"] and list(map(str, frame.dtypes)) == ["int64", "float64", "Int64"]
    assert frame["m"].tolist() == [pandas.NA, 7, MOST] and frame["n"].tolist() == [1, 2, 3]
    frame.loc[0, "n"] = 5
    assert table["n"].tolist() == [1, 2, 3], "it is a copy"
    assert table[[]].to_pandas().shape == (3, 0)
    arrow = pandas.DataFrame.from_arrow(table)
    assert list(arrow) == ["n", "x", "m"]
    with pytest.raises(TypeError, match=r"to_pandas\(\)"):
        pandas.DataFrame(table)
    assert pandas.DataFrame(dict(table[["n"]]))["n"].tolist() == [1, 2, 3]


def test_a_table_has_what_a_frame_has(table):
    assert table.columns == table.names and table.shape == (3, 3)
    assert table.dtypes == [np.dtype("i8"), np.dtype("f8"), np.dtype("i8")]
    some = table[["m", "n"]]
    assert type(some) is swath.Table and some.names == ["m", "n"] and some["m"].tolist() == [None, 7, MOST]
    assert table[[2, -3]].names == ["m", "n"]
    for rows, wanted in [(slice(1, 3), [7, MOST]), (slice(-1, None), [MOST]), (slice(0, 1), [None]), (slice(5, 9), [])]:
        part = table[rows]
        assert part.names == table.names and part["m"].tolist() == wanted and len(part) == len(wanted)
    assert np.shares_memory(np.asarray(table.values(0)), np.asarray(table[1:].values(0)))
    assert table.head(2).shape == (2, 3) and table.head().shape == (3, 3)
    assert pyarrow.table(table[1:])["m"].to_pylist() == [7, MOST]
    with pytest.raises(ValueError, match="step 1, not 2"):
        table[::2]
    with pytest.raises(KeyError, match="no column is called `nope`.*`n`, `x`, `m`"):
        table["nope"]
    with pytest.raises(KeyError, match="nope"):
        table[["n", "nope"]]
    with pytest.raises(IndexError):
        table[["n", 3]]


def test_columns_of_one_name_are_not_dropped(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,a\n1,2\n")
    assert swath.read_csv(path).names == ["a", "a_2"]
    table = swath._swath.take_table(pyarrow.table([[1], [2]], names=["a", "a"])).table()
    for take in [lambda: table["a"], lambda: dict(table), lambda: table[["a"]]]:
        with pytest.raises(KeyError, match="columns 0 and 1 are both called `a`"):
            take()
    assert table.names == list(table) == ["a", "a"] and table[1].tolist() == [2]
    assert table.to_pandas().values.tolist() == [[1, 2]] and list(table.to_pandas()) == ["a", "a"]
    swath.write_csv(tmp_path / "out.csv", table)
    assert (tmp_path / "out.csv").read_text() == path.read_text()
    swath.write_csv(tmp_path / "out.csv", pyarrow.table([[1], [2]], names=["a", "a"]))
    assert (tmp_path / "out.csv").read_text() == path.read_text()


def test_columns_of_different_lengths_and_dimensions_are_refused(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(ValueError, match="different lengths"):
        swath.write_csv(path, {"a": pyarrow.array([1, 2]), "b": [1]})
    with pytest.raises(ValueError, match="column 'b'.*one dimension"):
        swath.write_csv(path, {"a": [1], "b": [[1]]})
    with pytest.raises(TypeError, match="missing as a whole"):
        swath.write_csv(path, pyarrow.array([{"a": 1}, None]))
    assert not path.exists()


def test_words_are_asked_for_by_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a\n1\n")
    for odd in ["yes", 1.5, None]:
        for how in [{}, {"dtype": "f8"}]:
            with pytest.raises(TypeError, match=f"header={odd!r}: not one of"):
                swath.read_csv(path, header=odd, **how)


def test_blanks_that_align_columns_are_one_delimiter(tmp_path):
    path = tmp_path / "table.txt"
    np.savetxt(path, array := np.array([[1.5, -2], [300, 4]]), fmt="%8.3f")
    for how in [{}, {"delimiter": "blanks"}]:
        np.testing.assert_array_equal(swath.read_csv(path, float, **how), array)
    with pytest.raises(ValueError, match="delimiter"):
        swath.read_csv(path, delimiter="spaces")
    for text in [" 1\n 2\n", "1 \n2 \n"]:
        path.write_text(text)
        assert np.asarray(swath.read_csv(path)).tolist() == [[1], [2]]


def test_arrays_of_pandas_own_types_keep_digits_and_gaps(tmp_path):
    path = tmp_path / "a.csv"
    gaps = pandas.array([2**53 + 1, None], dtype="Int64")
    swath.write_csv(path, gaps)
    assert path.read_text() == '9007199254740993\nNA\n'
    swath.write_csv(path, {"a": gaps, "b": [1, 2]})
    assert path.read_text() == "a,b\n9007199254740993,1\n,2\n"
    swath.write_csv(path, {"a": pandas.array([1.5, 2.5])})
    assert path.read_text() == "a\n1.5\n2.5\n"
    swath.write_csv(path, {"a": pandas.Categorical([3, 1])})
    assert path.read_text() == "a\n3\n1\n"
    for write in (
        lambda: swath.write_npy(tmp_path / "a.npy", gaps),
        lambda: swath.save_safetensors(tmp_path / "a.safetensors", {"a": gaps}),
    ):
        with pytest.raises(TypeError, match="missing values would be lost"):
            write()


def test_an_index_that_counts_is_no_column_and_another_is_not_lost(tmp_path):
    path = tmp_path / "a.csv"
    swath.write_csv(path, pandas.DataFrame({"a": [5, 6]}, index=[0, 1]))
    assert path.read_text() == "a\n5\n6\n"
    swath.write_csv(path, {"a": pandas.Series([1, 2], index=[0, 1]), "b": [5, 6]})
    assert path.read_text() == "a,b\n1,5\n2,6\n"
    with pytest.raises(TypeError, match="'a': the index of the Series"):
        swath.write_csv(path, {"a": pandas.Series([1, 2], index=[1, 0]), "b": [5, 6]})


def test_an_array_of_unsigned_columns_is_exact_or_an_error(tmp_path):
    path = tmp_path / "a.arrow"

    def table(columns):
        found = pyarrow.table(columns)
        with pyarrow.ipc.new_file(path, found.schema) as file:
            file.write_table(found)
        return swath.read_arrow(path)

    large = pyarrow.array([2**64 - 1, 3], pyarrow.uint64())
    array = np.asarray(table({"u": large}))
    assert array.dtype == np.uint64 and array.tolist() == [[2**64 - 1], [3]]
    with pytest.raises(ValueError, match="18446744073709551615"):
        np.asarray(table({"u": large, "x": [0.5, 1.5]}))


def test_names_that_look_like_data_come_back(tmp_path):
    path = tmp_path / "out.csv"
    frame = pandas.DataFrame(np.zeros((2, 2)))
    odd = [frame, {"1": [1], "nan": [2]}, {"NA": [1]}, {"": [1], "2": [2]}, {"": [1], "x": [2]}]
    odd += [{"x": [1], "2020": [2]}, {"inf": [0.5], "null": [None]}, {"NA": [np.ma.masked]}]
    odd += [{"(1+2j)": [1]}, {"\u22121": [1], "(1e3-2.5j)": [2]}]
    for data in odd:
        if isinstance(data, dict):
            data = {name: np.ma.MaskedArray([v if v else 0], [not v], "f8") for name, [v] in data.items()}
        swath.write_csv(path, data)
        wanted = [str(name) or f"column_{at + 1}" for at, name in enumerate(data)]
        assert swath.read_csv(path, header=True).names == wanted, path.read_text()
    swath.write_csv(path, frame, names=["1", "2"])
    assert swath.read_csv(path, header=True).names == ["1", "2"]
    swath.write_csv(path, np.empty((0, 2)), names=["1", "NA"])
    assert swath.read_csv(path, header=True).names == ["1", "NA"]
    assert swath.read_csv(path, float).shape == (0, 2)
    # They would come back as a row without values.
    with pytest.raises(ValueError, match="all names are empty.*try: give the columns names"):
        swath.write_csv(path, {"": [1]})


def test_bytes_after_a_compressed_stream_are_an_error(tmp_path):
    path = tmp_path / "a.csv.gz"
    whole = gzip.compress(b"a,b\n1,2\n")
    for rest in [b"garbage", b"\x1e" + whole[1:]]:
        path.write_bytes(whole + rest)
        for read in [swath.read_csv, swath.read_edges]:
            with pytest.raises(OSError, match=f"at byte {len(whole)}: {len(rest)} bytes follow"):
                read(path)


def test_errors_of_others_have_the_name_of_the_column(tmp_path):
    path = tmp_path / "out.csv"
    mixed = pandas.Series([1, "x"], dtype=object)
    for data in [
        pandas.DataFrame({"fine": [1, 2], "odd": mixed}),
        {"fine": [1, 2], "odd": mixed},
        mixed.rename("odd"),
        {"odd": pandas.Series([1 + 2j, 2])},
        pandas.DataFrame({"fine": [1, 2], "odd": [1 + 2j, 2]}),
        pandas.DataFrame({"fine": [1], "odd": [object()]}),
        polars.DataFrame({"fine": [1], "odd": polars.Series([object()], dtype=polars.Object)}),
        {"odd": polars.Series([object()], dtype=polars.Object)},
    ]:
        with pytest.raises((TypeError, ValueError), match="column ['`]odd['`]") as raised:
            swath.write_csv(path, data)
        assert "try: " in str(raised.value)
    with pytest.raises(TypeError, match="^the column cannot be converted to a type of Arrow: .*; try: "):
        swath.write_csv(path, mixed)
    with pytest.raises(TypeError, match="column `odd` is of type"):
        swath.write_csv(path, pyarrow.table({"odd": [b"a"]}))
    with pytest.raises(OverflowError, match="column 'odd'"):
        swath.write_csv(path, pandas.DataFrame({"odd": [2**70]}))
    assert not path.exists()


def test_a_structured_array_is_a_table_of_its_fields(tmp_path):
    path = tmp_path / "out.csv"
    kind = np.dtype([("n", ">i8"), ("x", "f4")])
    array = np.array([(MOST, 0.5), (2, 1.5)], kind)
    for same in [array, array.view(np.recarray), np.ma.asarray(array), list(array)]:
        swath.write_csv(path, same)
        assert path.read_text() == f"n,x\n{MOST},0.5\n2,1.5\n"
    swath.write_csv(path, array[::-1], names=["a", "b"])
    assert path.read_text() == f"a,b\n2,1.5\n{MOST},0.5\n"
    swath.write_csv(path, np.ma.MaskedArray(array, [(0, 1), (0, 0)]))
    assert path.read_text() == f"n,x\n{MOST},\n2,1.5\n"
    swath.write_csv(path, array[:0])
    assert path.read_text() == "n,x\n"
    for odd, says in [
        (np.ones(1, [("odd", "S3")]), r"column 'odd' has dtype \|S3"),
        (np.ones(1, [("n", "i4"), ("odd", [("a", "i4")])]), "column 'odd' has dtype"),
        (np.ones(1, [("odd", "i4", 3)]), "column 'odd'.*one dimension, not 2"),
        (np.ones((2, 2), kind), r"one dimension, not 2; try: flatten it with array.ravel\(\)"),
    ]:
        with pytest.raises((TypeError, ValueError), match=says):
            swath.write_csv(path, odd)


def test_an_index_of_pandas_keeps_its_name(tmp_path):
    path = tmp_path / "out.csv"
    for index in [pandas.Index([3, 1], name="id"), pandas.RangeIndex(3, -1, -2, name="id")]:
        swath.write_csv(path, index)
        assert path.read_text() == "id\n3\n1\n"
        swath.write_csv(path, {"a": index, "b": [1, 2]})
        assert path.read_text() == "a,b\n3,1\n1,2\n"
        swath.write_csv(path, index, names=["n"])
        assert path.read_text() == "n\n3\n1\n"
    swath.write_csv(path, pandas.Index([3, 1]))
    assert path.read_text() == "3\n1\n"
    gaps = pandas.Index(pandas.array([MOST, None], "Int64"), name="id")
    swath.write_csv(path, gaps)
    assert path.read_text() == f'id\n{MOST}\nNA\n'
    swath.write_csv(path, {"a": gaps, "b": [1, 2]})
    assert path.read_text() == f"a,b\n{MOST},1\n,2\n"
    swath.write_csv(path, pandas.Index(["a"], name="odd"))
    assert path.read_text() == "odd\na\n"
    with pytest.raises(TypeError, match="column .odd.*try: "):
        swath.write_csv(path, pandas.timedelta_range("1D", periods=1, name="odd"))
    with pytest.raises(TypeError, match="MultiIndex.*try: .*to_frame"):
        swath.write_csv(path, pandas.MultiIndex.from_tuples([(1, 2)], names=["a", "b"]))


def test_what_columns_takes_is_told_in_words(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    for odd, kind, says in [
        (0, TypeError, r"columns=0: .*names and indices; try: pass columns=\[0\]"),
        ("a", TypeError, r"columns='a': .*try: pass columns=\['a'\]"),
        (1.5, TypeError, "columns=1.5: .*names and indices"),
        ([1.0], TypeError, r"columns=\[…\]: 1.0 is neither a name nor an index"),
        ([None], TypeError, "None is neither"),
        (["a", True], TypeError, "True is neither"),
        ([b"a"], TypeError, "b'a' is neither"),
        ([-1], ValueError, "-1: indices count from 0"),
        ([2**70], ValueError, "no file has that many"),
    ]:
        with pytest.raises(kind, match=says):
            swath.read_csv(path, columns=odd)
    for fine in [np.array([1, 0]), ("b", 0), iter(["b", "a"]), pandas.Index(["b", "a"])]:
        assert swath.read_csv(path, columns=fine).names == ["b", "a"]


def test_what_is_no_text_is_named_with_what_to_do(tmp_path):
    path, text = tmp_path / "table.csv", "a,b\n1,2\n"
    for data, says in [
        (lzma.compress(text.encode()), "xz.*try: .*xz -d"),
        (text.encode("utf-16-be"), "NUL byte"),
        (b"PK\x03\x04xxxx", "zip archive.*try: "),
        (b"(1+2j) (3+4j)\n", "complex.*try: "),
        ("\u22121\n".encode(), "U\\+2212.*try: "),
    ]:
        path.write_bytes(data)
        with pytest.raises(swath.MalformedError, match=says) as raised:
            swath.read_csv(path, float)
        assert raised.value.filename == str(path)
    for data in [lzma.compress(text.encode()), b"PK\x03\x04xxxx"]:
        path.write_bytes(data)
        with pytest.raises(swath.MalformedError, match="try: "):
            swath.read_csv(path)
    path.write_text("a,b\n")
    assert swath.read_csv(path).shape == (0, 2)


def test_a_delimiter_that_begins_comments_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    with pytest.raises(ValueError, match="`#`.*comment.*try: "):
        swath.write_csv(path, np.ones((2, 2)), delimiter="#")
    assert not path.exists()
    path.write_text("1#2\n")
    assert swath.read_csv(path, int, delimiter="#").tolist() == [[1, 2]]
    assert swath.read_csv(path, delimiter="#").shape == (1, 2), "a table has no comments unless told"
