"""Submissions that want points without work, or want to do harm: hostile.txt has them."""

from pathlib import Path
from string import Template

from tests.grader.here import WRONG, parts_of

(_, FIND_PIPE), *_rest = parts_of(Path(__file__).with_suffix(".txt"))
# name: a piece of its report
SAID = {name: rest.partition("\n")[0] for name, rest in _rest}


def hostile(name, **places):
    """The text of a file, with these places in it."""
    text = dict(_rest)[name].partition("\n")[2]
    return Template(text).substitute(places, WRONG=WRONG, FIND_PIPE=FIND_PIPE)
