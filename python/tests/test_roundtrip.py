"""A table that was written comes back as it went in, names, types, gaps and bits, or there is an error.

Each writer gets the same columns as numpy's arrays, masked ones, a mapping, pandas, polars, pyarrow and
a Table; each reader that can read the file gives them back.
"""

from __future__ import annotations

import struct

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import battery
import swath

np = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
sparse = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")
reference = pytest.importorskip("safetensors.numpy")

rounds = settings(
    max_examples=battery.count(part=10, full=400),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# Those at whose edges something may be rounded or wrapped come first.
integer = st.sampled_from([0, -1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]) | st.integers(
    -(2**63), 2**63 - 1
)
double = st.sampled_from([-0.0, 5e-324, 1e308, 0.1, 1.0, 2.0**53]) | st.floats(width=64)
# Blanks around a name are not part of it.
word = st.text("abcxyz_ \u00e4,;|\"'#\t", min_size=1, max_size=6).map(lambda it: it.strip(" \t") or "w")
# Names that look like data.
DATA = ["1", "nan", "NA", "-2.5", "null"]
number = st.sampled_from(DATA)
kinds = st.sampled_from(["int", "float"])


@st.composite
def column(draw, rows, gaps=True):
    """Values of one type, ``None`` where one is missing."""
    values = draw(
        kinds.flatmap(
            lambda kind: st.lists(
                integer if kind == "int" else double, min_size=rows, max_size=rows
            ).map(lambda values: (kind, values))
        )
    )
    kind, values = values
    if gaps and draw(st.booleans()):
        holes = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
        values = [None if hole else value for value, hole in zip(values, holes)]
    return kind, values


@st.composite
def tables(draw, gaps=True):
    """Names and columns of one length."""
    rows = draw(st.integers(1, 5))
    names = draw(st.lists(word | word | word | number, min_size=1, max_size=4, unique=True))
    return {name: draw(column(rows, gaps)) for name in names}


def bits(value):
    """To be compared: the bits of a double, where all NaN are one."""
    if isinstance(value, float):
        return "nan" if value != value else struct.pack("<d", value)
    return value


def comparable(kind, values):
    return kind, [bits(value) for value in values]


def is_empty(columns):
    """Whether it is one column without a value: quoted empty fields, which are texts."""
    return len(columns) == 1 and all(value is None for _, values in columns.values() for value in values)


def masked(kind, values):
    array = np.array([0 if value is None else value for value in values], "i8" if kind == "int" else "f8")
    return np.ma.MaskedArray(array, mask=[value is None for value in values])


def arrow(columns):
    types = {"int": pyarrow.int64(), "float": pyarrow.float64()}
    arrays = [pyarrow.array(values, types[kind]) for kind, values in columns.values()]
    return pyarrow.table(arrays, names=list(columns))


def in_pandas(columns):
    """Integers with gaps as pandas has them."""
    made = {
        name: pandas.array(values, dtype="Int64") if kind == "int" else np.array(values, "f8")
        for name, (kind, values) in columns.items()
    }
    return pandas.DataFrame(made)


FORMS = {
    "masked": lambda columns: {name: masked(*one) for name, one in columns.items()},
    "pandas": in_pandas,
    "polars": lambda columns: polars.DataFrame(arrow(columns)),
    "pyarrow": arrow,
    "Table": lambda columns: swath._swath.take_table(arrow(columns)).table(),
    "series": lambda columns: {
        name: polars.Series(name, arrow({name: one})[name]) for name, one in columns.items()
    },
}


def read_back(table):
    """Returns the contents of a Table: kind and values of each column, by name."""
    found = {}
    for index, name in enumerate(table.names):
        values = np.asarray(table.values(index)).tolist()
        validity = table.validity(index)
        if validity is not None:
            there = np.unpackbits(np.asarray(validity), count=len(values), bitorder="little")
            values = [value if bit else None for value, bit in zip(values, there)]
        kind = "int" if np.asarray(table.values(index)).dtype == "i8" else "float"
        found[name] = (kind, values)
    return found


def expected(columns, form):
    """pandas has no gaps in doubles but NaN; what is missing altogether has no type in text."""
    wanted = {}
    for name, (kind, values) in columns.items():
        if form == "pandas" and kind == "float":
            values = [None if value is None or value != value else value for value in values]
        if all(value is None for value in values):
            kind = "float"
        wanted[name] = comparable(kind, values)
    return wanted


@pytest.mark.parametrize("form", FORMS)
@rounds
@given(columns=tables())
def test_tables_of_all_kinds_come_back_from_csv(tmp_path, form, columns):
    path = tmp_path / "table.csv"
    assume(not is_empty(columns))
    swath.write_csv(path, FORMS[form](columns))
    again = swath.read_csv(path, header=True, delimiter=",")
    found = {name: comparable(*one) for name, one in read_back(again).items()}
    assert found == expected(columns, form) and again.names == list(columns)
    # Another reader sees the same: pyarrow's is the strictest of them.
    types = {"int": pyarrow.int64(), "float": pyarrow.float64()}
    convert = csv.ConvertOptions(
        column_types={name: types[kind] for name, (kind, _) in found.items()},
        null_values=["", "NA"],
        quoted_strings_can_be_null=True,
        strings_can_be_null=True,
    )
    theirs = csv.read_csv(
        path,
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=convert,
    )
    assert theirs.column_names == list(columns)
    for name, (kind, values) in found.items():
        assert comparable(kind, theirs[name].to_pylist()) == (kind, values)


@rounds
@given(columns=tables())
def test_what_is_read_is_handed_on_as_it_is(tmp_path, columns):
    path = tmp_path / "table.csv"
    assume(not is_empty(columns))
    swath.write_csv(path, arrow(columns))
    table = swath.read_csv(path, header=True, delimiter=",")
    wanted = expected(columns, "Table")
    for theirs in [pyarrow.table(table), polars.DataFrame(table).to_arrow()]:
        found = {
            name: comparable(wanted[name][0], theirs[name].to_pylist()) for name in theirs.column_names
        }
        assert found == wanted
    frame = table.to_pandas()
    assert list(frame) == table.columns == list(columns) and frame.shape == table.shape
    for name, (kind, values) in wanted.items():
        found = [None if value is pandas.NA else value for value in frame[name].tolist()]
        assert comparable(kind, found) == (kind, ["nan" if v is None and kind == "float" else v for v in values])
    swath.write_csv(path, dict(table))
    once_more = read_back(swath.read_csv(path, header=True, delimiter=","))
    for name, (kind, values) in wanted.items():
        values = ["nan" if value is None and kind == "float" else value for value in values]
        if any(value is not None for value in values):
            assert comparable(*once_more[name]) == (kind, values)


@rounds
@given(columns=tables(gaps=False))
def test_arrow_files_come_back(tmp_path, columns):
    path = tmp_path / "table.arrow"
    table = arrow(columns)
    with pyarrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    found = {name: comparable(*one) for name, one in read_back(swath.read_arrow(path)).items()}
    assert found == {name: comparable(*one) for name, one in columns.items()}


ARRAYS = "f8 f4 f2 i1 u1 i2 u2 i4 u4 i8 u8 ? c16 >f8 >i4 M8[ns] U3 S2 g i4,f8".split()


@st.composite
def arrays(draw, kinds):
    """Draws an array of any shape and order, with any bits."""
    dtype = np.dtype(draw(st.sampled_from(kinds)))
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    count = int(np.prod(shape)) * dtype.itemsize
    raw = draw(st.binary(min_size=count, max_size=count))
    if dtype.kind in "?bU":
        array = np.frombuffer(raw, "u1").reshape(-1, dtype.itemsize)[:, 0] % 2
        array = array.astype(dtype).reshape(shape)
    else:
        array = np.frombuffer(raw, dtype).reshape(shape)
    return draw(st.sampled_from([array, np.asfortranarray(array), array[..., ::-1] if shape else array]))


@rounds
@given(array=arrays(ARRAYS))
def test_arrays_of_all_kinds_come_back_from_npy(tmp_path, array):
    path = tmp_path / "a.npy"
    assert swath.write_npy(path, array) == path.stat().st_size
    for again in [swath.read_npy(path), np.load(path)]:
        assert (again.dtype, again.shape) == (array.dtype, array.shape)
        assert again.tobytes() == array.tobytes()
    np.save(path, array)
    again = swath.read_npy(path)
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())


