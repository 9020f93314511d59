"""The ball of part 1, and the file that keeps what moved it."""

import re

import pytest

from classroom import rolling
from tests.classroom.sample import Number


def height(x):
    return x * x * Number(0.1) + (x * Number(2.0)).tanh()


def test_the_ball_comes_to_rest_where_the_slope_is_zero():
    picture = rolling.roll(height, Number, start=4.0)
    x = float(re.search(r"x from 4 to (-?[\d.]+),", repr(picture))[1])
    heights = [height(Number(x + d)).value for d in (-0.001, 0.0, 0.001)]
    assert heights[1] == min(heights)


def test_a_step_that_is_too_long_is_told(capsys):
    assert rolling.roll(height, Number, start=4.0, rate=30.0) is None
    assert "Try a smaller `rate`" in capsys.readouterr().out


@pytest.fixture
def copy(tmp_path, monkeypatch):
    (tmp_path / "my_course" / "mini").mkdir(parents=True)
    (tmp_path / "my_course" / "course").mkdir()
    monkeypatch.chdir(tmp_path / "my_course" / "course")
    return tmp_path / "my_course"


def test_what_is_kept_runs_by_itself(copy, capsys):
    rolling.keep(Number)
    names = {}
    exec((copy / "mini" / "number.py").read_text(), names)
    x = names["Number"](0.5)
    (x * x).tanh().backward()
    assert x.grad == pytest.approx(2 * 0.5 * (1 - 0.25**2), rel=0.02)
    assert "mini/number.py" in capsys.readouterr().out
    (copy / "mini" / "number.py").write_text("gone_on = 1\n")
    rolling.keep(Number)
    assert (copy / "mini" / "number_before.py").read_text() == "gone_on = 1\n"
