"""What part 6c draws, with the learner's function if it passes, and otherwise with ours."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from classroom.mini import digits, triumphs


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    plt.close("all")


def test_circles_touch_the_curve_and_bend_as_it_does(capsys):
    x = triumphs.mini().Tensor([0.0, 1.0, -1.0])
    across, up, radius = triumphs.circle(lambda t: t * t, x)
    assert np.allclose(across, [0, -4, 4]) and np.allclose(up, [0.5, 3.5, 3.5])
    assert np.allclose(radius, [0.5, 5**1.5 / 2, 5**1.5 / 2])
    triumphs.circles(...)
    assert "our function" in capsys.readouterr().out
    assert len(plt.gca().patches) > 100


def test_a_network_with_filters_gets_97_percent_and_is_trained_once():
    training = triumphs.trained(triumphs.network)
    assert training.accuracy > triumphs.ENOUGH
    assert triumphs.trained(triumphs.network) is training
    again = digits.train(1, show=False, network=triumphs.network)
    assert again.losses == training.losses[: len(again.losses)]


def test_an_op_is_drawn_where_it_is_defined(capsys):
    triumphs.examined(np.arcsin, lambda grad, node, x: (grad / (1 - x * x).sqrt(),),
                      triumphs.central)  # fmt: skip
    assert "your function" in capsys.readouterr().out
    x = plt.gca().lines[0].get_xdata()
    assert -1 <= min(x) < max(x) <= 1
