"""How far a run is, on stderr: a bar of rich's on a terminal, a line for each row elsewhere."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """What it gives is called before each step, with what the step is."""
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        yield lines(steps)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines(steps)
        return
    columns = [rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn(),
               rich.TextColumn("{task.description}")]  # fmt: skip
    # it draws only when told: a thread that does so all the time would take part in the measuring
    with rich.Progress(*columns, console=console, auto_refresh=False) as bar:
        task, done = bar.add_task("", total=steps), itertools.count()

        def tell(what: str) -> None:
            bar.update(task, completed=next(done), description=what)
            bar.refresh()

        yield tell


def lines(steps: int) -> Callable[[str], None]:
    """A line for each step, with what is left to judge by those that are done."""
    done, start = 0, time.monotonic()

    def tell(what: str) -> None:
        nonlocal done
        left = (time.monotonic() - start) / done * (steps - done) if done else 0.0
        rest = f", about {duration(left)} left" if done else ""
        done += 1
        print(f"[{done}/{steps}{rest}] {what}", file=sys.stderr, flush=True)

    return tell


def duration(seconds: float) -> str:
    """In words: 40 s, 12 min."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
