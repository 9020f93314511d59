"""Random programs that write where no gradient flows, in tinyframe and in PyTorch.

What is written under no_grad(), or through detach(), changes numbers and no history: after
`y = x * 2` and `with no_grad(): y += 1`, the gradient of `y.sum()` with respect to x is still 2. A
program is a list of Python statements that both libraries understand: in-place operators, parts,
masks, and views of results made before and after. PyTorch does the writing itself, in place, but it
keeps copies of what a gradient will need: otherwise it would refuse many of these programs.

tinyframe may refuse (`REFUSALS`): that ends a program. It may not give anything else.

By hand, for as long as you like:

    python -m tests.fuzz.writes --minutes 20 --seed 1
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import tinyframe
from tests.fuzz import histories
from tests.fuzz.histories import LIMIT, PARTS, Impossible, attempt, compare
from tinyframe.errors import AssignError, GradientError, TensorIndexError

REFUSALS = [
    (GradientError, "are gone"),
    (AssignError, "detach"),
    (TensorIndexError, "a mask needs at least one axis"),
]

# ---- two worlds ----------------------------------------------------------------------------------


def number_of(grad: Any, leaf: Any) -> np.ndarray:
    return np.zeros(tuple(leaf.shape)) if grad is None else grad.numpy()


@contextlib.contextmanager
def reaching_nothing() -> Iterator[None]:
    """PyTorch gives 0 where a constant was written over all that there was."""
    try:
        yield
    except GradientError as error:
        if "no gradient flows" not in str(error) and "found no Tensor" not in str(error):
            raise


class InPyTorch:
    """What a program calls Tensor."""

    no_grad = staticmethod(torch.no_grad)

    def __new__(cls, data: Any, requires_grad: bool | None = False) -> Any:
        # undecided there: a gradient can be asked for
        return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad is not False)


def in_pytorch() -> tuple[dict[str, Any], list[Any]]:
    shown: list[Any] = []

    def write(tensor: torch.Tensor, value: Any) -> None:
        tensor.copy_(value if isinstance(value, torch.Tensor) else torch.tensor(value))

    def slopes(loss: torch.Tensor, *leaves: torch.Tensor) -> None:
        grads = torch.autograd.grad(loss, leaves, retain_graph=True, allow_unused=True)
        shown.extend(number_of(g, leaf) for g, leaf in zip(grads, leaves, strict=True))

    def back(loss: torch.Tensor, *leaves: torch.Tensor) -> None:
        loss.backward(retain_graph=True)
        shown.extend(number_of(leaf.grad, leaf).copy() for leaf in leaves)

    def show(*tensors: torch.Tensor) -> None:
        shown.extend(tensor.detach().numpy().copy() for tensor in tensors)

    names = {"Tensor": InPyTorch, "write": write, "slopes": slopes, "back": back, "show": show,
             "realize": lambda *t: None}  # fmt: skip
    return names, shown


def in_tinyframe() -> tuple[dict[str, Any], list[Any]]:
    shown: list[Any] = []

    def slopes(loss: tinyframe.Tensor, *leaves: tinyframe.Tensor) -> None:
        grads: Any = [None for _ in leaves]
        with reaching_nothing():
            grads = loss.gradient(*leaves)
        shown.extend(number_of(g, leaf) for g, leaf in zip(grads, leaves, strict=True))

    def back(loss: tinyframe.Tensor, *leaves: tinyframe.Tensor) -> None:
        with reaching_nothing():
            loss.backward()
        shown.extend(number_of(leaf.grad, leaf) for leaf in leaves)

    names = {"Tensor": tinyframe.Tensor, "write": lambda tensor, value: tensor.assign(value),
             "slopes": slopes, "back": back, "realize": tinyframe.Tensor.realize,
             "show": lambda *t: shown.extend(x.numpy() for x in t)}  # fmt: skip
    return names, shown


def carried_out(program: list[str]) -> tuple[dict[str, Any], list[Any]]:
    """The names and what is shown, in PyTorch. Impossible where it refuses."""
    names, shown = in_pytorch()
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x):
        for statement in program:
            attempt(statement, names)
    # not one of a view that PyTorch has given up, either
    tensors = [n for n, value in names.items() if isinstance(value, torch.Tensor)]
    attempt(
        f"large = [t for t in [{', '.join(tensors)}] if not (abs(t * 1) < {LIMIT}).all()]", names
    )
    if names.pop("large") or not all((abs(array) < LIMIT).all() for array in shown):
        raise Impossible("large numbers, or none")
    return names, shown


def check(program: list[str]) -> str | None:
    """Different where tinyframe shows something else than PyTorch; any error that is no refusal.
    Gives back the refusal that ended the program."""
    names, expected = carried_out(program)
    names, shown = in_tinyframe()
    try:
        for number, statement in enumerate(program):
            exec(statement, names)
            compare(shown, expected, number, statement)
    except Exception as error:
        if any(isinstance(error, kind) and part in str(error) for kind, part in REFUSALS):
            return f"{type(error).__name__}: {error}"
        raise
    finally:
        names.clear()
        gc.collect()  # what is left of one program must not be seen by the next
    return None


# ---- making a program ----------------------------------------------------------------------------

# Rows as in histories.py. w are leaves that require a gradient, u such of which one can be asked
# for, x data, y results, v views of them, d such without gradients, m masks.
OWN_PARTS: dict[str, list[tuple[float, str]]] = {
    "i": PARTS["i"],
    "k": PARTS["k"],
    "t": [(3, "{yv}"), (2, "{wux}"), (1, "{yv}[{i}]"), (1, "{yv}.transpose(0, -1)"), (1, "{d}")],
    "e": [(6, "{t}"), (2, "({e} * {k})"), (2, "({e} + {e})"), (1, "({e} * {t})"), (1, "{e}.tanh()"),
          (1, "({e} / 4).exp()"), (1, "{e}.relu()"), (1, "({e} - {t})"), (1, "({e} @ {t})"),
          (1, "{e}.sum(0)"), (1, "{e}.square()")],
    "loss": [(3, "{e}.sum()"), (1, "({yv} * {yv}).sum()"), (2, "({e} + {yv}).sum()"),
             (1, "({yv}.sum() + {wu}.sum())")],
    "part": [(3, "{i}"), (2, "1:"), (1, "::2"), (1, ":, {i}"), (1, "..."), (1, "[0, -1]"),
             (2, "{m}")],
    "op": [(3, "+="), (2, "*="), (1, "-="), (1, "/="), (1, "**=")],
    # a value of its own: what it reads of the memory that is written to is of before
    "by": [(3, "{k}"), (3, "{e} * 1")],
    "hidden": [(3, "({e} * 1).detach()"), (2, "{k}"), (1, "{d} * 1")],
    "view": [(1, "[{i}]"), (1, "[1:]"), (1, "[::2]"), (1, ".transpose(0, -1)"), (1, "[None]"),
             (1, ".view(-1)"), (1, "[:, {i}]"), (1, ".view(2, -1)")],
}  # fmt: skip

BEGIN = [
    (4, "{W} = Tensor({data}, requires_grad=True)"), (2, "{U} = Tensor({data}, None)"),
    (1, "{X} = Tensor({data}, requires_grad=False)"),
    (1, "{W} = Tensor({data}, requires_grad=True)\nrealize({W})"),
]  # fmt: skip
COMPUTE = [
    (6, "{Y} = {e} * {k}"), (3, "{V} = {yv}{view}"), (2, "{D} = {ywuv}.detach()"),
    (1, "with Tensor.no_grad(): {D} = {yv}{view}"), (1, "{M} = {yx} > {k}"),
    (1, "with Tensor.no_grad(): {D} = {e} * {k}"), (1, "{Y} = {e} + 0"),
]  # fmt: skip
WRITE = [
    (5, "with Tensor.no_grad(): {yv} {op} {by}"), (2, "with Tensor.no_grad(): {wu} {op} {by}"),
    (3, "with Tensor.no_grad(): {yv}[{part}] = {by}"),
    (1, "with Tensor.no_grad(): {wu}[{part}] = {by}"),
    (2, "with Tensor.no_grad(): write({yvd}, {by})"),
    (2, "with Tensor.no_grad(): {yv}[{part}] {op} {by}"), (4, "{d} {op} {hidden}"),
    (2, "{d}[{part}] = {hidden}"), (2, "{yvwu}.detach()[{part}] = {hidden}"),
    (1, "with Tensor.no_grad(): {yvwu}.copy_({e} * 1)"), (1, "{d}.fill_({k})"), (1, "{d}.zero_()"),
    (1, "write({yvwu}.detach(), {hidden})"), (1, "write({yv}{view}.detach(), {hidden})"),
]  # fmt: skip
WITH_GRADIENTS = [
    (2, "{yv} {op} {by}"), (2, "{yv}[{part}] = {by}"), (1, "write({yv}, {by})"),
]  # fmt: skip
SHOW = [
    (2, "slopes({loss}, {wu})"), (2, "back({loss}, {w})"), (1, "show({yvd})"),
    (2, "realize({yvd})"), (1, "realize({yv}, {wud})"),
]  # fmt: skip


class Writer(histories.Grower):
    """Grows a program, carrying it out in PyTorch as it goes, so that every step is possible."""

    parts, world = OWN_PARTS, staticmethod(in_pytorch)

    def add(self, *tables: list[tuple[float, str]]) -> None:
        for _ in range(8):
            counts = self.counts.copy()
            try:
                longer = [*self.program, self.fill(self.row(self.rng.choice(tables)), self.names)]
                self.names, _ = carried_out(longer)
                self.program = longer
                return
            except Impossible:
                self.counts = counts

    def grow(self, steps: int) -> list[str]:
        self.add(BEGIN[:1])
        self.add(BEGIN)
        self.add(COMPUTE[:1])
        for _ in range(steps):
            self.add(COMPUTE, COMPUTE, WRITE, WRITE, WITH_GRADIENTS, SHOW)
        tensors = [n for n, value in self.names.items() if isinstance(value, torch.Tensor)]
        leaves = ", ".join(n for n in tensors if n[0] in "wu")
        results = [f"{n}.sum()" for n in tensors if n[0] in "yv"]
        self.add([(1, f"slopes({' + '.join(results)}, {leaves})")])
        self.add([(1, f"slopes({' + '.join([*results, '{loss}'])}, {leaves})")])
        self.add([(1, f"show({', '.join(n for n in tensors if n[0] != 'm')})")])
        return self.program


def random_program(seed: Any) -> list[str]:
    writer = Writer(seed, calls=False)
    return writer.grow(writer.rng.randint(4, 14))


def main() -> None:
    histories.hunt_programs(__doc__, random_program, check, ({}, {"DEVICE": "PYTHON"}))


if __name__ == "__main__":
    main()
