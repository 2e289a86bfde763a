"""``starting_in=``: of a file that is cut anywhere, each record is in one part, whole."""

from __future__ import annotations

import gzip
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import battery
import swath

Extents = list[tuple[int, int]]

# How often each kind of file is cut.
CUTTINGS = battery.count(part=50, full=200)


def cuttings(size: int, seed: int) -> Iterator[Extents]:
    """Cuts a file into extents, some of them empty, and the last one beyond its end."""
    dice = random.Random(seed)
    print(f"seed {seed}")
    for _ in range(CUTTINGS):
        cuts = sorted(dice.choices(range(size + 2), k=dice.randrange(1, 9)))
        begins = [0, *cuts]
        ends = [*cuts, size + dice.randrange(1, 100)]
        yield [(begin, max(end - begin, 0)) for begin, end in zip(begins, ends)]


def words(dice: random.Random, newline: str) -> str:
    return "".join(dice.choices("ab, " + newline, k=dice.randrange(12)))


def check(path: Path, read: Callable[..., list[Any]], seed: int) -> None:
    """Together the parts are what one read gives, each of its records once."""
    whole = read(path)
    assert len(whole) > 50
    for extents in cuttings(path.stat().st_size, seed):
        parts = [read(path, starting_in=extent) for extent in extents]
        assert sum(parts, []) == whole, extents


def lines(path: Path, **how: Any) -> list[bytes]:
    return b"".join(swath.scan_records(path, bytes, **how)).splitlines(keepends=True)


def test_lines(tmp_path: Path) -> None:
    dice = random.Random(1)
    path = tmp_path / "lines"
    path.write_text("".join(words(dice, "\n") for _ in range(300)) + "the last one")
    check(path, lines, 2)


def test_records_of_one_width(tmp_path: Path) -> None:
    path = tmp_path / "wide"
    path.write_bytes(random.Random(3).randbytes(7 * 120))

    def read(path: Path, **how: Any) -> list[bytes]:
        blocks = swath.scan_records(path, bytes, delimiter=7, block_size=21, **how)
        assert all(len(block) % 7 == 0 for block in blocks)
        return [block[at : at + 7] for block in blocks for at in range(0, len(block), 7)]

    check(path, read, 4)


def test_records_with_newlines_in_quotes(tmp_path: Path) -> None:
    dice = random.Random(5)
    path = tmp_path / "quoted.csv"
    rows = [f'{number},"{words(dice, chr(10))}"\n' for number in range(100)]
    path.write_text("".join(rows))

    def read(path: Path, **how: Any) -> list[bytes]:
        return swath.scan_records(path, bytes, delimiter="csv", **how)

    whole = "".join(rows).encode()
    starts = {sum(map(len, rows[:number])) for number in range(len(rows) + 1)}
    for extents in cuttings(len(whole), 6):
        at = 0
        for extent in extents:
            part = b"".join(read(path, starting_in=extent))
            assert whole.startswith(part, at) and at + len(part) in starts, extent
            at += len(part)
        assert at == len(whole), extents


def test_tables(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    dice = random.Random(7)
    path = tmp_path / "table.csv"
    rows = [f"{number},{dice.random() * 10 ** dice.randrange(9)}\n" for number in range(150)]
    path.write_text("id,value\n" + "".join(rows))

    def array(path: Path, **how: Any) -> list[Any]:
        return swath.read_csv(path, "f8", **how).tolist()

    def table(path: Path, **how: Any) -> list[Any]:
        read = swath.read_csv(path, **how)
        assert read.names == ["id", "value"]
        return list(zip(read["id"].tolist(), read["value"].tolist()))

    check(path, array, 8)
    check(path, table, 9)


def test_bytes_are_those_of_the_text_of_what_is_compressed(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    rows = "".join(f"{number},{number * number}\n" for number in range(200))
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(rows.encode()))
    for extents in itertools.islice(cuttings(len(rows), 13), 20):
        parts = [swath.read_csv(path, "i8", starting_in=extent).tolist() for extent in extents]
        assert sum(parts, []) == [[number, number * number] for number in range(200)]


def test_matrices_and_graphs(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    dice = random.Random(10)
    entries = [f"{dice.randrange(1, 99)} {dice.randrange(1, 99)}" for _ in range(150)]
    market = tmp_path / "m.mtx"
    banner = "%%MatrixMarket matrix coordinate integer general\n% of nothing\n99 99 150\n"
    market.write_text(banner + "".join(f"{entry} {at}\n" for at, entry in enumerate(entries)))
    edges = tmp_path / "e.el"
    edges.write_text("".join(f"{entry}\n" for entry in entries))

    def coordinates(read: Any) -> list[Any]:
        if isinstance(read, swath.Coo):
            rows, columns = read.rows, read.columns
        else:
            rows, columns = read.row, read.col
        return list(zip(rows.tolist(), columns.tolist()))

    def mtx(path: Path, **how: Any) -> list[Any]:
        read = swath.read_mtx(path, **how)
        assert read.shape == (99, 99)
        return coordinates(read)

    def graph(path: Path, **how: Any) -> list[Any]:
        return coordinates(swath.read_edges(path, vertices=100, **how))

    check(market, mtx, 11)
    check(edges, graph, 12)


def test_a_dense_matrix_has_no_parts(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    path = tmp_path / "dense.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")
    with pytest.raises(swath.Error, match=r"dense\.mtx.*do not show their position.*try: "):
        swath.read_mtx(path, starting_in=(0, 60))


def test_a_part_of_a_pipe_is_that_of_a_file_with_its_bytes() -> None:
    code = "import swath; print(swath.scan_records(0, bytes, starting_in=(1, 3)))"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=b"a\nb\nc\nd\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(swath.__file__).parents[1])},
    )
    assert (ended.returncode, ended.stdout) == (0, b"[b'b\\n']\n"), ended


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (5, TypeError),
        ((5,), TypeError),
        ((1, 2, 3), TypeError),
        ((None, 2), TypeError),
        (("0", "1"), TypeError),
        ((-1, 2), ValueError),
        ((0, -2), ValueError),
        ((2**64 - 1, 2), ValueError),
        ((2**64, 2), ValueError),
    ],
)
def test_what_is_no_extent_is_refused(tmp_path: Path, wrong: Any, kind: type) -> None:
    path = tmp_path / "lines"
    path.write_text("1 2\n3 4\n")
    reads: list[Callable[..., Any]] = [swath.read_csv, swath.read_mtx, swath.read_edges]
    for read in [lambda path, **how: swath.scan_records(path, bytes, **how), *reads]:
        with pytest.raises(kind, match="starting_in"):
            read(path, starting_in=wrong)


def test_lists_and_numbers_of_numpy_are_extents_too(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    path = tmp_path / "lines"
    path.write_text("one\ntwo\nthree\n")
    assert lines(path, starting_in=[1, 4]) == [b"two\n"]
    assert lines(path, starting_in=numpy.array([4, 5])) == [b"two\n", b"three\n"]
    assert lines(path, starting_in=(0, 0)) == []


def test_no_length_is_all_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("1,2\n3,4\n5,6\n")
    assert swath.scan_records(path, bytes, starting_in=(1, None)) == [b"3,4\n5,6\n"]
    assert swath.read_csv(path, "f8", starting_in=(4, None)).tolist() == [[3, 4], [5, 6]]
