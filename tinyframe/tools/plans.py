"""Why a kernel's loops are as they are: the plans, and which of them is chosen for a kernel.

    python -m tinyframe.plans                                      the plans, with their reasons
    python -m tinyframe.plans "empty(512, 64) @ empty(64, 512)"    the plan of each of its kernels
    python -m tinyframe.plans --numbers                            the thresholds and their origin

The plans themselves are in `codegen/optimize/plans.py`, and those for devices that run blocks of
threads in `gpu/plans.py`.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence

from tinyframe import Device, Tensor, dtypes, nn, thresholds
from tinyframe.codegen import get_program, plans_for, scheduled_kernel
from tinyframe.codegen.optimize.plans import CPU, Plan, Workload, choose, lacking
from tinyframe.gpu.plans import GPU
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import render

WIDTH = 96
EXPRESSION = (
    "a Tensor expression; besides Tensor, dtypes and nn it knows empty(2, 3), which is "
    "Tensor.empty(2, 3)"
)


def explain(*tensors: Tensor) -> str:
    """For each kernel that computes these Tensors: its plan and the reason, its Opts, and which
    needs of the other plans it doesn't meet."""
    items = tensors[0].schedule(*tensors[1:])
    kernels = [item.ast for item in items if item.ast.op is Ops.SINK]
    return "\n\n".join(map(explain_kernel, kernels)) or "No kernel: nothing is computed."


def explain_kernel(ast: UOp) -> str:
    """The same for one kernel, as it was scheduled."""
    renderer = Device[Device.DEFAULT].renderer
    plans = plans_for(renderer.target)
    program = get_program(ast, renderer)
    kernel = Workload(scheduled_kernel(ast, renderer), renderer.target)
    chosen = choose(kernel, plans)
    lines = [f"{program.name}", *_paragraph("loops", _loops_text(kernel))]
    lines += _paragraph("plan", f"{chosen.name}, because {chosen.why}")
    lines += _paragraph("nest", chosen.nest(kernel).words or "as it is")
    lines += _paragraph("opts", ", ".join(map(str, program.opts)) or "none")
    place = plans.index(chosen)
    for title, others in (("before it", plans[:place]), ("after it", plans[place + 1 :])):
        for said, names in lacking(kernel, others).items():
            lines += _paragraph(title, f"{'; '.join(names)}: {said}")
    return "\n".join(lines)


def _loops_text(kernel: Workload) -> str:
    """`ridx0 = 300, ridx1 = 77; reduced ridx2 = 200`."""
    words: tuple[list[str], list[str]] = [], []
    for r in kernel.loops:
        words[r not in kernel.around].append(f"{render(r)} = {render(r.src[0])}")
    around, reduced = map(", ".join, words)
    return "; ".join(filter(None, (around, reduced and f"reduced {reduced}")))


def _paragraph(title: str, text: str) -> list[str]:
    indent = " " * (len(title) + 4)
    return textwrap.wrap(text, WIDTH, initial_indent=f"  {title}: ", subsequent_indent=indent)


def _table_text(title: str, plans: Sequence[Plan]) -> str:
    lines = [title, ""]
    for plan in plans:
        lines += [plan.name, *[f"  {line}" for line in textwrap.wrap(plan.why, WIDTH - 4)]]
        lines += [f"    needs {need}" for need in plan.needs]
    return "\n".join(lines)


def tensor_of(expression: str) -> Tensor:
    """The Tensor of an EXPRESSION. ValueError if it raises an error, or isn't a Tensor."""
    names = {"Tensor": Tensor, "dtypes": dtypes, "nn": nn, "empty": Tensor.empty}
    try:
        value = eval(expression, names)
    except Exception as error:
        words = f"{expression!r} fails: {type(error).__name__}: {error}"
        raise ValueError(words) from error
    if not isinstance(value, Tensor):
        raise ValueError(f"{expression!r} is not a Tensor: {value!r}")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tinyframe.plans",
        description="Shows why the loops of a kernel are as they are.",
    )
    listed = f"{EXPRESSION}. Without one, the plans are listed"
    parser.add_argument("expression", nargs="?", help=listed)
    parser.add_argument("--numbers", action="store_true", help="list the thresholds")
    options = parser.parse_args(arguments)
    if options.numbers:
        for row in thresholds.TABLE.values():
            print(f"{row.name} = {row.value} {row.unit}")
            for text, indent in ((row.moves, "  "), (f"chosen by: {row.origin}", "    ")):
                print(textwrap.fill(text, WIDTH - 2, initial_indent="  ", subsequent_indent=indent))
    elif options.expression is None:
        print(_table_text("The first plan whose needs are all met is chosen.", CPU), end="\n\n")
        print(_table_text("The same on a GPU, where blocks of threads run:", GPU))
    else:
        try:
            print(explain(tensor_of(options.expression)))
        except ValueError as error:
            parser.error(str(error))
    return 0
