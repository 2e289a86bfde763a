"""An error says what, where and what to try, as an OSError does and more."""

from __future__ import annotations

import collections
import errno
import os
import pickle
import threading

import pytest

import swath


def test_what_is_missing_is_a_file_not_found_error(tmp_path):
    path = tmp_path / "missing"
    for verb in [swath.read, swath.sum, swath.hash, swath.ingest]:
        with pytest.raises(FileNotFoundError) as raised:
            verb(path)
        error = raised.value
        assert isinstance(error, swath.Error) and isinstance(error, OSError)
        assert (error.errno, error.filename) == (errno.ENOENT, str(path))
        assert str(path) in str(error) and "check the path" in str(error)
        assert "No such file" in str(error)
        assert (error.reason, error.hint) == ("Io", "check the path")


def test_a_descriptor_that_is_closed_is_told_by_the_kernels_number():
    for verb in [swath.read, swath.sum, swath.hash, lambda it: swath.read_prioritised(it, 1)]:
        with pytest.raises(swath.Error, match="999999.*Bad file descriptor.*try") as raised:
            verb(999999)
        assert raised.value.errno == errno.EBADF and "999999" in raised.value.filename


def test_copies_none_of_which_is_there_are_not_found(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(FileNotFoundError, match="none of its copies") as raised:
        swath.read(paths)
    assert raised.value.errno == errno.ENOENT
    with pytest.raises(FileNotFoundError, match="none of its copies"):
        swath.read(collections.UserList(paths))
    paths[1].mkdir()
    with pytest.raises(swath.Error, match="none of its copies"):
        swath.read(paths)


def of_another_length(path):
    path.with_name("copy").write_bytes(b"longer than that")
    return swath.read([path, path.with_name("copy")], verify="vote")


def of_no_end(path):
    with open(path, "r+b") as file:
        file.truncate(1 << 43)
    return path


@pytest.mark.parametrize(
    "call, hint",
    [
        (lambda path: swath.read(of_no_end(path)), "read less at a time, or use scan_records,"),
        (lambda path: swath.ingest([of_no_end(path)]), "stream the files by ingest_stream instead of"),
        (lambda path: swath.append(path, replace=False).commit(), "or pass replace=True"),
        (of_another_length, "pass a manifest of the right file to verify="),
    ],
)
def test_a_hint_names_what_python_has(make, call, hint):
    with pytest.raises(swath.Error) as raised:
        call(make("file", 10))
    assert hint in raised.value.hint and str(raised.value).endswith(f"; try: {raised.value.hint}")
    assert "`" not in raised.value.hint and "--" not in raised.value.hint


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError) as raised:
        swath.read(tmp_path)
    assert raised.value.errno == errno.EISDIR


def test_a_name_writes_no_line_of_its_own(tmp_path):
    path = str(tmp_path / "no\nError: all is lost")
    with pytest.raises(FileNotFoundError) as raised:
        swath.read(path)
    assert "no\\nError" in raised.value.strerror and "\n" not in raised.value.strerror
    assert raised.value.filename == path


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_is_not_allowed(make):
    path = make("file", 10)
    path.chmod(0)
    with pytest.raises(PermissionError):
        swath.read(path)


def test_bytes_that_are_not_there_are_named(make):
    path = make("file", 100)
    with pytest.raises(swath.TruncatedError) as raised:
        swath.read(path, offset=50, length=100)
    error = raised.value
    assert (error.offset, error.length, error.errno) == (50, 100, errno.EIO)
    assert "50..150" in str(error) and isinstance(error, EOFError)
    assert error.filename == str(path)


def test_options_that_contradict_are_value_errors(make):
    path = make("file", 10)
    with pytest.raises(ValueError) as raised:
        swath.read(path, offset=2**64 - 1, length=2**64 - 1)
    assert isinstance(raised.value, swath.Error)


def test_a_file_that_changes_is_an_error_and_never_short(make):
    path = make("file", 64 << 20)
    size = 64 << 20

    def shorten(done, total):
        if done < size // 2:
            os.truncate(path, size // 2)

    with pytest.raises((swath.ChangedError, swath.TruncatedError)) as raised:
        swath.read(path, progress=shorten, chunk_size=65536, workers=1)
    assert raised.value.filename == str(path)


def test_an_error_can_be_pickled(tmp_path):
    with pytest.raises(swath.Error) as raised:
        swath.read(tmp_path / "missing")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is type(raised.value) and again.errno == errno.ENOENT
    assert again.filename == raised.value.filename and str(again) == str(raised.value)
    assert again.hint == raised.value.hint


def test_errors_in_many_threads_are_each_their_own(tmp_path):
    wrong = []

    def work(number):
        path = tmp_path / f"missing-{number}"
        for _ in range(200):
            try:
                swath.read(path)
            except FileNotFoundError as error:
                if error.filename != str(path):
                    wrong.append(error)
            else:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
