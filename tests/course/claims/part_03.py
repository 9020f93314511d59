"""What part 3 asks its readers to remember. Right values come from NumPy or are counted by hand."""

from __future__ import annotations

import numpy as np

from classroom.ask import kernels, small_tensor
from classroom.puzzlebook import ops
from tests.course.claims import claim
from tinyframe import GlobalCounters, Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop import GroupOp, Ops


def vector(*values: int) -> Tensor:
    return Tensor(np.array(values, np.int32)).realize()


def ops_of(tensor: Tensor) -> set[Ops]:
    return {u.op for u in tensor.uop.toposort()}


# ---- 3a, tensors --------------------------------------------------------------------------------


@claim("A tensor is a shape and a rule for what is at each index.")
def a_table_of_terabytes_is_a_rule():
    i = Tensor.arange(1_000_000, dtype="int64")
    before = GlobalCounters.mem_used
    table = i[:, None] * i
    assert table.shape == (10**6, 10**6) and table.nbytes == 8 * 10**12
    assert table[123_456, 654_321].item() == 123_456 * 654_321
    assert GlobalCounters.mem_used - before < 10**8


@claim("Every operation is elementwise, a reduction or a movement.")
def networks_are_made_of_three_kinds():
    image, weight = Tensor.ones(1, 3, 8, 8), Tensor.ones(4, 3, 3, 3)
    x = small_tensor(4, 6)
    # a TAKE is a movement whose rule is in memory
    kinds = GroupOp.Elementwise | GroupOp.Movement | {Ops.REDUCE_AXIS, Ops.TAKE}
    leaves = {Ops.BUFFER, Ops.CONST, Ops.IOTA, Ops.DEVICE, Ops.UNIQUE}
    leaves |= {Ops.DETACH}  # only tells gradients to stop
    for made in (
        image.conv2d(weight),
        image.max_pool2d(),
        x.softmax(1),
        x.layernorm(),
        x.argmax(1),
        x @ x.T,
        Tensor.scaled_dot_product_attention(x, x, x),
        x[vector(0, 2)],
    ):
        assert ops_of(made) <= kinds | leaves, ops_of(made) - kinds - leaves


@claim("The axis you name in a reduction is the one that disappears.")
def the_axis_named_disappears():
    shape = (2, 3, 4)
    for axis in range(3):
        left = shape[:axis] + shape[axis + 1 :]
        kept = (*shape[:axis], 1, *shape[axis + 1 :])
        for name in ("sum", "max", "prod", "mean", "argmax"):
            reduce = getattr(Tensor.ones(*shape), name)
            assert reduce(axis=axis).shape == left
            assert reduce(axis=axis, keepdim=True).shape == kept


@claim("Shapes are compared from the right, and only a size of 1 is stretched.")
def shapes_meet_as_in_numpy():
    sizes = [(), (1,), (2,), (3,), (1, 3), (2, 1), (2, 3), (3, 1, 2), (1, 1, 1), (2, 2, 1)]
    for one in sizes:
        for other in sizes:
            try:
                expected = np.broadcast_shapes(one, other)
            except ValueError:
                expected = None
            try:
                found = (Tensor.ones(*one) + Tensor.ones(*other)).shape
            except ValueError:
                found = None
            assert found == expected, (one, other)


@claim("When an int meets a float, the result has the float's dtype.")
def ints_become_the_float():
    for int_type in ("int8", "uint8", "int32", "int64", "uint64"):
        for float_type in ("float16", "bfloat16", "float32", "float64"):
            total = Tensor([1], dtype=int_type) + Tensor([1.0], dtype=float_type)
            assert total.dtype == Tensor([1.0], dtype=float_type).dtype


@claim("Broadcasting copies the smaller tensor.")
def broadcasting_reads_the_same_element_again():
    column = Tensor(np.arange(3, dtype=np.float32).reshape(3, 1)).realize()
    wide = column.expand(3, 1000)
    assert kernels(wide) == 0
    assert wide.uop.st.strides == (1, 0)  # one step to the right is no step in memory
    row = Tensor.ones(1000).contiguous().realize()
    GlobalCounters.reset()
    (column * row).realize()
    written, read = 3 * 1000, 3 + 1000
    assert GlobalCounters.global_mem == 4 * (written + read)


@claim("x.reshape(3, 2) transposes a tensor of shape (2, 3).")
def reshape_keeps_the_reading_order():
    x = small_tensor(2, 3)
    assert x.reshape(3, 2).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert x.reshape(3, 2).flatten().tolist() == x.flatten().tolist()
    assert x.T.tolist() == [[1, 4], [2, 5], [3, 6]]


