"""What lessons plot: the axes hold what was given."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from classroom.plots import COLOURS, boundary, descent, over_time, pictures
from tinyframe import Tensor


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


POINTS = Tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
CLASSES = Tensor([[0.0], [0.0], [1.0], [1.0]])


def colour_at(axes, x, y):
    """The colour of the area that holds a place."""
    (areas,) = axes.collections
    held = [path.contains_point((x, y)) for path in areas.get_paths()]
    (found,) = [colour for colour, holds in zip(areas.get_facecolor(), held, strict=True) if holds]
    return tuple(found[:3])


def test_a_boundary_has_a_colour_on_either_side_and_every_point():
    boundary(lambda x: x[:, 0], POINTS, CLASSES)  # above 0.5 on the right
    axes = plt.gca()
    assert colour_at(axes, 0.1, 0.5) == to_rgb(COLOURS[0])
    assert colour_at(axes, 0.9, 0.5) == to_rgb(COLOURS[1])
    drawn = [(line.get_color(), line.get_xydata().tolist()) for line in axes.lines]
    assert drawn == [
        (COLOURS[0], [[0.0, 0.0], [0.0, 1.0]]),
        (COLOURS[1], [[1.0, 0.0], [1.0, 1.0]]),
    ]


def test_boundaries_stand_in_one_row_under_their_titles():
    for number in (1, 2, 3):
        boundary(lambda x: x[:, 1:], POINTS, CLASSES, (number, 3), f"after {number}")
    assert [axes.get_title() for axes in plt.gcf().axes] == ["after 1", "after 2", "after 3"]


def test_a_descent_draws_each_path_on_contours_of_the_height():
    paths = {"short": np.array([[-4.0, 1.0], [0.0, 0.0]]), "long": [[-4.0, 1.0], [1.0, 2.0]]}
    descent(lambda x, y: x**2 + y**2, paths)
    axes = plt.gca()
    assert [line.get_label() for line in axes.lines] == ["short", "long"]
    assert axes.lines[1].get_xydata().tolist() == [[-4.0, 1.0], [1.0, 2.0]]
    (contours,) = axes.collections
    for level, path in zip(contours.levels, contours.get_paths(), strict=True):
        assert np.allclose((path.vertices**2).sum(axis=1), level, rtol=0.05)


def test_pictures_have_their_captions_and_a_title():
    images = np.arange(12.0).reshape(3, 2, 2)
    pictures(images, ["a", "b", "c"], title="three")
    figure = plt.gcf()
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c"]
    assert figure.get_suptitle() == "three"
    for axes, image in zip(figure.axes, images, strict=True):
        assert np.array_equal(axes.images[0].get_array(), image)


def test_pictures_without_a_caption_each_are_refused():
    with pytest.raises(ValueError):
        pictures(np.zeros((3, 2, 2)), ["a", "b"])


def test_a_row_of_numbers_on_its_way_has_a_column_for_each_step(capsys):
    def fall(x):
        return x.assign(x - 1)

    over_time(fall, Tensor([3.0, 0.0]).realize(), steps=2)
    (axes,) = plt.gcf().axes
    assert np.array_equal(axes.images[0].get_array(), [[3, 2, 1], [0, -1, -2]])
    assert capsys.readouterr().out == "2 steps of `fall`, 2 places\n"


def test_the_first_of_several_is_drawn():
    over_time(lambda x, y: (y, x), Tensor([1.0]), Tensor([2.0]), steps=1)
    assert np.array_equal(plt.gcf().axes[0].images[0].get_array(), [[1, 2]])
