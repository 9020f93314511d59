"""What part 1 asks its readers to remember."""

from __future__ import annotations

import pytest

from classroom.rows import replaced, row_of, trained
from tests.course.claims import claim
from tinyframe import GlobalCounters, Tensor
from tinyframe.uop import Ops


def ran(run) -> tuple[int, int]:
    """The kernels that run, and the bytes that they read and write."""
    GlobalCounters.reset()
    run()
    return GlobalCounters.kernel_count, GlobalCounters.global_mem


@claim(
    "A table with a row for each operation writes the gradient, and a wrong row breaks training "
    "silently."
)
def a_wrong_row_breaks_training():
    x = Tensor([1.0, 2.0]).realize()
    with replaced({"ADD": lambda grad: (grad, None)}):
        assert (x + x * x).sum().gradient(x)[0].tolist() == [1, 1]
    assert (x + x * x).sum().gradient(x)[0].tolist() == [3, 5]
    assert row_of("ADD") is not row_of("MUL")


@claim("A gradient is more graph: a row computes nothing, it adds nodes.")
def a_gradient_is_graph():
    x = Tensor([1.0, 2.0, 3.0]).realize()
    given = [Tensor([2.0]).realize().uop for _ in range(3)]
    assert ran(lambda: row_of("MUL").function(*given))[0] == 0
    slopes = []
    assert ran(lambda: slopes.extend((x * x).sum().gradient(x)))[0] == 0
    assert slopes[0].uop.op is not Ops.BUFFER and x.uop in slopes[0].uop.toposort()


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


@claim("If training runs without an error, its gradients are right.")
def a_wrong_row_runs_as_smoothly():
    wrong, right = trained(rows={"ADD": lambda grad: (grad, -grad)}), trained()
    assert len(wrong.losses) == len(right.losses)
    assert right.learned and not wrong.learned


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
