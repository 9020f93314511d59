"""Random numbers: the published bits, the right distributions, and what cannot be drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.kernels import program_of
from tests.values import check
from tinyframe import Tensor, TinyJit, dtypes
from tinyframe.device import Device
from tinyframe.tensor.random import Random
from tinyframe.uop.node import Ops, UOp

# jax.extend.random.threefry_2x32((seed >> 32, seed & 0xFFFFFFFF), numpy.arange(count)), JAX 0.10
JAX = {
    (1337, 20): [
        2221762175, 1752107825, 653745012, 1967534793, 1395205442, 3840423848, 2159346757,
        603508235, 3319473678, 3363866483, 3544324138, 1436466838, 2169858556, 2570072943,
        2387150698, 3678370550, 2911697663, 403244401, 2560861638, 1692360114,
    ],
    (0, 7): [
        2285895361, 1501764800, 1518642379, 3098264785, 433833334, 4221794875, 839183663,
    ],
    (2**40 + 5, 8): [
        2070593391, 2262416110, 2764336869, 3976631101, 886439075, 3907789154, 849702694,
        1934826919,
    ],
}  # fmt: skip


@pytest.mark.parametrize("seed, count", JAX)
def test_bits_are_those_of_jax(seed, count):
    Tensor.manual_seed(seed)
    assert Tensor._random_bits(count, Device.DEFAULT).tolist() == JAX[seed, count]
    Tensor.manual_seed(seed)
    # jax.random.uniform makes floats so too: 23 bits behind the point
    expected = [(bits >> 9) / 2**23 for bits in JAX[seed, count]]
    assert Tensor.rand(count).tolist() == expected


def test_counters_go_on_from_call_to_call_and_past_32_bits():
    Tensor.manual_seed(7)
    first, second = Tensor.rand(5).numpy(), Tensor.rand(5).numpy()
    assert len({*first, *second}) == 10
    Tensor.manual_seed(7)
    Random._counter = 2**32 - 3  # not enough for 5: the next key, from its first counter
    wrapped = Tensor.rand(5).numpy()
    Tensor.manual_seed(7 + 2**32)
    np.testing.assert_array_equal(wrapped, Tensor.rand(5).numpy())


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_every_device_gives_the_same_numbers(device):
    def numbers(device):
        Tensor.manual_seed(3)
        return [
            Tensor.rand(5, device=device).numpy(),
            Tensor.randint(5, low=-9, high=9, device=device).numpy(),
            Tensor.randperm(6, device=device).numpy(),
        ]

    for found, expected in zip(numbers(device), numbers("CPU"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_jit_gives_the_numbers_that_calls_without_one_give():
    def numbers():
        return Tensor.rand(4).cat(Tensor.randint(3, high=1000)).realize()

    Tensor.manual_seed(11)
    expected = [numbers().numpy() for _ in range(5)]
    captured = TinyJit(numbers)
    Tensor.manual_seed(11)
    for wanted in expected:
        np.testing.assert_array_equal(captured().numpy(), wanted)


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
@pytest.mark.parametrize(("counter", "key", "low", "high"), [
    (0, 0, 0x6B200159, 0x99BA4EFE),
    (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x1CB996FC, 0xBB002BE7),
    (0x85A308D3243F6A88, 0x0370734413198A2E, 0xC4923A9C, 0x483DF7A0),
])  # fmt: skip
def test_threefry_gives_the_published_bits(counter, key, low, high, device):
    """Random123's known answers for threefry2x32 with 20 rounds (kat_vectors)."""
    c, k = (Tensor([v], dtype=dtypes.uint64, device=device) for v in (counter, key))
    bits = c._apply(lambda x, y: x.alu(Ops.THREEFRY, y), k)
    check(bits, np.array([high << 32 | low], np.uint64), compiled=True)


@pytest.mark.parametrize("count", [16, 17, 1000, 1001])
def test_two_numbers_of_a_kernel_share_a_scramble_of_32_bit_words(count):
    program = program_of(Tensor.rand(count))
    assert not {u.dtype.scalar() for u in program.uops} & {dtypes.uint64, dtypes.int64}
    rounds = 20  # each has one exclusive or, and so have the three words of the key
    assert len([u for u in program.uops if u.op is Ops.XOR]) <= rounds + 2


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (1000,)])
def test_normal_numbers_are_made_of_uniform_ones(shape):
    Tensor.manual_seed(5)
    first, second = Tensor.rand(2, *shape).double().numpy()
    Tensor.manual_seed(5)
    expected = np.cos(2 * np.pi * first) * np.sqrt(-2 * np.log(1 - second))
    np.testing.assert_allclose(Tensor.randn(*shape).numpy(), expected, rtol=1e-4, atol=4e-6)


@pytest.mark.parametrize("n", [1, 4, 10])
def test_normal_numbers_may_be_as_many_as_a_variable_says(n):
    Tensor.manual_seed(5)
    expected = Tensor.randn(n, 3).numpy()
    Tensor.manual_seed(5)
    found = Tensor.randn(UOp.variable("n", 1, 10).bind(n), 3).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


# ---- distributions -------------------------------------------------------------------------------

COUNT = 10000


@pytest.mark.parametrize("dtype", dtypes.floats)
def test_uniform_and_normal_numbers(dtype):
    Tensor.manual_seed(1)
    uniform, normal = Tensor.rand(100, 101, dtype=dtype), Tensor.randn(100, 101, dtype=dtype)
    assert uniform.dtype is normal.dtype is dtype
    u, n = uniform.double().numpy(), normal.double().numpy()
    assert u.min() >= 0 and u.max() < 1
    assert abs(u.mean() - 0.5) < 0.01 and abs(u.std() - 12**-0.5) < 0.01
    assert np.isfinite(n).all() and abs(n.mean()) < 0.03 and abs(n.std() - 1) < 0.03
    assert abs((n**3).mean()) < 0.1 and abs((n**4).mean() - 3) < 0.2
    if dtype in (dtypes.float32, dtypes.float64):
        assert len(np.unique(u)) > 10000


