"""Buffers and tables in pickles: without a copy where the transport takes buffers."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import pytest

import swath

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def words(path: Path) -> swath.Buffer:
    path.write_bytes(bytes(range(256)) * 40)
    return swath.read(path)


def same(one: Any, other: Any) -> bool:
    """Whether two buffers begin at one address, as a write through the one shows."""
    before = one[0]
    memoryview(other)[0] ^= 255
    changed = one[0] != before
    memoryview(other)[0] ^= 255
    return changed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_has_the_bytes(tmp_path: Path, protocol: int) -> None:
    data = words(tmp_path / "file")
    again = pickle.loads(pickle.dumps(data, protocol))
    assert type(again) is swath.Buffer and again == data and not again.readonly
    again[0] = 7
    assert data[0] == 0, "it has memory of its own"
    fixed = swath.read(tmp_path / "file", readonly=True)
    again = pickle.loads(pickle.dumps(fixed, protocol))
    assert again == fixed and again.readonly
    with pytest.raises(TypeError):
        again[0] = 1
    empty = pickle.loads(pickle.dumps(data[:0], protocol))
    assert len(empty) == 0 and bytes(empty) == b""


def test_buffers_out_of_band_are_not_copied(tmp_path: Path) -> None:
    data = words(tmp_path / "file")
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps({"part": data, "slice": data[10:20]}, 5, buffer_callback=buffers.append)
    assert len(text) < 300 and [len(it.raw()) for it in buffers] == [len(data), 10]
    assert same(data, buffers[0]), "the pickler has the memory itself"
    # The bytes that the other side received.
    received = bytearray(buffers[0].raw())
    again = pickle.loads(text, buffers=[received, bytes(buffers[1].raw())])
    assert again["part"] == data and again["slice"] == data[10:20]
    assert same(again["part"], received) and not again["part"].readonly
    assert again["slice"].readonly, "bytes cannot be written to"
    with pytest.raises(BufferError):
        received.append(0)
    del again
    received.append(0)


def test_views_that_are_read_only_stay_so(tmp_path: Path) -> None:
    words(tmp_path / "file")
    fixed = swath.read(tmp_path / "file", readonly=True)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(fixed, 5, buffer_callback=buffers.append)
    assert pickle.loads(text, buffers=[bytearray(fixed)]).readonly
    assert pickle.loads(text, buffers=buffers) == fixed


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_gaps_and_numbers_survive(tmp_path: Path, protocol: int) -> None:
    np = pytest.importorskip("numpy")
    data = words(tmp_path / "file")
    for part in [data[::3], data[::-1], data[5:100:7]]:
        again = pickle.loads(pickle.dumps(part, protocol))
        assert again == part and again.nbytes == len(part)
    (tmp_path / "points.csv").write_text("x,y\n1,0.5\n2,1.5\n3,2.5\n")
    for column in range(2):
        values = swath.read_csv(tmp_path / "points.csv").values(column)
        again = pickle.loads(pickle.dumps(values, protocol))
        one, other = memoryview(again), memoryview(values)
        assert (one.format, one.shape, one.tolist()) == (other.format, other.shape, other.tolist())
        assert np.asarray(again).dtype == np.asarray(values).dtype
    array = swath.read_csv(tmp_path / "points.csv", "f4")
    again = pickle.loads(pickle.dumps(array.base.obj, protocol))
    assert memoryview(again).shape == (3, 2) and np.array_equal(np.asarray(again), array)


def test_copies_have_memory_of_their_own(tmp_path: Path) -> None:
    data = words(tmp_path / "file")
    for way in [copy.copy, copy.deepcopy]:
        for part in [data, data[1:9], data[::2]]:
            made = way(part)
            assert type(made) is swath.Buffer and made == part
            made[0] ^= 255
            assert made != part


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    data = words(tmp_path / "file")
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(data, 5, buffer_callback=buffers.append)
    with pytest.raises(ValueError, match="10 bytes, but should have .*10240.*; try: "):
        pickle.loads(text, buffers=[bytes(10)])
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(text)
    closed = memoryview(bytearray(data))
    closed.release()
    with pytest.raises(ValueError, match="released"):
        pickle.loads(text, buffers=[closed])
    for wrong in [("x", (3,)), ("B", (4,)), ("Q", (2**63,)), ("d", (3,))]:
        with pytest.raises(ValueError, match="the pickled buffer has"):
            swath._swath.restore_buffer(b"abc", *wrong, False, False)
    with pytest.raises(OverflowError):
        swath._swath.restore_buffer(b"abc", "B", (-3,), False, False)
    for wrong in [b"", bytes(80), b"\xff" * 80]:
        with pytest.raises(ValueError, match="the pickled table is damaged"):
            swath._swath.restore_table(wrong)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_tables_survive(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "table.csv"
    path.write_text("n,x\n" + "".join(f"{n if n % 7 else ''},{n / 4}\n" for n in range(100)))
    for table in [swath.read_csv(path), swath.read_csv(path)[13:20], swath.read_csv(path)[:0]]:
        again = pickle.loads(pickle.dumps(table, protocol))
        assert type(again) is swath.Table and again.names == table.names
        assert again.shape == table.shape
        for column in range(2):
            assert again.values(column) == table.values(column)
            bits = table.validity(column)
            assert (again.validity(column) == bits) if bits else again.validity(column) is None
    path.write_text("1,2\n3,4\n")
    assert pickle.loads(pickle.dumps(swath.read_csv(path), protocol)).names == ["column_1", "column_2"]


def part_of(words: tuple[Path, tuple[int, int]]) -> tuple[swath.Buffer, swath.Table]:
    path, extent = words
    return swath.read(path, starting_in=extent), swath.read_csv(path, starting_in=extent)


def test_other_processes_send_parts(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("n,x\n" + "".join(f"{n},{n / 4}\n" for n in range(20_000)))
    size = path.stat().st_size
    parts = [(path, (at, 10_000)) for at in range(0, size, 10_000)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(part_of, parts)
    assert b"".join(bytes(lines) for lines, _ in found) == path.read_bytes()
    assert sum(len(table) for _, table in found) == 20_000
