"""Every row of the benchmarks computes in PyTorch what it computes here."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks import sweep
from benchmarks.libraries import differences, run_ours, run_torch
from benchmarks.rows import TABLES
from tests.course.refresh import public_methods
from tests.elementwise import ALIASES
from tests.views import listed

ROWS = {(table, work.name): work for table in TABLES for work in TABLES[table].rows(shrink=32)}


@pytest.mark.parametrize("key", ROWS, ids=" ".join)
def test_a_row_means_the_same_to_us_and_to_torch(key):
    work = ROWS[key]
    ours = run_ours(work, work.inputs())
    expected = run_torch(work, work.inputs(), ours.facts["shapes"][0]).results()
    allowed = max(1e-4, 2 * float(np.finfo(expected[0].dtype).eps))
    assert differences(ours.results(), expected) < allowed


def test_a_call_of_the_sweep_means_the_same_to_us_and_to_torch(monkeypatch):
    monkeypatch.setitem(sweep.SHAPES, 12, (3, 4))
    for ours, theirs in sweep.calls():
        if not ours.startswith(sweep.RANDOM):
            found, expected = sweep.ours(ours, 12, False), sweep.theirs(theirs, 12)
            sweep.check(sweep.results(found), sweep.results(expected))


# What the sweep doesn't measure: nothing computes, another row is the same work, or it is made of
# many small kernels.
LEFT_OUT = """
data device dtype element_size from_dlpack fuse grad gradient is_floating_point is_param item
manual_seed max_numel max_shape nbytes ndim no_grad numel numpy requires_grad schedule sequential
shape size tolist train uop contiguous_backward bitcast empty empty_like
full_like ones ones_like zeros zeros_like rand_like randn_like normal uniform scaled_uniform
glorot_uniform xavier_uniform kaiming_normal kaiming_uniform multinomial
bfloat16
allclose avg_pool1d avg_pool3d batchnorm bitwise_not clip conv1d conv3d conv_transpose1d
conv_transpose3d embedding floordiv idiv lshift max_pool1d max_pool3d max_unpool2d mod pad_to rshift
softmin sparse_categorical_crossentropy std_mean
newton_schulz qr svd
"""


def test_the_sweep_has_every_method():
    called = {name for ours, _ in sweep.calls() for name in re.findall(r"\.(\w+)\(", ours)}
    others = set(LEFT_OUT.split()) | set(ALIASES) | listed("views") | listed("itself")
    methods = {method.name for method in public_methods()}
    assert methods - called <= others
    assert set(LEFT_OUT.split()) <= methods - called
