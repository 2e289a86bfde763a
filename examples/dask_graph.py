"""PageRank on blocks of rows: the graph is read in parts, and each worker keeps rows of it."""

import tempfile
from pathlib import Path

import dask
import numpy as np

import swath


def main() -> None:
    count, edges = 2_000, 40_000
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "graph.el"
        pairs = np.random.default_rng(2).integers(0, count, (edges, 2))
        path.write_text("".join(f"{a} {b}\n" for a, b in pairs))

        # Row v has the edges that begin in v; shares flow along them.
        graph = swath.dask.read_edges(path, vertices=count, base=0, blocks=4, part_size=64 << 10)
        blocks = dask.persist(*graph.to_delayed().ravel())
        starts = np.cumsum([0, *graph.chunks[0]])

        @dask.delayed
        def flow(block, rank, degree):
            return block.T @ (rank / np.maximum(degree, 1))

        degrees = dask.compute(*(dask.delayed(lambda it: it.sum(axis=1))(it) for it in blocks))
        rank = np.full(count, 1 / count)
        for _ in range(10):
            parts = zip(blocks, np.split(rank, starts[1:-1]), degrees)
            flows = dask.compute(*(flow(block, part, degree) for block, part, degree in parts))
            rank = 0.15 / count + 0.85 * sum(flows)
        print(f"the highest rank has vertex {rank.argmax()}: {rank.max():.6f}")

        whole = swath.read_edges(path, "csr", vertices=count, base=0)
        again = np.full(count, 1 / count)
        for _ in range(10):
            again = 0.15 / count + 0.85 * (whole.T @ (again / np.maximum(whole.sum(axis=1), 1)))
        assert np.allclose(rank, again)


if __name__ == "__main__":
    main()
