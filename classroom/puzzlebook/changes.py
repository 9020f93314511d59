"""The checks of part 10c's questions for a change: each makes it, and looks what is different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

from classroom.added import work
from classroom.ask import (
    call,
    describe,
    fresh_tensor,
    kernels,
    once,
    runs_as,
    same_values,
    tensor_of,
    wants,
)
from classroom.exercise import Open, Wrong, wrong_if
from classroom.places import said
from classroom.puzzlebook.games.golf import opts_of
from classroom.puzzlebook.hunted import PLAIN, floats, kernel_of, scaled
from classroom.tiles import COUNTED_FOR
from tinyframe import Context, Tensor, thresholds
from tinyframe.algebra.symbolic import value_rules
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.dtype import dtypes
from tinyframe.observe import Observer, Ran, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import PatternMatcher, graph_rewrite
from tinyframe.settings import UnknownSetting
from tinyframe.uop import Ops, UOp
from tinyframe.viz import why

TILE = (Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4))


@cache
def product() -> UOp:
    rng = np.random.default_rng(0)
    a, b = (Tensor(rng.random((64, 64), np.float32)).realize() for _ in range(2))
    return kernel_of(a @ b)


def register_bytes(opts: Iterable[Opt]) -> int:
    """What the sums of the product take, in bytes of registers."""
    program = get_program(product(), COUNTED_FOR, list(opts))
    return sum(u.dtype.base.itemsize * u.dtype.size for u in program.uops if u.op is Ops.DEFINE_REG)  # type: ignore[attr-defined]


def twice_the_registers(answer: Any) -> str:
    opts = opts_of(answer)
    case = f"`{[*TILE]}`"
    before = register_bytes(TILE)
    same = len(opts) == len(TILE) and all(
        (one.op, one.axis) == (other.op, other.axis) for one, other in zip(opts, TILE, strict=False)
    )
    wrong_if(not same, "Keep these two Opts and their axes, and change one number.", case, got=opts)
    if opts == [*TILE]:
        raise Open("These are still the Opts from the question.")
    changed = sum(one.arg != other.arg for one, other in zip(opts, TILE, strict=True))
    wrong_if(changed != 1, f"You changed {changed} numbers. Change exactly one.", case, got=opts)
    try:
        after = register_bytes(opts)
    except KernelOptError as error:
        raise Wrong(f"{error}.", case, got=opts) from None
    wrong_if(after != 2 * before, "That's not twice as much.", case,
             f"sums in {2 * before} bytes of registers", f"in {after}")  # fmt: skip
    return (
        f"{before} bytes of registers hold sums with these Opts, and {after} with yours. "
        "The product stays what it was."
    )


def in_one_kernel(answer: Any) -> str:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    for tensor, case in ((x, "`x = [[1, 2], [3, 4]]`"), (fresh_tensor(37, 5), "a larger one")):
        got = tensor_of(answer, tensor, case=case)
        values = tensor.numpy()
        runs_as(got, 1, case)
        same_values(got, values / values.sum(), case, shown=tensor is x)
    plain = kernels(x / x.sum())
    return (
        f"One kernel, where `x / x.sum()` takes {plain}. "
        "(It adds up all over again for each element.)"
    )


def no_operation_left(answer: Any) -> str:
    if isinstance(answer, Context):
        answer = getattr(answer, "values", getattr(answer, "_values", None)) or vars(answer)
    if not isinstance(answer, Mapping):
        raise Wrong("The answer has to be a dict, from the names of settings to their values.",
                    got=describe(answer))  # fmt: skip
    try:
        # NOOPT is 1 in a notebook of the course, unless the answer says something else
        with Context(**{"NOOPT": 1} | {str(name): value for name, value in answer.items()}):
            left = work(floats(1, 2, 3).exp().log()).total()
    except (UnknownSetting, ValueError) as error:
        raise Wrong(f"{str(error).partition(';')[0]}.", got=dict(answer)) from None
    if left:
        more = ""
        if str(answer.get("RELAXED", 0)) == "1":
            more = " You've allowed it, and still nobody does it: who reads that setting, and when?"
        raise Wrong(f"With these, {left} operations are left for each element.{more}",
                    got=dict(answer))  # fmt: skip
    return "No operation is left. The kernel copies its input."


def one_number(answer: Any) -> str:
    if isinstance(answer, Mapping) and len(answer) == 1:
        ((answer),) = answer.items()
    if isinstance(answer, (tuple, list)) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong("The answer has to be a pair: the name of a number, and its new value.",
                    got=describe(answer))  # fmt: skip
    name, value = said(answer[0]).rpartition(".")[2].strip(), answer[1]
    value = value.item() if isinstance(value, np.generic) else value
    if name not in thresholds.TABLE:
        raise Wrong(f"thresholds.py has no number called `{name}`.", got=describe(tuple(answer)))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong("The new value has to be a number.", got=describe(value))
    before = len([*why(scaled())])
    with mock.patch.object(thresholds, name, value):
        after = len([*why(scaled())])
    if after != 1:
        row = thresholds.TABLE[name]
        raise Wrong(f"With {name} = {value:g}, {after} values are stored. This number is about "
                    f"{row.moves}.")  # fmt: skip
    return f"With {name} = {value:g} it's one kernel, where it was {before}."


OTHERS = "You've changed tinyframe's own language, too. Make a new table for yours."


def spelled_out(answer: Any) -> str:
    if isinstance(answer, type) and issubclass(answer, CStyleLanguage):
        answer = answer()
    if not isinstance(answer, CStyleLanguage):
        raise Wrong("The answer has to be a language: a subclass of CStyleLanguage.",
                    got=describe(answer))  # fmt: skip
    if type(answer).__dict__.keys() <= {"__module__", "__doc__", "__firstlineno__",
                                        "__static_attributes__"}:  # fmt: skip
        if "add(" in get_program(kernel_of(floats(1, 2, 3) + floats(4, 5, 6)), PLAIN, []).src:
            raise Wrong(OTHERS)
        raise Open
    source = get_program(kernel_of(floats(1, 2, 3) + floats(4, 5, 6)), answer, []).src
    line = next((text.strip() for text in source.splitlines() if "data0[" in text), "")
    wrong_if("add(val0,val1)" not in line.replace(" ", ""), "The sum isn't written like that.",
             "`a + b`", "`data0[ridx0] = add(val0, val1);`", f"`{line}`")  # fmt: skip
    times = get_program(kernel_of(floats(1, 2, 3) * floats(4, 5, 6)), answer, []).src
    if "val0 * val1" not in times:
        raise Wrong("Additions are right, and products look different now.", "`a * b`")
    if "add(" in get_program(kernel_of(floats(1, 2, 3) + floats(4, 5, 6)), PLAIN, []).src:
        raise Wrong(OTHERS)
    return f"`{line}` Somebody still has to write `add`, of course."


def row_taken_out(answer: Any) -> str:
    if not isinstance(answer, PatternMatcher):
        answer = call(answer)
    wants(answer, PatternMatcher, "a PatternMatcher")
    x = UOp(Ops.DEFINE_VAR, dtypes.float, (), ("x", 0.0, 1.0))
    times_one = x * 1.0
    if graph_rewrite(times_one, answer) is not times_one:
        raise Wrong("This table still makes `x * 1` an `x`.")
    gone = len({*value_rules.rules} - {*answer.rules})
    wrong_if(gone > 1, f"{gone} of the rows are missing. Only one had to go.")
    for before, after in ((x + 0.0, x), (x / 1.0, x)):
        if graph_rewrite(before, answer) is not after:
            raise Wrong("A row is gone that has nothing to do with `* 1`.")
    if graph_rewrite(times_one, value_rules) is times_one:
        raise Wrong("You've changed tinyframe's own table. Make a new one.")
    return f"{len(answer.rules)} rows of {len(value_rules.rules)}, and `x * 1` stays what it is."


class _Seen(Observer):
    def __init__(self) -> None:
        self.names: list[tuple[str, str]] = []

    def ran(self, work: Ran) -> None:
        if work.spec is not None:
            self.names.append((work.spec.function, work.spec.name))


def witnessed(answer: Any) -> str:
    x = fresh_tensor(4, 3)

    def one() -> None:
        (x + 1).realize()

    def four() -> None:
        (x.sum() * 2).realize()
        for _ in range(2):
            (x * 2).realize()
        (x.sum() * 2).realize()

    def none() -> None:
        x.reshape(3, 4).realize()

    for job, case in ((one, "`(x + 1).realize()`"), (four, "four more"), (none, "only a view")):
        job()  # what is compiled is compiled now
        with observing(_Seen()) as seen:
            job()
        got = once(answer, job, case)
        if hasattr(got, "__iter__") and not isinstance(got, (str, list)):
            got = list(got)
        wants(got, list, "a list of names", case)
        named = [str(getattr(name, "function", name)) for name in got]
        if named not in ([f for f, _ in seen.names], [n for _, n in seen.names]):
            raise Wrong("These are not the kernels that ran.", case,
                        [f for f, _ in seen.names], named)  # fmt: skip
    return "It saw every kernel, and changed none."
