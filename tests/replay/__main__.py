"""The commands `record` and `compare`."""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.replay.compare import differences, report
from tests.replay.recording import BrokenRecording, Recording

ROOT = Path(__file__).resolve().parents[2]
# git ignores this folder
KEPT = ROOT / "build" / "replay"
DEFAULT_TESTS = [
    "tests/ops/test_devices.py",
    "tests/ops/test_elementwise.py",
    "tests/ops/test_indexing.py",
    "tests/ops/test_linalg.py",
    "tests/ops/test_movement.py",
    "tests/ops/test_neural.py",
    "tests/ops/test_reduce.py",
    "tests/ops/test_symbolic_shapes.py",
    "tests/nn/test_layers.py",
    "tests/nn/test_optim.py",
]


class ReplayError(RuntimeError):
    """What was asked for cannot be recorded or compared."""


def git(*arguments: str) -> str:
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ReplayError("git is not installed: give record --to and --label, and compare folders"
                          ) from None  # fmt: skip
    if done.returncode != 0:
        raise ReplayError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


def label_of_the_tree() -> str:
    """The commit that is checked out, and whether anything has changed since."""
    commit = git("rev-parse", "--short=12", "HEAD")
    return f"{commit} with changes" if git("status", "--porcelain") else commit


# ---- record --------------------------------------------------------------------------------------


def record_here(folder: Path, label: str, tests: Sequence[str], languages: Sequence[str]) -> None:
    """Run the tests on the code that is here. ReplayError where pytest could not run them."""
    from tests.replay.plugin import record  # what it imports is what is recorded
    from tinyframe import Device

    has = Device[Device.DEFAULT].renderer.target
    machine = (
        f"{platform.machine()} with {has.vector_registers} vectors of {has.vector_bytes} bytes, "
        f"{has.threads} threads, caches of {has.l1}, {has.l2} and {has.l3} bytes"
    )
    begin = time.monotonic()
    print(f"recording {label}: {' '.join(tests)}", flush=True)
    recording = Recording(label, list(tests), list(languages), machine)
    recorder, status = record(recording, tests)
    if status > 1:
        raise ReplayError(f"pytest ended with status {status}: nothing was recorded")
    if status == 1:
        print("some tests fail; their kernels are recorded all the same", flush=True)
    if known := [language for language in languages if language in all_languages()]:
        print(f"writing {len(recorder.graphs)} kernels in {', '.join(known)}", flush=True)
        recorder.write_in(known)
    if unknown := set(languages).difference(known):
        print(f"{', '.join(sorted(unknown))}: the NULL device does not write that", flush=True)
    recording.write(folder)
    print(f"{len(recording.kernels)} kernels in {folder}, {time.monotonic() - begin:.0f} s")


def all_languages() -> list[str]:
    """What the NULL device writes here, beside C, which the CPU's programs are in."""
    try:
        from tinyframe.runtime.null import LANGUAGES
    except ImportError:  # an old commit
        return []
    return [language for language in LANGUAGES if language != "CPU"]


# ---- compare -------------------------------------------------------------------------------------


@contextlib.contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """A commit's files in a temporary folder, with the recorder of here."""
    with tempfile.TemporaryDirectory(prefix="tinyframe-replay-") as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--detach", "--quiet", str(tree), commit)
        try:
            shutil.rmtree(tree / "tests" / "replay", ignore_errors=True)
            shutil.copytree(Path(__file__).parent, tree / "tests" / "replay",
                            ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def recording_of(what: str, options: argparse.Namespace) -> Recording:
    """A recording by its folder, by a commit, or of the working tree (".")."""
    if what != "." and Path(what).is_dir():
        return Recording.read(Path(what))
    if what == ".":
        folder, label = KEPT / "working-tree", label_of_the_tree()
        run_record(ROOT, folder, label, options)
        return Recording.read(folder)
    commit = commit_of(what)
    folder = KEPT / commit
    with contextlib.suppress(BrokenRecording):
        found = Recording.read(folder)
        if (found.tests, found.languages) == (options.tests, options.languages):
            return found
    with worktree(commit) as tree:
        run_record(tree, folder, commit, options)
    return Recording.read(folder)


def commit_of(name: str) -> str:
    try:
        return git("rev-parse", "--verify", "--short=12", f"{name}^{{commit}}")
    except ReplayError:
        raise ReplayError(f"{name!r} is neither the folder of a recording nor a commit") from None


def run_record(tree: Path, folder: Path, label: str, options: argparse.Namespace) -> None:
    """Record in a process of its own, whose code is that of `tree`."""
    command = [sys.executable, "-m", "tests.replay", "record", "--to", str(folder.resolve()),
               "--label", label, "--languages", ",".join(options.languages),
               *options.tests]  # fmt: skip
    path = os.pathsep.join(filter(None, (str(tree), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(command, cwd=tree, env={**os.environ, "PYTHONPATH": path}, check=False)
    if done.returncode != 0:
        raise ReplayError(f"{label} could not be recorded; see above")


def compare(options: argparse.Namespace) -> int:
    old, new = (recording_of(what, options) for what in (options.old, options.new))
    if old.tests != new.tests or old.languages != new.languages:
        raise ReplayError(
            f"the recordings are of different tests or languages: {old.tests} in {old.languages}, "
            f"and {new.tests} in {new.languages}"
        )
    print(report(old, new, options.most))
    return int(bool(differences(old, new)))


# ---- the commands --------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m tests.replay", description=(
        "Records every kernel that tests generate, and compares two recordings."))  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="run tests and keep their kernels")
    recorder.add_argument("--to", type=Path,
                          help="the folder; by default one in build/replay")  # fmt: skip
    recorder.add_argument("--label", help="a name for the recording; by default the commit")
    comparer = commands.add_parser(
        "compare", help="show what differs; the exit status is 1 if anything does"
    )
    comparer.add_argument("old", help="a commit, or the folder of a recording")
    comparer.add_argument("new", nargs="?", default=".",
                          help="what to compare it with; by default the working tree")  # fmt: skip
    comparer.add_argument("--most", type=int, default=20,
                          help="how many differences to show in full; 0 for all")  # fmt: skip
    for command in (recorder, comparer):
        command.add_argument("--languages", help="other languages to write each kernel in, as in "
                             "METAL,HIP; by default all that the NULL device knows")  # fmt: skip
    recorder.add_argument("tests", nargs="*",
                          help="files of tests; by default some of a few minutes")  # fmt: skip
    comparer.add_argument("--tests", nargs="+", default=[],
                          help="the tests to record; as for the command record")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """0: recorded, or equal; 1: different; 2: could not be done."""
    options = parser().parse_args(arguments)
    options.tests = options.tests or DEFAULT_TESTS
    said = options.languages
    options.languages = all_languages() if said is None else list(filter(None, said.split(",")))
    try:
        if options.command == "compare":
            return compare(options)
        label = options.label or label_of_the_tree()
        folder = options.to or KEPT / label.replace(" ", "-")
        record_here(folder, label, options.tests, options.languages)
        return 0
    except (ReplayError, BrokenRecording) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
