"""The explorer's page, as somebody uses it: with a mouse, with the keyboard alone, on a phone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import traced
from tinyframe import Tensor

ROOT = Path(__file__).parents[2]


def kernel_rows(page):
    return page.locator("#kernels li[data-of]")


def test_it_opens_with_the_busiest_kernel(page) -> None:
    expect(kernel_rows(page).first).to_have_attribute("aria-current", "true")
    expect(page.locator(".most")).to_have_count(1)
    expect(page.locator("#script")).to_contain_text("train.py")
    assert "kernel=" in page.url


def test_each_kernel_shows_its_line(page) -> None:
    expect(page.locator("#kernels")).to_contain_text("hidden.softmax(1).realize()")


def test_speed_says_what_limits_the_kernel(page) -> None:
    expect(page.locator(".verdict")).to_have_text(re.compile(r"(limit|starting|cache|memory)"))
    expect(page.locator("#details")).to_contain_text("GFLOP/s (")


def test_source_has_the_kernels_function(page) -> None:
    page.click("text=Source")
    name = kernel_rows(page).first.locator(".name").inner_text()
    # `r_8n1` is the second kernel whose function is r_8: kernels of one source share its binary.
    function = re.sub(r"n\d+$", "", name)
    expect(page.locator("pre.code")).to_contain_text(f"{function}(")
    assert page.locator("pre.code .t").count() > 0


def test_assembly_shows_a_loop_or_says_why_not(page) -> None:
    page.click("text=Assembly")
    expect(page.locator("#details")).to_have_text(re.compile(r"loop|objdump|code"))


def graph_of(page) -> str:
    page.wait_for_function("() => !document.querySelector('#graph').classList.contains('loading')")
    return page.locator("#graph svg").get_attribute("aria-label")


def test_another_stage_is_another_graph(page) -> None:
    first = graph_of(page)
    names = page.locator("#stage option").all_inner_texts()
    assert any("linearize" in name for name in names)
    page.select_option("#stage", index=[n for n, name in enumerate(names) if "expand" in name][0])
    another = "s => document.querySelector('#graph svg').getAttribute('aria-label') !== s"
    page.wait_for_function(another, arg=first)
    assert "pass=expand" in page.url


def test_a_program_is_a_list_of_instructions(page) -> None:
    names = page.locator("#stage option").all_inner_texts()
    page.select_option("#stage", index=len(names) - 1)
    expect(page.locator("#graph pre")).to_contain_text("STORE")
    assert "pass=linearize" in page.url


def test_back_leads_to_the_kernel_before_and_the_stage_stays(page) -> None:
    names = page.locator("#stage option").all_inner_texts()
    page.select_option("#stage", index=[n for n, name in enumerate(names) if "optimize" in name][0])
    first = page.url
    kernel_rows(page).nth(1).click()
    page.wait_for_function("u => location.href !== u", arg=first)
    assert "pass=optimize" in page.url
    page.go_back()
    expect(kernel_rows(page).first).to_have_attribute("aria-current", "true")
    assert page.url == first


def test_a_timeline_zoomed_without_end_stays_alive(page) -> None:
    box = page.locator("#timeline").bounding_box()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 40)
    for delta in (-500, 700):
        for _ in range(80):
            page.mouse.wheel(0, delta)
        assert page.evaluate("1 + 1") == 2
    page.click("#time-kernels")
    page.click("#time-fit")


def test_the_search_for_kernels_is_left_with_escape_and_entered_with_enter(page) -> None:
    everything = kernel_rows(page).count()
    page.fill("#search-kernels", "softmax")
    page.press("#search-kernels", "Enter")
    expect(kernel_rows(page).first).to_have_attribute("aria-current", "true")
    page.fill("#search-kernels", "nothing")
    page.press("#search-kernels", "Escape")
    expect(kernel_rows(page)).to_have_count(everything)


def to_first_rewrite(page) -> None:
    """The first rewrite of the first pass that made some."""
    names = page.locator("#stage option").all_inner_texts()
    page.select_option("#stage", index=next(n for n, name in enumerate(names) if "·" in name))
    expect(page.locator("#slider")).to_be_enabled()
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(page.locator("#rule")).to_contain_text("matched")


def test_rewrites_are_gone_through_one_by_one(page) -> None:
    to_first_rewrite(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#rule")).to_contain_text("matched")
    expect(page.locator("#rule")).to_contain_text(".py:")
    after = page.locator("#count").inner_text()
    page.click("#previous")
    expect(page.locator("#count")).not_to_have_text(after)
    page.click("#next")
    expect(page.locator("#count")).to_have_text(after)
    assert "step=" in page.url


def test_what_changes_is_marked(page) -> None:
    to_first_rewrite(page)
    graph_of(page)
    marks = page.locator("#graph .node text", has_text=re.compile("^(new|matched)$"))
    expect(marks.first).to_be_visible()


def test_play_goes_on_and_pause_stops(page) -> None:
    to_first_rewrite(page)
    start = page.locator("#count").inner_text()
    page.click("#play")
    expect(page.locator("#count")).not_to_have_text(start)
    expect(page.locator("#play")).to_contain_text("Pause")
    page.click("#play")
    expect(page.locator("#play")).to_contain_text("Play")


def test_a_click_on_a_node_says_what_it_is(page) -> None:
    node = page.locator("#graph .node").last
    title = node.locator("title").text_content()
    node.click()
    expect(page.locator("#details h2")).to_have_text(title.split(",")[0])
    expect(page.locator("#details")).to_contain_text("dtype")


def test_the_search_finds_nodes(page) -> None:
    page.fill("#search-graph", "range")
    assert page.locator("#graph .node.found").count() > 0
    page.press("#search-graph", "Enter")
    expect(page.locator("#graph .node.chosen")).to_have_count(1)


def test_the_search_finds_kernels_by_line(page) -> None:
    everything = kernel_rows(page).count()
    page.fill("#search-kernels", "no such thing")
    expect(kernel_rows(page)).to_have_count(0)
    expect(page.locator(".empty")).to_be_visible()
    page.fill("#search-kernels", "SOFTMAX")
    assert 0 < kernel_rows(page).count() <= everything


def scale_of(page) -> float:
    style = page.locator("#graph svg").get_attribute("style")
    return float(re.search(r"scale\(([\d.]+)\)", style)[1])


def test_the_wheel_zooms_and_dragging_moves(page) -> None:
    before = scale_of(page)
    page.mouse.move(640, 300)
    page.mouse.wheel(0, -400)
    larger = """s => Number(document.querySelector('#graph svg').style.transform
        .match(/scale\\(([\\d.]+)/)[1]) > s"""
    page.wait_for_function(larger, arg=before)
    style = page.locator("#graph svg").get_attribute("style")
    page.mouse.down()
    page.mouse.move(700, 340, steps=4)
    page.mouse.up()
    assert page.locator("#graph svg").get_attribute("style") != style
    page.click("#fit")
    assert scale_of(page) == pytest.approx(before)


def test_a_link_shows_the_same_to_somebody_else(page, opened, server) -> None:
    to_first_rewrite(page)
    link, rule = page.url, page.locator("#rule").inner_text()
    other = opened(link)
    expect(other.locator("#rule")).to_have_text(re.compile(re.escape(rule.split("\n")[0])))


def test_a_link_to_nothing_says_so_and_shows_the_rest(opened, server) -> None:
    page = opened(f"{server.url}#kernel=none&pass=x")
    expect(page.locator("#problem")).to_contain_text("nothing by the name")
    expect(kernel_rows(page).first).to_be_visible()


def test_realizes_in_order_lead_to_how_kernels_were_found(page) -> None:
    page.click("#by-order")
    row = page.locator("#kernels li.realize[data-of]").last
    row.click()
    expect(page.locator("#stage")).to_contain_text("tensor graph")
    expect(page.locator("#details")).to_contain_text("How the kernels were formed")


def test_the_keyboard_alone_is_enough(page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#search-kernels")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    first = page.url
    page.keyboard.press("ArrowDown")
    page.wait_for_function("u => location.href !== u", arg=first)
    page.keyboard.press("2")
    expect(page.locator("[data-tab=source]")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).not_to_be_visible()


def test_everything_that_can_be_clicked_has_a_name(page) -> None:
    nameless = page.evaluate("""() =>
        [...document.querySelectorAll('button, input, select, a, canvas')]
        .filter(e => !(e.innerText || e.getAttribute('aria-label') || e.labels?.length)).length""")
    assert nameless == 0


def test_the_first_visit_gets_a_tour_of_five_cards(opened, server) -> None:
    page = opened(server.url, tour=True)
    for n in range(1, 6):
        expect(page.locator("#tour")).to_contain_text(f"{n} of 5")
        page.locator("#tour button").last.click()
    expect(page.locator("#tour")).not_to_be_visible()
    page.reload()
    page.wait_for_selector("#graph svg")
    expect(page.locator("#tour")).not_to_be_visible()


def brightness(page) -> float:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def test_dark_and_light_follow_the_system_and_a_key(opened, server) -> None:
    page = opened(server.url, color_scheme="dark")
    page.wait_for_selector("#graph svg")
    assert brightness(page) < 60
    page.keyboard.press("t")
    assert brightness(page) > 200


def test_a_phone_shows_one_part_at_a_time_and_nothing_is_wider_than_it(opened, server) -> None:
    page = opened(server.url, viewport={"width": 375, "height": 720}, has_touch=True)
    kernel_rows(page).first.wait_for()
    for pane in ("left", "middle", "right", "bottom"):
        page.click(f"#tabs [data-pane={pane}]")
        expect(page.locator(f"#{pane}")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.click("#tabs [data-pane=left]")
    kernel_rows(page).first.click()
    expect(page.locator("#details h2")).to_be_visible()
    page.click("#tabs [data-pane=middle]")
    expect(page.locator("#graph svg")).to_be_visible()


def test_the_timeline_leads_to_its_kernels(page) -> None:
    box = page.locator("#timeline").bounding_box()
    assert box["width"] > 1000
    colours = page.evaluate("""() => { const c = document.querySelector('#timeline');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const pixels = Array.from({length: d.length / 4}, (_, i) =>
          d[4 * i] << 16 | d[4 * i + 1] << 8 | d[4 * i + 2]);
        return new Set(pixels).size }""")
    assert colours > 4


def test_the_profile_can_be_saved_for_chrome(page) -> None:
    with page.expect_download() as download:
        page.click("#chrome")
    assert "traceEvents" in download.value.path().read_text()


def test_hostile_names_are_shown_as_text(opened) -> None:
    def work() -> None:
        (Tensor.ones(3).contiguous() + 1).realize()  # <img src=x onerror="window.stolen=1">

    hostile = "<script>window.stolen=1</script><img src=x onerror='window.stolen=1'>.py"
    server = traced(work, hostile)
    about = server.trace.overview
    for kernel in about["kernels"]:
        kernel["name"] = hostile
    about["lines"] = [[hostile, 1, hostile] for _ in about["lines"]]
    server.trace._about = lambda: about
    page = opened(server.url)
    expect(page.locator("#kernels")).to_contain_text("<script>")
    page.click("#by-order")
    expect(page.locator("#script")).to_contain_text("<img")
    assert page.evaluate("window.stolen") is None
    server.shutdown()
    server.server_close()


def test_a_server_that_is_gone_says_so_and_what_is_there_stays(opened, server, tmp_path) -> None:
    server.trace.store.save(tmp_path / "run.trace", server.trace.overview)
    command = [sys.executable, "-m", "tinyframe.viz", str(tmp_path / "run.trace")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT,
                               env={**os.environ, "BROWSER": "true"})  # fmt: skip
    try:
        page = opened(re.search(r"http://\S+", process.stdout.readline())[0])
        page.wait_for_selector("#graph svg")
    finally:
        process.kill()
        process.wait()
    page.select_option("#stage", index=1)
    expect(page.locator("#problem")).to_contain_text("server is gone")
    expect(kernel_rows(page).first).to_be_visible()


def test_a_script_that_runs_nothing_says_so(opened) -> None:
    server = traced(lambda: None)
    page = opened(server.url)
    expect(page.locator(".empty")).to_contain_text("Nothing has run yet")
    server.shutdown()
    server.server_close()
