"""A kernel's loops and the lines of its source are linked under the pointer."""

from __future__ import annotations

import pytest

from tinyframe import Tensor
from tinyframe.viz import kernel


@pytest.fixture(scope="module")
def picture():
    return kernel(Tensor.rand(8, 8).realize() @ Tensor.rand(8, 8).realize(), opts=[])


@pytest.fixture
def shown(browser, picture):
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.set_content(f"<body>{picture.html()}</body>")
    yield page
    page.close()


def outlined(page) -> set[str]:
    """The classes of what has the outline of what is under the pointer."""
    found = """() => [...document.querySelectorAll('svg rect[class]')]
        .filter(e => getComputedStyle(e).strokeWidth === '3px').map(e => e.getAttribute('class'))"""
    return set(page.evaluate(found))


def test_the_pointer_on_a_loop_outlines_its_line_and_the_other_way_round(shown, picture) -> None:
    assert picture.drawing.links == {1, 2, 3}
    for number in (1, 2, 3):
        marks = shown.locator(f"svg rect.link-{number}")
        assert marks.count() == 4  # the box, its number; the line's number, the line
        for n in range(4):
            box = marks.nth(n).bounding_box()
            shown.mouse.move(box["x"] + box["width"] - 2, box["y"] + 2)
            assert outlined(shown) == {f"link-{number}"}
    shown.mouse.move(1, 799)
    assert outlined(shown) == set()


def test_there_is_one_picture_and_without_styles_another_one(shown, picture) -> None:
    assert shown.locator("svg").is_visible() and not shown.locator("img").is_visible()
    # What a notebook that is not trusted leaves of it: no <style>, no <svg>.
    shown.evaluate("() => document.querySelectorAll('style, svg').forEach(e => e.remove())")
    assert shown.locator("img").is_visible()
    assert shown.locator("img").bounding_box()["width"] > 400
