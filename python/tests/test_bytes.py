"""A Buffer finds, counts, splits and decodes as bytes do, and gives views only as it can."""

from __future__ import annotations

import ctypes
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import battery
import swath

quick = settings(
    max_examples=battery.count(part=50, full=300),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# Few letters, so that something is found.
letters = st.lists(st.sampled_from(b"ab \n\xc3\xa4"), max_size=12).map(bytes)
places = st.none() | st.integers(-15, 15)


def outcome(call):
    """The result, or the class of the error."""
    try:
        return call()
    except Exception as error:
        return type(error)


@quick
@given(whole=letters, sub=letters | st.integers(0, 255), start=places, end=places, step=st.sampled_from([1, 2, -1, -3]))
def test_it_is_searched_as_bytes_are(tmp_path, whole, sub, start, end, step):
    path = tmp_path / "data"
    path.write_bytes(whole)
    data = swath.read(path)
    for ours, theirs in [(data, whole), (data[start:end], whole[start:end]), (data[::step], whole[::step])]:
        assert ours == theirs and bytes(ours) == theirs and ours.nbytes == len(ours) == len(theirs)
        assert (sub in ours) is (sub in theirs)
        for name in ["find", "rfind", "index", "rindex", "count"]:
            mine, other = getattr(ours, name), getattr(theirs, name)
            for place in [(), (start,), (start, end)]:
                assert outcome(lambda: mine(sub, *place)) == outcome(lambda: other(sub, *place)), name
        if isinstance(sub, bytes):
            for name in ["startswith", "endswith"]:
                for edge in [sub, (b"x", sub), ()]:
                    mine, other = getattr(ours, name), getattr(theirs, name)
                    assert mine(edge, start, end) == other(edge, start, end), name
            for name in ["split", "rsplit", "partition", "rpartition"]:
                assert outcome(lambda: getattr(ours, name)(sub)) == outcome(lambda: getattr(theirs, name)(sub))
            assert outcome(lambda: ours.split(sub, 1)) == outcome(lambda: theirs.split(sub, 1))
        assert ours.split() == theirs.split() and ours.rsplit(None, 1) == theirs.rsplit(None, 1)
        assert ours.splitlines() == theirs.splitlines()
        assert ours.splitlines(keepends=True) == theirs.splitlines(keepends=True)
        assert outcome(ours.decode) == outcome(theirs.decode)
        assert ours.decode("latin-1") == theirs.decode("latin-1")
        assert ours.decode(errors="replace") == theirs.decode(errors="replace")


def test_places_beyond_any_memory_are_its_ends(make):
    data = swath.read(make("a", 1000))
    whole = bytes(data)
    for start, end in [(-(2**70), 2**70), (2**70, None), (0, -(2**70)), (2**63, 2**64)]:
        for name in ["find", "rfind", "count"]:
            assert getattr(data, name)(whole[:3], start, end) == getattr(whole, name)(whole[:3], start, end)
        assert data.startswith(whole[:3], start, end) is whole.startswith(whole[:3], start, end)
    with pytest.raises(TypeError):
        data.find(b"a", "x")
    assert data.splitlines(1) == whole.splitlines(True) and data.splitlines(0) == whole.splitlines()
    # As bytes do, it stops at the first that is there.
    assert data.startswith((whole[:2], "no bytes"))
    with pytest.raises(TypeError):
        data.startswith(("no bytes", whole[:2]))


def test_what_bytes_refuse_is_refused(make):
    data = swath.read(make("a", 1000))
    for call, kind in [
        (lambda: "a" in data, TypeError),
        (lambda: 256 in data, ValueError),
        (lambda: -1 in data, ValueError),
        (lambda: data.find("a"), TypeError),
        (lambda: data.index(bytes(100)), ValueError),
        (lambda: data.startswith("a"), TypeError),
        (lambda: data.split(b""), ValueError),
        (lambda: hash(data), TypeError),
        (lambda: hash(swath.read(make("a", 10), readonly=True)), TypeError),
        (lambda: data[1000], IndexError),
        (lambda: data["a"], TypeError),
    ]:
        with pytest.raises(kind):
            call()
    assert data == bytearray(data) == memoryview(data) and data != b"" and (data == "a") is False
    assert bytearray(b"\x01") in swath.read(make("a", 5000)) and memoryview(data)[5:9] in data


def test_a_slice_looks_at_the_same_memory(make):
    path = make("a", 1000)
    whole = path.read_bytes()
    data = swath.read(path)
    part = data[100:200]
    assert type(part) is swath.Buffer and part == whole[100:200] and part[10:20] == whole[110:120]
    part[0] = whole[100] ^ 1
    assert data[100] == whole[100] ^ 1
    part[1:3] = b"xy"
    assert data[101:103] == b"xy"
    counted = sys.getrefcount(data)
    nested = data[1:]
    for _ in range(2000):
        nested = nested[0:]
    assert sys.getrefcount(data) == counted + 1, "a slice of a slice keeps the whole, not the slice"
    del data, part
    assert nested[500:] == whole[501:]
    readonly = swath.read(path, readonly=True)[5:10]
    assert readonly.readonly and memoryview(readonly).readonly
    with pytest.raises(TypeError):
        readonly[0] = 1


def test_numbers_are_not_searched_as_bytes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n\n1\n2\n3\n")
    values = swath.read_csv(path).values(0)
    assert 2 in values and 5 not in values and memoryview(values[1:]).tolist() == [2, 3]
    assert memoryview(values[::-2]).tolist() == [3, 1]
    for call in [lambda: values.find(b"a"), lambda: values.decode(), lambda: values.split()]:
        with pytest.raises(TypeError, match="holds numbers, not bytes"):
            call()


class View(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


def view(thing, flags):
    """The description of a view, or "refused"."""
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(View), ctypes.c_int]
    made = View()
    try:
        get(thing, made, flags)
    except (BufferError, ValueError):
        return "refused"
    dimensions = made.ndim if made.shape else 0
    said = (
        made.len,
        made.itemsize,
        made.ndim if dimensions != 1 or made.shape else 1,
        made.shape[:dimensions] if made.shape else None,
        made.strides[:dimensions] if made.strides else None,
    )
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(made))
    return said


