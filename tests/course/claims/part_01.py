"""What part 1 asks its readers to remember."""

from __future__ import annotations

import pytest

from tests.course.claims import claim
from tinyframe import GlobalCounters, Tensor
from tinyframe.errors import GradientError
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.tensor import gradient
from tinyframe.uop import Ops
from tinyframe.uop.ops import UPat


def ran(run) -> tuple[int, int]:
    """The kernels that run, and the bytes that they read and write."""
    GlobalCounters.reset()
    run()
    return GlobalCounters.kernel_count, GlobalCounters.global_mem


@claim("Writing an expression computes nothing; it adds nodes to a graph.")
def writing_adds_nodes():
    a = Tensor([1.0, 2.0]).realize()
    before = len(a.uop.toposort())
    assert ran(lambda: a * 3 + a)[0] == 0
    assert len((a * 3 + a).uop.toposort()) > before


@claim("Three operations fused into one kernel can move a third of the bytes.")
def a_third_of_the_bytes():
    a, b = (Tensor.ones(1000, 1000).contiguous().realize() for _ in range(2))
    fused = ran(lambda: (a * b + 1).sum().realize())
    apart = ran(lambda: ((a * b).realize() + 1).realize().sum().realize())
    assert (fused[0], apart[0]) == (1, 3)
    assert apart[1] / fused[1] == pytest.approx(3, rel=1e-3)


@claim("A gradient is more graph, and a table with a row for each operation writes it.")
def a_gradient_is_graph():
    x = Tensor([1.0, 2.0, 3.0]).realize()
    loss = (x * x).sum()
    (slope,) = loss.gradient(x)
    assert slope.uop.op is not Ops.BUFFER and x.uop in slope.uop.toposort()
    assert isinstance(gradient.gradient_rules, PatternMatcher)


@claim("A missing row of that table is an error, and a wrong one breaks training silently.")
def missing_and_wrong_rows():
    complete = gradient.gradient_rules
    add = next(rule for rule in complete if "UPat(Ops.ADD)" in repr(rule))
    x = Tensor([1.0, 2.0]).realize()
    try:
        gradient.gradient_rules = complete.without(add)
        with pytest.raises(GradientError, match="no gradient of Ops.ADD"):
            (x + x * x).sum().gradient(x)
        wrong = (UPat(Ops.ADD), lambda grad: (grad, None))
        gradient.gradient_rules = PatternMatcher([wrong]) + complete.without(add)
        assert (x + x * x).sum().gradient(x)[0].tolist() == [1, 1]
    finally:
        gradient.gradient_rules = complete
    assert (x + x * x).sum().gradient(x)[0].tolist() == [3, 5]


@claim("backward() computes the gradients.")
def backward_computes_nothing():
    x = Tensor([1.0, 2.0, 3.0]).realize().requires_grad_()
    assert ran(lambda: (x * x).sum().backward())[0] == 0
    assert ran(x.grad.tolist)[0] == 1


@claim("To read one entry of a result, you have to compute all of it.")
def one_entry_alone():
    x = Tensor.arange(1_000_000, dtype="int64").realize()
    table = x.reshape(-1, 1) * x.reshape(1, -1) + 1
    memory = GlobalCounters.mem_used
    assert table[123_456, 654_321].item() == 123_456 * 654_321 + 1
    assert GlobalCounters.mem_used - memory < 100


@claim("A matrix product is one of the operations a backend has to provide.")
def a_product_is_multiplications_and_sums():
    a, b = (Tensor.ones(8, 8).contiguous().realize() for _ in range(2))
    ops = {u.op for u in (a @ b).uop.toposort()}
    assert {Ops.MUL, Ops.REDUCE_AXIS} <= ops
    assert not any("MATMUL" in op.name or "DOT" in op.name for op in CStyleLanguage.code_for_op)
