"""What mini, the framework that learners write, reaches on C of its own.

    python -m benchmarks.own_c

trains the 8x8 digits on it, multiplies two matrices of 512 × 512 with loops rearranged by stage 7c,
beside NumPy on one core, and does steps of part 8d's network, beside the same by hand in NumPy. The
stages are the learner's where they pass, as in a notebook. Three lines of ratios; the times behind
them differ from machine to machine.
"""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from classroom import exercises
from classroom.mini import digits, own_c, talk
from classroom.speed import seconds_of

ROOT = Path(__file__).resolve().parents[1]
TURNS = 3  # of a whole climb: NumPy is in a process of its own, so it takes turns with that


def programs() -> dict[str, Any]:
    """Ways to compute a product, from the loops as they are lowered to tiles of vectors."""
    part7c, Tensor = own_c.module("part7c"), own_c.module("part6").Tensor
    a, b = (Tensor(np.zeros((own_c.N, own_c.N))) for _ in range(2))
    product = own_c.program_of(a @ b)
    found = {"as lowered": product}
    for lanes in (8, 16):
        vector = part7c.vector(product, 1, lanes)
        for wide, rows in ((1, 8), (1, 16), (2, 4), (2, 8)):
            tile = part7c.upcast(part7c.upcast(vector, 1, wide), 0, rows)
            found[f"{wide} × {lanes} lanes, {rows} rows"] = tile
    return found


