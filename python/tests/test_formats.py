"""Matrices and tables are those that scipy and numpy read and write."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import battery
import swath

np = pytest.importorskip("numpy")
sparse = pytest.importorskip("scipy.sparse")
scipy_io = pytest.importorskip("scipy.io")

quick = settings(
    max_examples=battery.count(part=10, full=400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def random_matrix(seed, kind=np.float64):
    generator = np.random.default_rng(seed)
    matrix = sparse.random_array((50, 70), density=0.1, rng=generator, format="coo")
    if kind == np.complex128:
        matrix.data = matrix.data + 1j * generator.random(len(matrix.data))
    else:
        matrix.data = (matrix.data * 100).astype(kind)
    return matrix.astype(kind)


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.complex128])
@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_what_scipy_writes_is_read_as_scipy_reads_it(tmp_path, kind, form):
    path = tmp_path / "matrix.mtx"
    scipy_io.mmwrite(path, random_matrix(1, kind))
    ours, theirs = swath.read_mtx(path, form), scipy_io.mmread(path, spmatrix=False)
    assert ours.format == form and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "hermitian"])
def test_symmetric_ones_are_filled_in(tmp_path, symmetry):
    path = tmp_path / "matrix.mtx"
    half = random_matrix(2, np.complex128 if symmetry == "hermitian" else np.float64)
    half = sparse.csr_array(half.toarray()[:50, :50])
    other = {"symmetric": half.T, "skew-symmetric": -half.T, "hermitian": half.conj().T}[symmetry]
    matrix = (half + other).tocoo()
    scipy_io.mmwrite(path, matrix, symmetry=symmetry)
    np.testing.assert_array_equal(swath.read_mtx(path).toarray(), matrix.toarray())
    stored = swath.read_mtx(path, expand=False)
    assert stored.nnz < matrix.nnz
    swath.write_mtx(path, matrix, symmetry=symmetry)
    np.testing.assert_array_equal(scipy_io.mmread(path).toarray(), matrix.toarray())


def test_patterns_have_ones(tmp_path):
    path = tmp_path / "matrix.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n3 4 2\n1 2\n3 4\n")
    matrix = swath.read_mtx(path, "csr")
    assert matrix.dtype == np.float64 and matrix.toarray().sum() == 2 and matrix[2, 3] == 1


@pytest.mark.parametrize(
    "shape", [(0, 0), (0, 3), (1, 1), (2**31 - 1, 2), (2**31, 2), (2**32, 2), (2**32 + 1, 2)]
)
def test_coordinates_are_what_scipy_itself_would_make_of_them(tmp_path, shape):
    path = tmp_path / "matrix.mtx"
    last = f"{shape[0]} {shape[1]}"
    entries = [] if 0 in shape else [f"{last} 0.5", f"{last} 0.25"]
    kind = "%%MatrixMarket matrix coordinate real general"
    path.write_text("\n".join([kind, f"{last} {len(entries)}", *entries, ""]))
    matrix = swath.read_mtx(path)
    rows, columns = [[size - 1] * len(entries) for size in shape]
    theirs = sparse.coo_array(([0.5, 0.25][: len(entries)], (rows, columns)), shape=shape)
    assert matrix.shape == shape and matrix.nnz == theirs.nnz
    for mine, other in zip(matrix.coords, theirs.coords):
        assert mine.dtype == sparse.coo_array(shape).coords[0].dtype or not entries
        np.testing.assert_array_equal(mine, other)
    matrix.sum_duplicates()
    assert matrix.nnz == min(len(entries), 1) and matrix.sum() == 0.75 * matrix.nnz


@quick
@given(data=st.data())
def test_what_is_written_is_read_back(tmp_path, data):
    path = tmp_path / "matrix.mtx"
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    places = data.draw(
        st.lists(st.tuples(st.integers(0, shape[0] - 1), st.integers(0, shape[1] - 1)))
    )
    number = st.floats(allow_nan=False) | st.just(5e-324)
    values = data.draw(st.lists(number, min_size=len(places), max_size=len(places)))
    rows, columns = (np.array([place[side] for place in places], int) for side in (0, 1))
    matrix = swath.Coo(shape, rows, columns, np.array(values, float))
    size = swath.write_mtx(path, matrix, comment="made by a test")
    assert size == path.stat().st_size
    again = swath.read_mtx(path)
    assert again.shape == shape
    np.testing.assert_array_equal(again.coords[0], rows)
    np.testing.assert_array_equal(again.coords[1], columns)
    assert again.data.tobytes() == matrix.values.tobytes(), "to the bit"


def test_values_without_a_sign_are_exact(tmp_path):
    path, at = tmp_path / "matrix.mtx", np.array([0, 1])
    for values, kind in [([2**64 - 1, 2**53 + 1], "u8"), ([2**63 - 1, 1], "i8"), ([], "i8")]:
        many = at[: len(values)]
        swath.write_mtx(path, swath.Coo((2, 2), many, many, np.array(values, "u8")))
        again = swath.read_mtx(path)
        assert again.data.dtype == kind and again.data.tolist() == values
        assert swath.read_mtx(path, values="uint64").data.tolist() == values
        np.testing.assert_array_equal(scipy_io.mmread(path).toarray(), again.toarray())
    half = swath.Coo((2, 2), np.array([0, 1]), np.array([1, 0]), np.array([2**63, 2**63], ">u8"))
    swath.write_mtx(path, half, symmetry="symmetric")
    assert swath.read_mtx(path).toarray().tolist() == [[0, 2**63], [2**63, 0]]


def test_edges(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n2 0\n")
    graph = swath.read_edges(path, "csr", vertices=5)
    assert graph.shape == (5, 5) and graph[2, 0] == 1 and graph.nnz == 3
    weighted = tmp_path / "weighted.txt"
    weighted.write_text("1 2 0.5\n2 3 1.5\n")
    assert swath.read_edges(weighted, base="1").toarray()[1, 2] == 1.5


def test_without_scipy_they_are_plain_arrays(tmp_path):
    path = tmp_path / "matrix.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n3 4 2\n1 2\n3 4\n")
    script = f"""
