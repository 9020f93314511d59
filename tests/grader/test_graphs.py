"""Graphs as tables: what is sent is rebuilt, and what breaks the spec or a limit is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from classroom.grader.channel import Message
from classroom.grader.graphs import MOST_ELEMENTS, Refused, from_table, to_table
from classroom.grader.referee import answer, facts, run
from tinyframe import Tensor, Variable, dtypes
from tinyframe.schedule import create_schedule
from tinyframe.uop.node import Ops, UOp


def memory(*shape):
    return Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32)).realize()


def sent(tensor, *inputs):
    arrays = []
    table = to_table(tensor.uop, {t.uop.base: n for n, t in enumerate(inputs)}, arrays)
    return from_table(table, arrays)


A, B = memory(4, 6), memory(4, 6)
EXPRESSIONS = {
    "arithmetic": lambda: (A * B + 1).relu().sum(1),
    "softmax": lambda: A.softmax(1),
    "kernels": lambda: ((A + B).contiguous() * 2).contiguous(),
    "movement": lambda: A.pad(((1, 0), (0, 2))).permute(1, 0).flip(0)[1:5, ::2],
    "windows": lambda: A.reshape(1, 1, 4, 6).max_pool2d(2),
    "matmul": lambda: A @ B.T,
    "a list": lambda: Tensor([1, 2, 3]) + Tensor.arange(3),
    "where": lambda: (A > B).where(A, -np.inf).max(),
    "casts": lambda: A.cast(dtypes.int8).cast(dtypes.half).bitcast(dtypes.ushort),
    "a constant": lambda: Tensor.full((2, 3), float("nan")),
    "the input": lambda: A,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_graph_is_rebuilt_with_its_values_and_its_kernels(name):
    build = EXPRESSIONS[name]
    rebuilt = sent(build(), A, B)
    found = facts(rebuilt)
    items = build().schedule()
    assert found["kernels"] == sum(item.ast.op is Ops.SINK for item in items)
    arrays = []
    run(Tensor(rebuilt.root), rebuilt, [A.numpy().reshape(-1), B.numpy().reshape(-1)], arrays)
    np.testing.assert_allclose(arrays[0], build().numpy(), rtol=1e-4, atol=1e-5)


def test_it_runs_on_other_inputs_than_it_was_built_from():
    arrays, other, rebuilt = [], np.arange(24, dtype=np.float32), sent(A.sum(), A)
    run(Tensor(rebuilt.root), rebuilt, [other], arrays)
    assert arrays[0] == other.sum()


def test_reads_are_counted_by_place():
    one, two = (A * B + A).sum(), (A * B).sum() + A.sum()
    assert facts(sent(one, A, B))["reads"] == [1]
    assert facts(sent(two, A, B))["reads"] == [2]


def answered(kind, tensor, *inputs, **more):
    """What the referee answers about a graph, with other inputs than it was built from."""
    arrays, sent = [], []
    table = to_table(tensor.uop, {A.uop.base: 0, B.uop.base: 1}, arrays)
    body = {"table": table, "inputs": len(inputs), **more}
    flat = [a.reshape(-1) for a in inputs]
    kind, body = answer(Message("n", kind, body, flat + arrays), sent)
    return kind, body, sent


def test_the_gradient_of_a_graph_is_taken_at_other_inputs():
    a, b = (np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32) for _ in range(2))
    for target, wanted in ((0, 2 * a * b + np.cos(a)), (1, a * a)):
        _, _, (got,) = answered("gradient", A * A * B + A.sin(), a, b, target=target)
        np.testing.assert_allclose(got.reshape(4, 6), wanted, rtol=1e-5, atol=1e-6)


def test_a_gradient_that_there_is_none_of_is_refused_with_the_reason():
    a = np.ones((4, 6), np.float32)
    assert answered("gradient", A * A, a, a, target=1)[:2] == (
        "refused",
        "a graph that does not depend on input 1",
    )
    lesser = Tensor(A.uop.alu(Ops.MIN, B.uop))
    kind, why, _ = answered("gradient", lesser, a, a, target=0)
    assert kind == "refused" and "there is no gradient of Ops.MIN" in why


def test_reductions_are_named_with_their_axes_and_what_they_reduce():
    assert facts(sent((A * B).sum(0), A, B))["reductions"] == [["ADD", [0], [4, 6]]]
    assert facts(sent(A @ B.T, A, B))["reductions"] == [["ADD", [2], [4, 4, 6]]]
    assert facts(sent(A.max(1).sum(), A))["reductions"] == [["MAX", [1], [4, 6]], ["ADD", [0], [4]]]
    assert facts(sent(A + B, A, B))["reductions"] == []


def test_what_is_computed_already_has_no_inputs():
    assert facts(sent((A + B).realize(), A, B))["inputs"] == []


def test_symbolic_sizes_and_large_buffers_are_not_sent():
    n = Variable("n", 1, 4).bind(3)
    with pytest.raises(Refused):
        to_table(Tensor.ones(4)[:n].uop, {}, [])
    with pytest.raises(Refused, match="elements"):
        to_table((Tensor.empty(MOST_ELEMENTS + 1) + 1).uop, {}, [])


BAD_TABLES = json.loads(Path(__file__).with_name("bad_tables.json").read_text())
BAD_TABLES["too many rows"] = [["CONST", "float", [], [1.0, "CPU"]]] * 2000


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_that_breaks_a_rule_is_refused(name):
    with pytest.raises(Refused):
        from_table(BAD_TABLES[name], [])


def test_contents_of_another_dtype_are_refused():
    rebuilt = from_table([["BUFFER", "float", [], [6, "CPU", "data", 0]]], [np.arange(6)])
    with pytest.raises(Refused, match="dtype"):
        run(Tensor(rebuilt.root), rebuilt, [], [])


def test_a_rebuilt_graph_shares_no_buffer_with_any_other():
    first, second = sent(A + 1, A), sent(A + 1, A)
    assert first.inputs[0] is not second.inputs[0]
    assert create_schedule(UOp.sink(first.root))[0]
