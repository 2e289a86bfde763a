"""`swath.dask`: partitions are what the serial program reads, and outputs what it writes."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import battery
import swath
from swath import job

pytest.importorskip("dask.bag")
import dask  # noqa: E402
import dask.bag  # noqa: E402

READ = swath.dask
# What Python takes for the end of a line, and files do not.
ODD = ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r\n", "\n\r", "ä", "漢"]


@pytest.fixture(autouse=True)
def in_this_process() -> Any:
    with dask.config.set(scheduler="sync"):
        yield


def texts(folder: Path, seed: int) -> list[Path]:
    """Three files, of which one is empty and one has no end of its last line."""
    dice = random.Random(seed)
    paths = [folder / f"in-{number}.txt" for number in (2, 10, 1)]
    lines = ["".join(dice.choices("ab \n" + ODD[dice.randrange(len(ODD))], k=30)) for _ in range(90)]
    paths[0].write_text("".join(lines[:50]), newline="")
    paths[1].write_text("")
    paths[2].write_text("".join(lines[50:]) + "last", newline="")
    return paths


def lines_of(paths: list[Path], encoding: str = "utf-8") -> list[str]:
    return [line for path in paths for line in path.open(encoding=encoding, newline="\n")]


@pytest.mark.parametrize("seed", battery.some(range(8), part=1))
def test_lines_are_those_of_the_files(tmp_path: Path, seed: int) -> None:
    paths = texts(tmp_path, seed)
    expected = lines_of(paths)
    for parts in (1, 2, 7, 500):
        bag = READ.read_text(paths, parts=parts)
        assert bag.npartitions == parts and bag.compute() == expected, seed
        raw = READ.read_text(paths, parts=parts, encoding=None)
        assert raw.compute() == [line.encode() for line in expected]
        ends = READ.read_text(paths, parts=parts, delimiter="a").compute()
        whole = b"".join(path.read_bytes() for path in paths)
        assert "".join(ends).encode() == whole and all("a" not in it[:-1] for it in ends)


def test_patterns_encodings_and_sizes(tmp_path: Path) -> None:
    paths = texts(tmp_path, 1)
    by_number = [paths[2], paths[0], paths[1]]
    assert READ.read_text(str(tmp_path / "in-*.txt")).compute() == lines_of(by_number)
    assert READ.read_text(f"file://{paths[0]}").compute() == lines_of(paths[:1])
    latin = tmp_path / "latin"
    latin.write_bytes("é\nü\n".encode("latin-1") * 50)
    for part_size in (3, 50, 0):
        assert READ.read_text(latin, encoding="latin-1", part_size=part_size).compute() == ["é\n", "ü\n"] * 50
    marked = tmp_path / "marked"
    marked.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    assert READ.read_text(marked, encoding="utf-8-sig", parts=2).compute() == ["one\n", "two\n"]
    with pytest.raises(UnicodeDecodeError) as caught:
        READ.read_text(latin, parts=2).compute()
    assert re.match(f"in partition [01], {latin} at bytes [0-9]+..", caught.value.__notes__[0])
    assert READ.read_text(latin, errors="ignore").compute() == ["\n"] * 100


def test_what_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("text\n")
    for call, kind, told in [
        (lambda: READ.read_text(path, encoding="utf-16"), ValueError, "encoding='utf-16'.*; try: "),
        (lambda: READ.read_text(path, encoding="no such"), LookupError, "no such"),
        (lambda: READ.read_text(path, delimiter="csv"), ValueError, "not one byte; try: use read_records"),
        (lambda: READ.read_text(f"{path}*.no"), FileNotFoundError, "no file matches.*; try: "),
        (lambda: READ.read_text("s3://bucket/key"), ValueError, "only files.*; try: "),
        (lambda: READ.read_text(tmp_path / "missing"), swath.NotFoundError, "missing"),
        (lambda: READ.read_text([]), ValueError, "no paths given; try: "),
        (lambda: READ.read_text(3), TypeError, "neither a path.*; try: "),
        (lambda: READ.read_text(tmp_path), swath.InvalidError, "not a regular file"),
        (lambda: READ.read_records(path, form="list"), ValueError, "form='list'"),
        (lambda: READ.append(path, [1, 2]), TypeError, "not a collection of Dask; try: "),
    ]:
        with pytest.raises(kind, match=told):
            call()
    path.write_bytes(b"\x1f\x8b\x08rest")
    with pytest.raises(swath.MalformedError, match="compressed.*; try: unpack it"):
        READ.read_text(path).compute()


@pytest.mark.parametrize("form", ["bytes", "views"])
def test_records_of_every_kind(tmp_path: Path, form: Any) -> None:
    path = tmp_path / "in"
    path.write_bytes(b'a,"b\nc"\nd\n' * 70)
    for delimiter, expected in [
        (None, path.read_bytes().splitlines(keepends=True)),
        ("csv", [b'a,"b\nc"\n', b"d\n"] * 70),
        (20, [path.read_bytes()[at : at + 20] for at in range(0, 700, 20)]),
        (b"d", [*(path.read_bytes().replace(b"d", b"d|").split(b"|"))]),
    ]:
        for parts in (1, 3, 30):
            bag = READ.read_records(path, delimiter=delimiter, form=form, parts=parts)
            assert [bytes(it) for it in bag.compute()] == expected
            assert bag.map(len).sum().compute() == 700
    if form == "views":
        [views] = dask.compute(*READ.read_records(path, form="views").to_delayed())
        again = pickle.loads(pickle.dumps(views))
        assert [*again] == [*views] and len(again) == 210 and again[3] == views[3]


def test_tokens_are_those_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\n")
    os.utime(path, (1, 1))
    same = {READ.read_text(path, parts=2).name for _ in range(2)}
    others = {READ.read_text(path, parts=3).name, READ.read_text(path, parts=2, encoding=None).name}
    script = f"import swath; print(swath.dask.read_text({str(path)!r}, parts=2).name)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert same == {run.stdout.strip()}
    os.utime(path, (1, 2))
    others.add(READ.read_text(path, parts=2).name)
    assert len(same | others) == 4
    assert all(dask.utils.key_split(name) == "swath-read-text" for name in same)


def test_a_file_that_changed_is_an_error_with_partition_path_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\nthree\n")
    bag = READ.read_text(path, parts=2)
    path.write_text("one\ntwo\n")
    with pytest.raises(swath.ChangedError, match=r"at bytes 7\.\.14.*part 1") as caught:
        bag.to_delayed()[1].compute()
    assert (caught.value.filename, caught.value.offset) == (str(path), 7)


def test_no_text_travels_in_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("a line of text that is easily found\n" * 10_000)
    graph = dict(READ.read_text(path, parts=20).dask)
    assert len(graph) == 20
    size = len(pickle.dumps(graph))
    assert size < 20 * 1000


# Tables.


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    pytest.importorskip("pandas")
    pytest.importorskip("dask.dataframe")
    paths = [tmp_path / f"{number}.csv" for number in range(3)]
    for number, path in enumerate(paths):
        rows = [f"{number * 1000 + n},{n / 8},{-n}" for n in range(number * 200)]
        path.write_text("id,value,count\n" + "".join(f"{row}\n" for row in rows))
    return paths


def whole(paths: list[Path]) -> Any:
    import pandas

    frames = [swath.read_csv(path, dtypes={"value": "f8"}).to_pandas() for path in paths]
    return pandas.concat(frames, ignore_index=True)


@pytest.mark.parametrize("parts", [1, 4, 11])
def test_a_dataframe_has_the_rows_of_all_files(tables: list[Path], parts: int) -> None:
    import pandas

    frame = READ.read_csv(tables[1:], parts=parts)
    assert frame.npartitions == parts and not frame.known_divisions
    expected = whole(tables[1:])
    pandas.testing.assert_frame_equal(frame.compute().reset_index(drop=True), expected)
    assert (frame.dtypes == expected.dtypes).all()
    for chosen in [["value"], ["count", "id"]]:
        part = frame[chosen].compute().reset_index(drop=True)
        pandas.testing.assert_frame_equal(part, expected[chosen])
    assert frame["id"].sum().compute() == expected["id"].sum()
    some = READ.read_csv(tables[1:], columns=["count", 0], parts=parts).compute()
    pandas.testing.assert_frame_equal(some.reset_index(drop=True), expected[["count", "id"]])


def test_a_dataframe_of_doubles_is_one_block(tables: list[Path]) -> None:
    import pandas

    path = tables[0]
    path.write_text("a,b,c\n" + "1.5,2,9\n,-0.25,8\n" * 40)
    frame = READ.read_csv(path, dtypes=dict.fromkeys("abc", "f8"), parts=3)
    expected = swath.read_csv(path, dtypes=dict.fromkeys("abc", "f8")).to_pandas()
    found = frame.compute().reset_index(drop=True)
    pandas.testing.assert_frame_equal(found, expected)
    [part, *_] = dask.compute(*frame.to_delayed())
    part.loc[part["a"].isna(), "b"] = 7
    assert (part["b"] == 7).sum() > 0, "it can be written to"
    assert frame[["c", "a"]].sum().compute().tolist() == expected[["c", "a"]].sum().tolist()


def test_only_columns_that_are_used_are_parsed(tables: list[Path]) -> None:
    tables[1].write_text("id,text\n1,2\n" + "3,word\n" * 5)
    frame = READ.read_csv(tables[1], sample=10)
    assert frame["id"].sum().compute() == 16
    with pytest.raises(swath.MalformedError, match="line 3|word"):
        frame["text"].sum().compute()


@pytest.mark.parametrize("parts", [1, 5])
def test_a_dataframe_has_columns_of_any_types(tables: list[Path], parts: int) -> None:
    import pandas

    for number, path in enumerate(tables):
        rows = (
            f'{n},"name {n},\n of {number}",2024-01-{n % 28 + 1:02},{n / 8},{"true" if n % 3 else "false"},'
            f'{"" if n % 7 == 3 else n},2024-01-01T00:00:{n % 60:02}Z,{"red" if n % 2 else "blue"}\n'
            for n in range(number * 100, number * 100 + 90)
        )
        path.write_text("id,name,day,x,flag,gaps,moment,colour\n" + "".join(rows))
    frame = READ.read_csv(tables, parts=parts, dtypes={"colour": "dictionary", "id": "int32"})
    expected = swath.read_csv(tables, dtypes={"id": "int32"}).to_pandas()
    # Dask has a type of its own for text.
    expected["name"] = expected["name"].astype(frame["name"].dtype)
    assert [str(it) for it in frame.dtypes] == [
        "int32", "string", "datetime64[s]", "float64", "bool", "Int64", "datetime64[us, UTC]", "category",
    ]  # fmt: skip
    found = frame.compute().reset_index(drop=True)
    assert found["colour"].tolist() == expected["colour"].tolist()
    pandas.testing.assert_frame_equal(found.drop(columns="colour"), expected.drop(columns="colour"))
    assert frame[["x", "id"]].compute()["id"].tolist() == expected["id"].tolist()
    assert frame["name"].str.len().sum().compute() == expected["name"].str.len().sum()
    whole = READ.read_csv(tables, parts=parts, sample=None)
    assert whole.compute()["name"].tolist() == expected["name"].tolist()


@pytest.mark.parametrize("parts", [1, 3])
def test_files_in_one_partition_have_common_categories(tables: list[Path], parts: int) -> None:
    for path, colours in zip(tables, (["red", "blue", ""], ["green", "red", "green"])):
        path.write_text("id,colour\n" + "".join(f"{n},{colour}\n" for n, colour in enumerate(colours)))
    frame = READ.read_csv(tables[:2], parts=parts, dtypes={"colour": "dictionary"})
    assert all(str(part["colour"].dtype) == "category" for part in dask.compute(*frame.to_delayed()))
    found = frame.compute()
    assert str(found["colour"].dtype) == "category" and found["id"].tolist() == [0, 1, 2] * 2
    expected = ["red", "blue", None, "green", "red", "green"]
    assert [None if it != it else it for it in found["colour"]] == expected


def test_options_of_the_reader_are_options_of_partitions(tables: list[Path]) -> None:
    import pandas

    path = tables[1]
    path.write_text("a title\nid;flag;say\n1;ja;x\\;y\n2;nein\n3;ja;z\n")
    how: dict[str, Any] = {
        "skip_rows": 1, "rename": {"say": "said"}, "true_values": ["ja"], "false_values": ["nein"],
        "escape": "\\", "delimiter": ";", "ragged": "pad", "encoding": "utf-8",
    }  # fmt: skip
    expected = swath.read_csv(path, **how).to_pandas()
    assert expected.columns.tolist() == ["id", "flag", "said"] and expected["flag"].dtype == "bool"
    found = READ.read_csv(path, parts=2, **how).compute().reset_index(drop=True)
    expected["said"] = expected["said"].astype(found["said"].dtype)
    pandas.testing.assert_frame_equal(found, expected)
    with pytest.raises(ValueError, match='ragged=\'set_aside\' is not for partitions; try: pass ragged="pad"'):
        READ.read_csv(path, **{**how, "ragged": "set_aside"})


def test_text_without_parts_is_refused(tables: list[Path]) -> None:
    import gzip

    for data, says in [
        (gzip.compress(b"a,b\n1,2\n"), "compressed, and has no parts"),
        ("a,b\n1,2\n".encode("utf-16"), "utf-16le, and it has no parts"),
    ]:
        tables[1].write_bytes(data)
        with pytest.raises(swath.Error, match=f"{says}; try: "):
            READ.read_csv(tables[1])
    tables[1].write_text("day;x\n31.12.2024;1,5\n01.01.2025;-\n")
    frame = READ.read_csv(tables[1], decimal=",", formats={"day": "%d.%m.%Y"}, null_values=["-"], parts=2)
    found = frame.compute()
    assert found["x"].sum() == 1.5 and found["day"].dt.year.tolist() == [2024, 2025]
    with pytest.raises(TypeError, match="formats= is for a dataframe"):
        READ.read_csv(tables[1], "f8", formats={"day": "%d.%m.%Y"})


def test_an_array_has_the_numbers_of_all_files(tables: list[Path]) -> None:
    import numpy as np

    for parts in (1, 5):
        array = READ.read_csv(tables[1:], "f4", parts=parts)
        assert array.numblocks == (parts, 1) and array.dtype == "f4"
        expected = np.concatenate([swath.read_csv(path, "f4") for path in tables[1:]])
        assert np.array_equal(array.compute(), expected)
        assert array.sum().compute() == expected.sum()
    one = READ.read_csv(tables, "f8", columns=["value"], parts=3)
    assert one.compute().shape == (600, 1)


def test_types_are_those_of_the_sample_or_an_error(tables: list[Path]) -> None:
    path = tables[0]
    path.write_text("a,b\n" + "1,2\n" * 50 + ",2.5\n" + "3,4\n" * 50)
    with pytest.raises(swath.MalformedError, match="line 52"):
        READ.read_csv(path, dtypes={"b": "int64"}, parts=3).compute()
    frame = READ.read_csv(path, sample=100, dtypes={"a": "int64", 1: "f8"}, parts=3)
    with pytest.raises(swath.MalformedError, match="column 'a' has missing.*; try: pass dtypes="):
        frame.compute()
    for how in [{"sample": 100, "dtypes": ["Int64", "float64"]}, {}]:
        found = READ.read_csv(path, parts=3, **how).compute()
        assert [str(it) for it in found.dtypes] == ["Int64", "float64"]
        assert found["a"].sum() == 200 and found["a"].isna().sum() == 1
    path.write_text("a,b\n" + "1,2\n" * 50 + "2,2.5\n")
    frame = READ.read_csv(path, sample=None, parts=3)
    assert [str(it) for it in frame.dtypes] == ["int64", "float64"]
    assert READ.read_csv(path, sample=20, columns=["a"], dtypes=["f8"]).dtypes["a"] == "float64"


def test_files_with_other_columns_are_refused(tables: list[Path]) -> None:
    tables[1].write_text("id,count\n1,2\n")
    for how in [{}, {"dtype": "f8"}]:
        with pytest.raises(swath.MalformedError, match="columns are .*first file.*; try: ") as caught:
            READ.read_csv([tables[2], tables[1]], **how).compute()
        assert caught.value.filename == str(tables[1])
    with pytest.raises(TypeError, match="missing= is for an array"):
        READ.read_csv(tables[2], missing=0)
    with pytest.raises(TypeError, match="leave out one of them"):
        READ.read_csv(tables[2], "f8", dtypes={"id": "int64"})


def test_tables_without_names(tables: list[Path]) -> None:
    tables[0].write_text("1,2\n3,4\n5,6\n")
    frame = READ.read_csv(tables[0], parts=2)
    assert [*frame.columns] == ["column_1", "column_2"]
    assert frame["column_2"].compute().tolist() == [2, 4, 6]
    assert READ.read_csv(tables[0], "i4", parts=2, columns=[1]).compute().tolist() == [[2], [4], [6]]


# Matrices, and many files.


def test_compressed_matrices_have_no_parts(tmp_path: Path) -> None:
    import bz2
    import gzip

    for pack in (gzip.compress, bz2.compress):
        path = tmp_path / "in.el"
        path.write_bytes(pack(b"0 1\n" * 9000))
        for read in (READ.read_edges, READ.read_mtx):
            with pytest.raises(swath.MalformedError, match="it is compressed, and has no parts; try: "):
                read(path)


@pytest.mark.parametrize("kind", ["integer", "real", "pattern", "symmetric"])
def test_blocks_of_rows_are_the_matrix(tmp_path: Path, kind: str) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("scipy.sparse")
    path = tmp_path / "in.mtx"
    dice = np.random.default_rng(3)
    rows, columns = dice.integers(0, 70, 900), dice.integers(0, 50, 900)
    values = {"integer": dice.integers(-9, 9, 900), "pattern": None}.get(kind, dice.random(900))
    shape = (70, 70) if kind == "symmetric" else (70, 50)
    symmetry: Any = "symmetric" if kind == "symmetric" else "general"
    swath.write_mtx(path, swath.Coo(shape, rows, columns, values), symmetry=symmetry)
    expected = swath.read_mtx(path, "csr")
    for parts, blocks in [(1, 0), (4, 0), (3, 5), (5, 100)]:
        array = READ.read_mtx(path, parts=parts, blocks=blocks)
        assert array.shape == shape and array.dtype == expected.dtype
        found = array.compute()
        assert (found != expected).nnz == 0 and found.nnz == expected.nnz
        assert np.array_equal(found.indices, expected.indices), "in the order of the file"
        entries = dask.compute(*READ.read_mtx(path, "coo", parts=parts))
        assert len(entries) == parts and sum(it.nnz for it in entries) == expected.nnz
    array = READ.read_mtx(path, parts=3)
    total = array.map_blocks(lambda it: it.sum(axis=1), drop_axis=1, dtype=array.dtype)
    assert np.allclose(total.compute(), expected.sum(axis=1))


def test_edges_have_one_shape_and_one_base(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("scipy.sparse")
    path = tmp_path / "in.el"
    dice = np.random.default_rng(5)
    for first in (0, 1):
        pairs = dice.integers(5, 80, (400, 2))
        pairs[300] = first, 80 - 1 + first
        path.write_text("".join(f"{a} {b}\n" for a, b in pairs))
        for base in ("auto", first):
            expected = swath.read_edges(path, "csr", base=base)
            found = READ.read_edges(path, base=base, parts=5, blocks=3).compute()
            assert found.shape == expected.shape and (found != expected).nnz == 0
    wide = READ.read_edges(path, vertices=100, parts=2)
    assert wide.shape == (100, 100) and len(wide.chunks[0]) == 2
    with pytest.raises(ValueError, match="form='csc'"):
        READ.read_edges(path, "csc", vertices=9)  # type: ignore[arg-type]


def test_many_files_are_read_together(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / "in" / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / str(number % 3) / f"{number}").write_bytes(b"%d" % number * number)
    files = swath.ingest(tmp_path / "in")
    expected = [(path, bytes(data)) for path, data in zip(files.paths, files)]
    for parts in (1, 7):
        bag = READ.ingest(tmp_path / "in", parts=parts)
        assert [(path, bytes(data)) for path, data in bag.compute()] == expected
    [first, *_] = READ.ingest(tmp_path / "in").compute()
    assert pickle.loads(pickle.dumps(first)) == first


def test_whole_files_are_those_that_were_checked(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"public")
    [part] = job.divide([tmp_path / "in" / "file"], parts=1, division="groups")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_bytes(b"of another")

    class Exchanged:
        """A part whose folder is another one except while it is checked."""

        index, pieces = part.index, part.pieces

        def check_inputs(self) -> None:
            if (tmp_path / "aside").exists():
                (tmp_path / "in").rename(tmp_path / "other")
                (tmp_path / "aside").rename(tmp_path / "in")
            part.check_inputs()
            (tmp_path / "in").rename(tmp_path / "aside")
            (tmp_path / "other").rename(tmp_path / "in")

    from swath._dask_reading import Whole

    with pytest.raises(swath.ChangedError):
        Whole(1)(Exchanged())  # type: ignore[arg-type]


def test_what_decides_types_and_shapes_is_what_was_divided(tmp_path: Path) -> None:
    from swath._dask_sparse import Entries
    from swath._dask_tables import columns_of, columns_of_numbers

    table, matrix = tmp_path / "t.csv", tmp_path / "m.mtx"
    table.write_text("x,y\n1,2\n")
    matrix.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n")
    of_table, of_matrix = (job.divide([path], parts=1) for path in (table, matrix))
    reads = Entries(str(matrix), of_matrix[0], "read_mtx", {})
    assert reads.read((0, 0)).shape == (3, 3)
    table.write_text("y,x,z\n7,8,9\n")
    matrix.write_text(matrix.read_text().replace("3 3 1", "900 900 1"))
    for look in (
        lambda: columns_of(of_table, [str(table)], None, {}, 100, None),
        lambda: columns_of(of_table, [str(table)], None, {}, None, None),
        lambda: columns_of_numbers(of_table, [str(table)], None, {}),
        lambda: reads.read((0, 0)),
    ):
        with pytest.raises(swath.ChangedError):
            look()


# Writing.


def names(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("in"))


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_every_scheduler_writes_the_file_of_the_serial_program(tmp_path: Path, scheduler: str) -> None:
    paths = texts(tmp_path, 2)
    out = tmp_path / "out"
    bag = READ.read_text(paths, parts=6).map(str.upper)
    committed = READ.append(out, bag, scheduler=scheduler)
    assert out.read_bytes() == "".join(lines_of(paths)).upper().encode()
    assert committed.bytes == out.stat().st_size and committed.parts == 6
    bag = READ.read_text(paths, parts=6)
    READ.append(out, bag, partial(map, str.upper), scheduler=scheduler)
    assert out.read_bytes() == "".join(lines_of(paths)).upper().encode()
    assert names(tmp_path) == ["out"]


def test_items_of_every_kind(tmp_path: Path) -> None:
    out = tmp_path / "out"
    made: list[tuple[Any, dict[str, Any], bytes]] = [
        (dask.bag.range(5, 2).map(str), {"end": "\n"}, b"0\n1\n2\n3\n4\n"),
        (dask.bag.range(3, 2).map(str), {"end": b"|"}, b"0|1|2|"),
        (dask.bag.from_sequence(["é", b"x", memoryview(b"y"), ""], 3), {"end": "\n"}, "é\nx\ny\n\n".encode()),
        (dask.bag.from_sequence(["é", "ß"]), {"encoding": "latin-1"}, b"\xe9\xdf"),
        (dask.bag.from_sequence([b"a", "b"]), {}, b"ab"),
        (dask.bag.from_sequence([{"n": 1}, {"n": 2}]).map(json.dumps), {"end": "\n"}, b'{"n": 1}\n{"n": 2}\n'),
        (dask.bag.range(2000, 2).map(lambda n: b"%d" % n * (n % 40)), {}, None),
        ([dask.delayed(b"one"), dask.delayed("two"), dask.delayed(["three", b"four"])], {}, b"onetwothreefour"),
        (dask.delayed(bytearray(b"one")), {"end": "\n"}, b"one"),
        (dask.delayed(b""), {}, b""),
        (dask.delayed(5), {"function": lambda n: (str(it) for it in range(n))}, b"01234"),
    ]
    for collection, how, expected in made:
        if expected is None:
            expected = b"".join(b"%d" % n * (n % 40) for n in range(2000))
        READ.append(out, collection, **how)
        assert out.read_bytes() == expected
    with pytest.raises(TypeError, match="item 1 of a partition is a dict.*; try: map") as caught:
        READ.append(out, dask.bag.from_sequence(["a", {}], npartitions=1))
    assert "in part 0 of the job " in caught.value.__notes__[0]
    for wrong, what in [(1, "an int"), (None, "None")]:
        with pytest.raises(TypeError, match=f"^partition 0 is {what}, neither str.*; try: pass"):
            READ.append(out, dask.delayed(wrong))
        told = f"^the function returned {what} for partition 1, neither .*; try: return the text"
        with pytest.raises(TypeError, match=told):
            READ.append(out, ["one", dask.delayed(wrong)], lambda made: made)
    with pytest.raises(TypeError, match="^item 0 of a partition is None, neither str nor bytes"):
        READ.append(out, dask.bag.from_sequence([None]))
    assert out.read_bytes() == b"01234" and names(tmp_path) == ["out"]


def test_tables_are_written_as_csv(tables: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    frame = READ.read_csv(tables, parts=5)
    READ.append(out, frame)
    assert out.read_text() == whole(tables).to_csv(index=False)
    READ.append(out, frame["value"], header=False)
    assert out.read_text() == whole(tables)["value"].to_csv(index=False, header=False)
    lines = lambda part: part.to_json(orient="records", lines=True)  # noqa: E731
    READ.append(out, frame, lines)
    assert out.read_text() == whole(tables).to_json(orient="records", lines=True)
    array = READ.read_csv(tables, "i8", columns=["id", "count"], parts=5)
    READ.append(out, array, lambda chunk: (f"{a} {b}\n" for a, b in chunk))
    assert out.read_text() == "".join(f"{a} {b}\n" for a, b in array.compute())
    with pytest.raises(TypeError, match="needs a function"):
        READ.append(out, array)
    with pytest.raises(ValueError, match="rechunk"):
        READ.append(out, array.rechunk({1: 1}), bytes)


def test_segments_and_options_of_the_output(tmp_path: Path) -> None:
    bag = dask.bag.range(9, 3).map(str)
    out = tmp_path / "out"
    READ.append(out, bag, form="segments", durability="none")
    read = subprocess.run(["swath", "cat", str(out)], capture_output=True, check=True)
    assert read.stdout == b"012345678"
    with pytest.raises(swath.InvalidError, match="segments need a new folder"):
        READ.append(out, bag, form="segments")
    READ.append(tmp_path / "file", bag, folder=tmp_path / "in-between")
    with pytest.raises(swath.AlreadyExistsError):
        READ.append(tmp_path / "file", bag, replace=False)
    assert names(tmp_path) == ["file", "out"]


@pytest.mark.parametrize("form", ["file", "segments"])
def test_a_delayed_value_commits_when_it_is_computed(tmp_path: Path, form: Any) -> None:
    out = tmp_path / "out"
    made = READ.append(out, dask.bag.range(9, 3).map(str), form=form, compute=False)
    assert form == "segments" or names(tmp_path) == []
    for _ in range(2):
        assert made.compute().bytes == 9
        if form == "file":
            assert out.read_bytes() == b"012345678"
        assert names(tmp_path) == ["out"]
    total = dask.delayed(lambda committed, more: committed.bytes + more)(made, 1)
    assert total.compute() == 10


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    bag = dask.bag.range(9, 3).map(lambda n: str(1 // (n - 5)))
    for scheduler in ("sync", "threads"):
        with pytest.raises(ZeroDivisionError):
            READ.append(out, bag, scheduler=scheduler)
        assert out.read_bytes() == b"old" and names(tmp_path) == ["out"]
    with pytest.raises(swath.NotFoundError):
        READ.append(tmp_path / "missing" / "out", bag)


def test_what_is_missing_is_named() -> None:
    for blocked, call, told in [
        ("dask", "read_text('/dev/null')", "swath.dask needs dask.*pip install 'swath[dask]'"),
        ("pandas", "read_csv('/proc/self/limits')", "pip install"),
    ]:
        script = (
            f"import sys; sys.modules[{blocked!r}] = None\n"
            "import swath\n"
            f"try:\n    swath.dask.{call}\n"
            "except (ImportError, OSError) as error:\n    print(error)\n"
        )
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        if blocked == "dask":
            assert run.stdout == (
                "swath.dask needs dask, which is not installed; try: run pip install 'swath[dask]'\n"
            ), run


def test_parts_of_a_job_are_what_partitions_read(tmp_path: Path) -> None:
    paths = texts(tmp_path, 4)
    parts = job.divide(paths, parts=3)
    reads: Callable[[job.Part], Any] = swath._dask_reading.Lines(None, 1, "utf-8", "strict")
    assert [line for part in parts for line in reads(part)] == lines_of(paths)


# Types of a sample, and quotes.


def test_a_sample_never_makes_another_value(tmp_path: Path) -> None:
    def last(text: str, **how: Any) -> Any:
        path = tmp_path / "in.csv"
        path.write_text(text)
        return READ.read_csv(path, **how).compute().iloc[-1, -1]

    missing, codes = "id,n\n" + "1,\n" * 40, "id,plz\n" + "1,10115\n" * 40
    with pytest.raises(swath.MalformedError, match="'n' is of type int64 because of line 42, and of type float64"):
        last(missing + "2,9007199254740993\n", sample=60)
    assert last(missing + "2,9007199254740992\n", sample=60) == 9007199254740992.0
    assert last(missing + "2,9007199254740993\n", sample=None) == 9007199254740993
    assert last(missing + "2,9007199254740993\n", sample=60, dtypes={"n": "Int64"}) == 9007199254740993
    for number in ("01067", "+5"):
        with pytest.raises(swath.MalformedError, match="'plz' is of type text because of line 42, and of type int64"):
            last(codes + f"2,{number}\n", sample=60)
        assert last(codes + f"2,{number}\n", sample=None) == number
        assert last(codes + f"2,{number}\n", sample=60, dtypes={"plz": "int64"}) == int(number)


def test_line_ends_in_quotes_are_text_for_every_choice_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('i,f,t\n1,1.0,"x\n' + "5,5.5,z\n" * 400 + '"\n2,2.0,b\n')
    for parts in (1, 4):
        frame = READ.read_csv(path, parts=parts)
        for columns in (["i"], ["i", "f"], ["f", "t"], ["t"]):
            whole = frame[columns].compute()
            assert len(whole) == 2
            for at in range(frame.npartitions):
                assert len(frame[columns].partitions[at].compute()) == len(frame.partitions[at].compute())
    path.write_text('i,n\n"1",7\n"2",8\n')
    for dtypes in (None, {"i": "int64"}, {"i": "float64", "n": "int32"}):
        frame = READ.read_csv(path, parts=2, dtypes=dtypes)
        assert frame["i"].compute().tolist() == [1, 2] and frame.compute()["n"].tolist() == [7, 8]
    for columns in (None, ["i"], ["i", "n"]):
        frame = READ.read_csv(path, parts=2, columns=columns, dtypes={"i": "text"})
        assert frame["i"].compute().tolist() == ["1", "2"]


def test_a_file_named_as_a_pattern_hides_no_other(tmp_path: Path) -> None:
    for name in ("d1.csv", "d2.csv", "d?.csv", "*.csv"):
        (tmp_path / name).write_text("a\n1\n")
    text = "a pattern that matches [23] others"
    for pattern in ("d?.csv", "*.csv"):
        with pytest.raises(ValueError, match=text):
            swath.dask.read_text(str(tmp_path / pattern))
    with pytest.raises(ValueError, match=text):
        swath.read_csv(str(tmp_path / "*.csv"))
    (tmp_path / "d2.csv").unlink()
    (tmp_path / "d1.csv").unlink()
    assert swath.dask.read_text(str(tmp_path / "d?.csv")).count().compute() == 2
