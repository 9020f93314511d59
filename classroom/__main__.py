"""The classroom's commands: `python -m classroom COMMAND`, `--help` after any of them."""

from __future__ import annotations

import difflib
import os
import sys
from importlib import import_module

# name, module:function that takes the rest of the arguments and returns an exit code, what it does
COMMANDS = [
    ("progress", "classroom.learner.progress:main", "exercises done, part by part"),
    ("mini", "classroom.mini.command:main", "your own framework: stages, checks, lines"),
    ("portfolio", "classroom.portfolio.command:main", "a page of what you made, to show somebody"),
    ("grade", "classroom.grader.command:main", "grade a project, out of 100 points"),
    ("grade-class", "classroom.gradebook.command:main", "grade a project of every student"),
    ("grades", "classroom.gradebook.grades:main", "what a class has: look, change, hand on, mail"),
    (
        "course",
        "classroom.build:main",
        "make the learners' notebooks and projects from the worked ones",
    ),
    ("copy", "classroom.learner.copy:make_command", "make my_course/, your own copy of the course"),
    (
        "update",
        "classroom.learner.copy:update_command",
        "bring what is new or corrected into my_course/; your work stays",
    ),
    ("reset", "classroom.learner.copy:reset_command", "start one part over; your version is kept"),
    ("site", "classroom.site.command:main", "the course as a web site, to read without Jupyter"),
    ("colab", "classroom.colab:main", "the lessons as Google Colab opens them"),
    ("device", "classroom.devices:main", "whether a device works here, and on what hardware"),
    ("release", "classroom.release:main", "write a repository for students, without solutions"),
    ("record", "classroom.record:main", "note the answers of visible checks, for releases"),
    ("new-project", "classroom.new_project:main", "make a new graded project that works at once"),
]


def usage() -> str:
    rows = [f"  {name:<11} {meaning}" for name, _, meaning in COMMANDS]
    return "\n".join(["python -m classroom COMMAND [--help]", "", *rows])


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; `classroom` is a program of its own where the package is installed."""
    if arguments is None:
        arguments = sys.argv[1:]
    places = {name: place for name, place, _ in COMMANDS}
    name, *rest = arguments or ["--help"]
    if name in ("-h", "--help", "help"):
        print(usage())
        return 0
    if name not in places:
        close = difflib.get_close_matches(name, places, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        print(f"classroom: there is no command {name!r}.{meant}\n\n{usage()}", file=sys.stderr)
        return 2
    module, function = places[name].split(":")
    try:
        status = getattr(import_module(module), function)(rest)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads it, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
