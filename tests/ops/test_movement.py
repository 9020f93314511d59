"""Movement and indexing agree with NumPy, over generated shapes and arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.values import check, shapes, sometimes
from tinyframe import Tensor, dtypes


def numbered(shape) -> np.ndarray:
    """An array whose elements are all different, so that none can take another's place."""
    return np.arange(1, math.prod(shape) + 1, dtype=np.int32).reshape(shape)


some = shapes().map(numbered)
with_axes = shapes(min_ndim=1).map(numbered)


@given(data=st.data(), x=some, compiled=sometimes)
def test_reshape(data, x, compiled):
    sizes, rest = [], x.size
    while rest > 1 and data.draw(st.booleans()):
        size = data.draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))
        sizes.append(size)
        rest //= size
    shape = (*sizes, rest)
    check(Tensor(x).reshape(shape), x.reshape(shape), compiled)
    check(Tensor(x).view(*shape), x.reshape(shape))
    if x.size:
        check(Tensor(x).reshape(*sizes, -1), x.reshape(*sizes, -1))


def test_reshape_refuses_what_does_not_fit():
    t = Tensor.ones(2, 3)
    for error in (ValueError, RuntimeError):
        with pytest.raises(error, match=r"\(2, 3\) to \(7,\)"):
            t.reshape(7)
    with pytest.raises(RuntimeError, match="only one"):
        t.reshape(-1, -1)
    with pytest.raises(ValueError, match="divide"):
        t.reshape(4, -1)
    with pytest.raises(ValueError, match="negative"):
        t.reshape(-2, 3)
    with pytest.raises(ValueError):
        Tensor.ones(0, 3).reshape(0, -1)
    with pytest.raises(TypeError):
        t.reshape(2.0, 3)
    assert t.reshape(None, 3).shape == (2, 3)
    assert Tensor.ones(0, 3).reshape(-1).shape == (0,)
    assert Tensor(3).reshape(1, 1).shape == (1, 1)


@given(data=st.data(), x=some, compiled=sometimes)
def test_permute(data, x, compiled):
    order = data.draw(st.permutations(range(x.ndim)))
    signed = [a - x.ndim if data.draw(st.booleans()) else a for a in order]
    check(Tensor(x).permute(signed), x.transpose(order), compiled)
    if x.ndim:
        check(Tensor(x).permute(*signed), x.transpose(order))
    check(Tensor(x).T, x.T)


def test_permute_refuses_what_is_no_order():
    t = Tensor.ones(2, 3)
    with pytest.raises(RuntimeError, match="twice"):
        t.permute(0, 0)
    with pytest.raises(IndexError):
        t.permute(0, 2)
    with pytest.raises(ValueError, match="all 2 axes"):
        t.permute(0)


@given(data=st.data(), x=with_axes)
def test_transpose(data, x):
    a, b = (data.draw(st.integers(-x.ndim, x.ndim - 1)) for _ in range(2))
    check(Tensor(x).transpose(a, b), np.swapaxes(x, a, b))
    if x.ndim > 1:
        check(Tensor(x).transpose(), np.swapaxes(x, 0, 1))


@given(data=st.data(), shape=shapes(), compiled=sometimes)
def test_expand(data, shape, compiled):
    ones = [data.draw(st.booleans()) for _ in shape]
    x = numbered(tuple(1 if one else n for one, n in zip(ones, shape, strict=True)))
    front = data.draw(st.lists(st.integers(0, 3), max_size=1))
    check(Tensor(x).expand(*front, *shape), np.broadcast_to(x, (*front, *shape)), compiled)
    kept = [n if one else -1 for one, n in zip(ones, shape, strict=True)]
    check(Tensor(x).expand(kept), np.broadcast_to(x, shape))


def test_expand_refuses_what_does_not_stretch():
    for error in (ValueError, RuntimeError):
        with pytest.raises(error, match=r"\(2, 3\) to \(4, 3\)"):
            Tensor.ones(2, 3).expand(4, 3)
    with pytest.raises(ValueError, match="fewer"):
        Tensor.ones(2, 3).expand(3)


@given(data=st.data(), x=some, compiled=sometimes)
def test_flip(data, x, compiled):
    axes = data.draw(st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, max_size=x.ndim))
    check(Tensor(x).flip(axes), np.flip(x, axes), compiled)
    if x.ndim:
        check(Tensor(x).flip(-1), np.flip(x, -1))
        with pytest.raises(RuntimeError, match="twice"):
            Tensor(x).flip(0, -x.ndim)


@given(data=st.data(), x=some, compiled=sometimes)
def test_shrink(data, x, compiled):
    bounds = []
    for size in x.shape:
        begin = data.draw(st.integers(0, size))
        bounds.append(
            None if data.draw(st.booleans()) else (begin, data.draw(st.integers(begin, size)))
        )
    expected = x[tuple(slice(None) if b is None else slice(*b) for b in bounds)]
    check(Tensor(x).shrink(tuple(bounds)), expected, compiled)


