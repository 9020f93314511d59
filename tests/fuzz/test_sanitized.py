"""The generated C under AddressSanitizer and UndefinedBehaviorSanitizer: every argument is a malloc
of exactly its size, so an access right beside it is found."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.batch import SANITIZERS, Batch
from tests.fuzz.test_schedules import batch_of_random_opts, same
from tinyframe import Tensor
from tinyframe.schedule import create_schedule
from tinyframe.uop.node import UOp


def test_kernels_with_random_opts_touch_only_their_arguments():
    batch, wanted = batch_of_random_opts(SANITIZERS)
    arrays = batch.run_sanitized()
    for number, expected, what in wanted:
        same(arrays[number], expected, what)


def test_the_sanitizer_would_find_it():
    x = Tensor(np.ones(8, np.float32)).realize()
    (item,), _, _ = create_schedule(UOp.sink((x * 2).uop))
    batch = Batch(SANITIZERS)
    batch.call(
        item.ast, [batch.array(np.zeros(8, np.float32)), batch.array(np.ones(7, np.float32))]
    )
    with pytest.raises(AssertionError, match="AddressSanitizer"):
        batch.run_sanitized()
