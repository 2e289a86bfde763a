"""Views outlive what they were made from, and nobody writes where it is not allowed."""

from __future__ import annotations

import array
import ctypes
import gc
import multiprocessing
import subprocess
import sys
import weakref

import pytest

import battery
import swath

np = pytest.importorskip("numpy")


def test_a_view_outlives_the_buffer(make):
    path = make("file", 3 << 20)
    expected = path.read_bytes()
    views = []
    for _ in range(battery.count(part=5, full=20)):
        data = swath.read(path)
        views.append((memoryview(data)[1:], np.asarray(data)[5:]))
        del data
        gc.collect()
    # Other reads come and go in the same pool.
    for _ in range(5):
        swath.read(path)
    for view, array in views:
        assert view == expected[1:]
        assert array.tobytes() == expected[5:]


def test_it_is_writable_unless_it_was_asked_not_to_be(make):
    path = make("file", 100_000)
    data = swath.read(path)
    array = np.asarray(data)
    assert array.flags.writeable and not data.readonly
    array[0] ^= 255
    data[1] = 7
    assert data[0] == path.read_bytes()[0] ^ 255 and memoryview(data)[1] == 7
    again = swath.read(path)
    assert again == path.read_bytes(), "nobody else sees it"
    fixed = swath.read(path, readonly=True)
    assert fixed.readonly and not np.asarray(fixed).flags.writeable
    with pytest.raises(TypeError):
        fixed[0] = 1
    with pytest.raises(TypeError):
        memoryview(fixed)[0] = 1
    with pytest.raises(ValueError):
        np.asarray(fixed)[0] = 1


def test_it_is_memory_like_any_other(make):
    path = make("file", 4096)
    data = swath.read(path)
    view = memoryview(data)
    assert (view.format, view.itemsize, view.ndim, view.shape) == ("B", 1, 1, (4096,))
    assert view.c_contiguous and view.nbytes == 4096
    assert view.cast("Q")[0] == int.from_bytes(path.read_bytes()[:8], sys.byteorder)
    assert data[10:12] == path.read_bytes()[10:12] and data[-1] == path.read_bytes()[-1]
    assert data == path.read_bytes() and data != b"" and data != 3
    assert "4096" in repr(data)
    with pytest.raises(TypeError):
        hash(data)
    with pytest.raises(IndexError):
        data[4096]
    with pytest.raises(TypeError):
        swath.Buffer()
    empty = swath.read(make("empty", 0))
    assert len(empty) == 0 and memoryview(empty).nbytes == 0 and bytes(empty) == b""


def test_it_ends_when_nothing_uses_it(make):
    data = swath.read(make("file", 100))
    weak = weakref.ref(data)
    assert weak() is data
    del data
    gc.collect()
    assert weak() is None


def test_memory_without_shape_or_strides_is_taken_by_its_bytes(make, tmp_path):
    path = make("file", 8)
    expected = path.read_bytes()
    for out in [
        (ctypes.c_double * 1)(),
        (ctypes.c_uint16 * 4)(),
        ctypes.c_int64(),
        multiprocessing.RawArray("B", 8),
        np.zeros(()),
        array.array("I", [0, 0]),
        np.zeros(1, "M8[s]").view("V8"),
    ]:
        view = swath.read(path, out=out)
        assert view == expected and bytes(memoryview(out)) == expected, out
        assert (view.nbytes, view.format, view.readonly) == (8, "B", False)
        with swath.append(tmp_path / "out", durability="none") as file:
            file.write(out)
        assert (tmp_path / "out").read_bytes() == expected
    for gaps in [np.zeros(16, "u1")[::2], np.zeros((4, 2), "u1", order="F")]:
        with pytest.raises(BufferError, match="out= has gaps"):
            swath.read(path, out=gaps)
    with pytest.raises(BufferError, match="out= is read-only"):
        swath.read(path, out=bytes(8))
    with pytest.raises(TypeError):
        swath.read(path, out=8)


def test_arrays_of_any_way_to_say_a_shape(make):
    path = make("file", 120)
    whole = np.fromfile(path, "u2")
    for shape in [np.int64(5), 5, [5], (np.int8(5),), np.array([5])]:
        assert (swath.read_array(path, "u2", shape) == whole[:5]).all()
    out = np.zeros(60, "u2")
    made = swath.read_array(path, "u2", (-1, 3), out=out)
    assert (out == whole).all() and made.shape == (20, 3) and np.shares_memory(made, out)
    with pytest.raises(ValueError, match="file.*60 items are not a multiple of 7"):
        swath.read_array(path, "u2", (7, -1))
    for wrong in [{"shape": (-1, -1)}, {"shape": (2, -3)}, {"order": "X"}]:
        with pytest.raises(ValueError):
            swath.read_array(path, "u2", **wrong)
    with pytest.raises(TypeError, match="read_array"):
        swath.read_array(path, "u2", foo=1)


def test_memory_is_given_back(make):
    path = make("file", 64 << 20)
    # In a process of its own: what others hold does not count.
    script = f"""
import swath
for _ in range(40):
    swath.read({str(path)!r})
print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 64 << 10 < int(run.stdout) < 400 << 10, "forty times as much was kept"


def test_arrays(make):
    path = make("file", 8 * 1000)
    expected = np.fromfile(path, np.float64)
    for shape, order in [(None, "C"), (1000, "C"), ((10, 100), "C"), ((10, 100), "F"), ((-1, 8), "C")]:
        array = swath.read_array(path, np.float64, shape, order=order)
        wanted = expected if shape is None else expected.reshape(shape, order=order)
        assert array.dtype == np.float64 and array.flags.writeable
        np.testing.assert_array_equal(array, wanted)
    np.testing.assert_array_equal(
        swath.read_array(path, ">i4", 7, offset=40), np.fromfile(path, ">i4", 7, offset=40)
    )
    pair = np.dtype([("a", "<u2"), ("b", "<f8")])
    np.testing.assert_array_equal(
        swath.read_array(path, pair, 3)["a"], np.fromfile(path, pair, 3)["a"]
    )
    odd = swath.read_array(make("odd", 1_000_003), "f8", offset=3)
    assert odd.flags.aligned and odd.flags.writeable
    np.testing.assert_array_equal(odd, np.fromfile(make("odd", 1_000_003), "f8", offset=3))
    assert swath.read_array(make("empty", 0), np.int32).shape == (0,)
    with pytest.raises(ValueError, match="2 of its 8000 bytes from 0 on"):
        swath.read_array(path, "S3")
    with pytest.raises(swath.TruncatedError):
        swath.read_array(path, np.float64, 1001)
    with pytest.raises(ValueError, match="objects"):
        swath.read_array(path, object)
    with pytest.raises(ValueError):
        swath.read_array(path, np.float64, (-2, 3))


def test_an_array_keeps_its_memory(make):
    path = make("file", 1 << 20)
    array = swath.read_array(path, np.uint8)
    alive = weakref.ref(array)
    part = array[100:200]
    del array
    gc.collect()
    assert part.tobytes() == path.read_bytes()[100:200]
    del part
    gc.collect()
    assert alive() is None
