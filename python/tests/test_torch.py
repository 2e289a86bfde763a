"""Datasets give every item once an epoch, in an order that seed and epoch decide."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import battery
import swath
from swath.torch import FileDataset, RecordDataset, ShuffledSampler


@pytest.fixture
def folder(make, tmp_path):
    for number in range(50):
        make(f"files/{number % 3}/{number:02}", number * 10)
    return tmp_path / "files"


def test_files_by_index_and_by_batch(folder):
    files = FileDataset(folder)
    walked = swath.ingest(folder)
    assert len(files) == 50 and files.paths == walked.paths
    expected = [bytes(data) for data in walked]
    assert [files[index] for index in range(50)] == expected
    assert files.__getitems__([7, 3, 7]) == [expected[7], expected[3], expected[7]]
    assert pickle.loads(pickle.dumps(files))[5] == expected[5]
    assert FileDataset(files.paths, len)[1] == len(expected[1])
    assert {type(item) for item in [files[1], *files.__getitems__([1])]} == {bytes}
    assert len(FileDataset(files.paths[0])) == 1
    with pytest.raises(FileNotFoundError):
        FileDataset([folder / "missing"])[0]
    with pytest.raises(IndexError):
        files[50]


def test_a_link_that_leads_nowhere_is_told_as_by_ingest(folder):
    (folder / "1" / "dangling").symlink_to(folder / "nowhere")
    for made in [FileDataset, swath.ingest]:
        with pytest.raises(FileNotFoundError, match="dangling"):
            made(folder)


def test_records_of_several_files(make):
    paths = [make(name, size) for name, size in [("a", 70), ("b", 0), ("c", 7000)]]
    whole = b"".join(path.read_bytes() for path in paths)
    records = RecordDataset(paths, 7)
    assert len(records) == 1010
    expected = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    assert records.__getitems__(list(range(1010))) == expected
    assert records.__getitems__([1009, 0, 9, 10, 0]) == [
        expected[index] for index in (1009, 0, 9, 10, 0)
    ]
    assert records[-1] == expected[-1]
    with pytest.raises(IndexError, match="record 1010 of 1010"):
        records[1010]
    with pytest.raises(ValueError, match="70 bytes are not a multiple of width=8"):
        RecordDataset(paths[0], 8)
    with pytest.raises(ValueError):
        RecordDataset(paths, 0)
    assert len(RecordDataset([], 3)) == 0


def test_a_file_of_records_that_is_replaced_is_an_error(make):
    path, other = make("records", 70), make("other", 70)
    os.utime(other, ns=(0, os.stat(path).st_mtime_ns))
    records = RecordDataset(path, 7)
    assert records[0] == path.read_bytes()[:7]
    if os.major(os.stat(path).st_dev):
        os.replace(other, path)  # of the same length and time
        with pytest.raises(swath.ChangedError, match="try: make the dataset again"):
            records[0]
    path.write_bytes(bytes(77))
    with pytest.raises(swath.ChangedError):
        records[0]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(swath.ChangedError):
        records[0]


def test_epochs_are_shuffled_by_seed():
    items = range(100)
    one, other = ShuffledSampler(items, seed=3), ShuffledSampler(items, seed=3)
    assert list(one) == list(other) and sorted(one) == list(items) != list(one)
    one.set_epoch(1)
    assert sorted(one) == list(items) and list(one) != list(other)
    assert list(ShuffledSampler(items, seed=4)) != list(other)
    ranks = [ShuffledSampler(items, rank=rank, replicas=3) for rank in range(3)]
    assert [len(list(rank)) for rank in ranks] == [34, 34, 34] == [len(rank) for rank in ranks]
    assert {index for rank in ranks for index in rank} == set(items)
    assert list(ShuffledSampler(range(1), rank=2, replicas=3)) == [0]
    assert list(ShuffledSampler(range(0), rank=1, replicas=3)) == []
    with pytest.raises(ValueError):
        ShuffledSampler(items, rank=3, replicas=3)


def python_with_torch() -> str:
    """An interpreter that has torch: this one, or that of the distribution's package."""
    for python in [sys.executable, "/usr/bin/python3"]:
        words = [python, "-c", "import torch.utils.data"]
        if Path(python).exists() and subprocess.run(words, capture_output=True).returncode == 0:
            return python
    battery.lack("torch", "no Python has it")


def test_with_the_data_loader_of_torch(folder, tmp_path):
    python = python_with_torch()
    # The other interpreter takes nothing else of this one.
    (tmp_path / "package").mkdir()
    (tmp_path / "package/swath").symlink_to(Path(swath.__file__).parent)
    path = f"{tmp_path / 'package'}:{os.environ.get('PYTHONPATH', '')}"
    script = f"""
from itertools import product
from torch.utils.data import DataLoader
from swath.torch import FileDataset, RecordDataset, ShuffledSampler

files = FileDataset({str(folder)!r})
for dataset, workers, collate in product([files, RecordDataset(files.paths, 10)], [0, 2], [None, list]):
    sampler = ShuffledSampler(dataset, seed=1)
    loader = DataLoader(
        dataset, batch_size=7, sampler=sampler, num_workers=workers, collate_fn=collate
    )
    for epoch in range(2):
        sampler.set_epoch(epoch)
        got = [item for batch in loader for item in batch]
        assert got == [dataset[index] for index in sampler], (dataset, workers, collate, epoch)
print("as expected")
"""
    # A loader that cannot send a batch waits for it for ever.
    run = subprocess.run(
        [python, "-c", script], capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": path}
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "as expected\n"), run.stderr
