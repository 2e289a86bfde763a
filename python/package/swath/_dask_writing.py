"""Writing for Dask: attempts of partitions on workers, and one commit."""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from swath import job
from swath._dask_reading import imported
from swath._errors import AlreadyExistsError, InvalidError, NotFoundError, a_thing
from swath._job_trouble import note_kept

# Approximate bytes of items that are joined before a write; as many as in a slice that is read.
_BATCH = 64 << 10


@dataclass(frozen=True)
class Writing:
    """Converts a partition to bytes and writes them."""

    function: Callable[[Any], Any] | None
    end: str | bytes
    encoding: str
    index: bool
    header: bool

    def __call__(self, part: job.Part, partition: Any) -> list[job.Done]:
        """Writes an attempt; returns its receipt, in a list as partitions of bags are."""
        try:
            with part.writer() as out:
                self.write(out, self.text_of(part, partition), part)
        except Exception as error:
            error.add_note(f"in part {part.index} of the job {part.folder}")
            raise
        return [out.finish()]

    def text_of(self, part: job.Part, partition: Any) -> Any:
        if self.function is not None:
            return self.function(partition)
        if hasattr(partition, "to_csv"):
            header = self.header and part.index == 0
            return partition.to_csv(index=self.index, header=header, lineterminator="\n")
        return partition

    def write(self, out: job.SegmentWriter, text: Any, part: job.Part) -> None:
        if isinstance(text, str):
            out.write(text.encode(self.encoding))
        elif _is_bytes(text):
            out.write(text)
        elif isinstance(text, Iterable) and not hasattr(text, "dtype"):
            for batch in self.batches(iter(text)):
                out.write(batch)
        elif self.function is not None:
            raise TypeError(
                f"the function returned {a_thing(text)} for partition {part.index}, neither str, bytes nor "
                'an iterable of them; try: return the text of the partition, b"" for nothing'
            )
        else:
            raise TypeError(
                f"partition {part.index} is {a_thing(text)}, neither str, bytes nor an iterable of them; "
                'try: pass a function that makes them, which returns b"" for nothing'
            )

    def batches(self, items: Iterator[Any]) -> Iterator[bytes]:
        """Yields items, joined to some kilobytes."""
        count, at = 64, 0
        while batch := [*itertools.islice(items, count)]:
            made = self.together(batch, at)
            yield made
            at += len(batch)
            count = max(1, min(2 * count, 1 + len(batch) * _BATCH // max(len(made), 1)))

    def together(self, batch: list[Any], at: int) -> bytes:
        end = self.end
        if isinstance(batch[0], str):
            end = end if isinstance(end, str) else end.decode(self.encoding)
            try:
                return (end.join(batch) + end).encode(self.encoding)
            except TypeError:
                pass  # The items are of several kinds.
        after = end.encode(self.encoding) if isinstance(end, str) else end
        return b"".join(
            part for at, item in enumerate(batch, at) for part in (self.item(item, at), after)
        )

    def item(self, item: Any, at: int) -> Any:
        if isinstance(item, str):
            return item.encode(self.encoding)
        if _is_bytes(item):
            return item
        raise TypeError(
            f"item {at} of a partition is {a_thing(item)}, neither str nor bytes; try: map a function such as "
            "json.dumps, and pass end='\\n'"
        )


def _is_bytes(thing: Any) -> bool:
    """Returns whether an object has bytes, and not numbers."""
    if isinstance(thing, (bytes, bytearray)):
        return True
    try:
        with memoryview(thing) as view:
            return view.format == "B" and view.c_contiguous
    except TypeError:
        return False


# Collections.


def _partitions(collection: Any, function: Any) -> tuple[list[Any], list[Any]]:
    """Returns the keys of the partitions, in order, and the collections that have them."""
    delayed, Delayed = imported("dask").delayed, imported("dask.delayed").Delayed
    if isinstance(collection, imported("dask.bag").Bag):
        return [(collection.name, at) for at in range(collection.npartitions)], [collection]
    if isinstance(collection, Delayed):
        return [collection.key], [collection]
    if isinstance(collection, (list, tuple)) and any(isinstance(it, Delayed) for it in collection):
        made = [it if isinstance(it, Delayed) else delayed(it) for it in collection]
        return [it.key for it in made], made
    if hasattr(collection, "to_delayed") and hasattr(collection, "map_partitions"):
        made = collection.to_delayed()
        return [it.key for it in made], made
    if hasattr(collection, "to_delayed") and hasattr(collection, "chunks"):
        if function is None:
            raise TypeError("an array needs a function that makes text of a chunk; try: pass one")
        if any(count != 1 for count in collection.numblocks[1:]):
            hint = "call array.rechunk({1: -1})"
            raise ValueError(f"rows of the array are in several chunks; try: pass {hint}")
        made = collection.to_delayed().ravel().tolist()
        return [it.key for it in made], made
    raise TypeError(
        f"{a_thing(collection)} is not a collection of Dask; try: pass a bag, a dataframe, an "
        "array or a list of delayed values"
    )


def appended(
    path: Any,
    collection: Any,
    writes: Writing,
    how: dict[str, Any],
    compute_kwargs: dict[str, Any] | None,
) -> Any:
    """Writes the partitions and commits: now, or when the returned value is computed."""
    keys, needed = _partitions(collection, writes.function)
    if compute_kwargs is None:
        return _later(path, keys, needed, writes, how)
    plan = job.plan([], path, parts=len(keys), **how)
    name = f"swath-append-{plan.id}"
    try:
        graph = {(name, part.index): (writes, part, key) for part, key in zip(plan.parts, keys)}
        layers = _layers(name, graph, needed)
        bag = imported("dask.bag").Bag
        if isinstance(needed[0], bag):
            done = bag(layers, name, len(keys)).compute(**compute_kwargs)
        else:
            done = _together(name, layers, [*graph]).compute(**compute_kwargs)
    except BaseException as error:
        job._given_up(plan, error)
        raise
    return job._committed(plan, done)


def _together(name: str, layers: Any, keys: list[Any]) -> Any:
    """Returns the receipts of all partitions as one value, for collections other than bags."""
    end = f"{name}-receipts"
    graph = imported("dask.highlevelgraph").HighLevelGraph(
        {**layers.layers, end: {end: (_flat, keys)}}, {**layers.dependencies, end: {name}}
    )
    return imported("dask.delayed").Delayed(end, graph)


def _layers(name: str, graph: dict[Any, Any], needed: list[Any]) -> Any:
    """Returns the tasks, after those of the collections that they need."""
    high = imported("dask.highlevelgraph").HighLevelGraph
    return high.from_collections(name, graph, dependencies=needed)


def _flat(done: list[list[job.Done]]) -> list[job.Done]:
    return [one for of_part in done for one in of_part]


def _later(
    path: Any, keys: list[Any], needed: list[Any], writes: Writing, how: dict[str, Any]
) -> Any:
    """Returns a delayed value, whose tasks begin the job, write, commit, and remove the job's folder."""
    nonce = uuid.uuid4().hex
    begin, commit, end = (f"swath-{it}-{nonce}" for it in ("plan", "commit", "append-end"))
    path = os.path.abspath(os.fsdecode(path))
    graph: dict[Any, Any] = {}
    if how["form"] == "segments":
        # The folder is the output, so it does not identify its job: the job is begun once, here.
        plan = job.plan([], path, parts=len(keys), **how)
        graph[begin] = (_same, plan)
    else:
        folder = os.path.abspath(os.fsdecode(how["folder"] or f"{path}.job-{nonce[:8]}"))
        graph[begin] = (Beginning(path, len(keys), {**how, "folder": folder}),)
    name = f"swath-append-{nonce}"
    for at, key in enumerate(keys):
        graph[name, at] = (_write_part, writes, begin, at, key)
    graph[commit] = (_commit, begin, [(name, at) for at in range(len(keys))])
    graph[end] = (_end, begin, commit)
    return imported("dask.delayed").Delayed(end, _layers(end, graph, needed))


@dataclass(frozen=True)
class Beginning:
    """Begins a job. If Dask runs it again, it opens the same job, as long as the folder exists."""

    path: str
    parts: int
    how: dict[str, Any]

    def __call__(self) -> job.Plan:
        try:
            return job.plan([], self.path, parts=self.parts, **self.how)
        except AlreadyExistsError:
            if not os.path.isdir(self.how["folder"]):
                raise
            plan = job.open(self.how["folder"], hard_links=self.how["hard_links"])
            if plan.target != self.path or len(plan) != self.parts:
                raise  # It is the job of another output.
            return plan


def _same(plan: job.Plan) -> job.Plan:
    return plan


def _write_part(writes: Writing, plan: job.Plan, at: int, partition: Any) -> list[job.Done]:
    try:
        return writes(plan.part(at), partition)
    except Exception as error:
        # Dask runs a task again if its result was lost, even after the commit. The commit then needs no
        # receipts: it returns its earlier result.
        if isinstance(error, InvalidError) and plan.status().state == "committed":
            return []
        error.add_note(
            f"the folder of the job stays: {plan.folder}; try: correct the cause, then compute it again, or "
            "run `swath.job.open(folder).abort()`"
        )
        raise


def _commit(plan: job.Plan, done: list[list[job.Done]]) -> job.Committed:
    try:
        return plan.commit(_flat(done))
    except Exception as error:
        note_kept(error, plan)
        raise


def _end(plan: job.Plan, committed: job.Committed) -> job.Committed:
    try:
        plan.remove()
    except NotFoundError:
        pass  # An earlier run of this task, whose result was lost, removed it.
    return committed
