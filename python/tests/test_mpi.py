"""`swath.mpi` with several ranks: the numbers of one process, one output once, and the same error on all.

What ranks do is in `ranks.py`.
"""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import battery
import swath

pytest.importorskip("numpy")
pytest.importorskip("scipy")
if shutil.which("mpirun") is None or importlib.util.find_spec("mpi4py") is None:
    pytest.skip("no mpirun, or no mpi4py", allow_module_level=True)

PROGRAM = Path(__file__).with_name("ranks.py")
# More ranks than cores, by root too, on the loopback interface only.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
RANKS = 3
WHOLE = b"".join(bytes([65 + rank]) * (256 << 10) for rank in range(RANKS))


def run(ranks: int, *words: object) -> subprocess.CompletedProcess[str]:
    command = ["mpirun", "-n", str(ranks), sys.executable, PROGRAM, *words]
    return subprocess.run(
        [*map(str, command)], env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("ranks", battery.some([1, 2, 3, 4], part=1))
def test_ranks_have_together_what_one_process_has(ranks: int, tmp_path: Path) -> None:
    if shutil.which("swath") is None:
        pytest.skip("no command `swath`")
    done = run(ranks, "every", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_examples_run(tmp_path: Path) -> None:
    done = run(1, "examples", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def check_left(folder: Path) -> None:
    """Checks the files of a killed program: old or complete, and the next writer removes the rest."""
    out = folder / "out"
    # mpirun may return while a rank that it killed still ends.
    until = time.monotonic() + 60
    while True:
        try:
            found = out.read_bytes()
            swath.append(out).commit()
            break
        except swath.Error as error:
            if "is writing it" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)
    assert found in (b"old", WHOLE), len(found)
    for parts in folder.glob("parts-*"):
        if (parts / "MANIFEST").exists():
            made = b"".join(
                part.read_bytes() for part in sorted(parts.glob("part-*")) if part.stat().st_size
            )
            assert made == WHOLE, parts
            shutil.rmtree(parts)
    while True:
        swath.job.sweep(folder, older_than=0)
        left = sorted(os.listdir(folder))
        if left == ["in.txt", "out"]:
            break
        assert time.monotonic() < until, left
        time.sleep(0.05)


@pytest.mark.killed_ranks
def test_a_killed_rank_leaves_the_old_output_or_the_complete_one(tmp_path: Path) -> None:
    for seed in battery.seeds("killed-ranks", part=2, full=30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        moment = random.Random(seed).uniform(0, 0.4)
        way = "segments" if seed % 4 == 3 else "file"
        (folder / "in.txt").write_text("".join(f"line {n}\n" for n in range(50_000)))
        (folder / "out").write_bytes(b"old")
        done = run(RANKS, "killed", folder, seed % RANKS, f"{moment:.4f}", way)
        assert done.returncode != 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        check_left(folder)


def test_without_mpi4py_it_says_how_to_get_it() -> None:
    script = (
        "import sys; sys.modules['mpi4py'] = None\n"
        "import swath\n"
        "try:\n"
        "    swath.mpi.append(None, 'out', b'')\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == (
        "swath.mpi needs mpi4py, which is not installed; try: run pip install 'swath[mpi]'\n"
    ), done


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("mpi_*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda it: it.name)
def test_an_example_runs(example: Path) -> None:
    command = ["mpirun", "-n", "4", sys.executable, str(example)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("4 ranks"), done.stdout + done.stderr
