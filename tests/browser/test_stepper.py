"""The page of `rewrites(x)` in a browser: its module with a stand-in for the notebook's model.

The stand-in answers as Python would (`RewritesPicture.shown`), a moment later, and notes what
it was asked.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import tinyframe.viz.widget
from tests.viz.drawn import contrast
from tinyframe import Tensor
from tinyframe.viz import rewrites

HERE = Path(tinyframe.viz.widget.__file__).parent
HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"

MODEL = """
class Model {
  constructor({ stops, ...state }) {
    this.stops = stops; this.state = { ...state, at: 0, shown: stops[0] };
    this.listeners = {}; this.asked = []; this.delay = 20;
  }
  get(name) { return this.state[name]; }
  on(event, listener) { (this.listeners[event] ??= []).push(listener); }
  off(event, listener) {
    this.listeners[event] = this.listeners[event].filter((l) => l !== listener);
  }
  tell(name) { for (const listener of this.listeners["change:" + name] ?? []) listener(); }
  set(name, value) { this.state[name] = value; this.tell(name); }
  save_changes() {
    const at = this.state.at;
    this.asked.push(at);
    setTimeout(() => this.set("shown", this.stops[at]), this.delay);
  }
}
"""


@pytest.fixture(scope="module")
def data():
    x = Tensor(np.arange(64 * 16, dtype=np.float32).reshape(64, 16)).realize()
    picture = rewrites(x.softmax(1))
    stops = [picture.shown(n) for n in range(len(picture.way.stops))]
    about = {"headline": picture.headline, "outline": picture.outline}
    return {**about, "count": len(stops), "stops": stops}


def show(page, data, theme: str = "light") -> None:
    """The widget on an empty page, in a notebook's theme."""
    module = (HERE / "stepper.js").read_text().replace("export default", "const widget =")
    page.set_content(
        f"<html lang=en><style>{(HERE / 'stepper.css').read_text()}</style>"
        f'<body data-jp-theme-light="{str(theme == "light").lower()}"><main></main>'
    )
    start = "window.model = new Model(JSON.parse(document.title)); document.title = '';"
    start += "window.end = widget.render({ model, el: document.querySelector('main') });"
    page.evaluate("text => { document.title = text; }", json.dumps(data))
    page.add_script_tag(type="module", content=f"{MODEL}\n{module}\n{start}")
    page.wait_for_selector(".tinyframe-stepper")


@pytest.fixture
def page(opened, data):
    page = opened("about:blank", tour=True)
    show(page, data)
    yield page
    assert opened.watched[0].errors == []


def place(page):
    return page.locator(".tinyframe-stepper .place")


def arrived(page, number: int) -> None:
    expect(page.locator(f'.tinyframe-stepper[data-at="{number}"]')).to_have_count(1)


def test_it_opens_with_the_first_stop_and_asks_for_no_other(page, data) -> None:
    arrived(page, 0)
    expect(place(page)).to_have_text(data["stops"][0]["place"])
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    assert page.evaluate("model.asked") == []


def test_next_and_previous_show_the_stops_in_order(page, data) -> None:
    for number in (1, 2, 3):
        page.get_by_role("button", name="Next").click()
        arrived(page, number)
        stop = data["stops"][number]
        expect(place(page)).to_have_text(stop["place"])
        for side, words in zip(
            page.locator("figure").all(), (stop["before"], stop["after"]), strict=True
        ):
            expect(side.locator("figcaption code")).to_have_text(words)
            assert side.locator("img").evaluate("i => i.decode().then(() => i.naturalWidth)") > 0
    page.get_by_role("button", name="Previous").click()
    arrived(page, 2)


def test_the_slider_and_the_stages_lead_anywhere(page, data) -> None:
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("End")
    arrived(page, data["count"] - 1)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    row = data["outline"][1]
    page.get_by_role("combobox").select_option(str(row["first"]))
    arrived(page, row["first"])
    expect(place(page)).to_contain_text(row["name"])
    expect(slider).to_have_value(str(row["first"]))


def test_arrows_step_wherever_the_focus_is(page, data) -> None:
    page.locator(".tinyframe-stepper").focus()
    page.keyboard.press("ArrowRight")
    arrived(page, 1)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    arrived(page, 2)
    expect(place(page)).to_have_text(data["stops"][2]["place"])
    page.keyboard.press("ArrowLeft")
    arrived(page, 1)
    assert page.get_by_role("slider").input_value() == "1"


