"""python -m tests.mutations [NAME …]: plants one bug after the other, and says which tests see it.

Whoever removes tests wants to know that nothing is checked less afterwards. The table has forty
bugs such as a reviewer could miss, spread over the package, and refusals.py plants forty more in
the classroom. For each (or for those named) the package and the tests are copied to a temporary
folder, the bug is planted there, and the tests of its row run until the first fails: caught. Where
all pass the bug SURVIVED, which means that a test is missing. Ends with status 1 where one did.

--tests PATH … runs these instead of those in the rows, --list only lists the table.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.mutations.refusals import refusal_mutations
from tests.mutations.table import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("tinyframe", "classroom", "tests")  # anything else is a link to what is here
SOURCES = ("tinyframe", "classroom")


def place_of(mutation: Mutation, root: Path = ROOT) -> Path:
    """The one file that has the old text. ValueError where none has, or it is there twice."""
    counts = {
        path: count
        for folder in SOURCES
        for path in sorted((root / folder).rglob("*.py"))
        if (count := path.read_text().count(mutation.old))
    }
    if sum(counts.values()) != 1:
        where = ", ".join(f"{path.relative_to(root)} ({n})" for path, n in counts.items())
        raise ValueError(f"{mutation.name}: once is `{mutation.old}` to be found, not {where or 0}")
    return next(iter(counts))


@contextmanager
def planted(mutation: Mutation) -> Iterator[Path]:
    """A temporary copy of the repository that has the bug."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        for path in ROOT.iterdir():
            if path.name in COPIED:
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, folder / path.name, ignore=ignored)
            elif path.name != ".git":
                (folder / path.name).symlink_to(path)
        place = place_of(mutation, folder)
        place.write_text(place.read_text().replace(mutation.old, mutation.new))
        yield folder


def failure_of(mutation: Mutation, tests: Sequence[str]) -> str:
    """The first test that fails; empty where all pass. RuntimeError where they cannot run."""
    with planted(mutation) as folder:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
        environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(
            [*command, *tests], cwd=folder, env=environment, capture_output=True, text=True
        )
    if ran.returncode == 0:
        return ""
    lines = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if not lines:
        raise RuntimeError(f"{mutation.name}: its tests did not run:\n{ran.stdout}{ran.stderr}")
    return lines[0]


def main(arguments: Sequence[str]) -> int:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--tests", nargs="+", metavar="PATH", default=[])
    parser.add_argument("--list", action="store_true")
    told = parser.parse_args(arguments)
    known = {mutation.name: mutation for mutation in [*MUTATIONS, *refusal_mutations()]}
    if unknown := set(told.names) - known.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list shows what there is")
    survivors = []
    for mutation in [known[name] for name in told.names] or known.values():
        if told.list:
            print(f"{mutation.name}: {mutation.why} ({place_of(mutation).relative_to(ROOT)})")
            continue
        failure = failure_of(mutation, told.tests or mutation.tests)
        print(f"{mutation.name}: {'caught by ' + failure if failure else 'SURVIVED'}", flush=True)
        survivors += [] if failure else [mutation.name]
    if not told.list:
        count = len(told.names or known)
        print(f"{count - len(survivors)} of {count} caught", *survivors, sep="\n  ")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
