"""Shapes with Variables in them: NumPy's results for every value, from the same kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.reference import softmax
from tinyframe import Context, GlobalCounters, Tensor, TinyJit, Variable
from tinyframe import schedule as schedule_module
from tinyframe.errors import AssignError, ShapeError
from tinyframe.jit.jit import JitError
from tinyframe.run import realize

X = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((6, 3)).astype(np.float32)
ROWS, COLUMNS = Variable("rows", 1, 4), Variable("columns", 1, 6)


def causal_attention(x):
    hidden = np.triu(np.ones((len(x), len(x)), bool), 1)
    scores = x @ x.T / math.sqrt(x.shape[1])
    return softmax(np.where(hidden, -np.inf, scores), 1) @ x


# What is computed from two arrays, of m rows and n columns; behind a `=>` by NumPy, where that is
# written in another way.
ROWS_OF_TEXT = """
slice: t[:m, :n]
from: t[m - 1 :, n - 1 :] + 1
one: t[m - 1, n - 1 : n]
last: t[:, :n][:, -1] * 2
reach before: t[:, n - 2 :]
flip: t[:m, :n].flip(1) => t[:m, :n][:, ::-1]
flatten: t[:m, :n].reshape(-1)
regroup: t[:, :n].reshape(2, 2, -1).permute(2, 0, 1).reshape(n, 4)
 => t[:, :n].reshape(2, 2, n).transpose(2, 0, 1).reshape(n, 4)
across: t[:m, :n].T.reshape(m, n)
shrink: t.shrink(((m - 1, m), (0, n))) => t[m - 1 : m, :n]
expand: t[:m, :1].expand(m, n) => np.broadcast_to(t[:m, :1], (m, n))
pad: t[:m, :n].pad(((1, 0), (2, 1))) + 1 => np.pad(t[:m, :n], ((1, 0), (2, 1))) + 1
pad to a number: t[:, :n].pad(((0, 0), (0, 6 - n))) => np.pad(t[:, :n], ((0, 0), (0, 6 - n)))
windows: t.pad(((0, 0), (0, 2)))[:, : n + 2].unfold(1, 3, 1).sum(-1)
 => sum(np.pad(t, ((0, 0), (0, 2)))[:, i : i + n] for i in range(3))
cat: t[:, :n].cat(t, t[:, :n], dim=1) => np.concatenate([t[:, :n], t, t[:, :n]], 1)
repeat: t[:m, :n].repeat(2, 3) => np.tile(t[:m, :n], (2, 3))
zeros: Tensor.zeros(m, n) + n => np.full((m, n), n)
arange: Tensor.arange(m, m + n) => np.arange(m, m + n)
values: n * t + (m - t) * (n + 1)
chain: (t[:m, :n] * 2 + t[:m, :n]).exp().relu() => np.exp(t[:m, :n] * 3)
broadcast: t[:m, :n] + t[:m, :1] * w[:n, 0]
cast: (t[:m, :n] > 0).where((t[:m, :n] * 10).cast("int32"), n)
 => np.where(t[:m, :n] > 0, (t[:m, :n] * 10).astype(np.int32), n)
sum of rows: t[:m, :n].sum(1)
sum of columns: t[:m, :n].sum(0)
sum: (t[:m, :n].exp() + 1).sum() => (np.exp(t[:m, :n]) + 1).sum()
max: t[:m, :n].max(1)
min: t[:m, :n].min()
mean: t[:m, :n].mean()
var: t[:m, :n].var(1, correction=0) => t[:m, :n].var(1)
argmax: t[:m, :n].argmax(1)
cumsum: t[:m, :n].cumsum(1)
sort: t[:, :n].sort(1)[0] => np.sort(t[:, :n], 1)
over the sum: t[:m, :n] / t[:m, :n].exp().sum() => t[:m, :n] / np.exp(t[:m, :n]).sum()
softmax: t[:m, :n].softmax(1) => softmax(t[:m, :n], 1)
softmax of columns: t[:m, :n].softmax(0) => softmax(t[:m, :n], 0)
matmul: t[:m, :n] @ w[:n]
outer: t[:m, :n].T @ t[:m, :n]
three kernels: ((t[:m, :n].exp().T @ t[:m]).relu() @ w).softmax(-1).sum(0)
 => softmax(np.maximum(np.exp(t[:m, :n]).T @ t[:m], 0) @ w, -1).sum(0)
causal attention: (s := t.T[:n]).scaled_dot_product_attention(s, s, is_causal=True)
 => causal_attention(t.T[:n])
