"""What several exercises of this lesson need."""

from typing import Any

import numpy as np

from classroom import differences
from classroom.ask import Wrong, call, describe, wrong_if


def worst_case(patches: int) -> int:
    """Each trial leaves the larger half."""
    trials = 0
    while patches > 1:
        patches -= patches // 2
        trials += 1
    return trials


def number_of_patch(n: Any, low: int, high: int, case: str) -> int:
    """n as the number of a patch between these; Wrong where it isn't one."""
    n = n.item() if isinstance(n, np.generic) else n
    if isinstance(n, float) and n == int(n):
        n = int(n)
    if isinstance(n, bool) or not isinstance(n, int):
        raise Wrong("What you try has to be the number of a patch.", case, got=describe(n))
    wrong_if(not low <= n <= high, f"You tried {n}, and the patches go from {low} to {high}.", case)
    return n


def shown(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (" …" if len(numbers) > 12 else "")


def several(number: int, thing: str) -> str:
    return f"one {thing}" if number == 1 else f"{number} {thing}s"


def learners_line(error: BaseException) -> str:
    from classroom.frames import learners_lines

    lines = [line.text for line in learners_lines(error.__traceback__) if line.text]
    return f"`{lines[-1]}`" if lines else ""


def gradient(answer) -> str:
    """answer(grad, x): what flows back to x from the rms of each row."""
    x = np.array([[3.0, 4.0], [6.0, 8.0]], np.float32)
    one_gradient(answer, np.ones(2, np.float32), x, "`x = [[3, 4], [6, 8]]`, `grad = [1, 1]`")
    grad = np.array([1.0, 10.0], np.float32)
    one_gradient(answer, grad, x, "`x = [[3, 4], [6, 8]]`, `grad = [1, 10]`")
    one_gradient(answer, np.ones(1), np.array([[1.0, 2.0, 2.0]]), "`x = [[1, 2, 2]]`, of float64")
    zero = np.zeros((1, 3))
    one_gradient(answer, np.ones(1), zero, "`x = [[0, 0, 0]]`")
    rng = np.random.default_rng()
    for shape in ((4,), (2, 5), (3, 1), (2, 3, 4)):
        values, flows = rng.normal(size=shape) + 3, np.asarray(rng.normal(size=shape[:-1]))
        one_gradient(answer, flows, values, f"an x of shape {shape}", named=False)
    return "That's the n that was missing, and PyTorch will check it once more in a moment."


def one_gradient(answer, grad: np.ndarray, x: np.ndarray, case: str, named: bool = True) -> None:
    kept = x.copy()
    got = call(answer, grad, x)
    if not isinstance(got, np.ndarray):
        raise Wrong("The answer has to be an array of NumPy's.", case, got=describe(got))
    if not np.array_equal(kept, x):
        raise Wrong("Your function changes x itself. It's somebody else's.", case)
    root = np.sqrt(np.mean(x * x, axis=-1))
    scale = np.divide(grad, x.shape[-1] * root, out=np.zeros_like(root), where=root > 0)
    expected = scale[..., None] * x
    if got.shape != expected.shape:
        raise Wrong(differences.of_shapes(got.shape, expected.shape), case, got=got.shape)
    if text := differences.of_values(got, expected, named=named):
        both = (expected.tolist(), got.tolist()) if named else ("", "")
        raise Wrong(text, case, *both)
    if got.dtype != x.dtype:
        raise Wrong(f"The gradient has to be of x's dtype, {x.dtype}.", case, x.dtype, got.dtype)
