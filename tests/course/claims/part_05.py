"""Part 5, three kinds of op: what its last pages claim."""

from __future__ import annotations

import numpy as np

from classroom.ask import kernels
from tests.course.claims import claim
from tinyframe import Context, GlobalCounters, Tensor
from tinyframe.codegen import get_program
from tinyframe.nn import TransformerEncoderLayer
from tinyframe.nn.state import get_parameters
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp

NOT_COMPUTING = {Ops.BUFFER, Ops.UNIQUE, Ops.DEVICE, Ops.CONST, Ops.DETACH}


def numbered(*shape: int) -> Tensor:
    """In memory: each element is the number of its cell."""
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)).realize()


def ones(*shape: int) -> Tensor:
    return Tensor.ones(*shape).contiguous().realize()


def source(result: Tensor, noopt: int = 1) -> str:
    """The C of the one kernel of a result; its loops as written, unless noopt is 0."""
    (item,) = result.schedule()
    with Context(NOOPT=noopt):
        return get_program(item.ast, CStyleLanguage()).src


def lines(cells: list[int]) -> set[int]:
    """The cache lines, of 16 floats, that these cells are in."""
    return {cell // 16 for cell in cells}


# ---- 5a -----------------------------------------------------------------------------------------


@claim("Everything that a network computes is elementwise, a reduction or movement.")
def a_classifier_its_gradients_and_a_transformer_are_of_three_kinds():
    inputs = [ones(2, 1, 8, 8), ones(4, 1, 3, 3), ones(64, 10)]
    image, filters, weights = inputs
    features = image.conv2d(filters, padding=1).relu().max_pool2d()
    likely = (features.flatten(1) @ weights).softmax(axis=1)
    loss = -likely[:, 0].log().mean()
    layer = TransformerEncoderLayer(8, 2, 16)
    Tensor.realize(*get_parameters(layer))
    found = set()
    for result in (likely, loss, *loss.gradient(*inputs), layer(ones(2, 4, 8))):
        found |= {u.op for u in result.uop.toposort()}
    computing = found - NOT_COMPUTING
    assert {Ops.WINDOW, Ops.EXP2, Ops.REDUCE_AXIS} <= computing
    assert computing <= {*GroupOp.Elementwise, Ops.REDUCE_AXIS, *GroupOp.Movement}


@claim(
    "Element (i, j) of a view is in cell offset + i * strides[0] + j * strides[1], if strides can "
    "describe the view."
)
def the_formula_gives_the_cell():
    grid = numbered(4, 6)
    for view in (grid, grid.T, grid.flip(0), grid[:, ::2], grid[1:3, 2:], grid[0].expand(4, 6)):
        how = view.uop.st
        cells = [
            [how.offset + i * how.strides[0] + j * how.strides[1] for j in range(view.shape[1])]
            for i in range(view.shape[0])
        ]
        assert view.tolist() == cells


@claim("Where strides can't, tinyframe puts a division and a remainder into the index.")
def a_reshaped_transpose_has_a_division_in_its_index():
    grid = numbered(4, 6)
    view = grid.T.reshape(24)
    assert view.uop.st.strides == (None,) and kernels(view) == 0
    assert view.tolist() == grid.numpy().T.reshape(24).tolist()
    assert view.uop.st.index.render() == "((ridx0//4)+((ridx0%4)*6))"
    assert "data1[(ridx0 >> 2) + (ridx0 & 3) * 6]" in source(view * 2)
    assert ">>" not in source(view * 2, noopt=0)  # two loops, of 6 and 4, need no division


@claim("A movement op runs no kernel: it changes the index that the next kernel reads with.")
def movement_alone_has_no_kernel():
    grid = numbered(4, 6)
    for view in (
        grid.reshape(24),
        grid.T,
        grid.reshape(4, 1, 6).expand(4, 5, 6),
        grid.pad((1, 1)),
        grid[1:3],
        grid.flip(0),
        grid.unfold(0, 2, 1),
    ):
        assert kernels(view) == 0 and kernels(view * 2) == 1
    assert "alu1 = ridx0 * 6" in source(grid[:, :3] * 2)
    assert "data1[ridx0 + ridx1 * 6]" in source(grid.T * 2)


@claim("Reading down a column touches more cache lines than reading along a row.")
def a_column_is_in_more_lines_than_a_row():
    matrix = numbered(16, 16)
    assert len(lines(matrix[:, 0].numpy().astype(int))) == 16
    assert len(lines(matrix[0].numpy().astype(int))) == 1


@claim("Transposing a matrix moves its numbers.")
def a_transpose_swaps_strides():
    grid = numbered(4, 6)
    assert grid.uop.st.strides == (6, 1) and grid.T.uop.st.strides == (1, 6)
    assert kernels(grid.T) == 0 and grid.T.uop.base is grid.uop.base


@claim("A reshape never copies.")
def numpy_copies_where_strides_are_not_enough():
    array = np.arange(24).reshape(4, 6)
    assert np.shares_memory(array, array.reshape(24))
    assert not np.shares_memory(array, array.T.reshape(24))


@claim("What runs no kernel costs nothing.")
def sixteen_reads_of_a_transpose_touch_sixteen_lines():
    matrix = numbered(64, 64)
    reads = [x.flatten()[:16].numpy().astype(int) for x in (matrix, matrix.T)]
    assert kernels(matrix.T) == 0
    assert [len(lines(cells)) for cells in reads] == [1, 16]


@claim("Picking rows with a tensor of row numbers gives a view.")
def a_gather_needs_a_kernel():
    grid, rows = numbered(4, 6), Tensor([1, 2]).realize()
    assert grid[rows].tolist() == grid[1:3].tolist()
    assert kernels(grid[rows]) == 1 and kernels(grid[1:3]) == 0


# ---- 5b -----------------------------------------------------------------------------------------


@claim("A matrix product is a broadcast multiplication and a sum over the shared axis.")
def a_matrix_product_has_one_multiplication_and_one_sum():
    a, b = numbered(2, 3), numbered(3, 4)
    ops = [u.op for u in (a @ b).uop.toposort()]
    assert ops.count(Ops.MUL) == ops.count(Ops.REDUCE_AXIS) == 1
    assert set(ops) <= {Ops.MUL, Ops.REDUCE_AXIS, *GroupOp.Movement, *NOT_COMPUTING}
    assert (a @ b).tolist() == (a.numpy() @ b.numpy()).tolist()


@claim("A convolution is the same over windows, and windows are a movement.")
def a_convolution_has_one_multiplication_and_one_sum():
    ops = [u.op for u in numbered(1, 3, 8, 8).conv2d(numbered(4, 3, 3, 3)).uop.toposort()]
    assert ops.count(Ops.MUL) == ops.count(Ops.REDUCE_AXIS) == 1
    assert Ops.WINDOW in ops and Ops.WINDOW in GroupOp.Movement
    assert set(ops) <= {Ops.MUL, Ops.REDUCE_AXIS, *GroupOp.Movement, *NOT_COMPUTING}


@claim("Products that are only summed are never in memory.")
def a_matrix_product_touches_three_matrices():
    p, q = ones(64, 64), ones(64, 64)
    GlobalCounters.reset()
    (p @ q).realize()
    assert GlobalCounters.kernel_count == 1
    assert GlobalCounters.global_mem == 3 * 64 * 64 * 4


@claim(
    "Padding is a condition on the read, and it disappears where the bounds of the loops make it "
    "always true."
)
def a_padded_read_has_a_condition_where_it_needs_one():
    padded = numbered(8).pad((1, 1))
    assert "((ridx0 < 9) & (ridx0 >= 1)) ? data1[ridx0 - 1] : 0" in source(padded * 2)
    assert "(ridx0 < 8) ? data1[ridx0] : 0" in source(padded[1:] * 2)
    assert "?" not in source(padded[1:-1] * 2)


@claim("expand makes a tensor larger in memory.")
def a_repeated_axis_has_stride_0():
    row = numbered(6)
    repeated = row.reshape(1, 6).expand(1000, 6)
    assert repeated.uop.st.strides == (0, 1) and kernels(repeated) == 0
    assert repeated.uop.base is row.uop.base


@claim("A padded image is a larger array.")
def padding_takes_no_memory():
    padded = numbered(1, 1, 8, 8).pad((1, 1, 1, 1))
    assert padded.shape == (1, 1, 10, 10)
    assert kernels(padded) == 0 and padded.uop.base.size == 64


@claim("A convolution has to be one op to be one kernel.")
def a_convolution_written_by_hand_is_one_kernel():
    image, filters = numbered(1, 1, 8, 8), numbered(1, 1, 3, 3)
    seen = image.unfold(2, 3, 1).unfold(3, 3, 1)
    by_hand = (seen * filters.reshape(1, 1, 1, 1, 3, 3)).sum(axis=(4, 5))
    assert kernels(by_hand) == kernels(image.conv2d(filters)) == 1
    assert by_hand.tolist() == image.conv2d(filters).tolist()


@claim("Only multiplying and adding has the structure of a matrix product.")
def cheapest_trips_are_one_kernel_like_a_matrix_product():
    a, b = numbered(3, 4), numbered(4, 5)
    product, cheapest = a @ b, (a[:, :, None] + b).min(axis=1)
    assert kernels(product) == kernels(cheapest) == 1
    assert source(product).count("for (") == source(cheapest).count("for (") == 3
    assert cheapest.tolist() == (a.numpy()[:, :, None] + b.numpy()).min(axis=1).tolist()