@claim("If a number gets too large for its dtype, I'll see an error.")
def ints_wrap_and_floats_lose_digits():
    assert (Tensor([100], dtype="int8") + 100).tolist() == [100 + 100 - 2**8]
    assert (Tensor([255], dtype="uint8") + 1).tolist() == [0]
    assert (Tensor([2.0**11], dtype="float16") + 1).tolist() == [2.0**11]
    assert (Tensor([2.0**11 - 1], dtype="float16") + 1).tolist() == [2.0**11]
    assert (Tensor([2.0**24]) + 1).tolist() == [2.0**24]
    assert (Tensor([2.0**24 - 1]) + 1).tolist() == [2.0**24]


@claim("For a square x, x / x.sum(axis=1) divides each row by its sum.")
def it_divides_columns():
    x = Tensor([[1.0, 3.0], [2.0, 6.0]])  # sums of rows: 4 and 8
    assert (x / x.sum(axis=1)).tolist() == [[1 / 4, 3 / 8], [2 / 4, 6 / 8]]
    assert (x / x.sum(axis=1, keepdim=True)).tolist() == [[1 / 4, 3 / 4], [2 / 8, 6 / 8]]


@claim("x[mask] is as lazy as mask.where(x, 0).")
def a_mask_computes_at_once():
    x = small_tensor(4, 6)
    before = GlobalCounters.kernel_count
    chosen = (x > 3).where(x, 0)
    assert chosen.shape == (4, 6) and GlobalCounters.kernel_count == before
    assert x[x > 3].shape == (21,) and GlobalCounters.kernel_count > before


# ---- 3b, puzzles --------------------------------------------------------------------------------


@claim("Comparing a column of numbers with a row of numbers makes a matrix of 0 and 1.")
def comparisons_make_matrices():
    i = Tensor.arange(5)
    assert np.array_equal((i[:, None] == i).numpy(), np.eye(5))
    assert np.array_equal((i[:, None] <= i).numpy(), np.triu(np.ones((5, 5))))
    assert (i[:, None] == i).dtype == dtypes.bool


@claim("Multiplying by one-hot rows looks elements up.")
def one_hot_rows_look_up():
    table = np.random.default_rng(3).integers(0, 99, (7, 4)).astype(np.int32)
    words = vector(6, 0, 3, 3)
    found = (words[:, None] == Tensor.arange(7)) @ Tensor(table)
    assert np.array_equal(found.numpy(), table[[6, 0, 3, 3]])


@claim("A comparison followed by a sum counts.")
def comparison_and_sum_count():
    labels = np.random.default_rng(3).integers(0, 5, 100).astype(np.int32)
    found = (Tensor(labels)[:, None] == Tensor.arange(5)).sum(axis=0)
    assert np.array_equal(found.numpy(), np.bincount(labels, minlength=5))


@claim("A slice brings neighbours together: a[1:] meets a[:-1].")
def slices_bring_neighbours_together():
    a = np.random.default_rng(3).integers(-9, 9, 20).astype(np.int32)
    assert np.array_equal((Tensor(a)[1:] - Tensor(a)[:-1]).numpy(), np.diff(a))


@claim("Indexing with a tensor takes a matrix of comparisons, too.")
def indexing_compares_nothing():
    a, index = vector(10, 20, 30, 40), vector(3, 0, 0)
    one_line = (index[:, None] == Tensor.arange(4)) @ a
    assert (3, 4) in [u.shape for u in one_line.uop.toposort() if u.op is Ops.CMPEQ]
    assert one_line.tolist() == a[index].tolist() == [40, 10, 10]
    looked_up = a[index]
    assert Ops.TAKE in ops_of(looked_up)
    assert ops_of(looked_up).isdisjoint({Ops.CMPEQ, Ops.CMPLT, Ops.REDUCE_AXIS})


@claim("Fewer ops make fewer kernels.")
def a_checkerboard_is_one_kernel():
    i, n = Tensor.arange(6), 6
    plain = (i[:, None] + i) % 2
    fewer = (Tensor.arange(n * (n | 1)) % 2).reshape(n, n | 1)[:, :n]
    assert (ops.count(plain).total(), ops.count(fewer).total()) == (7, 4)
    assert kernels(plain) == kernels(fewer) == 1
    assert np.array_equal(plain.numpy(), fewer.numpy())
