"""Every cut of a small file: the parts are the whole, and have its types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import battery
import swath

Extent = tuple[int, int | None]

TABLES = [
    "x,y\n1,2.5\n3,4\n",
    "x,y\r\n1,2.5\r\n,4\r\n\r\n5,6e1\r\n",
    "x,y\n1,2\n3,4.5",
    "# c\n\nx;y\n# 1;2\n1;2\n\n# more\n3;NA\n#\n5;6.0\n# end",
    '"a\nb","c,""d"""\n1,2\n"3",4.25\n',
    "1,2\n3,4\n",
    "x\n",
    "a\tb\n1\t\n\t2\n\t\n",
    'word,day,flag\n"a\n,b",2024-02-29,true\n,,\nc,2024-03-01,false\n',
]
MATRICES = [
    "%%MatrixMarket matrix coordinate real general\n% c\n\n3 4 3\n1 2 .5\n\n% c\n3 4 -1e3\n2 2 7",
    "%%MatrixMarket matrix coordinate integer symmetric\r\n3 3 3\r\n1 1 5\r\n2 1 6\r\n3 2 7\r\n",
    "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 5 0\n2 1 6 -2\n",
    "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n",
]


def cuts(size: int) -> Iterator[list[Extent]]:
    """Two parts, and three with an empty one or one of a byte: cut at every byte, in a push at some."""
    for at in battery.some(range(size + 2), part=16):
        yield [(0, at), (at, None)]
        yield [(0, at), (at, 0), (at, 1), (at + 1, size + 9)]


def check(path: Path, read: Callable[..., list[Any]]) -> list[Any]:
    whole = read(path)
    for extents in cuts(path.stat().st_size):
        parts = [read(path, starting_in=extent) for extent in extents]
        assert sum(parts, []) == whole, extents
    return whole


@pytest.mark.parametrize("text", TABLES)
def test_tables(tmp_path: Path, text: str) -> None:
    pytest.importorskip("numpy")
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    comment = "#" if "#" in text else None
    whole = swath.read_csv(path, comment=comment)
    dtypes = swath.csv_dtypes(path, comment=comment)
    assert dtypes == whole.types

    def read(path: Path, **how: Any) -> list[Any]:
        table = swath.read_csv(path, dtypes=dtypes, comment=comment, **how)
        assert (table.names, table.dtypes) == (whole.names, whole.dtypes)
        return list(zip(*(table[at].tolist() for at in range(table.num_columns)))) if len(table) else []

    def shown(path: Path, **how: Any) -> list[str]:
        # NaN is not equal to itself.
        return [repr(row) for row in read(path, **how)]

    assert len(check(path, shown)) == len(whole)


@pytest.mark.parametrize("form", ["coo", "csr"])
@pytest.mark.parametrize("text", MATRICES)
def test_matrices(tmp_path: Path, text: str, form: Any) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("scipy")
    path = tmp_path / "a.mtx"
    path.write_bytes(text.encode())
    whole = swath.read_mtx(path, form)
    for extents in cuts(len(text)):
        parts = [swath.read_mtx(path, form, starting_in=extent) for extent in extents]
        assert {(part.shape, part.dtype) for part in parts} == {(whole.shape, whole.dtype)}
        if form == "coo":
            for field in ["row", "col", "data"]:
                joined = np.concatenate([getattr(part, field) for part in parts])
                assert np.array_equal(joined, getattr(whole, field)), extents
        assert np.array_equal(sum(part.toarray() for part in parts), whole.toarray()), extents


@pytest.mark.parametrize("text", ["0 1\n# c\n\n5 2\n2 2", "0 1 .5\r\n1\t2\t3\r\n", "0 1"])
def test_graphs(tmp_path: Path, text: str) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("scipy")
    path = tmp_path / "a.el"
    path.write_bytes(text.encode())
    whole = swath.read_edges(path, vertices=9)
    for extents in cuts(len(text)):
        parts = [swath.read_edges(path, vertices=9, starting_in=extent) for extent in extents]
        assert all(part.shape == (9, 9) for part in parts)
        for field in ["row", "col", "data"]:
            joined = np.concatenate([getattr(part, field) for part in parts])
            assert np.array_equal(joined, getattr(whole, field)), extents


