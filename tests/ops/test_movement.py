"""Movement and indexing agree with NumPy, over generated shapes and arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.values import check, shapes, sometimes
from tinyframe import Tensor


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


@given(data=st.data(), x=some, compiled=sometimes)
def test_permute(data, x, compiled):
    order = data.draw(st.permutations(range(x.ndim)))
    signed = [a - x.ndim if data.draw(st.booleans()) else a for a in order]
    check(Tensor(x).permute(signed), x.transpose(order), compiled)
    if x.ndim:
        check(Tensor(x).permute(*signed), x.transpose(order))
    check(Tensor(x).T, x.T)


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


@given(data=st.data(), x=some, compiled=sometimes)
def test_flip(data, x, compiled):
    axes = data.draw(st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, max_size=x.ndim))
    check(Tensor(x).flip(axes), np.flip(x, axes), compiled)
    if x.ndim:
        check(Tensor(x).flip(-1), np.flip(x, -1))


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


widths = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(data=st.data(), x=some, value=st.sampled_from((0, 7, -1)), compiled=sometimes)
def test_pad(data, x, value, compiled):
    around = [data.draw(widths) for _ in x.shape]
    expected = np.pad(x, around, constant_values=value) if x.ndim else x
    check(Tensor(x).pad(tuple(around), value=value), expected, compiled)
    flat = tuple(w for pair in reversed(around) for w in pair)
    check(Tensor(x).pad(flat, value=value), expected)


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


def test_cat_keeps_every_bit():
    zeros = Tensor.cat(Tensor([-0.0]), Tensor([math.nan, -0.0])).numpy()
    assert np.signbit(zeros[[0, 2]]).all()


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


def test_length_and_iteration():
    x = numbered((3, 2))
    assert len(Tensor(x)) == 3
    for row, expected in zip(Tensor(x), x, strict=True):
        check(row, expected)


# ---- forms, and what is refused ------------------------------------------------------------------

# of `t`, of shape (2, 3); `v`, three ints; `one`, a scalar: an expression, and NumPy's
FORMS = [
    ("t.reshape(None, 3)", "t"),
    ("t[:0].reshape(-1)", "t[:0].reshape(0)"),
    ("one.reshape(1, 1)", "one.reshape(1, 1)"),
    ("t.shrink_to(1, None)", "t[:1]"),
    ("t.pad_to(3, None, value=7)", "np.pad(t, ((0, 1), (0, 0)), constant_values=7)"),
    ("t.pad((1, 0))", "np.pad(t, ((0, 0), (1, 0)))"),
    ("t.pad((1, 0, 0, 1))", "np.pad(t, ((0, 1), (1, 0)))"),
    ("t.float().pad((None, (0, 1)), value=math.inf)",
     "np.pad(t * 1.0, ((0, 0), (0, 1)), constant_values=math.inf)"),
    ("t.float().pad((-1, 2), value=-math.inf)",
     "np.pad(t[:, 1:] * 1.0, ((0, 0), (0, 2)), constant_values=-math.inf)"),
    ("t.pad(((0, 0), (0, -1)))", "t[:, :-1]"),
    ("(v > 1).pad((1, 1), value=True)", "np.pad(v > 1, 1, constant_values=True)"),
    ("one.squeeze(0)", "one"),
    ("one.squeeze(-1)", "one"),
    ("t.unflatten(1, (-1, 1))", "t.reshape(2, 3, 1)"),
    ("Tensor.cat([v, v * 2.5])", "np.concatenate([v, v * 2.5])"),
    ("Tensor.stack([one, one + 1])", "np.stack([one, one + 1])"),
    *[(text, text) for text in ("t[..., 0]", "t[0, ...]", "t[..., None]", "t[None, ..., 1:2]",
                                "t[...]", "t[0, ..., 1]")],
]  # fmt: skip


@pytest.mark.parametrize(("ours", "numpys"), FORMS, ids=[ours for ours, _ in FORMS])
def test_a_form_means_what_numpy_says(ours, numpys):
    arrays = {"t": numbered((2, 3)), "v": numbered((3,)), "one": np.array(1)}
    names = {"np": np, "math": math, "Tensor": Tensor}
    expected = eval(numpys, {**names, **arrays})
    check(eval(ours, {**names, **{n: Tensor(a) for n, a in arrays.items()}}), expected, True)
