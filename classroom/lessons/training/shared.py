"""What several exercises of this lesson need."""

from collections.abc import Callable

from classroom.ask import Wrong, call, same_values, wants, wrong_if
from tinyframe import Tensor, TinyJit
from tinyframe.jit.jit import JitError


def _counted(function: Callable[..., Tensor]) -> tuple[TinyJit, list[str]]:
    """A function under TinyJit, and a list that gets an item each time its Python runs."""
    runs: list[str] = []

    def noted(*inputs: Tensor) -> Tensor:
        runs.append("run")
        return function(*inputs)

    noted.__name__ = noted.__qualname__ = "captured"  # what an error calls it
    return TinyJit(noted), runs


def scale(answer) -> str:
    """answer(captured, x, number): x * number by a captured function, for any number."""
    captured, runs = _counted(lambda x, k: x * k)
    x = Tensor([1.0, 2.0]).realize()
    for number in (2.0, 3.0, 0.5, -7.0):
        case = f"`x = [1, 2]`, `number = {number}`"
        try:
            got = call(answer, captured, x, number)
        except JitError as error:
            if "is a constant" not in str(error):
                raise
            raise Wrong(f"`Tensor({number})` of a single number is a constant: it's written into "
                        "the kernel, and has no memory that a replay could look up. Give it "
                        "memory: `.contiguous()` does.", case) from None  # fmt: skip
        wants(got, Tensor, "a Tensor", case)
        same_values(got, x.numpy() * number, case)
    wrong_if(not runs, "The values are right, but `captured` was never called.")
    wrong_if(len(runs) != 2,
             "The Python of `captured` should run twice, for the first call and for the recording.",
             "four calls", 2, len(runs))  # fmt: skip
    return "Two runs of Python, and four right results."
