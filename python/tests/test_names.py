"""The names that users see: those of exceptions, of modules, and of what is loaded when."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import traceback

import pytest

import swath

ERRORS = [
    thing
    for thing in map(swath.__dict__.get, swath.__all__)
    if inspect.isclass(thing) and issubclass(thing, OSError)
]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_an_exception_is_called_as_it_is_imported(kind: type[swath.Error]) -> None:
    assert (kind.__module__, kind.__qualname__) == ("swath", kind.__name__)
    assert repr(kind) == f"<class 'swath.{kind.__name__}'>"


def test_every_exception_that_is_raised_has_a_public_class(tmp_path) -> None:
    from swath import _errors

    raised = {kind for kind, _ in _errors._REASONS.values()} | set(_errors._ERRNOS.values())
    assert {kind.__name__ for kind in raised} <= {kind.__name__ for kind in ERRORS}
    with pytest.raises(FileNotFoundError) as caught:
        swath.read(tmp_path / "missing")
    text = "".join(traceback.format_exception(caught.value))
    assert "\nswath.NotFoundError: cannot open " in text, text


def test_an_exception_survives_pickling(tmp_path) -> None:
    with pytest.raises(swath.NotFoundError) as caught:
        swath.read(tmp_path / "missing")
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is swath.NotFoundError
    assert (error.errno, error.filename, str(error), error.hint, error.reason) == (
        caught.value.errno,
        caught.value.filename,
        str(caught.value),
        caught.value.hint,
        caught.value.reason,
    )


def test_modules_show_what_is_public() -> None:
    assert dir(swath.torch) == ["FileDataset", "RecordDataset", "ShuffledSampler"]
    assert dir(swath.asyncio) == ["hash", "ingest", "read", "read_array", "sum", "wait"]
    assert dir(swath.dask) == sorted(swath.dask.__all__)
    assert dir(swath.job) == sorted(swath.job.__all__)
    assert dir(swath.mpi) == sorted(swath.mpi.__all__)
    assert {"asyncio", "dask", "job", "mpi", "torch", "read"} <= {*dir(swath)}


def test_modules_load_on_first_use() -> None:
    script = (
        "import sys, swath\n"
        "names = ['swath.asyncio', 'swath.dask', 'swath.job', 'swath.mpi', 'swath.torch', 'asyncio', 'dask', 'mpi4py', 'numpy', 'scipy', 'tqdm', 'torch']\n"
        "assert not [name for name in names if name in sys.modules], sys.modules\n"
        "swath.torch.FileDataset, swath.asyncio.read\n"
        "assert {'swath.asyncio', 'swath.torch'} <= {*sys.modules}\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def progress(script: str) -> str:
    """Returns the standard error of a process without a terminal and without tqdm."""
    script = f"import sys; sys.modules['tqdm'] = None\n{script}"
    words = [sys.executable, "-c", script]
    return subprocess.run(words, check=True, capture_output=True, text=True).stderr


def test_progress_writes_one_line_into_a_log(make) -> None:
    path = make("data", 5 << 20)
    text = progress(f"import swath; swath.read({str(path)!r}, progress=True, chunk_size=65536)")
    assert text == "5 of 5 MiB\n"


def test_progress_takes_the_bar_of_notebooks_in_notebooks(make) -> None:
    path = make("data", 5 << 20)
    script = (
        "import sys, types, swath\n"
        "bar = types.ModuleType('tqdm.auto'); shown = []\n"
        "class tqdm:\n"
        "    def __init__(self, **how): shown.append(how['total'])\n"
        "    def update(self, more): pass\n"
        "    def close(self): shown.append('closed')\n"
        "bar.tqdm = tqdm; sys.modules['tqdm'] = types.ModuleType('tqdm')\n"
        "sys.modules['tqdm.auto'] = bar\n"
        f"swath.read({str(path)!r}, progress=True)\n"
        "assert shown == [5 << 20, 'closed'], shown\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
