"""The planted bugs of tests/mutations still fit the package."""

from __future__ import annotations

import ast

import pytest

from classroom.exercise_file import without_answers
from tests.mutations.__main__ import ROOT, place_of
from tests.mutations.refusals import refusal_mutations
from tests.mutations.table import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_planted_bug_can_be_planted(mutation):
    assert place_of(mutation).is_file()
    assert mutation.new not in ("", mutation.old)
    for file, _, test in (path.partition("::") for path in mutation.tests):
        assert test in (ROOT / file).read_text()


def test_every_so_many_refusals_of_the_classroom_are_planted():
    found = [*refusal_mutations()]
    assert len(found) >= 40
    for mutation in found:
        place = place_of(mutation)
        ast.parse(without_answers(place.read_text()).replace(mutation.old, mutation.new))
        assert mutation.new != mutation.old and (ROOT / mutation.tests[0]).exists()


def test_every_bug_has_a_name_of_its_own():
    assert len(MUTATIONS) == len({mutation.name for mutation in MUTATIONS}) >= 40
