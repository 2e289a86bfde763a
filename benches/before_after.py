#!/usr/bin/env python3
"""Times two builds of the command beside each other: did a change make anything slower?

    python3 benches/before_after.py BEFORE AFTER --data DIR --out FOLDER [--rounds 9] [--only CASE]

BEFORE and AFTER are two binaries of `swath`. Each case is one whole command, run in turn by both
(which one begins changes from round to round), after one run each that is not counted. The inputs
are made by AFTER in DIR and removed again: 3.5 GB. FOLDER gets raw.csv, every run, and summary.md,
medians and the median of after / before, round by round, with a bootstrap interval of 95 %; beside it
the same of BEFORE with itself, which is noise. A case is slower if its whole interval lies above
1.02 and above the noise. Exit status 1 if any is.
"""

import argparse
import csv
import functools
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time

# Name, words; {name} is an input of that name, {out} a file that is removed before each run.
CASES = {
    "read 2 GiB, warm": "read {bytes}",
    "read 2 GiB, past the page cache": "read --page-cache bypass {bytes}",
    "sum 2 GiB, warm": "sum {bytes}",
    "scan 2 GiB, warm": "scan {bytes}",
    "sum --hash xxh3 2 GiB, warm": "sum --hash xxh3 {bytes}",
    "cat 2 GiB, warm": "cat {bytes}",
    "100 classes of 2 GiB, warm": "read {bytes} --classes 100 --chunks 2000",
    "read 8 KiB": "read {small}",
    "cp 8 KiB": "cp --durability none {small} {out}",
    "cp 512 MiB": "cp --durability none --reflink never {letters} {out}",
    "compress, zstd": "compress --durability none {letters} {out}",
    "compress, gzip": "compress --durability none --format gzip {letters} {out}",
    "decompress, zstd": "decompress --durability none {zst} {out}",
    "decompress, bzip2": "decompress --durability none {bz2} {out}",
    "CSV to .npy": "convert --durability none {csv} {out}.npy",
    "CSV to Arrow": "convert --durability none {csv} {out}.arrow",
    "Matrix Market to .npz": "convert --durability none {mtx} {out}.npz",
    "Matrix Market to edges": "convert --durability none {mtx} {out}.el",
    "price": "price {options} -o {out}",
    "ingest 20,000 files": "ingest {tree}",
    "ingest 20,000 files, xxh3": "ingest --hash xxh3 {tree}",
}
# What builds before the one shape of call say.
OLD = {"--durability": "--sync"}
MADE = (
    "gen bytes 2GiB -o {bytes}",
    "gen bytes 8KiB -o {small}",
    "gen letters 512MiB -o {letters}",
    "gen csv 256MiB -o {csv}",
    "gen mtx --scale 20 -o {mtx}",
    "gen options 1000000 -o {options}",
    "gen tree --files 20000 --size 10kB -o {tree}",
    "compress {letters} {zst}",
    "gen letters 64MiB -o {few}",
    "compress --format bzip2 {few} {bz2}",
)


def names(data):
    """The path of each input."""
    plain = ("bytes", "small", "letters", "few", "options", "tree")
    odd = {"csv": "table.csv", "mtx": "graph.mtx", "zst": "letters.zst", "bz2": "few.bz2"}
    return {name: str(data / name) for name in plain} | {
        name: str(data / file) for name, file in odd.items()
    }


@functools.cache
def is_old(swath):
    """Whether a build has the words of before."""
    said = subprocess.run([swath, "cp", "--help"], capture_output=True, text=True, check=True)
    return "--durability" not in said.stdout


def run(swath, case, paths):
    """One command, which must succeed; its wall and its processor seconds."""
    out = pathlib.Path(paths["out"])
    for old in out.parent.glob(out.name + "*"):
        old.unlink()
    words = [word.format(**paths) for word in case.split()]
    words = [OLD.get(word, word) if is_old(swath) else word for word in words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([swath, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{swath} {' '.join(words)}: {done.stderr.decode()}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def rounds(builds, case, paths, count):
    """Rows of (round, build, wall, processor) of `count` rounds, each in another order."""
    for build in builds.values():
        run(build, case, paths)
    rows = []
    for index in range(count):
        order = list(builds)[index % len(builds) :] + list(builds)[: index % len(builds)]
        rows += [(index, name, *run(builds[name], case, paths)) for name in order]
    return rows


def ratios(rows, column, build="after"):
    """build / before, round by round."""
    by_round = {}
    for row in rows:
        by_round.setdefault(row[0], {})[row[1]] = row[column]
    return [found[build] / found["before"] for found in by_round.values()]


def interval(values, seed=1):
    """A bootstrap interval of 95 % of the median."""
    rng = random.Random(seed)
    medians = sorted(
        statistics.median(rng.choices(values, k=len(values))) for _ in range(2000)
    )
    return medians[49], medians[1949]


def verdict(low, high, noise):
    if low > max(1.02, noise[1]):
        return "slower"
    if high < min(0.98, noise[0]):
        return "faster"
    return "no slower" if high <= 1.02 else "undecided"


def line(name, rows):
    """A row of the summary, and whether the case is slower."""
    median = {
        build: statistics.median(row[2] for row in rows if row[1] == build)
        for build in ("before", "after")
    }
    wall, used = ratios(rows, 2), ratios(rows, 3)
    low, high = interval(wall)
    noise = interval(ratios(rows, 2, "again"))
    said = verdict(low, high, noise)
    text = (
        f"| {name} | {median['before'] * 1000:.1f} | {median['after'] * 1000:.1f} "
        f"| {statistics.median(wall):.3f} [{low:.3f}, {high:.3f}] "
        f"| [{noise[0]:.3f}, {noise[1]:.3f}] | {statistics.median(used):.3f} | {said} |"
    )
    return text, said == "slower"


HEAD = """\
# Before and after

| case | before, ms | after, ms | after / before [95 %] | noise | processor time | verdict |
| --- | --- | --- | --- | --- | --- | --- |
"""


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("before")
    words.add_argument("after")
    words.add_argument("--data", type=pathlib.Path, required=True)
    words.add_argument("--out", type=pathlib.Path, required=True)
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--only", help="cases whose name has this word")
    args = words.parse_args()
    builds = {"before": args.before, "after": args.after, "again": args.before}
    args.data.mkdir(parents=True)
    args.out.mkdir(parents=True, exist_ok=True)
    paths = names(args.data) | {"out": str(args.data / "out")}
    slower = False
    try:
        for command in MADE:
            run(args.after, command, paths)
        with open(args.out / "raw.csv", "w", newline="") as raw, open(
            args.out / "summary.md", "w"
        ) as summary:
            table = csv.writer(raw)
            table.writerow(["case", "round", "build", "wall_s", "processor_s"])
            summary.write(HEAD)
            for name, case in CASES.items():
                if args.only and args.only not in name:
                    continue
                rows = rounds(builds, case, paths, args.rounds)
                table.writerows((name, *row) for row in rows)
                text, is_slower = line(name, rows)
                slower |= is_slower
                print(text, flush=True)
                summary.write(text + "\n")
    finally:
        shutil.rmtree(args.data)
    sys.exit(1 if slower else 0)


main()
