"""Measures tinyframe beside NumPy, PyTorch and tinygrad, and says how fast each is.

    python -m benchmarks                          all rows; then start-up, compiling, Opts given by
                                                  hand, memory and searches
    python -m benchmarks --quick                  a few rows with fewer turns
    python -m benchmarks "matmul 512" attention   only rows whose names contain one of these
    python -m benchmarks --list                   the names
    python -m benchmarks --again                  the rows that the last run found busy, once more
    python -m benchmarks --docs                   the last run into docs/: tables and pictures
    python -m benchmarks --sweep                  which ops take three times as long as PyTorch's

Each library runs in a process of its own, and stands still while another one measures. How long it
will take is said first. The tables come last; --out keeps the raw times as JSON, and pictures.
Nothing else should run meanwhile: a row waits for a quiet machine, is measured again where it was
not, and is marked where that did not help; marked rows don't go into docs/.
THREADS=n sets how many threads each library may use.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from benchmarks import glance, growth, memory, overheads, primitives, report, searches, sweep
from benchmarks.progress import duration, progress
from benchmarks.rows import TABLES
from benchmarks.run import Choice, Results, run
from benchmarks.work import Work
from examples import mnist_cnn

ROOT = Path(__file__).resolve().parents[1]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("rows", nargs="*", metavar="ROW", help="only rows whose names contain this, in any case")
    add("--list", action="store_true", help="show the names of the rows, and measure nothing")
    add("--table", choices=list(TABLES), help="only rows of this table")
    add("--beside", default="numpy,torch,tinygrad", metavar="LIBRARIES", help="whom to measure "
        "beside tinyframe: %(default)s")  # fmt: skip
    add("--turns", type=int, metavar="N", help="of each library and row: 15, with --quick 7")
    add("--quick", action="store_true", help="only a few rows, with fewer turns")
    add("--keep", type=Path, metavar="DIR", help="folder for kernels, their Opts, and raw times")
    add("--out", type=Path, metavar="DIR", help="folder for results.json and pictures: "
        "benchmarks/results, or the folder part in it where rows are chosen")  # fmt: skip
    add("--beam", type=int, default=0, metavar="N", help="tinygrad searches: minutes a row")
    add("--mnist", type=Path, metavar="DIR", help="folder with MNIST's two t10k files: trains the "
        "CNN for five epochs, two minutes more")  # fmt: skip
    add("--docs", action="store_true", help="measure nothing; put the tables and pictures of "
        "results.json in --out into docs/")  # fmt: skip
    add("--again", action="store_true", help="measure the rows of the last run that never had a "
        "quiet machine, and put them into its results.json")  # fmt: skip
    add("--sweep", action="store_true", help="measure all ops at three sizes, or the calls that "
        "contain a ROW, and list those that take more than three times as long as PyTorch's; ends "
        "with status 1 where one has no reason in benchmarks/sweep.py")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.sweep:
        return options
    options.libraries = [name for name in options.beside.split(",") if name]
    known = {name for table in TABLES.values() for name in table.others}
    if strangers := set(options.libraries) - known:
        parser.error(f"--beside knows {', '.join(sorted(known))}, not {', '.join(strangers)}")
    if options.turns is not None and options.turns < 3:
        parser.error("--turns must be 3 or more: quartiles need three")
    options.everything = not (options.rows or options.table)
    folder = ROOT / "benchmarks" / "results"
    options.out = options.out or (folder if options.everything else folder / "part")
    options.chosen = chosen(options)
    if options.again:
        busy = report.busy_rows(last_run(options.out))
        options.chosen = {
            table: [work for work in rows if work.name in busy.get(table, ())]
            for table, rows in options.chosen.items() if table in busy
        }  # fmt: skip
        options.everything = False
    names = [work.name for table in TABLES.values() for work in table.rows()]
    for text in options.rows:
        if not any(text.lower() in name.lower() for name in names):
            close = difflib.get_close_matches(text, names, cutoff=0.4)
            hint = f"; close are {', '.join(close)}" if close else "; --list shows them all"
            parser.error(f"no row's name contains {text!r}{hint}")
    if options.again and not options.chosen:
        parser.exit(message="no row was measured on a busy machine\n")
    if not options.chosen:
        parser.error("no row is chosen; --list shows them all")
    return options


def chosen(options: argparse.Namespace) -> dict[str, list[Work]]:
    """The rows to run, by table."""

    def wanted(work: Work) -> bool:
        named = any(text.lower() in work.name.lower() for text in options.rows)
        return named if options.rows else work.quick or not options.quick

    tables = {name: [work for work in table.rows() if wanted(work)]
              for name, table in TABLES.items() if options.table in (None, name)}  # fmt: skip
    return {name: rows for name, rows in tables.items() if rows}


def measure(options: argparse.Namespace) -> None:
    choice = Choice(
        options.chosen,
        options.libraries,
        options.turns or (7 if options.quick else 15),
        options.beam,
        growth.KERNELS[: 3 if options.quick else None] if options.everything else (),
        options.keep,
    )
    steps = sum(map(len, choice.rows.values())) + len(choice.kernels)
    print(f"{steps} rows, about {duration(choice.forecast())} on a quiet machine", flush=True)
    with progress(steps) as tell:
        results = run(choice, tell)
    if options.again:
        anew, results = results, last_run(options.out)
        report.replace_rows(results, anew)
    print("\n" + report.text(results))
    print(report.summary(results))
    options.out.mkdir(parents=True, exist_ok=True)
    for folder in filter(None, (options.out, options.keep)):
        (folder / "results.json").write_text(json.dumps(results, indent=1))
    if results["machine"]["matplotlib"] != "not installed":
        print("pictures:", *report.plot(results, options.out))
    for part in (overheads, primitives, memory, searches) if options.everything else ():
        print(flush=True)
        part.main(options.quick, options.keep)
    if options.mnist is not None:
        mnist_cnn.main(options.mnist)


def last_run(folder: Path) -> Results:
    saved = folder / "results.json"
    if not saved.exists():
        sys.exit(f"there is no {saved}: python -m benchmarks makes it")
    return json.loads(saved.read_text())


def put_into_docs(options: argparse.Namespace) -> None:
    results = last_run(options.out)
    if busy := list(itertools.chain(*report.busy_rows(results).values())):
        sys.exit(f"the machine was busy during {len(busy)} rows, so nothing goes into docs/: "
                 f"{', '.join(busy)}. python -m benchmarks --again measures these")  # fmt: skip
    report.fill_page(glance.PAGE, results, report.plot(results, glance.PAGE.parent))
    glance.main()


def terminated(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends a run as Ctrl-C does, by an exception, so that no worker stays behind."""
    sys.exit(128 + number)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.sweep:
        sys.exit(not sweep.main(options.rows))
    elif options.list:
        for table, rows in options.chosen.items():
            print(f"{table}:", *(f"  {work.name}" for work in rows), sep="\n")
    elif options.docs:
        put_into_docs(options)
    else:
        measure(options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminated)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; nothing was kept")
