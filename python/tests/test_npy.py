"""Files of numpy's own, and what is not a file of plain numbers."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile

import pytest

import swath

np = pytest.importorskip("numpy")


def test_an_array_is_read_as_it_was_saved(tmp_path):
    path = tmp_path / "a.npy"
    array = np.arange(24.0).reshape(2, 3, 4)
    for saved in [array, array.T, array[0, 0, 0], array[:0], np.array(["ä", "b"]), array.astype(">i2")]:
        np.save(path, saved)
        again = swath.read_npy(path)
        assert (again.dtype, again.shape, again.strides) == (saved.dtype, saved.shape, np.load(path).strides)
        np.testing.assert_array_equal(again, saved)
        assert again.flags.writeable and again.flags.aligned
    np.save(path, array)
    assert not swath.read_npy(path, readonly=True).flags.writeable
    assert not swath.read_npy(path).flags.owndata, "it is the memory that was read to"
    np.testing.assert_array_equal(swath.read_npy([path, path]), array)
    with path.open("rb") as file:
        np.testing.assert_array_equal(swath.read_npy(file), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_header_is_read(tmp_path, version):
    path = tmp_path / "a.npy"
    name = "größe" if version == (3, 0) else "size"
    array = np.array([(1, 2.5)], [(name, "<i4"), ("x", "<f8")])
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version)
    again = swath.read_npy(path)
    assert again.dtype == array.dtype and again[name].tolist() == [1]


def test_what_is_no_npy_is_told_with_its_path(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(5.0))
    whole = path.read_bytes()
    for wrong, kind, match in [
        (b"", swath.MalformedError, "not a .npy file"),
        (b"1,2\n", swath.MalformedError, "not a .npy file"),
        (whole[:-1], swath.TruncatedError, "the file has 39"),
        (whole[:50], swath.MalformedError, "damaged"),
        (whole + b"x", swath.MalformedError, "the file has 41"),
        (whole.replace(b"(5,)", b"(-5,)"), swath.MalformedError, "damaged|shape"),
        (whole.replace(b"'<f8'", b"'<zz'"), swath.MalformedError, "damaged"),
        (whole.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"), swath.MalformedError, "damaged"),
    ]:
        path.write_bytes(wrong)
        with pytest.raises(kind, match=match) as raised:
            swath.read_npy(path)
        assert raised.value.filename == str(path) and "try: " in str(raised.value)
    np.save(path, np.array([None]), allow_pickle=True)
    with pytest.raises(swath.Error, match="objects of Python"):
        swath.read_npy(path)
    with pytest.raises(FileNotFoundError):
        swath.read_npy(tmp_path / "missing.npy")


def test_a_damaged_header_is_an_error_and_nothing_else(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6, dtype="i2").reshape(2, 3))
    whole = path.read_bytes()
    for at in range(90):
        for change in (0x01, 0x10, 0x80):
            wrong = bytearray(whole)
            wrong[at] ^= change
            path.write_bytes(wrong)
            try:
                swath.read_npy(path)
            except swath.Error as error:
                assert error.filename == str(path)


def test_an_array_is_written_as_numpy_writes_it(tmp_path):
    ours, theirs = tmp_path / "ours.npy", tmp_path / "theirs.npy"
    array = np.arange(24.0).reshape(2, 3, 4)
    for saved in [array, array.T, array[:, ::2], np.float32(1.5), array[:0], array.astype(">c16"), np.array(["ä"])]:
        size = swath.write_npy(ours, saved)
        np.save(theirs, saved)
        assert size == ours.stat().st_size and ours.read_bytes() == theirs.read_bytes()
    assert swath.write_npy(ours, [[1, 2], [3, 4]]) > 0 and np.load(ours).tolist() == [[1, 2], [3, 4]]
    before = ours.read_bytes()
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for wrong in [[None], np.ones(2, ml_dtypes.bfloat16), np.ones(1, [("名", "i4")])]:
        with pytest.raises(TypeError, match="try: "):
            swath.write_npy(ours, wrong)
    assert ours.read_bytes() == before
    with pytest.raises(FileNotFoundError):
        swath.write_npy(tmp_path / "no folder" / "a.npy", array)


def known_files(folder):
    """Files of formats that begin with a mark, and what reads them."""
    np.save(folder / "a.npy", np.arange(1000.0))
    np.savez(folder / "a.npz", a=np.arange(1000.0))
    with zipfile.ZipFile(folder / "empty.zip", "w"):
        pass
    (folder / "a.gz").write_bytes(gzip.compress(bytes(8000)))
    (folder / "a.bz2").write_bytes(bz2.compress(bytes(8000)))
    (folder / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(796))
    (folder / "a.arrow").write_bytes(b"ARROW1\0\0" + bytes(792))
    (folder / "a.xz").write_bytes(lzma.compress(bytes(8000)))
    (folder / "a.lz4").write_bytes(b"\x04\x22\x4d\x18" + bytes(796))
    (folder / "a.parquet").write_bytes(b"PAR1\x15\x04" + bytes(794))
    swath.save_safetensors(folder / "a.safetensors", {"a": np.arange(1000.0)})
    return {
        "a.npy": "swath.read_npy", "a.npz": "numpy.load", "empty.zip": "pass another file",
        "a.xz": "xz -d", "a.lz4": "lz4 -d", "a.parquet": "convert it",
        "a.safetensors": "swath.load_safetensors",
        "a.gz": "swath decompress", "a.bz2": "swath decompress", "a.zst": "swath decompress",
        "a.arrow": "swath.read_arrow",
    }


def test_a_header_is_not_read_as_numbers(tmp_path):
    for name, instead in known_files(tmp_path).items():
        path = tmp_path / name
        with pytest.raises(swath.MalformedError, match=f"not a file of plain numbers.*try: .*{instead}") as raised:
            swath.read_array(path, "u1")
        assert raised.value.filename == str(path)
        with pytest.raises(swath.MalformedError, match="plain numbers"):
            swath.read_array([path, path], "u1", 16, out=bytearray(16))
        # With an explicit offset= the bytes are read as they are.
        assert swath.read_array(path, "u1", offset=0).tobytes() == path.read_bytes()
        assert swath.read_array(path, "u1", offset=4).tobytes() == path.read_bytes()[4:]
    assert (swath.read_array(tmp_path / "a.npy", "f8", offset=128) == np.arange(1000.0)).all()
    (tmp_path / "short").write_bytes(b"\x93N")
    assert swath.read_array(tmp_path / "short", "u1").tolist() == [0x93, 0x4E]


def test_arrow_files_are_read_as_tables(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.arrow"
    table = pyarrow.table({"n": pyarrow.array([1, None, 2**53 + 1]), "x": [0.5, 1.5, None]})
    with pyarrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=2)
    seen = []
    again = swath.read_arrow(path, workers=2, page_cache="drop", progress=lambda *told: seen.append(told))
    assert type(again) is swath.Table and pyarrow.table(again).equals(table.combine_chunks()) and seen
    words = pyarrow.table({"n": [1], "word": ["a"]})
    with pyarrow.ipc.new_file(path, words.schema) as file:
        file.write_table(words)
    assert pyarrow.table(swath.read_arrow(path)).equals(words)
    with pyarrow.ipc.new_stream(path, words.schema) as file:
        file.write_table(words)
    assert pyarrow.table(swath.read_arrow(path)).equals(words)


def test_without_numpy_the_error_says_what_to_install(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1\n")
    script = f"""
import sys
sys.modules["numpy"] = None
import swath
for call in [
    lambda: swath.read_array({str(path)!r}, "u1"),
    lambda: swath.read_npy({str(path)!r}),
    lambda: swath.write_npy({str(path)!r}, [1]),
    lambda: swath.read_csv({str(path)!r})[0],
    lambda: swath.write_csv({str(path)!r}, [1]),
    lambda: swath.write_mtx({str(path)!r}, None),
    lambda: swath.save_safetensors({str(path)!r}, {{"a": [1]}}),
]:
    try:
        call()
    except ImportError as error:
        assert "swath[numpy]" in str(error), error
    else:
        raise AssertionError("numpy is not there")
assert swath.read({str(path)!r}) == b"1\\n"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_modules_of_the_package_are_there_when_they_are_named():
    script = """
import sys, swath
assert "swath.torch" not in sys.modules and "swath.asyncio" not in sys.modules
assert swath.torch.FileDataset and swath.asyncio.read
try:
    swath.nothing
except AttributeError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)
