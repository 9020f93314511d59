"""A merge of three notebooks keeps every answer and brings every correction, whatever was edited.

Most tests here draw edits at random, on both sides, and know from the edits what has to come out.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from functools import cache

import nbformat
import pytest

from classroom.learner.merge import BOTH_VERSIONS, merge, notebooks, texts

WORDS = "shape stride axis kernel buffer graph node loop sum view range store load lane".split()


# ---- texts ---------------------------------------------------------------------------------------

BASE = "def f(x):\n    '''Add.'''\n    ...\n\n\nprint(f(1))\n"


@pytest.mark.parametrize(
    ("mine", "new", "merged"),
    [
        (("...", "return x"), ("Add.", "Add one."), [("...", "return x"), ("Add.", "Add one.")]),
        (("...", "y = x\n    return y"), ("print(f(1))", "print(f(2))"), None),
        (("...", "return 1"), ("...", "return 2"), "collide"),
        (("...", "return 1"), ("...", "return 1"), [("...", "return 1")]),
        (("print(f(1))\n", ""), ("Add.", "Add one."), None),
        (("print(f(1))\n", ""), ("print(f(1))", "print(f(3))"), "collide"),
        (("def f", "import math\n\ndef f"), ("def f", "import os\n\ndef f"), "collide"),
        (("def f", "import math\n\ndef f"), ("print(f(1))\n", "print(f(1))\nend()\n"), None),
    ],
)
def test_lines_merge_unless_both_sides_change_the_same_ones(mine, new, merged):
    expected = BASE
    for old, text in merged if isinstance(merged, list) else (mine, new):
        expected = expected.replace(old, text)
    found = texts(BASE, BASE.replace(*mine), BASE.replace(*new), is_python=True)
    assert found == (None if merged == "collide" else expected)


@pytest.mark.parametrize("other", [b"", b"print(f(2))\n"])
def test_lines_that_end_as_on_windows_are_the_same_lines(other):
    """An editor there changed every end of a line, in the file or in cells pasted from it."""
    mine = BASE.replace("...", "return x").replace("\n", "\r\n").encode()
    new = BASE.replace("Add.", "Add one.").encode() + other
    expected = new.replace(b"...", b"return x")
    assert merge(".py", BASE.encode(), mine, new).content == expected.replace(b"\n", b"\r\n")
    cells = [make_cell(True, text.decode(), "f") for text in (BASE.encode(), mine, new)]
    merged = merge(".ipynb", *[json.dumps(as_notebook([cell])).encode() for cell in cells])
    assert merged.conflicts == 0
    assert "".join(json.loads(merged.content)["cells"][0]["source"]) == expected.decode()


def test_what_only_one_side_changed_is_taken_from_that_side():
    assert texts("a\n", "a\n", "b\n", is_python=False) == "b\n"
    assert texts("a\n", "b\n", "a\n", is_python=False) == "b\n"


def test_random_edits_of_different_lines_never_collide():
    draw = random.Random(14)
    for _ in range(300):
        base = [f"{draw.choice(WORDS)} {n}\n" for n in range(draw.randint(1, 12))]
        sides, expected = {"mine": base.copy(), "new": base.copy()}, base.copy()
        for n in range(len(base)):
            side = draw.choice(["mine", "new", ""])
            if side:
                edited = draw.choice([f"{side} {n}\n", f"{base[n]}{side} {n}\n", ""])
                sides[side][n] = expected[n] = edited
        found = texts(*map("".join, (base, sides["mine"], sides["new"])), is_python=False)
        assert found == "".join(expected)


def test_a_file_that_is_not_what_its_name_says_is_not_merged():
    assert merge(".ipynb", b"{}", b'{"cells": [', b"{}") is None
    assert merge(".ipynb", b"[]", b"[]", b"[]") is None
    assert merge(".txt", b"a", b"\xff", b"b") is None
    assert merge(".svg", b"\xff", b"\xff", b"\xfe").content == b"\xfe"


# ---- notebooks: edits at random ------------------------------------------------------------------


@dataclass
class Drawn:
    """Three versions of a notebook, as lists of cells, and what has to be in the merged one."""

    base: list = field(default_factory=list)
    mine: list = field(default_factory=list)
    new: list = field(default_factory=list)
    answers: list = field(default_factory=list)  # the learner's own texts, in their order
    course: list = field(default_factory=list)  # the course's, in the new order
    gone: list = field(default_factory=list)  # old sentences that nobody should see any more


def draw_edits(draw: random.Random) -> Drawn:
    found = Drawn()
    for n in range(draw.randint(1, 14)):
        name = f"{draw.choice(WORDS)}{n}"
        exercise = draw.random() < 0.4
        text = f'"""Find the {name} of it."""\n{name} = ...\ncheck("1.{n}", {name})'
        text = text if exercise else sentence(draw, name)
        cell = make_cell(exercise, text, f"cell-{n}")
        found.base.append(cell)
        theirs, learner_did = learners_version(draw, cell, name, found)
        ours, course_did = courses_version(draw, cell, name, theirs is None)
        found.mine += [theirs] if theirs else []
        found.new += [ours] if ours else []
        if ours and not learner_did and (course_did or theirs):
            found.course.append(source(ours))
            found.gone += [text] if course_did else []
        if draw.random() < 0.2:
            found.mine.append(make_cell(True, f"mine_{name} = 0", f"own-{n}"))
            found.answers.append(f"mine_{name} = 0")
        if draw.random() < 0.2:
            found.new.append(make_cell(False, f"A new text on {name} and more.", f"new-{n}"))
            found.course.append(source(found.new[-1]))
    if draw.random() < 0.5:  # as scripts that write notebooks do: by position
        for number, cell in enumerate(found.new):
            cell["id"] = f"cell-{number}"
    return found


def learners_version(draw, cell, name, found):
    """What the learner made of a cell, and a word for it; None: thrown away."""
    edited = dict(cell)
    if cell["cell_type"] == "code":
        if draw.random() < 0.5:
            edited["outputs"] = [nbformat.v4.new_output("stream", text=f"ran {name}")]
            edited["execution_count"] = draw.randint(1, 99)
        if draw.random() < 0.6:
            answer = f"{name} = answer_{name}(1) + 2"
            edited["source"] = source(cell).replace(f"{name} = ...", answer)
            found.answers.append(answer)
            return edited, "answered"
    elif draw.random() < 0.15:
        edited["source"] = f"My note on {name}."
        found.answers.append(edited["source"])
        return edited, "rewrote"
    if draw.random() < 0.1:
        return None, ""
    return edited, ""


def courses_version(draw, cell, name, thrown_away):
    """What the course made of a cell, and a word for it; None: dropped."""
    edited = dict(cell)
    if draw.random() < 0.35:
        old = "Find the" if cell["cell_type"] == "code" else "says"
        new = "Work out the" if cell["cell_type"] == "code" else "plainly says"
        edited["source"] = source(cell).replace(old, new)
        return edited, "corrected" if cell["cell_type"] == "code" else "rewritten"
    if draw.random() < 0.08:
        return None, "dropped"
    return edited, ""


def sentence(draw, name):
    return f"This text says what {name} is, " + " ".join(draw.choices(WORDS, k=6)) + "."


def make_cell(is_code, text, name):
    make = nbformat.v4.new_code_cell if is_code else nbformat.v4.new_markdown_cell
    return dict(make(text, id=name))


def source(cell):
    return "".join(cell["source"])


def as_notebook(cells):
    return json.loads(json.dumps(nbformat.v4.new_notebook(cells=[dict(cell) for cell in cells])))


def merged_cells(drawn):
    versions = (as_notebook(cells) for cells in (drawn.base, drawn.mine, drawn.new))
    found = notebooks(*versions)
    notebook = nbformat.reads(found.content.decode(), as_version=4)
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    return notebook.cells, found


def in_order(wanted, texts_there):
    """Whether each of the wanted stands in one of the texts, in this order."""
    rest = iter(texts_there)
    return all(any(text in there for there in rest) for text in wanted)


def all_edits(count=150):
    return [draw_edits(random.Random(seed)) for seed in range(count)]


@cache
def all_merged():
    """All edits, and the texts that come out of each."""
    return [(drawn, [source(cell) for cell in merged_cells(drawn)[0]]) for drawn in all_edits()]


def test_every_answer_survives_once_and_what_was_left_alone_becomes_the_course_s_in_its_order():
    for drawn, there in all_merged():
        assert in_order(drawn.answers, there), (drawn.answers, there)
        for answer in drawn.answers:
            assert sum(answer in text for text in there) == 1, answer
        assert in_order(drawn.course, there), (drawn.course, there)
        assert not set(drawn.gone) & set(there)


def test_a_corrected_docstring_and_an_answer_below_it_are_both_there():
    seen = 0
    for drawn, there in all_merged():
        corrected = {source(cell) for cell in drawn.new if "Work out" in source(cell)}
        for answer in (text for text in drawn.answers if "answer_" in text):
            name = answer.split()[0]
            if any(f"Work out the {name} " in text for text in corrected):
                (cell,) = [text for text in there if answer in text]
                assert f"Work out the {name} " in cell and "Find" not in cell
                seen += 1
    assert seen > 50


def test_only_cells_that_both_sides_rewrote_are_in_conflict():
    conflicts = 0
    for drawn in all_edits():
        cells, found = merged_cells(drawn)
        notes = [n for n, cell in enumerate(cells) if source(cell) == BOTH_VERSIONS]
        assert len(notes) == found.conflicts
        for n in notes:
            assert source(cells[n - 1]) in drawn.answers, "the learner's comes first"
            assert source(cells[n + 1]) in map(source, drawn.new)
        conflicts += len(notes)
    assert conflicts > 10


def test_running_a_notebook_is_no_change_and_outputs_stay():
    for drawn in all_edits():
        drawn.mine = [dict(cell) for cell in drawn.base]
        for number, cell in enumerate(drawn.mine):
            if cell["cell_type"] == "code":
                cell |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": "ran"}]}
                cell |= {"execution_count": number, "metadata": {"scrolled": True}}
        cells, found = merged_cells(drawn)
        assert [source(c) for c in cells] == [source(c) for c in drawn.new] and not found.conflicts
        untouched = {source(c) for c in drawn.base if c["cell_type"] == "code"}
        assert all(cell.outputs for cell in cells if source(cell) in untouched)


def test_where_only_the_learner_changed_something_nothing_changes():
    for drawn in all_edits():
        drawn.new = drawn.base
        cells, found = merged_cells(drawn)
        assert [dict(cell) for cell in cells] == [
            dict(nbformat.from_dict(cell)) for cell in drawn.mine
        ]
        assert not found.conflicts


def test_notebooks_of_the_old_format_without_ids_merge_too():
    for drawn in all_edits(50):
        versions = [as_notebook(cells) for cells in (drawn.base, drawn.mine, drawn.new)]
        for version in versions:
            version["nbformat_minor"] = 4
            for cell in version["cells"]:
                del cell["id"]
        found = json.loads(notebooks(*versions).content)
        assert not any("id" in cell for cell in found["cells"])
        there = [source(cell) for cell in found["cells"]]
        assert all(any(answer in text for text in there) for answer in drawn.answers)
