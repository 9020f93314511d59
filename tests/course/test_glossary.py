"""The course's terms: each is explained once, before it is used; the glossary has them all."""

from __future__ import annotations

from classroom.build import ROOT, WORKED, glossary_drift
from classroom.glossary import course_in, early_uses, terms

COURSE = course_in(ROOT / WORKED)


def test_each_term_is_explained_once():
    names = [term.name for term in terms(COURSE)]  # ValueError, with both places, where one is not
    assert len({name.lower() for name in names}) == len(names)


def test_each_explanation_is_a_sentence_that_names_the_term():
    for term in terms(COURSE):
        words = term.sentence
        assert term.pattern.search(words) and words.endswith((".", ".)")), term.row
        assert 4 <= len(words.split()) <= 60, term.row


def test_no_term_is_used_before_it_is_explained():
    said = early_uses(COURSE)
    assert not said, "\n".join(said)


def test_the_glossary_is_that_of_the_notebooks():
    assert glossary_drift() == ""
