"""``python -m swath``: the command ``swath``, if it is installed."""

import os
import shutil
import sys
import sysconfig


def find() -> str | None:
    """Returns the path of the command: next to this Python, else on ``PATH``."""
    return shutil.which("swath", path=sysconfig.get_path("scripts")) or shutil.which("swath")


def main() -> int:
    """Replaces this process with the command and its arguments."""
    command = find()
    if command is None:
        print(
            "swath: cannot run the command `swath`: it is not on PATH; "
            "try: install it with `cargo install --path crates/cli` in Swath's source",
            file=sys.stderr,
        )
        return 2
    os.execv(command, ["swath", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
