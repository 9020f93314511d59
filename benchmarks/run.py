"""Runs every measurement: `python -m benchmarks.run [--quick] [--keep DIR] [--mnist DIR]`.

With --mnist also five epochs of the CNN on 8,000 of MNIST's test images, two minutes, which says
how many of the other 2,000 it knows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import memory, overheads, primitives
from examples import mnist_cnn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, under two minutes")
    parser.add_argument("--keep", type=Path, help="folder for the raw times")
    parser.add_argument("--mnist", type=Path, help="folder with MNIST's two t10k files")
    options = parser.parse_args()
    for part in (overheads, primitives, memory):
        part.main(options.quick, options.keep)
        print()
    if options.mnist is not None:
        mnist_cnn.main(options.mnist)


if __name__ == "__main__":
    main()
