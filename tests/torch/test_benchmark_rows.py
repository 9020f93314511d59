"""Every row of the benchmarks computes in PyTorch what it computes here."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.libraries import differences, run_ours, run_torch
from benchmarks.rows import TABLES

ROWS = {(table, work.name): work for table in TABLES for work in TABLES[table].rows(shrink=32)}


@pytest.mark.parametrize("key", ROWS, ids=" ".join)
def test_a_row_means_the_same_to_us_and_to_torch(key):
    work = ROWS[key]
    ours = run_ours(work, work.inputs())
    expected = run_torch(work, work.inputs(), ours.facts["shapes"][0]).results()
    allowed = max(1e-4, 2 * float(np.finfo(expected[0].dtype).eps))
    assert differences(ours.results(), expected) < allowed