embedding: w[Tensor([1, 2, 3, 0, 5, 4])[:n]] => w[[1, 2, 3, 0, 5, 4][:n]]
another device: (t[:m, :n] + 1).to("PYTHON" if t.device == "CPU" else "CPU") * 2
 => (t[:m, :n] + 1) * 2
"""
PROGRAMS = {}
for line in ROWS_OF_TEXT.replace("\n =>", " =>").strip().splitlines():
    name, both = line.split(": ", 1)
    PROGRAMS[name] = [compile(text.strip(), name, "eval") for text in both.split("=>")]
NAMES = {"np": np, "Tensor": Tensor, "softmax": softmax, "causal_attention": causal_attention}


@pytest.fixture
def caches(monkeypatch):
    """How many schedules and kernels are kept: none at first."""
    monkeypatch.setattr(schedule_module, "_schedules", {})
    monkeypatch.setattr(realize, "_kernels", {})
    return lambda: (len(schedule_module._schedules), len(realize._kernels))


# as they are planned, and as they are written where each access is checked
WAYS = pytest.mark.parametrize(("device", "noopt"), [("CPU", 0), ("PYTHON", 1)])


# the corners, and each number of columns or of rows once
SIZES = [(1, 1), (1, 6), (4, 1), (4, 6), (2, 2), (3, 3), (3, 4), (2, 5)]


@WAYS
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_value_gives_numpys_result_from_the_same_kernels(name, device, noopt, caches):
    program, reference = PROGRAMS[name][0], PROGRAMS[name][-1]
    counts = set()
    with Context(DEVICE=device, NOOPT=noopt):
        t, w = Tensor(X).realize(), Tensor(W).realize()
        schedule_module._schedules.clear()
        for m, n in SIZES:
            if name == "reach before" and n == 1:
                continue
            GlobalCounters.reset()
            bound = {"t": t, "w": w, "m": ROWS.bind(m), "n": COLUMNS.bind(n)}
            got = eval(program, {**NAMES, **bound}).numpy()
            want = eval(reference, {**NAMES, "t": X, "w": W, "m": m, "n": n})
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
            counts.add((*caches(), GlobalCounters.kernel_count))
    assert len(counts) == 1


def test_a_realized_result_goes_on_with_its_symbolic_shape():
    t = Tensor(X).realize()
    for m in (1, 3, 4):
        part = (t[: ROWS.bind(m)] + 1).realize()
        assert part.shape == (ROWS.bind(m), 6)
        np.testing.assert_array_equal(part.numpy(), X[:m] + 1)
        np.testing.assert_allclose(
            (part.T * 2).realize().sum(1).numpy(), (X[:m] * 2 + 2).sum(0), 1e-5
        )
        part += 1
        np.testing.assert_allclose(part.numpy(), X[:m] + 2, rtol=1e-6)
        copy = part.clone().realize()
        part.assign(part * 0).realize()
        np.testing.assert_allclose(copy.numpy(), X[:m] + 2, rtol=1e-6)


def test_a_symbolic_loop_is_divided_among_threads():
    many = Variable("many", 1, 300)
    x = np.random.default_rng(0).standard_normal((300, 1000)).astype(np.float32)
    with Context(THREADS=2):
        t = Tensor(x).realize()
        for n in (1, 2, 3, 299, 300):
            np.testing.assert_allclose(
                (t[: many.bind(n)].exp() + 1).numpy(), np.exp(x[:n]) + 1, 1e-5
            )
            np.testing.assert_allclose(t[: many.bind(n)].sum(1).numpy(), x[:n].sum(1), 1e-3, 1e-3)


def test_gradients_flow_through_symbolic_shapes():
    for n in (1, 2, 6):
        t = Tensor(X, requires_grad=True)
        t[:, : COLUMNS.bind(n)].exp().sum(1).square().sum().backward()
        wanted, e = np.zeros_like(X), np.exp(X[:, :n])
        wanted[:, :n] = 2 * e * e.sum(1, keepdims=True)
        np.testing.assert_allclose(t.grad.numpy(), wanted, rtol=1e-5)


def test_a_number_in_place_of_a_symbolic_size_holds_for_its_value():
    t = Tensor(X).realize()
    part = t[:, : COLUMNS.bind(3)] + 1
    np.testing.assert_array_equal((part[:, :3] * 2).numpy(), (X[:, :3] + 1) * 2)
    np.testing.assert_array_equal(part.reshape(12).numpy(), X[:, :3].reshape(12) + 1)
    np.testing.assert_array_equal(t[:, :3].reshape(4, COLUMNS.bind(3)).numpy(), X[:, :3])
    with pytest.raises(ShapeError, match=r"\(4, columns=3\) to \(13,\)"):
        part.reshape(13)
    with pytest.raises(ShapeError):
        part[:, :4]


def test_kernelize_keeps_the_values_of_variables():
    t = Tensor(X).realize()
    cut = (t[:, : COLUMNS.bind(2)] * ROWS.bind(3)).sum().kernelize()
    np.testing.assert_allclose(cut.numpy(), X[:, :2].sum() * 3, rtol=1e-5)


# ---- a cache that grows --------------------------------------------------------------------------

BATCH, HEADS, SIZE, LONGEST = 2, 2, 4, 7
POSITION = Variable("position", 0, LONGEST - 1)


def attend(queries, keys, values, position):
    """One step of attention in NumPy: over all (position, batch, head, size) up to one."""
    scores = np.einsum("bhd,tbhd->bht", queries[position], keys[: position + 1]) / math.sqrt(SIZE)
    return np.einsum("bht,tbhd->bhd", softmax(scores, -1), values[: position + 1])


def tokens():
    shape = 3, LONGEST, BATCH, HEADS, SIZE
    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


def decoder(in_place: str):
    keys, values = (Tensor.zeros(BATCH, LONGEST, HEADS, SIZE).contiguous().realize() for _ in "kv")
    calls = []

    def decode(query, key, value, position):
        calls.append(position.val)
        for cache, new in ((keys, key), (values, value)):
            if in_place == "setitem":
                cache[:, position : position + 1] = new.unsqueeze(1)
            else:
                cache[:, position : position + 1].assign(new.unsqueeze(1)).realize()
        known = [cache[:, : position + 1].transpose(1, 2) for cache in (keys, values)]
        return query.unsqueeze(2).scaled_dot_product_attention(*known).squeeze(2)

    return decode, calls


@WAYS
@pytest.mark.parametrize("in_place", ["setitem", "assign"])
@pytest.mark.parametrize("jit", [False, True])
def test_attention_over_a_cache_is_right_at_every_position(device, in_place, jit, noopt, caches):
    queries, keys, values = tokens()
    counts = set()
    with Context(DEVICE=device, NOOPT=noopt):
        decode, calls = decoder(in_place)
        step = TinyJit(decode) if jit else decode
        for position in range(LONGEST):
            new = [Tensor(x[position]).realize() for x in (queries, keys, values)]
            GlobalCounters.reset()
            got = step(*new, POSITION.bind(position)).realize().numpy()
            counts.add((*caches(), GlobalCounters.kernel_count))
            wanted = attend(queries, keys, values, position)
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    assert len(counts) == 1
    assert calls == list(range(2 if jit else LONGEST))


def test_a_replay_may_go_anywhere_in_the_cache():
    cache = Tensor.zeros(LONGEST, 3).contiguous().realize()
    expected = np.zeros((LONGEST, 3), np.float32)

    @TinyJit
    def write(x, position):
        cache[position : position + 1] = x
        return cache[: position + 1].sum(0)

    for number, position in enumerate((0, 5, 2, 6, 0, 3)):
        expected[position] = number + 1
        got = write(Tensor.full((1, 3), number + 1.0).contiguous(), POSITION.bind(position))
        np.testing.assert_array_equal(got.numpy(), expected[: position + 1].sum(0))
        np.testing.assert_array_equal(cache.numpy(), expected)


def test_a_part_that_others_would_put_outside_is_not_assigned_to():
    far = Variable("far", 0, 20)
    cache = Tensor.zeros(LONGEST, 3).contiguous().realize()
    with pytest.raises(AssignError, match="outside"):
        cache[far.bind(1) : far.bind(1) + 1] = 1
    assert not cache.numpy().any()


# ---- replays -------------------------------------------------------------------------------------


def test_an_expression_of_variables_is_an_argument():
    t = Tensor(X).realize()
    double = TinyJit(lambda x, n: x[:, :n] * 2)
    for n in (2, 5, 1, 3):
        np.testing.assert_array_equal(double(t, COLUMNS.bind(n) - 1 + 1).numpy(), X[:, :n] * 2)
    with pytest.raises(JitError, match="expressions that use them"):
        double(t, COLUMNS.bind(2) + 1)


def test_a_replay_reads_nothing_beyond_what_there_is():
    """Captured at a value at which all was within; at another one there is 0."""
    t = Tensor(X).realize()
    wide = Variable("wide", 1, 50)
    first = TinyJit(lambda x, n: x[:, :n].sum(1))
    for n in (1, 3, 6, 50):
        np.testing.assert_allclose(first(t, wide.bind(n)).numpy(), X[:, :n].sum(1), 1e-5)


def test_a_replay_refuses_another_variable():
    t = Tensor(X).realize()
    double = TinyJit(lambda x, n: x[:, :n] * 2)
    for n in (2, 3, 4):
        double(t, COLUMNS.bind(n))
    with pytest.raises(JitError, match=r"columns \(1 to 6\).*columns \(1 to 60\)"):
        double(t, Variable("columns", 1, 60).bind(50))
    with pytest.raises(JitError, match="nothing"):
        double(t, 3)


# ---- mistakes ------------------------------------------------------------------------------------


def test_a_value_out_of_bounds_cannot_be_bound():
    for value in (0, 7, -1):
        for error in (ValueError, AssertionError):
            with pytest.raises(error, match=rf"'columns' to {value}: it must be in \[1, 6\]"):
                COLUMNS.bind(value)
    with pytest.raises(TypeError):
        COLUMNS.bind(2.5)
    assert COLUMNS.bind(np.int64(3)) is COLUMNS.bind(3)


def test_one_variable_has_one_value():
    t = Tensor(X).realize()
    with pytest.raises(ShapeError, match="columns=2 and columns=3 meet"):
        t[:, : COLUMNS.bind(2)] + t[:, : COLUMNS.bind(3)]
    with pytest.raises(ValueError, match="'columns' is bound to 2 and to 3"):
        (t[:, : COLUMNS.bind(2)].sum() + t[:, : COLUMNS.bind(3)].sum()).realize()
    with pytest.raises(ValueError, match="two Variables are named 'columns'"):
        other = Variable("columns", 1, 5)
        (t[:, : COLUMNS.bind(2)].sum() + t[:, : other.bind(2)].sum()).realize()


def test_a_variable_with_two_values_is_refused_where_the_second_comes_in():
    place = Variable("place", 0, 5)
    is_second = pytest.raises(ValueError, match="'place' is bound to 1 and to 2 .* realize those")
    memory, lazy = Tensor.zeros(6).contiguous().realize(), Tensor.zeros(6).contiguous()
    lazy[place.bind(1)] = 5
    with is_second:
        lazy[place.bind(2)] = 6
    assert lazy.tolist() == [0, 5, 0, 0, 0, 0]
    lazy[place.bind(2)] = 6  # realized now
    assert lazy.tolist() == [0, 5, 6, 0, 0, 0]
    memory[place.bind(1)] = 5
    with is_second:
        memory[place.bind(2)] = memory[place.bind(1)] + 1
    assert memory.tolist() == [0, 5, 0, 0, 0, 0]
    memory[place.bind(2)] = (memory[place.bind(1)] + 1).realize()
    assert memory.tolist() == [0, 5, 6, 0, 0, 0]
    with is_second:
        Tensor(X)[place.bind(1), place.bind(2)]
    with is_second:
        memory[place.bind(1) : place.bind(2)]
    one, two = memory[place.bind(1)] * 2, memory[place.bind(2)] * 2
    both = one + two
    with is_second:
        both.realize()
    one.realize()
    assert both.item() == 22


def test_a_slice_ends_within_its_axis():
    with pytest.raises(ShapeError, match=r"\(0, k=9\) is not within an axis of size 6"):
        Tensor(X)[:, : Variable("k", 1, 20).bind(9)]


@pytest.mark.parametrize("use", [
    len, list, lambda t: int(t.shape[0]), lambda t: range(t.shape[0]), lambda t: t[::2],
    lambda t: t.split(2), lambda t: t.chunk(2), lambda t: t.item(),
    lambda t: bool(t.shape[0] > 2),
])  # fmt: skip
def test_where_a_number_is_needed_a_variable_is_refused(use):
    with pytest.raises((TypeError, ValueError)):
        use(Tensor(X)[: ROWS.bind(3)])


def test_a_variable_without_a_value_is_named():
    with pytest.raises(RuntimeError, match="unbound Variable 'rows'"):
        Tensor(X)[:ROWS].sum().realize()
    with pytest.raises(RuntimeError, match="unbound rows"):
        Tensor(X)[:ROWS].numpy()


def test_the_largest_shape_is_that_of_the_memory():
    t = Tensor(X)[: ROWS.bind(3)]
    assert t.max_shape == (ROWS.vmax, *X.shape[1:])
    assert t.max_numel() == ROWS.vmax * X[0].size
    assert Tensor(X).max_shape == X.shape
