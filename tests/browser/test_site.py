"""The site in a browser, without a network: two widths, light and dark, and its search."""

import re

import pytest

from classroom.site.command import ROOT, build


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "made"
    build(ROOT, folder)
    return folder


def opened(browser, site, name, width=1280, scheme="light"):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    page.goto((site / name).as_uri())
    return page


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["index", "course/03a_tensors", "course/07c_fast", "source"])
def test_a_page_fits_its_window(browser, site, width, name):
    if name == "source":
        name = next((site / name).rglob("*.html")).relative_to(site).with_suffix("").as_posix()
    page = opened(browser, site, f"{name}.html", width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for picture in page.locator("article svg:visible").all():
        box = picture.bounding_box()
        assert box["width"] <= width and box["height"] > 0


def test_it_is_dark_where_the_system_is(browser, site):
    grounds = {
        scheme: opened(browser, site, "course/04a_lazy_evaluation.html", scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    light, dark = (sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds.values())
    assert light > 600 and dark < 150


def test_the_search_finds_a_page_without_a_server(browser, site):
    page = opened(browser, site, "course/01_why_tinyframe.html")
    first = {"glider": "03a_tensors.html", "how do I install": "index.html"}
    for words, name in first.items():
        page.locator("input[name=q]").first.fill(words)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**q={words.split()[0]}*")
        link = page.locator("ul.search li a").first
        link.wait_for()
        assert name in link.get_attribute("href")


def test_a_phone_reaches_every_page_by_the_menu(browser, site):
    page = opened(browser, site, "course/04a_lazy_evaluation.html", 420)
    link = page.locator(".sidebar-tree").get_by_role("link", name="6a. Gradients")
    assert link.bounding_box()["x"] < 0
    page.locator("header label[for=__navigation]").click()
    link.click()
    assert page.url.endswith("06a_gradients.html")
