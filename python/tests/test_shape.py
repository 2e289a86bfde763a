"""Every function has one shape: what is read or left, what the verb always needs, then keywords."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import swath

Functions = dict[str, Callable[..., Any]]

# What is read comes first; so does the path of what is left, as in `open` and `numpy.save`.
SOURCES = {"source", "sources", "paths_or_folder", "token"}
TARGETS = {"path"}
# The kind of result: chosen by the caller, with a usual default.
OF_THE_RESULT = {"algorithm", "dtype", "form", "shape"}
READING = {"workers": 0, "page_cache": "auto", "progress": None, "profile": True}
WRITING = {
    "durability": "full",
    "replace": True,
    "hard_links": "refuse",
    "workers": 0,
    "progress": None,
}
# Many files go past what decides how one large file is read; threads of an output are the caller's, who
# knows how far they are. What opens a shared draft reads nothing.
WITHOUT = {
    "ingest": {"page_cache"},
    "ingest_stream": {"page_cache"},
    "append": {"workers", "progress"},
    "create_shared": {"workers", "progress"},
    "open_shared": set(READING),
}
# Words of others that mean two things.
TWO_MEANINGS = {
    "order": "numpy's order of indices; the order of files; the names of tensors that come first",
    "comment": "of `pandas.read_csv` what begins one; of `scipy.io.mmwrite` the text of one",
    "offset": "of `read_array`, an explicit offset turns the check of headers off, even if it is 0",
}


def public() -> Functions:
    things = {name: getattr(swath, name) for name in swath.__all__}
    return {name: thing for name, thing in things.items() if inspect.isroutine(thing)}


def faults(functions: Functions) -> list[str]:
    """Describes the deviations from the rules."""
    found: list[str] = []
    known: dict[str, tuple[str, Any]] = {}
    for name, function in functions.items():
        first, *others = inspect.signature(function).parameters.values()
        if first.name not in SOURCES | TARGETS or first.default is not first.empty:
            found.append(f"{name}: its first is {first}, no source and no target")
        options = {one.name: one for one in others if one.kind is one.KEYWORD_ONLY}
        for one in others:
            is_chosen = one.default is one.empty or one.name in OF_THE_RESULT
            if one.kind is one.POSITIONAL_OR_KEYWORD and not is_chosen:
                found.append(f"{name}: {one.name} is an option, and has a place")
            if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
                found.append(f"{name}: {one} hides what there is")
            if one.kind is one.KEYWORD_ONLY and one.default is one.empty:
                found.append(f"{name}: {one.name} is needed, and has no place")
        usual = WRITING if first.name in TARGETS else READING
        for word in usual.keys() - WITHOUT.get(name, set()) - options.keys():
            found.append(f"{name}: it has no {word}=")
        for word, one in options.items():
            here, default = known.setdefault(word, (name, usual.get(word, one.default)))
            if word not in TWO_MEANINGS and (one.default, type(one.default)) != (
                default,
                type(default),
            ):
                found.append(f"{name}: {word}={one.default!r}, and {default!r} in {here}")
    return found


def test_all_functions_have_one_shape() -> None:
    assert len(public()) > 15
    assert faults(public()) == []


def test_a_default_that_is_passed_changes_nothing(tmp_path: Any) -> None:
    csv, fixed, objects = (memoryview(it) for it in (b"a,b\n1,x\n2,\n", b"a b\n1 2\n", b'{"a": 1}\n'))
    for verb, data in [
        (swath.read_csv, csv), (swath.stream_csv, csv), (swath.csv_dtypes, csv), (swath.read_fixed, fixed),
        (swath.stream_fixed, fixed), (swath.read_jsonl, objects), (swath.stream_jsonl, objects),
        (swath.read_edges, memoryview(b"1 2\n")),
    ]:  # fmt: skip
        words = inspect.signature(verb).parameters.values()
        usual = {one.name: one.default for one in words if one.kind is one.KEYWORD_ONLY}
        for word, default in usual.items():
            found, wanted = verb(data, **{word: default}), verb(data)
            assert getattr(found, "types", str(found)) == getattr(wanted, "types", str(wanted)), (verb, word)
        verb(data, **usual)


def reads(source, *, workers=0, page_cache="auto", progress=None, profile=True): ...
def no_source(what, *, workers=0, page_cache="auto", progress=None, profile=True): ...
def a_default(source=0, *, workers=0, page_cache="auto", progress=None, profile=True): ...
def a_place(source, workers=0, *, page_cache="auto", progress=None, profile=True): ...
def no_place(source, *, dtype, workers=0, page_cache="auto", progress=None, profile=True): ...
def hides(source, *, workers=0, page_cache="auto", progress=None, **profile): ...
def lacks(source, *, workers=0, page_cache="auto", profile=True): ...
def other(source, *, workers=1, page_cache="auto", progress=None, profile=True): ...
def kind(source, *, workers=False, page_cache="auto", progress=None, profile=True): ...
def leaves(
    path, data, *, durability="full", replace=True, hard_links="refuse", workers=0, progress=None
): ...
def unsure(
    path, data, *, durability="none", replace=True, hard_links="refuse", workers=0, progress=None
): ...


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        (no_source, "its first is what, no source"),
        (a_default, "its first is source=0, no source"),
        (a_place, "workers is an option, and has a place"),
        (no_place, "dtype is needed, and has no place"),
        (hides, r"\*\*profile hides"),
        (lacks, "it has no progress="),
        (other, "workers=1, and 0 in"),
        (kind, "workers=False, and 0 in"),
        (unsure, "durability='none', and 'full' in"),
    ],
)
def test_another_shape_is_found(planted: Any, told: str) -> None:
    found = faults({**public(), "reads": reads, "leaves": leaves, "planted": planted})
    assert found
    assert all(fault.startswith("planted: ") for fault in found)
    assert any(re.search(told, fault) for fault in found), found
