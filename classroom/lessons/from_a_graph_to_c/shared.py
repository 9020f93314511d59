"""What several exercises of this lesson need."""

from typing import Any

import numpy as np

from classroom.ask import Wrong, wants


def _later(answer, *inputs: Any, case: str) -> Any:
    """What a function gives that has given something before: nothing is a mistake then."""
    got = answer(*inputs)
    if got is None or got is ...:
        raise Wrong("It returns nothing here. Is there a case that you haven't thought of?", case)
    return got.item() if isinstance(got, np.generic) else got


def _whole(got: Any, what: str) -> int:
    """An answer as a whole number, also if it came as 2.0."""
    if isinstance(got, float) and got == int(got):
        got = int(got)
    wants(got, int, f"a whole number{what}")
    return int(got)