@pytest.mark.parametrize("text", ["a\n\nbb\r\nccc", "\n", "a", "", 'a,"\n"\n"b""\n",c\n'])
@pytest.mark.parametrize("delimiter", [None, b"\n", "csv", 1])
def test_read_gives_the_bytes_of_the_records(tmp_path: Path, text: str, delimiter: Any) -> None:
    path = tmp_path / "text"
    path.write_bytes(text.encode())

    def scanned(path: Path, **how: Any) -> list[bytes]:
        return [b"".join(swath.scan_records(path, bytes, delimiter=delimiter, **how))]

    for extents in cuts(len(text)):
        parts = [bytes(swath.read(path, starting_in=at, delimiter=delimiter)) for at in extents]
        assert b"".join(parts) == text.encode(), extents
        assert parts == sum((scanned(path, starting_in=at) for at in extents), []), extents


def test_read_counts_from_the_start_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"xx\na\nbb\ncc\nyy")
    how: dict[str, Any] = {"offset": 3, "length": 8}
    parts = [bytes(swath.read(path, starting_in=at, **how)) for at in [(0, 4), (4, 3), (7, 99)]]
    assert parts == [b"a\n", b"bb\n", b"cc\n"]
    assert swath.read(path, starting_in=(100, 5)) == b""
    fixed = swath.read(memoryview(b"a\nb\n"), starting_in=(2, 1), readonly=True)
    assert fixed == b"b\n" and fixed.readonly
    with pytest.raises(TypeError, match="out=.*; try: "):
        swath.read(path, starting_in=(0, 1), out=bytearray(2))
    with pytest.raises(TypeError, match="delimiter=.*; try: "):
        swath.read(path, delimiter=b"\n")
    with pytest.raises(swath.NotFoundError):
        swath.read(tmp_path / "missing", starting_in=(0, 1))