def test_shrink_refuses_what_is_not_there():
    for bounds in (((0, 3),), ((-1, 2),), ((2, 1),), (None, None)):
        with pytest.raises(ValueError, match=r"\(2,\)"):
            Tensor.ones(2).shrink(bounds)
    check(Tensor([[1, 2], [3, 4]]).shrink_to(1, None), [[1, 2]])
    check(Tensor([[1, 2]]).pad_to(2, None, value=7), [[1, 2], [7, 7]])
    with pytest.raises(ValueError):
        Tensor([1, 2]).shrink_to(3)
    with pytest.raises(ValueError):
        Tensor([1, 2]).pad_to(1)


widths = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(data=st.data(), x=some, value=st.sampled_from((0, 7, -1)), compiled=sometimes)
def test_pad(data, x, value, compiled):
    around = [data.draw(widths) for _ in x.shape]
    expected = np.pad(x, around, constant_values=value) if x.ndim else x
    check(Tensor(x).pad(tuple(around), value=value), expected, compiled)
    flat = tuple(w for pair in reversed(around) for w in pair)
    check(Tensor(x).pad(flat, value=value), expected)


def test_pad_in_all_forms():
    t = Tensor([[1.0, 2.0]])
    check(t.pad((1, 0)), [[0.0, 1.0, 2.0]])
    check(t.pad((1, 0, 0, 1)), [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    check(t.pad((None, (0, 1)), value=math.inf), [[1.0, 2.0, math.inf]], compiled=True)
    check(t.pad((-1, 2), value=-math.inf), [[2.0, -math.inf, -math.inf]], compiled=True)
    check(t.pad(((0, 0), (0, -1))), [[1.0]])
    check(Tensor([True]).pad((1, 1), value=True), [True, True, True])
    with pytest.raises(ValueError, match="mode"):
        t.pad((1, 1), mode="sideways")
    with pytest.raises(ValueError, match=r"\(1, 2\)"):
        t.pad((1, 1, 1))
    with pytest.raises(ValueError):
        t.pad(((1, 1),))
    with pytest.raises(TypeError):
        Tensor([1]).pad((1, 1), value=math.inf)
    with pytest.raises(TypeError):
        t.pad(1)


@given(
    data=st.data(), x=shapes(min_ndim=1, min_size=1, max_size=6).map(numbered), compiled=sometimes
)
def test_windows(data, x, compiled):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    size = data.draw(st.integers(1, x.shape[axis]))
    step = data.draw(st.integers(1, 3))
    expected = np.lib.stride_tricks.sliding_window_view(x, size, axis % x.ndim)
    every = tuple(
        slice(None, None, step) if d == axis % x.ndim else slice(None) for d in range(x.ndim)
    )
    check(Tensor(x).unfold(axis, size, step), expected[every], compiled)
    dilation = data.draw(st.integers(1, 2))
    if dilation * (size - 1) < x.shape[axis]:
        reach = np.lib.stride_tricks.sliding_window_view(
            x, dilation * (size - 1) + 1, axis % x.ndim
        )
        check(Tensor(x).window(axis, size, step, dilation), reach[every][..., ::dilation], compiled)


def test_a_window_has_to_fit():
    with pytest.raises(RuntimeError, match="does not fit"):
        Tensor.ones(3).unfold(0, 4, 1)
    with pytest.raises(RuntimeError):
        Tensor.ones(3).unfold(0, 2, 0)


@given(data=st.data(), x=some)
def test_squeeze_unsqueeze_flatten(data, x):
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    check(Tensor(x).unsqueeze(axis), np.expand_dims(x, axis))
    check(Tensor(x).squeeze(), x.squeeze())
    check(Tensor(x).flatten(), x.reshape(-1))
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        check(Tensor(x).squeeze(axis), x.squeeze(axis) if x.shape[axis] == 1 else x)
    if x.ndim == 3:
        check(Tensor(x).flatten(1), x.reshape(x.shape[0], x.shape[1] * x.shape[2]))
        check(Tensor(x).flatten(0, 1), x.reshape(x.shape[0] * x.shape[1], x.shape[2]))
        check(Tensor(x).flatten(1).unflatten(1, x.shape[1:]), x)


def test_axes_out_of_range_are_refused():
    t = Tensor.ones(2, 3)
    calls = (
        lambda: t.unsqueeze(3), lambda: t.squeeze(2), lambda: t.flatten(0, 2), lambda: t.flip(2),
        lambda: t.transpose(0, 2), lambda: t.split(1, 2), lambda: t.unfold(2, 1, 1),
        lambda: t.cat(t, dim=2), lambda: t.stack(t, dim=3), lambda: t.chunk(1, dim=-3),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(IndexError, match="out of range"):
            call()
    assert Tensor(1.0).squeeze(0).shape == Tensor(1.0).squeeze(-1).shape == ()
    with pytest.raises(ValueError):
        t.unflatten(1, (2, 2))
    assert t.unflatten(1, (-1, 1)).shape == (2, 3, 1)


@pytest.mark.parametrize("name, reference", [("cat", np.concatenate), ("stack", np.stack)])
def test_the_axis_of_cat_and_stack_may_come_last(name, reference):
    join, x = getattr(Tensor, name), np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    a, b = Tensor(x), Tensor(-x)
    for axis in (0, 1, -1):
        expected = reference([x, -x], axis)
        for joined in (
            join([a, b], axis), join((a, b), axis), join(a, b, axis), getattr(a, name)(b, axis),
            join([a, b], dim=axis), getattr(a, name)(b, dim=axis), join([a, b], np.int64(axis)),
        ):  # fmt: skip
            check(joined, expected)
    check(join([a, b]), reference([x, -x]))
    for wrong in (lambda: join([a, x]), lambda: join([]), lambda: join([a, b], 0, dim=1)):
        with pytest.raises(TypeError, match=f"{name} takes Tensors, or a list of them, and an"):
            wrong()


@given(data=st.data(), x=with_axes, compiled=sometimes)
def test_cat_and_stack(data, x, compiled):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    others = []
    for _ in range(data.draw(st.integers(0, 3))):
        shape = list(x.shape)
        shape[axis] = data.draw(st.integers(0, 3))
        others.append(numbered(shape) * -1)
    check(
        Tensor(x).cat(*map(Tensor, others), dim=axis), np.concatenate([x, *others], axis), compiled
    )
    twins = [x * (n + 1) for n in range(3)]
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    check(Tensor.stack(*map(Tensor, twins), dim=axis), np.stack(twins, axis), compiled)


def test_cat_keeps_every_bit_and_promotes():
    zeros = Tensor.cat(Tensor([-0.0]), Tensor([math.nan, -0.0])).numpy()
    assert np.signbit(zeros[[0, 2]]).all()
    both = Tensor.cat([Tensor([1]), Tensor([2.5])])
    assert both.dtype is dtypes.float32
    check(both, [1.0, 2.5])
    check(Tensor.stack([Tensor(1), Tensor(2)]), [1, 2])
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 4\)"):
        Tensor.ones(2, 3).cat(Tensor.ones(2, 4), dim=0)
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        Tensor.ones(2).stack(Tensor.ones(3))
    with pytest.raises(RuntimeError):
        Tensor(1).cat(Tensor(2))


@given(data=st.data(), x=with_axes)
def test_split_and_chunk(data, x):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, x.shape[axis]), max_size=3)))
    expected = np.split(x, cuts, axis)
    for piece, part in zip(
        Tensor(x).split([p.shape[axis] for p in expected], axis), expected, strict=True
    ):
        check(piece, part)
    size = data.draw(st.integers(1, 3))
    pieces = Tensor(x).split(size, axis)
    assert all(p.shape[axis] == size for p in pieces[:-1])
    check(Tensor.cat(*pieces, dim=axis), x)
    chunks = Tensor(x).chunk(size, axis)
    assert len(chunks) <= size
    if x.shape[axis]:
        check(Tensor.cat(*chunks, dim=axis), x)