def test_keys_that_it_uses_do_not_reach_the_notebook(page) -> None:
    page.evaluate(
        "() => { window.keys = []; document.body.onkeydown = (e) => { keys.push(e.key); }; }"
    )
    page.locator(".tinyframe-stepper").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert page.evaluate("keys") == ["Escape"]


def test_while_python_is_busy_only_the_latest_wish_is_kept(page, data) -> None:
    page.evaluate("model.delay = 400")
    next_button = page.get_by_role("button", name="Next")
    next_button.evaluate("button => { for (let n = 0; n < 8; n++) button.click(); }")
    arrived(page, 8)
    assert page.evaluate("model.asked") == [1, 8]


def test_play_goes_on_to_the_end_and_stops(page, data) -> None:
    last = data["count"] - 1
    page.get_by_role("slider").fill(str(last - 2))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_have_attribute("aria-pressed", "true")
    arrived(page, last)
    expect(page.get_by_role("button", name="Play")).to_have_attribute("aria-pressed", "false")


def test_a_step_by_hand_ends_playing(page) -> None:
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("button", name="Play")).to_have_count(1)


def test_everything_has_a_name_for_who_cannot_see_it(page) -> None:
    named = page.locator("button, select, input, img, section, .drawn").all()
    for element in named:
        name = element.evaluate(
            "e => e.ariaLabel || e.getAttribute('aria-label') || e.alt || e.innerText"
        )
        assert name, element.evaluate("e => e.outerHTML.slice(0, 99)")
    assert page.locator('[aria-live="polite"]').count() == 1


def test_another_view_of_the_same_model_follows(page) -> None:
    page.evaluate("model.set('at', 4); model.save_changes()")
    arrived(page, 4)
    expect(page.get_by_role("slider")).to_have_value("4")


def test_when_it_is_taken_away_it_listens_no_longer(page) -> None:
    page.get_by_role("button", name="Play").click()
    page.evaluate("end()")
    assert page.evaluate("Object.values(model.listeners).flat().length") == 0


def test_markup_in_names_is_text(opened, data) -> None:
    page = opened("about:blank", tour=True)
    stop = data["stops"][0] | dict.fromkeys(
        ("place", "rule", "code", "before", "after", "where"), HOSTILE
    )
    stop["pictures"] = [
        {"svg": "", "text": HOSTILE},
        {"svg": f"<svg>{HOSTILE}</svg>", "text": HOSTILE},
    ]
    outline = [row | {"name": HOSTILE} for row in data["outline"]]
    show(page, {"headline": HOSTILE, "outline": outline, "count": 1, "stops": [stop]})
    expect(page.locator("h4")).to_have_text(HOSTILE)
    page.wait_for_timeout(100)
    assert page.title() == ""
    assert page.locator(".tinyframe-stepper script").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 960])
def test_words_can_be_read_and_nothing_sticks_out(opened, data, theme, width) -> None:
    page = opened("about:blank", tour=True, viewport={"width": width, "height": 800})
    show(page, data, theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for element in page.locator("h4, .place, .count, .where, button:enabled, figcaption b").all():
        back, front = element.evaluate("""e => {
          const back = (e) => getComputedStyle(e).backgroundColor;
          let under = e;
          while (back(under) === 'rgba(0, 0, 0, 0)') under = under.parentElement;
          return [back(under), getComputedStyle(e).color];
        }""")
        parts = [map(int, re.findall(r"\d+", colour)[:3]) for colour in (back, front)]
        pair = ["#{:02x}{:02x}{:02x}".format(*found) for found in parts]
        assert contrast(*pair) >= 4.5, (theme, element.inner_text(), back, front)


# as JupyterLab has them in a cell: an output each, and what it writes where a widget is gone
GONE = '<div class="jupyter-widgets">Error displaying widget: model not found</div>'
LIVE = '<div class="jupyter-widgets"><section class="tinyframe-stepper">Next</section></div>'


@pytest.mark.parametrize("widget, seen", [(LIVE, [False, True]), (GONE, [True, False])])
def test_the_still_picture_is_shown_where_its_widget_is_not(opened, widget, seen):
    still = rewrites(Tensor(np.ones(3, np.float32)) + 1).html()
    css = (HERE / "stepper.css").read_text() if widget is LIVE else ""
    page = opened("about:blank", tour=True)
    outputs = "".join(
        f'<div class="jp-OutputArea-child">{o}</div>' for o in (f"<div>{still}</div>", widget)
    )
    page.set_content(f"<style>{css}</style>{outputs}")
    assert [page.locator("img").is_visible(), page.locator(".jupyter-widgets").is_visible()] == seen