@cache
def of_lesson(name: str) -> Any:
    """A class of part 8d's notebook, or the worked answer to one of its exercises."""
    notebook = json.loads((ROOT / "course" / "08d_it_talks.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    answers = json.loads((Path(exercises.__file__).parent / "answers.json").read_text())
    cell = answers.get(f"talk-{name}") or next(cell for cell in cells if f"class {name}" in cell)
    scope: dict[str, Any] = {"np": np, "check": lambda *given: None}
    for part, known in (("part6", "Tensor"), ("part4", "Ops"), ("part4", "UOp"),
                        ("part7c", "vector"), ("part7c", "upcast")):  # fmt: skip
        scope[known] = getattr(own_c.module(part), known)
    scope |= {"attention": talk.Attention, "scores": talk.scores, "masked": talk.masked}
    scope["mixed"] = talk.mixed
    exec(cell, scope)
    return scope[name]


def in_numpy(parameters: list[np.ndarray], x: np.ndarray, wanted: np.ndarray) -> tuple[
    np.ndarray, float, list[np.ndarray]
]:  # fmt: skip
    """Part 8d's network by hand: its scores, the loss, and the gradient of each parameter.

    x: (n, places, letters), one-hot. wanted: the same, times the weight of each place. Attention is
    that of Vaswani et al., 2017, section 3.2; `even` is Zhang and Sennrich's RMSNorm, 2019, without
    its factors.
    """
    letters, places, *matrices = parameters
    length, width = x.shape[1], letters.shape[1]
    hidden = np.triu(np.full((length, length), -1e9, np.float32), 1)

    def even(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        root = np.sqrt((y * y).mean(-1, keepdims=True) + np.float32(1e-5))
        return y / root, root

    def even_back(grad: np.ndarray, z: np.ndarray, root: np.ndarray) -> np.ndarray:
        return (grad - z * (grad * z).mean(-1, keepdims=True)) / root

    def product(y: np.ndarray, grad: np.ndarray) -> np.ndarray:
        return y.reshape(-1, y.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])

    y, kept = x @ letters + places, []
    for q, k, v, out, up, down in zip(*[iter(matrices)] * 6, strict=True):
        z, root = even(y)
        a, b, c = z @ q, z @ k, z @ v
        shares = a @ b.swapaxes(1, 2) * np.float32(width**-0.5) + hidden
        shares = np.exp(shares - shares.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixture = shares @ c
        y = y + mixture @ out
        thought, root2 = even(y)
        lit = np.maximum(thought @ up, 0)
        y = y + lit @ down
        kept.append((z, root, a, b, c, shares, mixture, thought, root2, lit))
    last, root = even(y)
    scores = last @ letters.T
    logs = scores - scores.max(-1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(-1, keepdims=True))
    grad = np.exp(logs) * wanted.sum(-1, keepdims=True) - wanted
    to_letters, y_grad = product(grad, last), even_back(grad @ letters, last, root)
    found: list[np.ndarray] = []
    for number in reversed(range(len(kept))):
        q, k, v, out, up, down = matrices[6 * number : 6 * number + 6]
        z, root, a, b, c, shares, mixture, thought, root2, lit = kept[number]
        lit_grad = (y_grad @ down.T) * (lit > 0)
        own = [product(thought, lit_grad), product(lit, y_grad)]
        y_grad = y_grad + even_back(lit_grad @ up.T, thought, root2)
        own.insert(0, product(mixture, y_grad))
        mixed = y_grad @ out.T
        of_shares = mixed @ c.swapaxes(1, 2)
        of_scores = shares * (of_shares - (of_shares * shares).sum(-1, keepdims=True))
        of_scores = of_scores * np.float32(width**-0.5)
        rows = of_scores @ b, of_scores.swapaxes(1, 2) @ a, shares.swapaxes(1, 2) @ mixed
        own[:0] = [product(z, row) for row in rows]
        z_grad = sum(row @ m.T for row, m in zip(rows, (q, k, v), strict=True))
        y_grad, found = y_grad + even_back(z_grad, z, root), own + found
    found = [to_letters + product(x, y_grad), y_grad.sum(0), *found]
    return scores, float(-(logs * wanted).sum()), found


def adam_in_numpy(parameters: list[np.ndarray], grads: list[np.ndarray], state: list[Any]) -> None:
    """A step of Adam (Kingma and Ba, 2014) in place, with its usual numbers."""
    state[0] += 1
    for p, g, m, v in zip(parameters, grads, *state[1:], strict=True):
        m += 0.1 * (g - m)
        v += 0.001 * (g * g - v)
        p -= 0.003 * (m / (1 - 0.9 ** state[0])) / (np.sqrt(v / (1 - 0.999 ** state[0])) + 1e-8)


def one_step_of_names() -> float:
    """How long a step takes, captured and arranged, beside NumPy's: in seconds of processor."""
    gpt, look = of_lesson("GPT")(), talk.Attention(talk.scores, talk.masked, talk.mixed)
    training = talk.steps_of(
        talk.Talker(gpt, look, talk.device_by(of_lesson("arrange"))), talk.RATE, seed=0
    )
    values = [tensor.numpy().copy() for tensor in gpt.parameters]
    state = [
        0,
        [np.zeros_like(value) for value in values],
        [np.zeros_like(value) for value in values],
    ]
    rows = talk.encode(talk.names()[0][: talk.BATCH])
    eye = np.eye(len(talk.LETTERS), dtype=np.float32)
    x, wanted = eye[rows[:, :-1]], eye[rows[:, 1:]] / np.float32(rows[:, 1:].size)

    def step() -> None:
        adam_in_numpy(values, in_numpy(values, x, wanted)[2], state)

    took = {}
    for name, run in (("ours", partial(next, training)), ("NumPy", step)):
        for _ in range(3):
            run()
        took[name] = min(seconds_of(run, process_time) for _ in range(100))
    return took["ours"] / took["NumPy"]


def main() -> None:
    part8 = own_c.module("part8")
    with own_c.on(part8.CRunner):
        trained = digits.train(show=False, capture=part8.jit)
    raced = own_c.race().seconds
    by_numpy, by_jit = raced["NumPy"], raced["your C and your jit"]
    print(f"digits on its own C: {trained.accuracy:.1%} right; a step with the jit takes "
          f"{by_jit / by_numpy:.2f} of NumPy's time")  # fmt: skip
    print(
        f"step of part 8d's network: {one_step_of_names():.2f} of the time that NumPy takes by hand"
    )
    ways, numpy, best = programs(), float("inf"), dict[str, float]()
    for _ in range(TURNS):
        climbed = own_c.climb(ways)
        numpy = min(numpy, climbed.numpy)
        best = {name: min(best.get(name, s), s) for name, s in climbed.seconds.items()}
    name = min(best, key=best.__getitem__)
    ratio, before = numpy / best[name], numpy / best["as lowered"]
    print(f"product of {own_c.N} × {own_c.N}: {ratio:.2f} of NumPy's speed on one core ({name}); "
          f"{before:.3f} as lowered")  # fmt: skip


if __name__ == "__main__":
    main()
