"""What stands around the course: checked exercises, progress, the grader, notebooks made anew.

    from classroom import check, hint, predict, progress    # and the others of __all__

Importing this imports nothing else; a notebook may set the environment before or after. In a
notebook, errors in cells show the learner's own lines from then on (`classroom/learner/errors.py`).
"""

from __future__ import annotations

import os  # Python itself has imported these two already
import re
import sys

# Where `python -m classroom` is started, Python looks for modules before anywhere else. That may be
# a student's folder, with a numpy.py in it: it is left out, unless it is this repository.
# While Python looks for what -m names, and only then, sys.argv[0] is "-m".
if sys.argv[:1] == ["-m"]:
    _here, _ours = os.getcwd(), os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if os.path.realpath(_here) != _ours:
        sys.path[:] = [p for p in sys.path if os.path.abspath(p) != _here]

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from classroom.learner.notebook import answer, check, hint, picture, predict, progress, reset
    from classroom.mini.notebook import check_mini, use_mini
    from classroom.puzzlebook.play import puzzle, puzzles

__all__ = [
    "answer", "check", "check_mini", "hint", "picture", "predict", "progress", "puzzle", "puzzles",
    "reset", "use_mini",
]  # fmt: skip

# Those of a module other than classroom.learner.notebook.
_ELSEWHERE = {
    **dict.fromkeys(("check_mini", "use_mini"), "classroom.mini.notebook"),
    **dict.fromkeys(("puzzle", "puzzles"), "classroom.puzzlebook.play"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'classroom' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ELSEWHERE.get(name, "classroom.learner.notebook")), name)


# What START.md says can be called in a notebook, whatever the notebook imports. (Without a name of
# its own, reset("2.3") would be IPython's %reset, which deletes all variables.)
_EVERYWHERE = ("answer", "hint", "progress", "reset")


# Python can't read check_mini(7a), and reads hint(4.10) as 4.1: in a cell, both are what they say.
_WITHOUT_QUOTES = re.compile(
    r"^(\s*(?:answer|check|check_mini|hint|predict|reset|use_mini)\()(\d+[.a-z]\w*)(?=\s*[,)])"
)


def _put_into(shell: Any) -> None:
    for name in _EVERYWHERE:
        shell.user_ns.setdefault(name, _later(name))
    shell.input_transformers_cleanup.append(
        lambda lines: [_WITHOUT_QUOTES.sub(r'\1"\2"', line) for line in lines]
    )


def _later(name: str) -> Any:
    """The function of that name, imported when it is called."""

    def call(*given: Any, **named: Any) -> Any:
        return __getattr__(name)(*given, **named)

    call.__name__ = name
    return call


# A notebook has imported IPython by itself; nothing else is told about errors.
if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()) is not None:
    from classroom.learner import errors

    errors.install(_shell)
    _put_into(_shell)
