"""The programs of interrupts.py, at a few of their lines; see there."""

from random import Random

import pytest

from tests.fuzz.interrupts import PROGRAMS, complaint, lines_of
from tinyframe import Context


# One that comes inside a __del__ is lost: Python has nobody to tell of it, and warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_at_any_line_loses_no_value_and_doubles_none(name, device):
    random = Random(f"{name} {device}")
    with Context(DEVICE=device):
        places = random.sample(lines_of(name), 6)
        assert [said for at in places if (said := complaint(name, at)) is not None] == []
        # and a second one while the first is being dealt with
        twice = [(at, random.choice([1, 3, 10, 30, 100])) for at in places]
        assert [said for at, n in twice if (said := complaint(name, at, n)) is not None] == []
