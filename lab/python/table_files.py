"""Makes the tables that ``tables.py`` reads, from a fixed seed."""

from __future__ import annotations

import datetime
import gzip
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

# Distinct random rows, which a file repeats.
DRAWN = 20_000
WORDS = ["alpha", "beta", "gamma", "delta", "a longer text that is not inline", "Zürich"]
NINE = ["whole", "large", "decimal", "date", "time", "word", "quoted", "text", "exact"]
THIRTY = ["whole", "decimal", "exact", "date", "word", "text", "time", "quoted", "truth", "large"]
TWELVE = ["whole", "truth", "quoted", "word", "whole", "decimal", "date", "text", "whole", "decimal", "word", "text"]
NINETEEN = ["whole", "time", "time", "whole", "word", "truth", "whole", "whole", "whole", *["decimal"] * 10]
LETTERS = "abcdefghijklmnopqrstuvwxyz "


def quoted(dice: random.Random) -> str:
    name = dice.choice(["Smith", 'Jones ""the""', "O'Neill"])
    return f'"{name}, {dice.randrange(100_000)}"'


def date(dice: random.Random) -> datetime.date:
    return datetime.date(2000, 1, 1) + datetime.timedelta(days=dice.randrange(9000))


def text(dice: random.Random) -> str:
    return "".join(dice.choices(LETTERS, k=dice.randint(3, 30))).strip() or "x"


FIELDS: dict[str, Callable[[random.Random], str]] = {
    "whole": lambda dice: str(dice.randrange(1_000_000)),
    "large": lambda dice: str(dice.randrange(10**15)),
    "decimal": lambda dice: f"{dice.gauss(0, 1000):.4f}",
    "exact": lambda dice: repr(dice.random()),
    "date": lambda dice: str(date(dice)),
    "time": lambda dice: f"{date(dice)} {dice.randrange(24):02}:{dice.randrange(60):02}:{dice.randrange(60):02}",
    "word": lambda dice: dice.choice(WORDS),
    "quoted": quoted,
    "text": text,
    "truth": lambda dice: dice.choice(["true", "false"]),
}


def mixed(kinds: list[str]) -> tuple[str, list[list[str]]]:
    dice = random.Random(1)

    def field(kind: str) -> str:
        return "" if dice.random() < 0.1 else FIELDS[kind](dice)

    numbers = {kind: 0 for kind in kinds}
    names = []
    for kind in kinds:
        numbers[kind] += 1
        names.append(f"{kind}{numbers[kind]}")
    return ",".join(names), [[field(kind) for kind in kinds] for _ in range(DRAWN)]


def numbers(form: str, columns: int, missing: float = 0) -> tuple[str, list[list[str]]]:
    dice = np.random.default_rng(2)
    values, draws = dice.random((DRAWN, columns)), dice.random((DRAWN, columns))
    if form == "bit":
        values = values.round()
    how = {"bit": "%.0f", "decimal": "%.6f", "scientific": "%.18e"}[form]
    rows = [
        ["" if draw < missing else how % value for value, draw in zip(*row)]
        for row in zip(values, draws)
    ]
    return ",".join(f"n{at}" for at in range(columns)), rows


def objects() -> bytes:
    """Returns the nine columns as objects, with missing values as ``null``."""
    head, rows = mixed(NINE)
    names = head.split(",")
    bare = {"whole", "large", "decimal", "exact"}

    def value(kind: str, field: str) -> object:
        if not field:
            return None
        return json.loads(field) if kind in bare else field.strip('"').replace('""', '"')

    def line(row: list[str]) -> str:
        values = [value(kind, field) for kind, field in zip(NINE, row)]
        return json.dumps(dict(zip(names, values)), ensure_ascii=False) + "\n"

    return "".join(map(line, rows)).encode()


def drawn(kind: str) -> tuple[str, list[list[str]]]:
    name, _, percent = kind.partition("-")
    match name:
        case "nine":
            return mixed(NINE)
        case "twelve":
            return mixed(TWELVE)
        case "nineteen":
            return mixed(NINETEEN)
        case "thirty":
            return mixed(THIRTY * 3)
        case "missing":
            return numbers("decimal", 6, int(percent) / 100)
        case "scientific":
            return numbers("scientific", 6)
        case "bits":
            return numbers("bit", 64)
        case _:
            return numbers("decimal", 8)


def parts(kind: str, size: int) -> Iterator[bytes]:
    if kind == "objects":
        block = objects()
    else:
        head, rows = drawn(kind)
        end = "\r\n" if kind == "crlf" else "\n"
        yield f"{head}{end}".encode()
        block = "".join(",".join(row) + end for row in rows).encode()
    for _ in range(max(1, round(size * 1_000_000 / len(block)))):
        yield block


def made(data: Path, kind: str, size: int) -> Path:
    """Returns a file of about `size` megabytes; makes it if it does not exist."""
    path = data / f"{kind}-{size}.{'jsonl' if kind == 'objects' else 'csv'}"
    if not path.exists():
        unfinished = path.with_suffix(".part")
        with open(unfinished, "wb") as file:
            for part in parts(kind, size):
                file.write(part)
        unfinished.rename(path)
    return path


def made_compressed(plain: Path, ending: str) -> Path:
    """Returns `plain` compressed as one stream; makes the file if it does not exist."""
    path = plain.with_name(f"{plain.name}.{ending}")
    if not path.exists():
        with open(plain, "rb") as file:
            if ending == "gz":
                with gzip.open(path, "wb", compresslevel=1) as out:
                    shutil.copyfileobj(file, out, 1 << 20)
            else:
                with pa.CompressedOutputStream(str(path), "zstd") as packed:
                    while block := file.read(1 << 20):
                        packed.write(block)
    return path
