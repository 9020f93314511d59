"""The default schedule of a kernel: of the plans for its kind of device, the first that applies.

`plans.py` has those for the cores of a CPU, `plans_gpu.py` those for blocks of threads.
"""

from __future__ import annotations

from tinyframe.codegen.optimize.nest import opts_of
from tinyframe.codegen.optimize.opt import Opt
from tinyframe.codegen.optimize.plans import CPU, Kernel, Plan, choose
from tinyframe.codegen.optimize.plans_gpu import GPU
from tinyframe.renderer import Target
from tinyframe.uop.node import UOp


def plans_for(target: Target) -> list[Plan]:
    """The plans for a kind of device, in the order in which they are tried."""
    return GPU if target.block_threads else CPU


def planned(sink: UOp, target: Target) -> tuple[Plan, list[Opt], UOp]:
    """The plan that a kernel gets, the Opts that it gives, and the kernel after them."""
    kernel = Kernel(sink, target)
    plan = choose(kernel, plans_for(target))
    opts, optimized = opts_of(sink, plan.nest(kernel), target)
    return plan, opts, optimized
