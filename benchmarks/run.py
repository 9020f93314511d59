"""Runs every measurement: `python -m benchmarks.run [--quick] [--keep DIR]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import overheads, primitives


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under two minutes")
    parser.add_argument("--keep", type=Path, help="folder for the raw times")
    options = parser.parse_args()
    for part in (overheads, primitives):
        part.main(options.quick, options.keep)
        print()


if __name__ == "__main__":
    main()
