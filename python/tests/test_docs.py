"""Every public name has an example, and every example runs."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import folder
import pytest

import swath

MODULES = {
    "swath": swath,
    "swath.asyncio": swath.asyncio,
    "swath.dask": swath.dask,
    "swath.job": swath.job,
    "swath.torch": swath.torch,
}
# Names whose examples make arrays.
ARRAYS = re.compile(r"read_(array|npy|csv|mtx|edges)|write_(csv|jsonl|arrow)|(load|stream)_safetensors|Table")
# Classes that are built from Rust.
METHODS_OF = (
    swath.Draft,
    swath.DraftWriter,
    swath.job.Done,
    swath.job.Part,
    swath.job.Piece,
    swath.job.Plan,
    swath.job.SegmentWriter,
    swath.Append,
    swath.Buffer,
    swath.Files,
    swath.Place,
    swath.Prioritised,
    swath.Stream,
    swath.Table,
    swath.TableStream,
)


def things() -> Iterator[tuple[str, Any]]:
    """Modules, functions, classes, and methods of classes that are built from Rust."""
    for module, found in MODULES.items():
        yield module, found
        for name in found.__all__:
            thing = getattr(found, name)
            if not callable(thing):
                continue
            yield f"{module}.{name}", thing
    for kind in METHODS_OF:
        for name, method in vars(kind).items():
            if not name.startswith("_") and inspect.isroutine(method):
                yield f"{kind.__module__}.{kind.__name__}.{name}", getattr(kind, name)


def examples() -> list[doctest.DocTest]:
    parser = doctest.DocTestParser()
    made = [parser.get_doctest(thing.__doc__ or "", {}, name, None, 0) for name, thing in things()]
    return [test for test in made if test.examples]


@pytest.mark.parametrize("test", examples(), ids=lambda test: test.name)
def test_the_example_runs(test: doctest.DocTest, tmp_path: Path, monkeypatch: Any) -> None:
    text = test.docstring
    needed = set(re.findall(r"import (numpy|pandas|pyarrow)", text))
    needed |= {"numpy"} if ARRAYS.search(test.name) else set()
    needed |= {"pyarrow"} if test.name == "swath.read_arrow" else set()
    if test.name.startswith("swath.dask"):
        needed |= {"dask", "numpy"}
        needed |= {"pandas", "dask.dataframe"} if "csv" in test.name else set()
        needed |= {"scipy"} if re.search("mtx|edges", test.name) else set()
    for module in sorted(needed):
        pytest.importorskip(module)
    folder.fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    test.globs = {"swath": swath}
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert not runner.summarize(verbose=False).failed, "".join(report)


def test_every_public_name_has_an_example() -> None:
    with_one = {test.name for test in examples()}
    assert [name for name, _ in things() if name not in with_one] == []


def test_no_example_needs_numpy_without_a_reason() -> None:
    plain = {"swath.read", "swath.ingest", "swath.append", "swath.hash", "swath.scan_records"}
    for test in examples():
        if test.name in plain:
            assert "numpy" not in "".join(one.source for one in test.examples), test.name


def test_what_needs_numpy_says_how_to_install_it() -> None:
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "import swath\n"
        "try:\n"
        "    swath.read_array('/dev/null', 'f8')\n"
        "except ImportError as error:\n"
        "    print(error.name, error)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout == (
        "numpy arrays need numpy, which is not installed; try: run pip install 'swath[numpy]'\n"
    ), run
