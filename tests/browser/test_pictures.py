"""The pictures that the lessons store, on a dark page: each word and line differs from what is
behind it."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

LESSONS = sorted((Path(__file__).parents[2] / "course").glob("*.ipynb"))
DARK = "#111111"  # JupyterLab's
LEAST = 1.25  # of contrast; faint lines of a grid have 1.4

# words, and shapes that are only lines: [what, its colour, what is behind it, the contrast]
WHAT = "svg :is(text, use[*|href*=Sans], path, line, polyline)"
UNREADABLE = """([page, least, what]) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => colour.map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0.05);
  const over = ([r, g, b, own = 1], opacity, under) =>
    [r, g, b].map((v, n) => v * own * opacity + under[n] * (1 - own * opacity));
  const opacity = (e) =>
    e.parentElement ? opacity(e.parentElement) * getComputedStyle(e).opacity : 1;
  const found = [];
  for (const e of document.querySelectorAll(what)) {
    const style = getComputedStyle(e), is_words = ["text", "use"].includes(e.tagName);
    const colour = is_words ? style.fill : style.fill === "none" ? style.stroke : "none";
    if (colour === "none" || e.closest("defs, clipPath, marker") || !(opacity(e) > 0.05)) continue;
    if (e.tagName === "text" && !e.textContent.trim()) continue;
    const box = e.getBoundingClientRect();
    let [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    if (!is_words) {
      if (!e.getTotalLength()) continue;
      ({ x, y } = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM()));
    }
    let behind = numbers(page);
    for (const shape of document.elementsFromPoint(x, y).reverse()) {
      const earlier = shape.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING;
      const { fill, fillOpacity } = getComputedStyle(shape);
      const is_filled = fill !== "none" && shape.matches("svg :is(rect, path, polygon, ellipse)");
      if (is_filled && earlier)
        behind = over(numbers(fill), opacity(shape) * fillOpacity, behind);
    }
    const [one, other] = [light(over(numbers(colour), opacity(e), behind)), light(behind)];
    const contrast = Math.max(one, other) / Math.min(one, other);
    if (contrast < least) found.push([e.textContent.trim() || e.tagName, colour, behind, contrast]);
  }
  return found;
}"""


def stored(path: Path) -> list[tuple[int, str]]:
    """The pictures of a notebook, each with the number of its cell."""
    found = []
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        for data in [output.get("data", {}) for output in cell.get("outputs", ())]:
            page = "".join(data.get("text/html", ""))
            drawn = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", page)
            texts = [base64.b64decode(text).decode() for text in drawn]
            texts.append("".join(data.get("image/svg+xml", "")))
            found += [(number, text[text.index("<svg") :]) for text in texts if "<svg" in text]
    return found


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_words_and_lines_of_a_stored_picture_can_be_seen_on_a_dark_page(browser, path):
    page = browser.new_page(viewport={"width": 1600, "height": 3000})
    for number, svg in stored(path):
        page.set_content(f'<body style="margin: 0; background: {DARK}">{svg}')
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert page.evaluate(UNREADABLE, [ground, LEAST, WHAT]) == [], f"cell {number}"
    page.close()
