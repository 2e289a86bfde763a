"""Stubs say what the built module has, and the package keeps to them."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

import battery
import swath
from swath import _options

pytest.importorskip("mypy")
HERE = pathlib.Path(__file__).parent


@pytest.fixture(autouse=True, scope="module")
def one_cache(tmp_path_factory):
    """Facts about numpy are looked up once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPY_CACHE_DIR", str(tmp_path_factory.mktemp("mypy")))
        yield


def checked(*words: str, where: pathlib.Path) -> None:
    run = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=where)
    assert run.returncode == 0, run.stdout + run.stderr


def stubtest(folder: pathlib.Path, module: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Compares stubs with what is there; those of a part of the package without what it imports."""
    words = [sys.executable, "-m", "mypy.stubtest", module, "--ignore-unused-allowlist"]
    words += ["--allowlist", str(HERE / "stubs-allowed.txt")]
    if module != "swath":
        config = folder / "mypy.ini"
        # Of what it imports, only the words of options are looked at.
        config.write_text("[mypy]\nfollow_imports = skip\n[mypy-swath._options]\nfollow_imports = normal\n")
        words += ["--mypy-config-file", str(config)]
    environment = {**os.environ, **variables}
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment)


def test_the_stubs_are_those_of_the_built_module(tmp_path):
    run = stubtest(tmp_path, "swath" if battery.IS_FULL else "swath._swath")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("verb", "kind", "more"),
    [
        (swath.read, _options.BytesOptions, ["out"]),
        (swath.scan_records, _options.RecordOptions, ["combine", "containing"]),
    ],
)
def test_keywords_of_overloads_are_those_of_the_built_module(verb, kind, more):
    words = inspect.signature(verb).parameters.values()
    there = {one.name: one.default for one in words if one.kind is one.KEYWORD_ONLY}
    assert there == {**dict.fromkeys(more), **_options.filled(kind, {})}


def test_every_option_of_the_library_is_a_keyword_with_a_text():
    # The form has verbs of its own.
    words = {word for word, _ in swath._swath.table_settings()} - {"form", "types"} | {"dtypes"}
    assert words <= _options._TABLES.keys()
    for verb in (swath.read_csv, swath.stream_fixed, swath.read_jsonl, swath.read_mtx, swath.write_csv):
        for word in inspect.signature(verb).parameters:
            assert re.search(rf"^    (\w+, )*{word}\b.*\n        \S", verb.__doc__, re.M), (verb, word)


def test_a_stub_that_lies_is_found(tmp_path):
    stub = pathlib.Path(swath.__file__).with_name("_swath.pyi").read_text()
    package = tmp_path / "stubs" / "swath"
    package.mkdir(parents=True)
    for file in pathlib.Path(swath.__file__).parent.glob("*.py*"):
        if file.suffix in (".py", ".pyi", ".typed"):
            (package / file.name).write_bytes(file.read_bytes())
    (package / "_swath.pyi").write_text(stub.replace("def is_ready(", "def is_there("))
    run = stubtest(tmp_path, "swath._swath", MYPYPATH=str(tmp_path / "stubs"))
    assert run.returncode != 0 and "is_there" in run.stdout, run.stdout + run.stderr


def test_the_package_keeps_to_them(tmp_path):
    checked("mypy", "--strict", "-p", "swath", where=tmp_path)


def test_what_users_write_is_checked(tmp_path):
    good = tmp_path / "good.py"
    good.write_text(
        "import swath\n"
        "data: swath.Buffer = swath.read('x', engine='ring', page_cache='bypass')\n"
        "view: memoryview = swath.read('x', out=bytearray(3))\n"
        "total: int = swath.sum(['a', 'b'], verify='vote')\n"
        "lines = sum(swath.scan_records('x', lambda block: len(block)))\n"
        "with swath.append('y', mode='plain') as out, out.place() as place:\n"
        "    place.write(b'')\n"
        "paths: list[str] = ['a', 'b']\n"
        "swath.read(paths)\n"
        "files: swath.torch.FileDataset[bytes] = swath.torch.FileDataset('x')\n"
        "sizes: list[int] = swath.torch.RecordDataset('x', 4, len).__getitems__([0])\n"
        "names: list[str] = list(swath.read_csv('x'))\n"
        "part: swath.Buffer = swath.read('x', starting_in=(0, None), delimiter='csv')\n"
        "dtypes: list[str] = swath.csv_dtypes('x', columns=['a', 2], starting_in=(0, 9))\n"
        "swath.read_csv('x', dtypes=dtypes, starting_in=(0, 9))\n"
        "swath.read_mtx('x', offset=3, length=9)\n"
        "import copy\n"
        "again: swath.Buffer = copy.copy(data)\n"
    )
    checked("mypy", "--strict", str(good), where=tmp_path)
    if importlib.util.find_spec("numpy"):
        arrays = tmp_path / "arrays.py"
        arrays.write_text(
            "import numpy as np, swath\n"
            "view: memoryview = swath.read('x', out=np.zeros(3))\n"
            "with swath.append('y') as out:\n"
            "    out.write(np.zeros(3))\n"
            "    out.map_ordered(lambda item: np.zeros(3), range(3))\n"
            "swath.read_prioritised('x', [(0, 1, 2)])\n"
        )
        checked("mypy", "--strict", str(arrays), where=tmp_path)
    bad = tmp_path / "bad.py"
    for call, word in [
        ("read('x', engine='map')", "engine"),
        ("read_csv('x', ragged='skip')", "ragged"),
        ("read_fixed('x', delimiter=',')", "delimiter"),
        ("write_csv('x', [], durability='some')", "durability"),
    ]:
        bad.write_text(f"import swath\nswath.{call}\n")
        with pytest.raises(AssertionError, match=word):
            checked("mypy", "--strict", str(bad), where=tmp_path)


def test_everything_is_explained():
    for name in swath.__all__:
        thing = getattr(swath, name)
        if callable(thing):
            assert thing.__doc__ and len(thing.__doc__) > 20, name
            for method in vars(thing).values() if isinstance(thing, type) else []:
                if callable(method) and not getattr(method, "__name__", "_").startswith("_"):
                    assert method.__doc__, (name, method)