def test_arrays(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "a.f8"
    np.arange(12.0).tofile(path)

    def items(path: Path, **how: Any) -> list[Any]:
        return swath.read_array(path, "f8", **how).tolist()

    def rows(path: Path, **how: Any) -> list[Any]:
        array = swath.read_array(path, "f8", (-1, 3), **how)
        assert array.shape[1:] == (3,)
        return array.tolist()

    def after(path: Path, **how: Any) -> list[Any]:
        return swath.read_array(path, "u2", offset=6, **how).tolist()

    assert len(check(path, items)) == 12 and len(check(path, rows)) == 4
    check(path, after)
    for shape, order in [(3, "C"), ((3, -1), "C"), ((-1, 2), "F"), ((-1, 0), "C")]:
        with pytest.raises(ValueError, match="not a sequence of rows; try: "):
            swath.read_array(path, "f8", shape, order=order, starting_in=(0, 9))
    path.write_bytes(bytes(20))
    assert len(swath.read_array(path, "f8", starting_in=(0, 16))) == 2
    with pytest.raises(ValueError, match="4 of its 4 bytes"):
        swath.read_array(path, "f8", starting_in=(16, 4))


@pytest.mark.parametrize("shape", [(5,), (4, 3), (0,), (0, 3), (3, 0), (1,)])
def test_npy(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "a.npy"
    whole = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
    np.save(path, whole)
    for extents in cuts(path.stat().st_size):
        parts = [swath.read_npy(path, starting_in=extent) for extent in extents]
        joined = np.concatenate(parts)
        assert joined.dtype == whole.dtype and np.array_equal(joined, whole), extents
        assert joined.shape == shape


def test_npy_that_is_not_whole_has_no_parts(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "a.npy"
    np.save(path, np.arange(100))
    good = path.read_bytes()
    for text, kind in [
        (good[:-1], swath.TruncatedError),
        (good[:-700], swath.TruncatedError),
        (good + b"x", swath.MalformedError),
    ]:
        path.write_bytes(text)
        for extent in [(0, 200), (200, None)]:
            with pytest.raises(kind):
                swath.read_npy(path, starting_in=extent)
    for array in [np.array(3), np.asfortranarray(np.zeros((2, 3)))]:
        np.save(path, array)
        with pytest.raises(swath.Error, match="has no rows"):
            swath.read_npy(path, starting_in=(0, 200))


def test_npy_has_the_header_and_the_rows_of_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np = pytest.importorskip("numpy")
    from swath import _arrays

    one, other = tmp_path / "one", tmp_path / "other"
    for folder, numbers in [(one, np.arange(100)), (other, np.arange(100.0))]:
        folder.mkdir()
        np.save(folder / "a.npy", numbers)
    real = _arrays.read

    def read(*words: Any, **how: Any) -> Any:
        found = real(*words, **how)
        if other.exists():
            one.rename(tmp_path / "before")
            other.rename(one)
        return found

    monkeypatch.setattr(_arrays, "read", read)
    found = swath.read_npy(one / "a.npy", starting_in=(0, 10_000))
    assert found.dtype == "i8" and found.tolist() == list(range(100))


def test_types_of_columns(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    path = tmp_path / "table.csv"
    path.write_text("n,x,t\n1,2,a\n3,4,b\n")
    read = lambda **how: [str(it) for it in swath.read_csv(path, columns=["x", "n"], **how).dtypes]
    assert read() == ["int64", "int64"]
    assert swath.csv_dtypes(path, columns=["x", "n"]) == ["int64", "int64"]
    for dtypes in [["f8", None], {"x": float}, {1: np.float64, "n": "i64"}, ("float64", "int64")]:
        assert read(dtypes=dtypes) == ["float64", "int64"], dtypes
    assert read(dtypes="f8") == ["float64", "float64"]
    # Of a column that is not read.
    assert read(dtypes={"t": "f8"}) == ["int64", "int64"]
    with pytest.raises(swath.InvalidError, match="no column `y`"):
        read(dtypes={"y": "f8"})
    for wrong in [["f2", "f8"], {"x": "int7"}, "f2", 3, {1.5: "f8"}]:
        with pytest.raises(TypeError, match="dtypes="):
            read(dtypes=wrong)
    with pytest.raises(ValueError, match="dtypes=.* has 3 types for 2 columns; try: "):
        read(dtypes=["f8", "f8", "f8"])
    with pytest.raises(TypeError, match="dtypes= is for a Table, and dtype= .*; try: "):
        swath.read_csv(path, "f8", dtypes=["f8"])
    path.write_text("x\n" + "1\n" * 50_000 + "2.5\n")
    assert swath.csv_dtypes(path, starting_in=(0, 1000)) == ["int64"]
    assert swath.csv_dtypes(path) == ["float64"]
    with pytest.raises(swath.MalformedError, match="line 50002.*not a value of type"):
        swath.read_csv(path, dtypes=["int64"])


def test_text_in_a_larger_file(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = tmp_path / "all.tar"
    table, matrix = b"x,y\n1,2\n3,4\n", MATRICES[0].encode()
    path.write_bytes(b"head" + table + b"\0\0" + matrix)
    how: dict[str, Any] = {"offset": 4, "length": len(table)}
    assert swath.read_csv(path, "i8", **how).tolist() == [[1, 2], [3, 4]]
    assert swath.csv_dtypes(path, **how) == ["int64", "int64"]
    assert swath.read_csv(path, "i8", starting_in=(8, 4), **how).tolist() == [[3, 4]]
    assert swath.read_mtx(path, offset=4 + len(table) + 2).shape == (3, 4)
    edges = swath.read_edges(memoryview(b"xx0 1\n2 3\n"), offset=2, length=4)
    assert edges.shape == (2, 2)
    with pytest.raises(swath.TruncatedError):
        swath.read_csv(path, "i8", offset=4, length=10_000)
