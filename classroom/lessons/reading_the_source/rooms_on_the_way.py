"""Each file once, and how many functions of it are called

Hint: What do you have to remember about a file while you go through the calls?
Hint: A dict keeps the order in which keys come in. Give each file a set of names.
Because: A set forgets repetitions, and a dict remembers who came first. That's all a map of the
house needs.
"""

import random
from typing import Any

from classroom.ask import Wrong, call, count, describe, wrong_if
from classroom.paths import Walk, counted, walked
from classroom.walking import Call

SECONDS = 90


SMALL: list[Call] = [("b.py", "f"), ("a.py", "g"), ("b.py", "h"), ("b.py", "f"), ("a.py", "g")]


def check(answer) -> str:
    letters = "abcdefg"
    fresh = [(f"{random.choice(letters)}.py", random.choice(letters)) for _ in range(200)]
    real = [*walked("a + b").calls]
    for calls, case in ((SMALL, f"`rooms({SMALL})`"), (fresh, "200 calls"), (real, "`a + b`")):
        got = call(answer, list(calls))
        expected = counted(Walk(case, tuple(calls)))
        same_rooms(got, expected, case, calls)
    return f"{count(len(expected), 'room')} for `a + b`, each once, in the order you pass them."


def same_rooms(got: Any, expected: dict[str, int], case: str, calls: list[Call]) -> None:
    try:
        found = dict(got)
    except (TypeError, ValueError):
        raise Wrong("The answer has to be a dict, from a file to a number.", case,
                    got=describe(got)) from None  # fmt: skip
    shown = (expected, found) if case.endswith(")`") and calls is SMALL else ("", "")
    if set(found) != set(expected):
        raise Wrong("Not every file is there once, and nothing else.", case, *shown)
    entries = {file: sum(f == file for f, _ in calls) for file in expected}
    if found != expected:
        if found == entries:
            raise Wrong("You counted calls. A function that's called twice is still one function.",
                        case, *shown)  # fmt: skip
        raise Wrong("The files are right, and the numbers of functions aren't.", case, *shown)
    wrong_if([*found] != [*expected], "The numbers are right, and the order isn't: a file's place "
             "is that of its first call.", case, *shown)  # fmt: skip

# %% shared
from collections import Counter, OrderedDict

# %% wrong: says You counted calls
def calls_counted(calls):
    return dict(Counter(file for file, _ in calls))
calls_counted

# %% wrong: says the order isn't
def last_calls_place(calls):
    return {f: len({n for g, n in calls if g == f}) for f, _ in reversed(calls)}
last_calls_place

# %% wrong: says has to be a dict
def only_names(calls):
    return [*dict.fromkeys(file for file, _ in calls)]
only_names

# %% wrong: says the numbers of functions aren't
def one_each(calls):
    return {file: 1 for file, _ in calls}
one_each

# %% wrong: says Not every file is there once
def by_function(calls):
    return {name: 1 for _, name in calls}
by_function

# %% right
def pairs(calls):
    found = OrderedDict()
    for file, name in calls:
        found.setdefault(file, []).append(name)
    return ((file, len({*names})) for file, names in found.items())
pairs

# %% right: a Counter keeps the order of first sight
def rooms(calls):
    return Counter(file for file, _ in dict.fromkeys(calls))
from collections import Counter
