"""Part 11b: what its last page claims."""

from __future__ import annotations

import math

import numpy as np

from classroom.contributing.history import (
    BAD,
    GOOD,
    SKIP,
    History,
    our_search,
    our_verdict,
    tried_by,
)
from classroom.contributing.ported import in_c
from classroom.contributing.reviewed import AFTER
from classroom.contributing.rms import SPOILED
from tests.classroom.test_contributing import failing
from tests.course.claims import claim


@claim(
    "Bisecting finds one change among n in as many trials as n can be halved, if each trial "
    "answers one question."
)
def each_change_is_found_in_as_many_trials_as_can_be_halved():
    for n in (1, 2, 30, 37):
        for first in range(1, n + 1):
            found, trials = tried_by(
                our_search, 0, n, lambda k, first=first: BAD if k >= first else GOOD
            )
            assert found == [first] and len(trials) <= math.ceil(math.log2(n))


@claim(
    "A version that can't be tested is neither good nor bad, and whatever comes right after it "
    "isn't guilty for that."
)
def taking_what_cannot_be_tested_for_good_blames_its_neighbour():
    def generous(n):
        return BAD if our_verdict(n) == BAD else GOOD

    assert our_verdict(22) == our_verdict(18) == SKIP
    assert our_search(0, 30, generous) == [23]
    assert our_search(0, 30, our_verdict) == [18, 19]


@claim("A review looks for what the tests can't see.")
def no_test_of_the_change_sees_its_gradient():
    ops = AFTER["small/ops.py"]
    right = ops.replace("* x / np.maximum(root", "* x / x.shape[-1] / np.maximum(root")
    assert right != ops and failing(right) == failing(ops) == []


@claim(
    "A kernel is a function that wants addresses, and it can be called from wherever there are "
    "some."
)
def a_kernel_runs_on_arrays_of_numpy():
    rms = in_c(lambda x: (x * x).mean(-1).sqrt())
    x, result = np.array([[3.0, 4.0], [0.0, 1.0]]), np.zeros(2)
    rms.run(result.ctypes.data, x.ctypes.data, x.shape, "float64")
    assert np.allclose(result, np.sqrt([12.5, 0.5]))


@claim("The first version that shows a bug is the one that made it.")
def the_patch_before_the_first_that_shows_it_made_it():
    owl = History()
    bad = [n for n in range(31) if our_verdict(n) == BAD]
    assert min(bad) == 19 and our_verdict(18) == SKIP
    repaired = owl.source(18).replace("self.ofset", "self.offset")
    assert repaired == owl.source(19)  # all that 19 does is to make 18 run
    assert owl.source(17).replace("self.ofset", "self.offset") == owl.source(17)


@claim("All tests pass, so the change is right.")
def the_failing_the_change_pass_with_its_faults():
    assert failing(AFTER["small/ops.py"]) == []


@claim("A test that passes is a good test.")
def a_test_of_rms_against_itself_passes_for_each_rms_that_is_wrong():
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    for pair in SPOILED:
        rms, _ = pair.make()
        assert np.allclose(rms(x), rms(x))
