"""An issue of your own

Hint: Run the snippet of the issue that you like best. What would you want it to print instead?
Hint: Write that as asserts, without try: `assert t.sum(dim=0).tolist() == [3, 3]`, say. Look at
what's below Done when, and make an assert of each sentence that can be one.
Because: A test that fails today and will pass then is the clearest thing that can be said about
what's wanted. It's also the first thing that a reviewer runs.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from classroom.ask import Open, Wrong, describe, does_nothing, wants, wrong_if
from classroom.contributing import issues
from classroom.lessons.other_peoples_changes.shared import learners_line
from tinyframe import Tensor

SECONDS = 30


def check(answer) -> str:
    """answer: (number, test): one of the fifteen, and a test of it that fails today."""
    pair = list(answer) if isinstance(answer, (tuple, list)) else []
    if len(pair) != 2:
        raise Wrong("The answer has to be two things: the number of an issue, and a function.")
    number, test = pair if not callable(pair[0]) else pair[::-1]
    known = [issue.number for issue in issues.issues()]
    text = str(number).strip().lstrip("#") if isinstance(number, (str, int, np.integer)) else ""
    if isinstance(number, bool) or not text.isdigit() or int(text) not in known:
        raise Wrong(f"The issues have numbers from {known[0]} to {known[-1]}.",
                    got=describe(number))  # fmt: skip
    wants(test, object, "a function")
    if not callable(test):
        raise Wrong("The answer has to be two things: the number of an issue, and a function.",
                    got=describe(test))  # fmt: skip
    if does_nothing(test):
        raise Open("")
    issue = issues.issue(int(text))
    error, files = what_fails(test)
    if error is None:
        raise Wrong("It passes today. Then it can't tell whether anybody has done anything. What "
                    "does the issue's own snippet print, and what should it?",
                    str(issue))  # fmt: skip
    own = learners_line(error)
    row = (("your line", own),) if own else ()
    wrong_if(isinstance(error, (NameError, SyntaxError)) and not isinstance(error, AttributeError),
             f"It's your test that fails here, and not tinyframe: {error}.", str(issue),
             more=row)  # fmt: skip
    if not is_about(test, files, issue):
        near = ", ".join(sorted({path.name for path in issue.files if path.suffix == ".py"})[:3])
        raise Wrong(f"It fails, but it doesn't come near the issue. Nothing in {near} ran.",
                    str(issue), more=row)  # fmt: skip
    name = type(error).__name__
    words = " ".join(str(error).partition(" (/")[0].split())[:90]
    return (
        f"It fails today, with {name}{f' ({words})' if words else ''}. When it passes, and "
        f"everything else still does, issue {issue.number} is done."
    )


def what_fails(test: Callable[..., Any]) -> tuple[BaseException | None, set[Path]]:
    """What a test raises, and which files of ours ran meanwhile."""
    with files_run() as files:
        try:
            if test() is False:
                return AssertionError("it returned False"), files
        except Exception as error:
            return error, files
    return None, files


@contextmanager
def files_run() -> Iterator[set[Path]]:
    """The files of this repository in which a function is called within the block."""
    names: set[str] = set()
    files: set[Path] = set()
    before = sys.getprofile()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            names.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(before)
        files |= {Path(name) for name in names if name.startswith(str(issues.ROOT))}


# names that say nothing about which issue a test is of
COMMON = set(
    "Tensor print getattr hasattr str int float list range len repr error name nn Context realize "
    "tolist item numpy shape dtype dtypes Ops tinyframe np for in if not is and or as with try "
    "except import from assert".split()
)


def is_about(test: Callable[..., Any], files: set[Path], issue: issues.Issue) -> bool:
    """Whether a test runs a file of the issue's that not everything runs, or uses a name that's in
    the issue's snippet or among those to start with."""
    if (files - files_of_anything()) & set(issue.files):
        return True
    snippet = set(re.findall(r"[A-Za-z_]\w+", issue.snippet))
    snippet |= {part for _, names in issue.start for name in names for part in name.split(".")}
    return bool((names_in(getattr(inspect.unwrap(test), "__code__", None)) & snippet) - COMMON)


def names_in(code: Any) -> set[str]:
    """The names and the words in quotes of a function, and of those inside of it."""
    if isinstance(code, str):
        return {code, *re.findall(r"[A-Za-z_]\w+", code)}
    if isinstance(code, (tuple, frozenset)):
        return {name for one in code for name in names_in(one)}
    if isinstance(code, CodeType):
        return {*code.co_names, *names_in(code.co_consts)}
    return set()


@cache
def files_of_anything() -> frozenset[Path]:
    """The files that run whatever is computed."""
    with files_run() as files:
        (Tensor([1.0, 2.0]) + 1).sum().item()
    return frozenset(files)

# %% shared
from tinyframe import Tensor
import numpy as np
def rounds():
    assert Tensor([3.14159]).round(decimals=2).item() == np.float32(3.14)

# %% wrong, each line
(99, rounds)  # says numbers from 1 to
(8, "it rounds")  # says two things
{8: lambda: np.testing.assert_allclose(round(Tensor([3.1416]), 2).numpy(), [3.14])}  # a dict, where the cell passes a pair (I had said right)

# %% wrong: says It passes today
def passes():
    assert Tensor([1, 2]).sum(dim=0).item() == 3
(2, passes)

# %% wrong: says doesn't come near the issue
def of_nothing():
    assert 1 == 2
(2, of_nothing)

# %% wrong: says your test that fails here
def typing_error():
    assert Tensr([1]).count_nonzero(dim=0).item() == 1  # noqa: F821
(2, typing_error)

# %% right, each line
(8, rounds)

# %% right: as PyTorch's ExponentialLR is called
my_issue = 7
def done():
    from tinyframe import nn
    w = Tensor([1.0])
    optimizer = nn.optim.SGD([w], lr=1.0)
    schedule = nn.lr.ExponentialLR(optimizer, 0.5)
    schedule.step()
    assert optimizer.lr == 0.5