import sys
sys.modules["scipy"] = None
import swath
coo = swath.read_mtx({str(path)!r})
assert type(coo) is swath.Coo and coo.values is None and coo.rows.tolist() == [0, 2], coo
csr = swath.read_mtx({str(path)!r}, "csr")
assert csr.offsets.tolist() == [0, 1, 1, 2] and csr.indices.tolist() == [1, 3], csr
assert swath.write_mtx({str(path)!r}, coo) > 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_what_is_no_matrix(tmp_path):
    path = tmp_path / "matrix.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n2 x 3\n")
    with pytest.raises(swath.MalformedError, match="line 4") as raised:
        swath.read_mtx(path)
    assert isinstance(raised.value, ValueError) and raised.value.filename == str(path)
    with pytest.raises(FileNotFoundError):
        swath.read_mtx(tmp_path / "missing.mtx")
    coo = swath.Coo((2, 2), np.array([0, 2]), np.array([0, 0]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="entry 1: index 2 of 2"):
        swath.write_mtx(tmp_path / "out.mtx", coo)
    with pytest.raises(ValueError, match="lengths must be equal"):
        swath.write_mtx(tmp_path / "out.mtx", coo._replace(values=np.ones(3), shape=(3, 3)))
    with pytest.raises(ValueError, match="index -1"):
        swath.write_mtx(tmp_path / "out.mtx", coo._replace(rows=np.array([0, -1])))
    assert not (tmp_path / "out.mtx").exists()
    for wrong in [{"form": "dok"}, {"values": "float16"}]:
        with pytest.raises(ValueError):
            swath.read_mtx(path, **wrong)


@quick
@given(
    rows=st.lists(st.tuples(st.floats(), st.floats()), min_size=1),
    names=st.none() | st.just(["x", "a b"]),
)
def test_tables_are_read_back(tmp_path, rows, names):
    path = tmp_path / "table.csv"
    array = np.array(rows)
    assert swath.write_csv(path, array, names=names) == path.stat().st_size
    header = "absent" if names is None else "present"
    again = swath.read_csv(path, float, header=header)
    np.testing.assert_array_equal(again, array)
    skip = 0 if names is None else 1
    np.testing.assert_array_equal(
        np.loadtxt(path, delimiter=",", ndmin=2, skiprows=skip), array
    )
    if names is not None:
        assert swath.read_csv(path, header=header).names == names


@pytest.mark.parametrize("kind", ["f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_every_type_of_number(tmp_path, kind):
    path = tmp_path / "table.csv"
    array = np.array([[1, 2, 3], [4, 5, 100]], kind)
    swath.write_csv(path, array)
    again = swath.read_csv(path, kind)
    assert again.dtype == np.dtype(kind) and again.flags.writeable
    np.testing.assert_array_equal(again, array)
    swath.write_csv(path, array[:, ::-1].T, delimiter="\t")
    np.testing.assert_array_equal(swath.read_csv(path, kind), array[:, ::-1].T)


def test_columns_have_types_and_what_is_missing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("n,x,y\n1,2.5,\n2,3,7\n")
    table = swath.read_csv(path)
    assert (table.names, table.num_rows, table.num_columns, len(table)) == (["n", "x", "y"], 2, 3, 2)
    assert np.asarray(table.values(0)).tolist() == [1, 2]
    assert np.asarray(table.values(1)).dtype == np.float64
    assert table.validity(0) is None and bytes(table.validity(2)) == b"\x02"
    with pytest.raises(ValueError, match="column 3 of 3"):
        table.values(3)
    view = memoryview(table.values(0))
    del table
    gc.collect()
    assert view.tolist() == [1, 2] and view.readonly


def test_arrow_takes_a_table_without_a_copy(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "table.csv"
    path.write_text("n,x,y\n" + "1,2.5,\n2,3,7\n" * 1000)
    table = swath.read_csv(path)
    address = np.asarray(table.values(0)).ctypes.data
    for taken in [pyarrow.table(table), pyarrow.table(pyarrow.record_batch(table))]:
        assert taken.column_names == ["n", "x", "y"] and taken.num_rows == 2000
        assert taken["y"].to_pylist()[:2] == [None, 7] and taken["x"].null_count == 0
        assert taken["n"].chunk(0).buffers()[1].address == address
    del table
    gc.collect()
    assert taken["n"].to_pylist() == [1, 2] * 1000
    # A capsule that nobody takes is given back.
    swath.read_csv(path).__arrow_c_stream__()
    swath.read_csv(path).__arrow_c_array__()


def test_mappings_are_columns(tmp_path):
    path = tmp_path / "table.csv"
    swath.write_csv(path, {"n": [1, 2], "x": [0.5, float("inf")]}, digits=2)
    assert path.read_text() == "n,x\n1,0.50\n2,inf\n"
    with pytest.raises(ValueError, match="different lengths"):
        swath.write_csv(path, {"n": [1, 2], "x": [0.5]})
    assert path.read_text() == "n,x\n1,0.50\n2,inf\n"
    for wrong in [np.zeros((2, 2, 2)), {"a": [[1]]}]:
        with pytest.raises(ValueError):
            swath.write_csv(path, wrong)
    with pytest.raises(TypeError):
        swath.write_csv(path, np.array([b"a"]))


def test_what_is_no_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1,2\n3,x\n")
    with pytest.raises(swath.MalformedError, match="line 2"):
        swath.read_csv(path, float)
    with pytest.raises(TypeError):
        swath.read_csv(path, "U3")
    with pytest.raises(ValueError):
        swath.read_csv(path, delimiter="ab")
    path.write_text("1\n300\n")
    with pytest.raises(swath.MalformedError):
        swath.read_csv(path, "u1")


def test_tables_of_nothing_are_written(tmp_path):
    path = tmp_path / "empty.csv"
    for kind in ["f8", "f4", "i8", "u2", "u1", "bool"]:
        swath.write_csv(path, np.ones((0, 3), kind))
        assert path.read_text() == "column_1,column_2,column_3\n"
        assert swath.read_csv(path, float).shape == swath.read_csv(path).shape == (0, 3)
        swath.write_csv(path, np.ones((0, 3), kind), names=["a", "b", "c"])
        assert path.read_text() == "a,b,c\n"
        with pytest.raises(ValueError, match="column|rows of 0"):
            swath.write_csv(path, np.ones((3, 0), kind))
    odd = np.frombuffer(bytes(range(17)), "u1")[1:].view("u8")
    swath.write_csv(path, odd)
    assert (swath.read_csv(path, "u8")[:, 0] == odd).all(), "numbers at an odd place"


def test_only_square_matrices_are_written_as_symmetric(tmp_path):
    path = tmp_path / "a.mtx"
    at = np.array([0, 1], "u8")
    for symmetry in ["symmetric", "skew-symmetric", "hermitian"]:
        with pytest.raises(ValueError, match="must be square") as raised:
            swath.write_mtx(path, swath.Coo((2, 3), at, at, np.ones(2)), symmetry=symmetry)
        assert isinstance(raised.value, swath.Error) and raised.value.filename == str(path)
        assert not path.exists()


def test_more_than_numpy_counts_is_told_with_the_path(tmp_path):
    path = tmp_path / "wide.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate integer general\n{2**63} 1 1\n1 1 5\n")
    with pytest.raises(swath.MalformedError, match="larger than numpy") as raised:
        swath.read_mtx(path)
    assert raised.value.filename == str(path)


def test_words_and_numbers_mean_the_same(tmp_path):
    path = tmp_path / "a.el"
    path.write_text("1 2\n")
    for base in [0, 1]:
        made, same = swath.read_edges(path, base=base), swath.read_edges(path, base=str(base))
        assert made.shape == same.shape == (3 - base, 3 - base)
    with pytest.raises(ValueError, match="base"):
        swath.read_edges(path, base=2)
    path = tmp_path / "a.csv"
    for delimiter in [";", b";"]:
        swath.write_csv(path, np.ones((2, 2), "i8"), delimiter=delimiter)
        assert path.read_text() == "1;1\n1;1\n"
        assert swath.read_csv(path, "i8", delimiter=delimiter).shape == (2, 2)
    with pytest.raises(TypeError, match="delimiter"):
        swath.read_csv(path, delimiter=5)
    for verb in [swath.read_csv, swath.read_mtx, swath.read_edges]:
        with pytest.raises(TypeError, match=rf"{verb.__name__}\(\) has no keyword foo="):
            verb(path, foo=1)


def test_a_table_is_used_as_a_data_frame_is(tmp_path):
    path = tmp_path / "a.csv"
    # As one array it has doubles: what no double is, test_columns.py has.
    path.write_text("n,x,m\n1,0.5,\n2,,7\n3,2.5,9007199254740992\n")
    table = swath.read_csv(path)
    assert list(table) == table.keys() == table.names == ["n", "x", "m"] and len(table) == 3
    assert "x" in table and "y" not in table and 0 not in table
    assert table["n"].tolist() == table[0].tolist() == table[-3].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(table["x"], [0.5, np.nan, 2.5])
    assert table["m"].tolist() == [None, 7, 2**53] and isinstance(table["m"], np.ma.MaskedArray)
    assert list(dict(table)) == table.names
    whole = np.asarray(table)
    np.testing.assert_array_equal(whole[:, :2], [[1, 0.5], [2, np.nan], [3, 2.5]])
    assert whole.dtype == "f8" and np.isnan(whole[0, 2])
    assert np.asarray(table, "f4").dtype == "f4"
    for wrong, kind in [("y", KeyError), (3, IndexError), (-4, IndexError), (1.5, TypeError)]:
        with pytest.raises(kind):
            table[wrong]
    swath.write_csv(path, {name: table[name] for name in ["x", "n"]})
    assert swath.read_csv(path).names == ["x", "n"]
    swath.write_csv(path, np.arange(6).reshape(3, 2))
    assert np.asarray(swath.read_csv(path)).dtype == np.int64


@pytest.mark.parametrize("kind", ["i1", "u2", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_dense_matrix_is_written_as_an_array_and_read_back(tmp_path, kind, order):
    path = tmp_path / "dense.mtx"
    matrix = np.array([[0, 1, 2], [3, 0, 5]]).astype(kind, order=order)
    if np.dtype(kind).kind == "c":
        matrix[0, 1] = 0.1 - 2j
    elif np.dtype(kind).kind == "f":
        matrix[0, 1] = 0.1
    elif kind == "u8":
        matrix[0, 1] = 2**64 - 1
    elif kind == "i8":
        matrix[0, 1] = -(2**63)
    size = swath.write_mtx(path, matrix, comment="two lines\nof text")
    lines = path.read_text().splitlines()
    field = {"c": "complex", "f": "real"}.get(np.dtype(kind).kind, "unsigned-integer" if kind == "u8" else "integer")
    assert lines[0] == f"%%MatrixMarket matrix array {field} general" and size == path.stat().st_size
    assert lines[1:4] == ["% two lines", "% of text", "2 3"] and len(lines) == 4 + 6
    values = "float32" if kind in ("f2", "f4") else "auto"
    for form in ("coo", "csr", "csc"):
        again = swath.read_mtx(path, form, values=values)
        assert again.nnz == 6, "zeros are entries too"
        np.testing.assert_array_equal(again.toarray(), matrix.astype(again.dtype))
    np.testing.assert_array_equal(swath.read_mtx(path, values=values).data[:2], matrix[:, 0], "column by column")
    np.testing.assert_array_equal(scipy_io.mmread(path).astype(again.dtype), again.toarray())


def test_dense_matrices_of_other_shapes(tmp_path):
    path = tmp_path / "dense.mtx"
    rng = np.random.default_rng(3)
    for shape in [(0, 3), (3, 0), (1, 1), (1, 100_000), (70_001, 3)]:
        for matrix in [rng.standard_normal(shape), rng.standard_normal(shape[::-1]).T]:
            swath.write_mtx(path, matrix, workers=3)
            np.testing.assert_array_equal(swath.read_mtx(path).toarray(), matrix)
    swath.write_mtx(path, np.ones((4, 4))[::2, ::-2])
    assert path.read_text() == "%%MatrixMarket matrix array real general\n2 2\n1.0\n1.0\n1.0\n1.0\n"
    path.unlink()
    for wrong, error, says in [
        (np.ones(3), ValueError, "a matrix has two dimensions, not 1"),
        (np.ones((2, 2, 2)), ValueError, "a matrix has two dimensions, not 3"),
        (np.ones((2, 2), "g"), TypeError, "float128"),
        (np.array([["a"]]), TypeError, "dtype <U1"),
        (np.array([[None]]), TypeError, "dtype object"),
        (np.ma.masked_array([[1, 2]], [[0, 1]]), TypeError, "the matrix is masked"),
        ([[1.0]], TypeError, "a list is not a .*matrix; try: "),
    ]:
        with pytest.raises(error, match=says):
            swath.write_mtx(path, wrong)
    for symmetry in ("symmetric", "skew-symmetric", "hermitian"):
        with pytest.raises(ValueError, match="symmetry=.*dense.*; try: "):
            swath.write_mtx(path, np.eye(2), symmetry=symmetry)
    assert not path.exists()
