"""Runs every measurement: `python -m benchmarks.run [--quick] [--keep DIR] [--mnist DIR]`.

Prints the tables, and writes raw times and pictures to `--out`. `--readme` measures nothing: it
writes the tables of an earlier run's JSON into README.md. With --mnist also five epochs of the CNN
on 8,000 of MNIST's test images, two minutes, which says how many of the other 2,000 it knows.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import growth, memory, overheads, primitives, report, searches
from benchmarks.libraries import (
    LeftOut,
    Tinygrad,
    differences,
    machine,
    run_numpy,
    run_ours,
    run_torch,
)
from benchmarks.measure import LEAST, SETTLE, interleaved
from benchmarks.roofline import peaks
from benchmarks.work import TABLES, Work
from examples import mnist_cnn
from tinyframe import Context
from tinyframe.settings import settings

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-2  # of the largest number; training steps drift apart
METHOD = (
    "Float32. Programs run in turn (A B A B …); a turn is a pause of {settle} s, one call that is "
    "not counted, and one that is, or as many as take {least:.0f} ms. Medians of {repeats} turns, "
    "with quartiles; = marks what a paired Wilcoxon test does not tell apart at 5 %. Results were "
    "compared first. Included is all that a call does, Python too, but no compiling (TinyJit, from "
    "the third call on). PyTorch is eager, with default arguments. THREADS={threads}."
)


def measure(table: str, work: Work, threads: int, repeats: int, tinygrad: Tinygrad | None,
            keep: Path | None) -> dict[str, Any]:  # fmt: skip
    """One row of the results."""
    arrays = work.inputs()
    program, expected, jit = run_ours(work, arrays)
    shape = expected[0].shape
    prepare: dict[str, Any] = {
        "numpy": lambda: run_numpy(work, arrays, shape),
        "torch": lambda: run_torch(work, arrays, shape, threads),
    }
    if tinygrad is not None:
        prepare["tinygrad"] = lambda: tinygrad.run(table, work)
    programs: dict[str, Any] = {"tinyframe": program}
    notes = []
    for name, ready in prepare.items():
        try:
            other, results = ready()
            if (error := differences(results, expected)) > TOLERANCE:
                raise LeftOut(f"its result differs from ours by {error:.1e} of the largest number")
            programs[name] = other
        except LeftOut as why:
            if str(why) not in ("not in this row", "not installed"):
                notes.append(f"{name} in {work.name}: {why}")
    try:
        times = interleaved(repeats, **programs)
    except LeftOut as why:
        notes.append(f"tinygrad in {work.name}: {why}")
        programs.pop("tinygrad")
        times = interleaved(repeats, **programs)
    specs = kernels(jit, keep / re.sub(r"\W+", "_", f"{table} {work.name}") if keep else None)
    return {
        "name": work.name, "must": work.must, "flops": work.flops, "bytes": work.bytes,
        "kernels": len(specs), "kernel ops": sum(s.ops_estimate for s in specs),
        "kernel bytes": sum(s.mem_estimate for s in specs), "notes": notes,
        "opts": [[repr(opt) for opt in s.opts] for s in specs],
        "seconds": {name: t.seconds for name, t in times.items()},
    }  # fmt: skip


def kernels(jit: Any, folder: Path | None) -> list[Any]:
    """The captured kernels; each as schedule, Opts and source in `folder`, where one is given."""
    from tinyframe.engine.realize import get_kernel
    from tinyframe.uop.show import summary

    specs = [get_kernel(ast, "CPU").spec for ast in jit.captured.kernels]
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for number, spec in enumerate(specs):
            opts = "".join(f"// {opt!r}\n" for opt in spec.opts)
            (folder / f"{number}_{spec.function}.c").write_text(opts + spec.src)
            (folder / f"{number}_{spec.function}.txt").write_text(summary(spec.ast))
    return specs


def start_tinygrad(threads: int, beam: int, left_out: list[str]) -> Tinygrad | None:
    try:
        return Tinygrad(threads, beam)
    except LeftOut as why:
        left_out.append(f"tinygrad: {why}")
        return None


def run(options: argparse.Namespace) -> dict[str, Any]:
    threads, repeats = settings.THREADS, 7 if options.quick else 15
    method = METHOD.format(settle=SETTLE, least=LEAST * 1e3, repeats=repeats, threads=threads)
    results: dict[str, Any] = {"method": method, "machine": machine(), "left out": [],
                               "peaks": {}, "tables": {}, "growth": []}  # fmt: skip
    if options.beam:
        results["machine"]["tinygrad"] += f" with BEAM={options.beam}"
    print(method)
    print(", ".join(f"{name} {value}" for name, value in results["machine"].items()), flush=True)
    left_out = results["left out"]
    left_out += [f"{name}: not installed" for name in ("torch", "scipy", "matplotlib")
                 if results["machine"][name] == "not installed"]  # fmt: skip
    for table, rows in TABLES.items():
        cores = threads if table == "all cores" else 1
        chosen = [w for w in rows() if (w.quick or not options.quick) and options.only in w.name]
        results["peaks"][table] = asdict(peaks(cores, 3 if options.quick else 7)) | {
            "threads": cores
        }
        results["tables"][table] = []
        tinygrad = start_tinygrad(cores, options.beam, left_out)
        for number, work in enumerate(chosen):
            progress(number, len(chosen), f"{table}: {work.name}")
            with Context(THREADS=cores):
                row = measure(table, work, cores, repeats, tinygrad, options.keep)
            left_out += row["notes"]
            results["tables"][table].append(row)
        if tinygrad is not None:
            tinygrad.close()
    sizes = [] if options.only else list(growth.rows(options.quick))
    for number, (what, size, work) in enumerate(sizes):
        progress(number, len(sizes), f"growth: {work.name}")
        times = growth.time_of_row(work, threads, repeats)
        results["growth"].append(grown(what, size, times))
    for count in growth.KERNELS[: 3 if options.quick else None] if sizes else ():
        progress(0, 1, f"growth: {count} kernels")
        times = {"tinyframe": growth.scheduling(count, 3 if count > 1000 else repeats)}
        results["growth"].append(grown("scheduling", count, times))
    progress(1, 1, "")
    left_out[:] = dict.fromkeys(left_out)
    return results


def grown(what: str, size: int, times: dict[str, Any]) -> dict[str, Any]:
    return {"what": what, "size": size, "seconds": {n: t.seconds for n, t in times.items()}}


def progress(done: int, of: int, what: str) -> None:
    """A bar on stderr, where somebody looks at it."""
    if sys.stderr.isatty():
        full = 30 * done // max(of, 1)
        bar = "█" * full + "·" * (30 - full)
        print(f"\r{bar} {done}/{of} {what[:45]:45s}", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows, under two minutes")
    parser.add_argument("--keep", type=Path, help="folder for sources, schedules, Opts, raw times")
    parser.add_argument("--mnist", type=Path, help="folder with MNIST's two t10k files")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--beam", type=int, default=0, metavar="N",
                        help="let tinygrad search with BEAM=N: minutes a row")  # fmt: skip
    parser.add_argument("--only", default="", help="only rows whose names contain this")
    parser.add_argument(
        "--readme",
        type=Path,
        nargs="?",
        const=Path(),
        metavar="JSON",
        help="put the tables and pictures of this JSON (or of the last run) into README.md",
    )
    options = parser.parse_args()
    if options.readme:
        saved = options.readme if options.readme.name else options.out / "results.json"
        results = json.loads(saved.read_text())
        pictures = report.plot(results, ROOT / "docs")
        report.fill_readme(ROOT / "README.md", results, pictures)
        return
    results = run(options)
    print("\n" + report.text(results))
    print(report.summary(results))
    options.out.mkdir(parents=True, exist_ok=True)
    for folder in filter(None, (options.out, options.keep)):
        (folder / "results.json").write_text(json.dumps(results, indent=1))
    if results["machine"]["matplotlib"] != "not installed":
        print("pictures:", *report.plot(results, options.out))
    for part in () if options.only else (overheads, primitives, memory, searches):
        print()
        part.main(options.quick, options.keep)
    if options.mnist is not None:
        mnist_cnn.main(options.mnist)


if __name__ == "__main__":
    main()
