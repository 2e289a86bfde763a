"""``python -m swath``: the same command."""

import sys

from swath._swath import command


def main() -> int:
    """Runs the command with the words of the process."""
    return command(["swath", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
