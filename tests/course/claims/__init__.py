"""What the last page of each part claims, and a test for each of its sentences.

`part_04.py` has a function for each bullet of part 4's "What to remember" and "Common wrong ideas".
It fails where the claim is false:

    @claim("Each operation is a kernel.")
    def sixty_additions_are_one_kernel():
        ...

The text is the bullet's first sentence, without Markdown and quotation marks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinyframe import Tensor

# by the module that a claim is in: sentence -> test
CLAIMS: dict[str, dict[str, Callable[[], None]]] = {}


def claim(sentence: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Marks the test of a sentence. ValueError where one sentence has two."""

    def register(test: Callable[[], None]) -> Callable[[], None]:
        own = CLAIMS.setdefault(test.__module__, {})
        if sentence in own:
            raise ValueError(f"{sentence!r} is claimed twice")
        own[sentence] = test
        return test

    return register


def memory(*shape: int) -> Tensor:
    """Realized floats between 0.5 and 1.5."""
    return Tensor(np.random.default_rng(4).random(shape, dtype=np.float32) + 0.5).realize()
