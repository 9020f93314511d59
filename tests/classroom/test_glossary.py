"""The glossary: which sentences it has, and what counts as using a term too early."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from classroom.glossary import Term, course_in, early_uses, page, paragraphs, terms

HEAD = "# 1. One\n\nWhat this is.\n\nAfter this part you can\n\n- count a kernel."
KERNEL = "A **<dfn>kernel</dfn>** is one *program*, in [C](c.md). It runs."


def course(*texts: str, part: str = "01_one.ipynb", head: str = HEAD) -> list:
    return [*paragraphs(part, [new_markdown_cell(text) for text in (head, *texts)])]


def test_a_term_has_its_sentence_and_its_place():
    (term,) = terms(course("## How it runs\n\nWe wait. " + KERNEL))
    assert (term.name, term.sentence) == ("kernel", "A kernel is one program, in C.")
    assert term.row == (
        "| **kernel** | A kernel is one program, in C. "
        "| [1, How it runs](01_one.ipynb#How-it-runs) |"
    )


def test_a_title_is_the_sentence_where_there_is_one():
    text = 'They form a **<dfn title="A `graph` is nodes. Arrows\njoin them.">graph</dfn>**.'
    (term,) = terms(course(text))
    assert (term.name, term.sentence) == ("graph", "A `graph` is nodes. Arrows join them.")


def test_a_row_of_a_table_is_a_sentence():
    (term,) = terms(course("| word | |\n|---|---|\n| **<dfn>GFLOP/s</dfn>** | billions a second |"))
    assert term.sentence == "GFLOP/s: billions a second."


def test_the_page_is_in_the_order_of_the_alphabet():
    text = page(course("## B\n\nA <dfn>view</dfn> is b.\n\nA <dfn>BUFFER</dfn> is a | b."))
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert [row.split("**")[1] for row in rows] == ["BUFFER", "view"]
    assert r"a \| b" in rows[0]


def test_a_term_that_is_explained_twice_is_refused():
    with pytest.raises(ValueError, match="'kernel' is explained twice: in 01_one.ipynb, 'A', and"):
        terms(course(f"## A\n\n{KERNEL}\n\n## B\n\n{KERNEL}"))


@pytest.mark.parametrize(
    "text",
    [
        "Three kernels run.",
        "Kernels run.",
        "- a kernel in a list",
        "| a table | a kernel |",
        "A **kernel** in bold, or a [kernel](k.md).",
        "<details><summary>x</summary>\n\nThe kernel.\n\n</details>",
    ],
)
def test_a_term_used_before_it_is_explained_is_found(text):
    (said,) = early_uses(course(f"## A\n\n{text}\n\n{KERNEL}"))
    assert "01_one.ipynb, 'A'" in said and "is explained later" in said


@pytest.mark.parametrize(
    "text",
    [
        "Call `kernel(x)`.",
        "[the code](kernel.py)",
        "    kernel = 3",
        "```python\nkernel = 3\n```",
        "## Kernels",
        "The subkernel, a KERNEL, kernel-free.",
    ],
)
def test_what_is_no_use_is_none(text):
    assert early_uses(course(f"## A\n\n{text}\n\n{KERNEL}\n\nTwo kernels.")) == []


def test_what_a_code_cell_says_is_no_use():
    cells = [new_markdown_cell(HEAD), new_code_cell("kernel = 3"), new_markdown_cell(KERNEL)]
    assert early_uses(paragraphs("01_one.ipynb", cells)) == []


def test_only_the_part_that_explains_a_term_may_announce_it():
    explained = course(KERNEL, part="02_two.ipynb", head="# 2. Two")
    assert len(early_uses(course() + explained)) == 1
    assert early_uses(explained + course()) == []


def test_terms_in_capitals_are_meant_exactly_and_plurals_are_known():
    def found(name: str, text: str) -> bool:
        term = Term(name, "", course()[0])
        return term.pattern.search(text) is not None

    assert found("RANGE", "a RANGE node") and not found("RANGE", "a range")
    assert found("axis", "two axes") and found("axis", "An axis") and found("axis", "Axes")
    assert found("Fusion", "and fusion") and found("fusion", "Fusion is")
    assert not found("TinyJit", "tinyjit") and not found("BUFFER", "a buffer")
    assert found("cost rule", "the cost\nrules") and found("memory", "memories")
    assert found("schedule item", "Schedule items") and not found("node", "nodal")


def test_parts_come_in_the_order_of_their_names_and_the_gallery_is_none(tmp_path):
    import nbformat

    for name in ("04b_b.ipynb", "gallery.ipynb", "04a_a.ipynb", "05_c.ipynb"):
        cells = [new_markdown_cell(f"# {name}\n\nText.")]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / name)
    assert [p.part for p in course_in(tmp_path)] == ["4a", "4b", "5"]