SIMPLE, ND, STRIDES, C, F, ANY = 0, 0x8, 0x18, 0x38, 0x58, 0x98


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (3, 1), (0, 3), (1, 1)])
def test_a_view_is_granted_as_numpy_grants_it(tmp_path, shape):
    np = pytest.importorskip("numpy")
    path = tmp_path / "a.csv"
    array = np.arange(12.0).reshape(2, 6)[: shape[0], : shape[1]].copy()
    array = np.ones(shape) if array.shape != shape else array
    if array.size:
        swath.write_csv(path, array)
    else:
        path.write_text("a,b,c\n")
    buffer = swath.read_csv(path, "float64").base
    buffer = buffer.obj if isinstance(buffer, memoryview) else buffer
    for flags in [SIMPLE, ND, STRIDES, C, F, ANY]:
        ours, theirs = view(buffer, flags), view(array, flags)
        assert (ours == "refused") == (theirs == "refused"), flags
        if ours != "refused" and array.size:
            assert ours[:3] == theirs[:3] and ours[3] == theirs[3], flags
    np.testing.assert_array_equal(np.asarray(buffer), array)


def test_a_view_of_gaps_is_granted_as_numpy_grants_it(make):
    np = pytest.importorskip("numpy")
    data = swath.read(make("a", 100))
    array = np.asarray(data)
    for step in [2, -1, 50, 99, 100]:
        for flags in [SIMPLE, ND, STRIDES, C, F, ANY]:
            ours, theirs = view(data[::step], flags), view(array[::step], flags)
            assert (ours == "refused") == (theirs == "refused"), (step, flags)
        assert bytes(data[::step]) == bytes(data)[::step] == np.asarray(data[::step]).tobytes()
    # A consumer that wants bytes without gaps says so.
    with pytest.raises(BufferError, match="gaps"):
        swath.read(make("a", 50), out=data[::2])