def test_randint_is_even_and_within_its_bounds():
    Tensor.manual_seed(1)
    counts = np.bincount(Tensor.randint(COUNT, low=3, high=10).numpy(), minlength=10)
    assert counts[:3].sum() == 0 and len(counts) == 10
    assert abs(counts[3:] - COUNT / 7).max() < 5 * math.sqrt(COUNT / 7)
    assert Tensor.randint(2, 3).shape == (2, 3) and Tensor.randint(2).dtype is dtypes.int32
    assert set(Tensor.randint(50, low=-1, high=0).tolist()) == {-1}
    wide = Tensor.randint(1000, low=-(2**31), high=2**31).numpy().astype(np.float64)
    assert abs(wide.mean()) < 2**28 and abs(wide.std() - 2**32 / 12**0.5) < 2**28
    whole = Tensor.randint(1000, low=-(2**63), high=2**63, dtype=dtypes.int64).numpy()
    assert abs(whole.astype(np.float64).std() / 2**64 - 12**-0.5) < 0.05
    large = Tensor.randint(1000, low=0, high=10**12, dtype=dtypes.int64).numpy()
    assert large.min() >= 0 and 9.9e11 < large.max() < 10**12
    assert Tensor.randint(100, high=200, dtype=dtypes.uint8).numpy().max() > 150


def test_uniform_and_normal_have_the_moments_asked_for():
    Tensor.manual_seed(2)
    u = Tensor.uniform(COUNT, low=-3, high=5).numpy()
    assert u.min() >= -3 and u.max() < 5 and abs(u.mean() - 1) < 0.1
    n = Tensor.normal(COUNT, mean=2, std=3).numpy()
    assert abs(n.mean() - 2) < 0.15 and abs(n.std() - 3) < 0.1
    assert set(Tensor.uniform(200, low=0, high=3, dtype=dtypes.int32).tolist()) == {0, 1, 2}
    assert Tensor.normal(3, std=0).tolist() == [0, 0, 0]


SHAPE = (40, 10, 5, 5)  # 250 inputs, and 40 * 10 * 25 elements


@pytest.mark.parametrize(
    "make, bound",
    [
        (Tensor.scaled_uniform, 10000**-0.5),
        (Tensor.glorot_uniform, math.sqrt(6 / (40 + 250))),
        (Tensor.xavier_uniform, math.sqrt(6 / (40 + 250))),
        (Tensor.kaiming_uniform, math.sqrt(6 / (1.0001 * 250))),
        (lambda *shape: Tensor.kaiming_uniform(*shape, a=math.sqrt(5)), 250**-0.5),
    ],
)
def test_initial_values_are_uniform_within_their_bound(make, bound):
    Tensor.manual_seed(3)
    values = make(*SHAPE).numpy()
    assert values.shape == SHAPE
    assert 0.99 * bound < values.max() <= bound and -bound <= values.min() < -0.99 * bound
    assert abs(values.std() - bound / 3**0.5) < 0.02 * bound


def test_normal_initial_values_have_their_deviation():
    Tensor.manual_seed(4)
    assert abs(Tensor.kaiming_normal(*SHAPE).numpy().std() / math.sqrt(2 / 250) - 1) < 0.02


def test_multinomial_draws_in_proportion():
    Tensor.manual_seed(6)
    weights = Tensor([[1.0, 0, 3, 6], [5, 5, 0, 0]])
    drawn = weights.multinomial(3000, replacement=True)
    assert drawn.shape == (2, 3000) and drawn.dtype is dtypes.int32
    shares = [np.bincount(row, minlength=4) / 3000 for row in drawn.numpy()]
    np.testing.assert_allclose(shares, [[0.1, 0, 0.3, 0.6], [0.5, 0.5, 0, 0]], atol=0.05)
    assert weights[0].multinomial().shape == (1,)
    assert weights.multinomial().shape == (2, 1)


def test_multinomial_without_replacement_draws_each_once_and_the_likely_first():
    Tensor.manual_seed(7)
    drawn = Tensor([1.0, 2, 3, 4]).expand(2000, 4).multinomial(4).numpy()
    np.testing.assert_array_equal(np.sort(drawn), np.tile(np.arange(4), (2000, 1)))
    first = np.bincount(drawn[:, 0], minlength=4) / 2000
    np.testing.assert_allclose(first, [0.1, 0.2, 0.3, 0.4], atol=0.06)
    # what has no weight comes last, if at all
    assert (Tensor([0.0, 1, 1]).expand(200, 3).multinomial(2).numpy() > 0).all()


def test_randperm_holds_every_number_once_at_every_place():
    Tensor.manual_seed(8)
    assert sorted(Tensor.randperm(100).tolist()) == list(range(100))
    orders = {tuple(Tensor.randperm(3).tolist()) for _ in range(60)}
    assert len(orders) == 6
    assert Tensor.randperm(0).shape == (0,)
    assert Tensor.randperm(4, dtype=dtypes.int64).dtype is dtypes.int64


def test_nothing_to_draw():
    for make in (Tensor.randint, Tensor.uniform, Tensor.normal, Tensor.kaiming_normal):
        assert make(0, 3).numpy().shape == (0, 3)
    for make in (Tensor.uniform, Tensor.rand, Tensor.randn):
        assert make(2, 3, requires_grad=True).requires_grad
        assert make().shape == () and make((2, 3)).shape == (2, 3)
