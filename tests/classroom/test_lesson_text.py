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


def test_a_conflict_in_a_lesson_is_named_by_its_line(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "lesson.md").write_text(
        "# 7a. Rules\n\n<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> upstream/main\n"
    )
    with pytest.raises(ValueError, match="rules/lesson.md, line 3: solve"):
        lesson_text.order(tmp_path)


def test_a_notebook_in_which_git_found_a_conflict_is_named(tmp_path):
    path = tmp_path / "07a_rules.ipynb"
    path.write_text('{\n<<<<<<< HEAD\n "cells": []\n=======\n')
    with pytest.raises(ValueError, match="07a_rules.ipynb is no notebook.* git checkout --theirs"):
        build.read(path)


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


def changed():
    return build.changed_texts(lesson_text.order(build.ROOT / build.LESSONS))


def test_an_exercise_that_is_put_in_moves_the_numbers_behind_it(repository):
    """One new file, and one place of the lesson, after 7.2: nothing else is written by hand."""
    assert not changed()
    lesson = repository / build.LESSONS / "rules" / "lesson.md"
    where = "\n**Exercise {rules-largest}.**"
    lesson.write_text(lesson.read_text().replace(where, f"{NEW}\n+++\n{where}", 1))
    with pytest.raises(ValueError, match="asks rules-two: there's no rules_two.py beside it"):
        changed()
    lesson.with_name("rules_two.py").write_text("")
    made = {path.name: notebook for path, notebook in changed().items()}
    assert len(made) == 3
    cells = made["07a_rules.ipynb"].cells
    sources = [cell.source for cell in cells]
    assert any('predict("7.3", two)' in source for source in sources)
    assert any("As many as in 7.2." in source for source in sources)
    assert any('check("7.4"' in source for source in sources)
    assert any('check("7.26"' in cell.source for cell in made["07c_fast.ipynb"].cells)
    # cells that stay have the ids that they had
    before = build.read(repository / build.WORKED / "07a_rules.ipynb").cells
    stay = {cell.source: cell.id for cell in before}
    kept = [cell for cell in cells if cell.source in stay]
    assert len(kept) > len(cells) - 20
    assert all(cell.id == stay[cell.source] for cell in kept)


def test_a_text_that_fails_is_told_and_changes_no_notebook(repository, capsys):
    lesson = repository / build.LESSONS / "rules" / "lesson.md"
    lesson.write_text("# 7a. Rules\n\n```{code-cell}\n1 / 0\n```\n")
    stored = repository / build.WORKED / "07a_rules.ipynb"
    before = stored.read_text()
    assert build.main(["--check", "07a"]) == 1
    assert "07a_rules.ipynb is not what its lesson.md says" in capsys.readouterr().out
    assert build.main(["07a"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err and stored.read_text() == before


def test_a_name_is_asked_for_once(repository):
    lesson = repository / build.LESSONS / "fast" / "lesson.md"
    (lesson.parent / "rules_bounds.py").write_text("")
    lesson.write_text(f'{lesson.read_text()}\n```{{code-cell}}\ncheck("rules-bounds", 1)\n```\n')
    with pytest.raises(ValueError, match="rules-bounds: that was asked before"):
        lesson_text.order(repository / build.LESSONS)


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