def test_split_refuses_what_does_not_add_up():
    t = Tensor.ones(4)
    for sizes in ([1, 2], [5, -1], -1, 0):
        with pytest.raises(ValueError):
            t.split(sizes)
    with pytest.raises(ValueError):
        t.chunk(0)
    assert [p.shape for p in Tensor.ones(5).chunk(3)] == [(2,), (2,), (1,)]


@given(data=st.data(), x=some, compiled=sometimes)
def test_repeat(data, x, compiled):
    counts = [
        data.draw(st.integers(0, 3)) for _ in range(data.draw(st.integers(x.ndim, x.ndim + 1)))
    ]
    check(Tensor(x).repeat(counts), np.tile(x, counts), compiled)
    times = data.draw(st.integers(0, 3))
    check(Tensor(x).repeat_interleave(times), np.repeat(x, times), compiled)
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        check(Tensor(x).repeat_interleave(times, axis), np.repeat(x, times, axis))


# ---- indexing ------------------------------------------------------------------------------------


@st.composite
def indices(draw, shape):
    """What NumPy's basic indexing takes: ints, slices with steps, None and one ellipsis."""
    index = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        if size and draw(st.booleans()):
            index.append(draw(st.integers(-size, size - 1)))
        else:
            ends = st.none() | st.integers(-size - 2, size + 2)
            index.append(
                slice(draw(ends), draw(ends), draw(st.sampled_from((None, 1, 2, 3, -1, -2, -3))))
            )
    for extra in draw(st.lists(st.none(), max_size=2)):
        index.insert(draw(st.integers(0, len(index))), extra)
    if draw(st.booleans()):
        index.insert(len(index), ...)
    elif index and draw(st.booleans()):
        index = [..., *index] if len([i for i in index if i is not None]) == len(shape) else index
    return index[0] if len(index) == 1 and draw(st.booleans()) else tuple(index)


