"""Checks of the arguments of `swath.job`, and the notes that its errors get."""

from __future__ import annotations

import operator
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from typing import TYPE_CHECKING, Any

from swath._errors import a_thing
from swath._swath import JobPart, Plan

if TYPE_CHECKING:
    from swath._swath import _Bytes

# Exceptions of an executor that has lost its workers or its scheduler: a retry might wait forever.
LOST = (BrokenExecutor, CancelledError)
_COUNTS = {
    "parts": "pass how many parts there may be at most, or 0 for as many as part_size gives",
    "part_size": "pass how many bytes of input a part has, or 0 for 64 MiB",
    "retries": "pass how often a part that failed is done again, or 0 for never",
}


def check_counts(**counts: Any) -> None:
    """Fails unless all counts are integers from 0 and below 2**64."""
    for name, count in counts.items():
        try:
            is_count = operator.index(count) >= 0
        except TypeError:
            text = f"{name}={count!r}: {a_thing(count)} is not a count; try: {_COUNTS[name]}"
            raise TypeError(text) from None
        if not is_count:
            raise ValueError(f"{name}={count}: below 0; try: {_COUNTS[name]}")
        if operator.index(count) >= 2**64:
            raise ValueError(f"{name}={count}: not below 2**64; try: {_COUNTS[name]}")


def check_runnable(executor: Any, plan: Any) -> None:
    """Fails unless the arguments are an executor and a plan."""
    if not hasattr(executor, "submit"):
        hint = "pass an executor, such as concurrent.futures.ProcessPoolExecutor()"
        raise TypeError(f"{a_thing(executor)} has no submit; try: {hint}")
    if not isinstance(plan, Plan):
        hint = "pass swath.job.plan(inputs, target), or swath.job.open(folder)"
        raise TypeError(f"{a_thing(plan)} is not the plan of a job; try: {hint}")


def returning(function: Callable[[Any], _Bytes], part: JobPart) -> Callable[[Any], _Bytes]:
    """Wraps a function so that None is an error: a forgotten ``return`` gives it too."""

    def checked(given: Any) -> _Bytes:
        made = function(given)
        if made is None or isinstance(made, str):
            hint = "return text.encode()" if made else 'return bytes, b"" for nothing'
            what = f"the function returned {a_thing(made)} for part {part.index}, not bytes"
            raise TypeError(f"{what}; try: {hint}")
        return made

    return checked


def name_part(error: Exception, part: JobPart) -> None:
    """Names the part in a note, unless its attempt has. A lost worker may have had any part."""
    name = f"in part {part.index} of the job {part.folder}"
    notes = getattr(error, "__notes__", ())
    if not isinstance(error, LOST) and not any(note.startswith(name) for note in notes):
        error.add_note(name)


def note_lost(error: BaseException, plan: Plan) -> None:
    """Adds a note on what to do after an executor has lost workers or its scheduler."""
    if isinstance(error, BrokenExecutor):
        error.add_note(
            f"the executor lost a worker during the job {plan.folder}, which is given up: it may have had "
            "too little memory; try: plan the job again with smaller parts, and run it on a new executor"
        )
    elif isinstance(error, CancelledError):
        error.add_note(
            f"the executor cancelled parts of the job {plan.folder}, which is given up, as when a scheduler "
            "ends; try: plan the job again, and run it on a new executor"
        )


def note_kept(error: BaseException, plan: Plan) -> None:
    """Adds a note on where a failed commit kept the parts, and how to continue."""
    error.add_note(
        f"what the parts wrote is in {plan.folder}; try: correct the cause, then run "
        "`plan = swath.job.open(folder)` and `plan.commit(plan.done())`, or `plan.abort()`"
    )
