"""A CSV file as a dataframe, as an array, and back as one file."""

import tempfile
from pathlib import Path

import distributed
import numpy as np

import swath


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "points.csv"
        values = np.random.default_rng(1).random(50_000)
        swath.write_csv(path, {"id": np.arange(50_000), "value": values, "group": np.arange(50_000) % 7})

        how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with distributed.Client(host="127.0.0.1", **how):
            frame = swath.dask.read_csv(path, part_size=256 << 10)
            means = frame.groupby("group")["value"].mean().compute()  # `id` is not parsed
            print(means)
            assert np.allclose(means[3], values[3::7].mean())

            array = swath.dask.read_csv(path, "f8", columns=["value"], part_size=256 << 10)
            assert np.isclose(array.sum().compute(), values.sum())

            large = Path(name) / "large.csv"
            swath.dask.append(large, frame[frame["value"] > 0.5])
        assert len(swath.read_csv(large)) == (values > 0.5).sum()


if __name__ == "__main__":
    main()