@rounds
@given(array=arrays("f8 f4 f2 i1 u1 i2 u2 i4 u4 i8 u8 ? >f8 >i4".split()))
def test_arrays_come_back_from_safetensors(tmp_path, array):
    path = tmp_path / "a.safetensors"
    swath.save_safetensors(path, {"a": array})
    for again in [swath.load_safetensors(path)["a"], reference.load_file(path)["a"]]:
        assert (again.dtype, again.shape) == (array.dtype.newbyteorder("="), array.shape)
        assert again.tobytes() == array.astype(again.dtype).tobytes()


@rounds
@given(data=st.data())
def test_arrays_come_back_from_csv(tmp_path, data):
    path = tmp_path / "table.csv"
    kind = data.draw(st.sampled_from("f8 f4 f2 i1 u1 i2 u2 i4 u4 i8 u8 >f8 >u8 >i4".split()))
    shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    array = np.frombuffer(data.draw(st.binary(min_size=size, max_size=size)), kind).reshape(shape)
    swath.write_csv(path, array)
    dtype = "f4" if kind == "f2" else np.dtype(kind).newbyteorder("=")
    again = swath.read_csv(path, dtype, header="absent")
    wanted = array.astype(again.dtype)
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(again), nan)
    assert again[~nan].tobytes() == wanted[~nan].tobytes()
    mask = data.draw(st.lists(st.booleans(), min_size=array.size, max_size=array.size))
    if np.dtype(kind).kind == "u" and np.any(wanted > 2**63 - 1):
        return
    swath.write_csv(path, np.ma.MaskedArray(array, np.reshape(mask, shape)))
    if shape[1] == 1 and all(mask):
        return
    # The text of a single is that of another double.
    dtypes = ["float32"] * shape[1] if dtype == "f4" else None
    table = swath.read_csv(path, header="absent", delimiter=",", dtypes=dtypes)
    for index in range(shape[1]):
        gaps = [row * shape[1] + index for row in range(shape[0])]
        holes = [mask[gap] for gap in gaps]
        found = np.ma.getmaskarray(np.ma.masked_invalid(table[index]))
        wanted_gaps = np.array(holes) | nan[:, index]
        np.testing.assert_array_equal(found, wanted_gaps)
        there = ~wanted_gaps
        np.testing.assert_array_equal(np.asarray(table[index])[there], wanted[there, index])


