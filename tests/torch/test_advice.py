"""What an error says to write, for a method that Tensor lacks, is what PyTorch's gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.against_torch import normal
from tests.reference import evaluate
from tinyframe import Tensor
from tinyframe.peer_settings import ATTRIBUTES

F = torch.nn.functional
X, Y, V = normal(0, 3, 4), normal(1, 3, 4), normal(2, 4)
HOLES = np.array([[1, np.nan, 3], [4, 5, 6]], np.float32)
SORTED, VALUES = np.array([1, 3, 3, 5]), np.array([0, 3, 4, 9])
SHARES = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4)).astype(np.float32)

# a method that Tensor lacks: the names in what its error says to write, and how PyTorch calls it
ADVICE: dict[str, tuple[dict[str, Any], Any]] = {
    "mm": ({"x": X, "y": Y.T}, torch.mm), "mv": ({"x": X, "y": V}, torch.mv),
    "outer": ({"x": V, "y": V}, torch.outer),
    "addmm": (
        {"x": V[:3], "a": X, "b": Y.T, "beta": 0.5, "alpha": 2},
        lambda x, a, b, beta, alpha: torch.addmm(x, a, b, beta=beta, alpha=alpha)),
    "tensordot": ({"x": X, "y": Y.T}, lambda x, y: torch.tensordot(x, y, 1)),
    "cosine_similarity": ({"x": X, "y": Y}, F.cosine_similarity),
    "mse_loss": ({"x": X, "y": Y}, F.mse_loss), "l1_loss": ({"x": X, "y": Y}, F.l1_loss),
    "kl_div": ({"x": X, "y": SHARES}, F.kl_div),
    "searchsorted": ({"x": SORTED, "values": VALUES}, torch.searchsorted),
    "msort": ({"x": X}, torch.msort),
    "quantile": ({"x": X, "q": 0.3}, torch.quantile),
    "pixel_shuffle": ({"x": normal(3, 2, 8, 3, 2)}, lambda x: F.pixel_shuffle(x, 2)),
    "adaptive_avg_pool2d": ({"x": normal(4, 1, 2, 3, 4), "kernel": 2},
                            lambda x, kernel: F.adaptive_avg_pool2d(x, 1)),
    "movedim": ({"x": normal(5, 2, 3, 4)}, lambda x: x.movedim(2, 0)),
    "swapaxes": ({"x": X}, lambda x: x.swapaxes(0, 1)), "mT": ({"x": X}, lambda x: x.mT),
    "tile": ({"x": X}, lambda x: x.tile(2, 1)), "trace": ({"x": X}, torch.trace),
    "hstack": ({"x": X, "y": Y}, lambda *xs: torch.hstack(xs)),
    "vstack": ({"x": X, "y": Y}, lambda *xs: torch.vstack(xs)),
    "diag_embed": ({"x": X, "n": 4}, lambda x, n: torch.diag_embed(x)),
    "nansum": ({"x": HOLES}, torch.nansum), "nanmean": ({"x": HOLES}, torch.nanmean),
    "nan_to_num": ({"x": HOLES}, torch.nan_to_num), "frac": ({"x": X * 3}, torch.frac),
    "diff": ({"x": V}, torch.diff),
    "float_power": ({"x": SHARES, "y": 2.5}, torch.float_power),
}  # fmt: skip


@pytest.mark.parametrize("name", ADVICE)
def test_what_an_error_says_to_write_is_what_the_method_gives(name):
    given, theirs = ADVICE[name]
    assert not hasattr(Tensor, name)
    text = ATTRIBUTES[name].split(", or ")[0].split(" for axis")[0]
    names = {n: Tensor(a) if isinstance(a, np.ndarray) else a for n, a in given.items()}
    found = eval(text, {"Tensor": Tensor, "np": np}, names)
    found = evaluate(found.uop) if isinstance(found, Tensor) else found
    other = [torch.tensor(a) if isinstance(a, np.ndarray) else a for a in given.values()]
    np.testing.assert_allclose(found, theirs(*other).numpy(), rtol=1e-4, atol=1e-6)
