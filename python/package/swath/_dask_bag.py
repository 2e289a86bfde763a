"""A bag whose ``map`` is the interpreter's own. The module imports Dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dask.bag import Bag as _Bag
from dask.bag.core import reify
from dask.base import is_dask_collection, tokenize
from dask.highlevelgraph import HighLevelGraph
from dask.utils import funcname


class Bag(_Bag):  # type: ignore[misc, unused-ignore]
    """A bag of Dask. If items pass through one function only, no code of Dask runs for each item."""

    def map(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Works as ``map`` of Dask's bags."""
        if args or kwargs or is_dask_collection(func) or not callable(func):
            return super().map(func, *args, **kwargs)  # type: ignore[no-untyped-call, unused-ignore]
        name = f"{funcname(func)}-{tokenize('swath-map', func, self.name)}"
        graph: Any = {
            (name, at): (reify, (map, func, (self.name, at))) for at in range(self.npartitions)
        }
        needed: Any = [self]
        layers = HighLevelGraph.from_collections(name, graph, dependencies=needed)
        return Bag(layers, name, self.npartitions)