@given(data=st.data(), x=shapes(max_ndim=3, max_size=5).map(numbered), compiled=sometimes)
def test_basic_indexing(data, x, compiled):
    index = data.draw(indices(x.shape))
    check(Tensor(x)[index], x[index], compiled, what=f"{x.shape}[{index}]")


def test_an_ellipsis_stands_for_the_axes_not_named():
    x = numbered((2, 3, 4))
    for index in ((..., 0), (0, ...), (0, ..., 1), (..., None), (None, ..., slice(1, 2)), ...):
        check(Tensor(x)[index], x[index])


def test_indices_that_are_wrong_say_why():
    t = Tensor.ones(2, 3)
    for index, error, words in [
        ((0, 0, 0), IndexError, "too many"),
        (2, IndexError, "out of bounds"),
        ((0, -4), IndexError, "out of bounds"),
        ((..., ...), IndexError, "single ellipsis"),
        (slice(None, None, 0), ValueError, "step"),
        (slice(0.5, None), TypeError, "bounds"),
        (slice(None, Tensor(1)), TypeError, "bounds"),
        (0.5, IndexError, "index"),
        (math.nan, IndexError, "index"),
    ]:
        with pytest.raises(error, match=words):
            t[index]
    with pytest.raises(IndexError):
        Tensor(1)[0]


def test_length_and_iteration():
    x = numbered((3, 2))
    assert len(Tensor(x)) == 3
    for row, expected in zip(Tensor(x), x, strict=True):
        check(row, expected)
    with pytest.raises(TypeError):
        len(Tensor(1))
    with pytest.raises(TypeError):
        list(Tensor(1))


# ---- chains --------------------------------------------------------------------------------------

STEPS = ("reshape", "permute", "expand", "shrink", "pad", "flip", "window", "slice")


@st.composite
def chains(draw, x: np.ndarray):
    """Some movement ops in a row, applied to an array and to a Tensor."""
    t = Tensor(x)
    for _ in range(draw(st.integers(1, 5))):
        step = draw(st.sampled_from(STEPS))
        if step == "reshape":
            n = draw(st.sampled_from([d for d in range(1, x.size + 1) if x.size % d == 0] or [1]))
            shape = (n, x.size // n)
            x, t = x.reshape(shape), t.reshape(shape)
        elif step == "permute":
            order = draw(st.permutations(range(x.ndim)))
            x, t = x.transpose(order), t.permute(order)
        elif step == "expand" and x.size < 60:
            x, t = np.broadcast_to(x, (2, *x.shape)), t.expand(2, *x.shape)
        elif step == "shrink" and x.ndim and x.shape[0] > 1:
            x, t = x[1:], t.shrink(((1, x.shape[0]), *(None,) * (x.ndim - 1)))
        elif step == "pad" and x.ndim and x.size < 100:
            around = [draw(widths)] + [(0, 0)] * (x.ndim - 1)
            x, t = np.pad(x, around), t.pad(around)
        elif step == "flip" and x.ndim:
            x, t = np.flip(x, -1), t.flip(-1)
        elif step == "window" and x.ndim and x.shape[-1] > 1 and x.ndim < 5:
            stride = draw(st.integers(1, 2))
            x = np.lib.stride_tricks.sliding_window_view(x, 2, -1)[..., ::stride, :]
            t = t.unfold(-1, 2, stride)
        elif step == "slice" and x.ndim:
            stride = draw(st.sampled_from((2, -1, -2)))
            x, t = x[::stride], t[::stride]
    return x, t


@given(data=st.data(), x=shapes(min_size=1).map(numbered), compiled=sometimes)
def test_chains_of_movement(data, x, compiled):
    expected, t = data.draw(chains(x))
    check(t, expected, compiled)
    check(t.sum(), expected.sum(dtype=np.int32), compiled)


def test_conv2d_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\(1, 3, 5, 5\)"):
        Tensor.ones(1, 3, 5, 5).conv2d(Tensor.ones(2, 4, 3, 3))
    with pytest.raises(ValueError, match="does not fit"):
        Tensor.ones(1, 3, 2, 2).conv2d(Tensor.ones(2, 3, 3, 3))
