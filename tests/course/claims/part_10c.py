"""Part 10c: what its last page claims."""

from __future__ import annotations

import inspect

from classroom.added import work
from classroom.places import within
from classroom.puzzlebook.changes import spelled_out, witnessed
from classroom.puzzlebook.hunted import numbers_of_long_sums, who_stores, who_subtracts
from classroom.walking import PACKAGE
from tests.course.claims import claim
from tinyframe import Context, Tensor, thresholds
from tinyframe.codegen import simplify
from tinyframe.codegen.decompose import idioms
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops


@claim(
    "Search for what you can see, such as a message or a printed word, and you're in the right "
    "file."
)
def the_words_that_why_prints_are_in_one_file():
    with_words = [within(p) for p in PACKAGE.rglob("*.py") if "needed {" in p.read_text()]
    assert with_words == [place.file for place in who_stores()]


@claim("A number that matters changes something if you change it, and then you know what it's for.")
def of_all_numbers_one_matters_to_a_long_sum():
    (name,) = numbers_of_long_sums()
    assert "accumulator" in thresholds.TABLE[name].unit + thresholds.TABLE[name].moves
    assert len(thresholds.TABLE) > 40


class Called(CStyleLanguage):
    code_for_op = {**CStyleLanguage.code_for_op, Ops.ADD: lambda x, y, dtype: f"add({x}, {y})"}


@claim(
    "What tinyframe does can be changed from outside: a table, a language, a setting, an observer."
)
def a_language_and_an_observer_from_outside():
    assert "add(val0, val1)" in spelled_out(Called)

    def names(job):
        found = []

        class Seeing(Observer):
            def ran(self, work):
                found.append(work.spec.name)

        with observing(Seeing()):
            job()
        return found

    assert witnessed(names)


@claim("A name says what a function does.")
def difference_is_a_minus_sign():
    (place,) = who_subtracts()
    assert place.name == idioms.difference.__name__
    assert "Ops.SUB" in inspect.getsource(idioms.difference)


@claim("A setting does what its description says.")
def relaxed_does_nothing_beside_noopt():
    x = Tensor([1.0, 2.0]).realize()
    with Context(NOOPT=1, RELAXED=0):
        plain = work(x.exp().log()).total()
    with Context(NOOPT=1, RELAXED=1):
        assert work(x.exp().log()).total() == plain > 0
    with Context(NOOPT=0, RELAXED=1):
        assert work(x.exp().log()).total() == 0
    assert "RELAXED" in inspect.getsource(simplify)