@rounds
@given(data=st.data())
def test_matrices_of_all_kinds_come_back(tmp_path, data):
    path = tmp_path / "a.mtx"
    kind = np.dtype(data.draw(st.sampled_from("f8 f4 i1 u1 i2 u4 i8 ? c16 c8".split())))
    count = data.draw(st.integers(0, 4))
    rows = np.array(data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)), "i4")
    raw = data.draw(st.binary(min_size=count * kind.itemsize, max_size=count * kind.itemsize))
    values = np.frombuffer(raw, kind) if kind != bool else np.ones(count, bool)
    values = np.where(np.isfinite(values), values, kind.type(1))
    matrix = sparse.coo_array((values, (rows, np.arange(count))), shape=(5, 6))
    swath.write_mtx(path, matrix)
    # Singles have the shortest text that is read as the same single.
    again = swath.read_mtx(path, values="float32" if kind == np.float32 else "auto")
    assert again.shape == matrix.shape and again.dtype.kind == ("i" if kind.kind in "bu" else kind.kind)
    np.testing.assert_array_equal(again.coords[0], rows)
    assert again.data.tobytes() == values.astype(again.dtype).tobytes()
    theirs = scipy_io.mmread(path).toarray().astype(again.dtype)
    np.testing.assert_array_equal(theirs, again.toarray())


def frames():
    table = pyarrow.table({"a": [1, None, 3]})
    return [table, polars.DataFrame(table), table.to_pandas(), swath._swath.take_table(table).table()]


@pytest.mark.parametrize("which", range(4))
def test_what_keeps_no_names_or_gaps_refuses_tables(tmp_path, which):
    path, table = tmp_path / "out", frames()[which]
    for write in [
        lambda: swath.write_npy(path, table),
        lambda: swath.save_safetensors(path, {"t": table}),
        lambda: swath.save_safetensors(path, table),
        lambda: swath.write_mtx(path, table),
    ]:
        with pytest.raises(TypeError, match="try: "):
            write()
        assert not path.exists()


def test_masks_are_refused_where_nothing_can_be_missing(tmp_path):
    path, gaps = tmp_path / "out", np.ma.MaskedArray([1.0, 2.0], [0, 1])
    at = np.array([0, 1])
    for name, write in [
        ("the array", lambda: swath.write_npy(path, gaps)),
        ("tensor 'w'", lambda: swath.save_safetensors(path, {"w": gaps})),
        ("values", lambda: swath.write_mtx(path, swath.Coo((2, 2), at, at, gaps))),
        ("rows", lambda: swath.write_mtx(path, swath.Coo((2, 2), gaps.astype(int), at, at))),
    ]:
        with pytest.raises(TypeError, match=rf"{name}.*masked.*numpy\.ma\.filled"):
            write()
        assert not path.exists()
    swath.write_npy(path, np.ma.MaskedArray([1.0, 2.0]))
    assert swath.read_npy(path).tolist() == [1, 2], "nothing is masked"
