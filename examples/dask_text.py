"""Lines through a function of Python on a cluster, into one ordered file, beside the serial program."""

import tempfile
from functools import partial
from pathlib import Path

import distributed

import swath


def reversed_words(line: str) -> str:
    return " ".join(reversed(line.split())) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for day in range(3):
            lines = (f"day {day} line {n} {'x' * (n % 30)}\n" for n in range(20_000))
            (folder / f"day-{day}.log").write_text("".join(lines))

        # Two processes here; a cluster of many machines is used in the same way.
        how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with distributed.Client(host="127.0.0.1", **how):
            lines = swath.dask.read_text(str(folder / "day-*.log"), part_size=256 << 10)
            out = swath.dask.append(folder / "out.log", lines, partial(map, reversed_words))
            print(f"{out.bytes} bytes of {lines.npartitions} partitions in one file")

            # Bags are Dask's own: anything that they do can come before.
            some = lines.filter(lambda line: line.startswith("day 1 ")).map(str.upper)
            swath.dask.append(folder / "some.log", some)

        serial = [line for day in range(3) for line in (folder / f"day-{day}.log").open()]
        assert (folder / "out.log").read_text() == "".join(map(reversed_words, serial))
        chosen = [line.upper() for line in serial if line.startswith("day 1 ")]
        assert (folder / "some.log").read_text() == "".join(chosen)


if __name__ == "__main__":
    main()
