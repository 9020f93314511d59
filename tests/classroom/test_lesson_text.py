"""A lesson's text, and the notebook that it is."""

from __future__ import annotations

import json
import shutil

import pytest
from nbformat.v4 import new_notebook

from classroom import build, lesson_text
from classroom.exercises import LESSONS

NEW = """
**Exercise {rules-two}, predict.** How many is `1 + 1`? As many as in {rules-caught}.

```{code-cell}
two = 2  ### SOLUTION
predict("rules-two", two)
```
"""
PICTURE_AND_CODE = """# 1. A

![x](attachment:x.png) {not-known}

```{code-cell}
:tags: [kept]

print("so-so", "a-b")
```
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A copy of part 7's texts, and the worked notebooks as they are stored."""
    monkeypatch.setattr(build, "ROOT", tmp_path)
    for name in ("rules", "from_a_graph_to_c", "fast"):
        shutil.copytree(LESSONS / name, tmp_path / build.LESSONS / name)
    shutil.copytree(LESSONS.parents[1] / build.WORKED, tmp_path / build.WORKED)
    for path in (tmp_path / build.WORKED).iterdir():
        if not path.name.startswith("07"):
            path.unlink()
    order = json.loads((LESSONS / "order.json").read_text())
    seven = {name: names for name, names in order.items() if name.startswith("07")}
    (tmp_path / build.ORDER).write_text(json.dumps(seven))
    return tmp_path


def test_an_exercise_that_is_put_in_moves_the_numbers_behind_it(repository):
    """One new cell of the lesson, after 7.2, and nothing else is written by hand."""
    assert not build.texts_drift()
    lesson = repository / build.LESSONS / "rules" / "lesson.md"
    text = lesson.read_text()
    lesson.write_text(
        text.replace(
            "\n**Exercise {rules-largest}.**", f"{NEW}\n+++\n\n**Exercise {{rules-largest}}.**", 1
        )
    )
    before = {path.name: build.read(path) for path in (repository / build.WORKED).iterdir()}
    assert {path.name for path in build.texts_drift()} == {*before, "order.json"}
    build.bring_in()
    assert not build.texts_drift()
    after = build.read(repository / build.WORKED / "07a_rules.ipynb")
    cells = [cell.source for cell in after.cells]
    assert any('predict("7.3", two)' in cell for cell in cells)
    assert any("As many as in 7.2." in cell for cell in cells)
    assert any('check("7.4"' in cell for cell in cells)
    fast = build.read(repository / build.WORKED / "07c_fast.ipynb")
    assert any('check("7.26"' in cell.source for cell in fast.cells)
    # cells that stay have the ids and outputs that they had
    stay = {cell.source: cell for cell in before["07a_rules.ipynb"].cells}
    kept = [cell for cell in after.cells if cell.source in stay]
    assert len(kept) > len(cells) - 20
    assert all(cell == stay[cell.source] for cell in kept)


def test_a_picture_beside_the_text_is_attached_and_names_of_nothing_stay(tmp_path):
    (tmp_path / "x.png").write_bytes(b"a picture")
    lesson = tmp_path / "lesson.md"
    lesson.write_text(PICTURE_AND_CODE)
    text, code = lesson_text.notebook(lesson, {"a-b": "1.1"}, new_notebook()).cells
    assert text.attachments == {"x.png": {"image/png": "YSBwaWN0dXJl"}}
    assert "{not-known}" in text.source
    assert code.source == 'print("so-so", "1.1")' and code.metadata.tags == ["kept"]


def test_a_lesson_begins_with_its_number(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "lesson.md").write_text("# Rules\n")
    with pytest.raises(ValueError, match="rules/lesson.md has to begin with `# 7a. Title`"):
        lesson_text.order(tmp_path)
