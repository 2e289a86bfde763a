"""Many small files: each partition reads its files at once."""

import hashlib
import tempfile
from pathlib import Path

import dask

import swath


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        folder.mkdir()
        for number in range(500):
            (folder / f"{number:03}.txt").write_bytes(b"%d\n" % number * number)

        def line(path, data):
            return f"{hashlib.sha256(data).hexdigest()}  {Path(path).name}\n"

        with dask.config.set(scheduler="threads"):
            files = swath.dask.ingest(folder, parts=4)
            out = swath.dask.append(Path(name) / "SHA256SUMS", files.starmap(line))
        print(f"{out.bytes} bytes")
        paths = sorted(folder.iterdir())
        serial = "".join(line(path, path.read_bytes()) for path in paths)
        assert (Path(name) / "SHA256SUMS").read_text() == serial


if __name__ == "__main__":
    main()
