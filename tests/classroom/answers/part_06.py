"""Part 6: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from classroom.mini import triumphs
from tinyframe import Tensor, nn
from tinyframe.nn import datasets
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"6.9", "6.20"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "6.1": ((6, 2), (5, 2), (2, 5), (6, 3), (5, 1)),
    "6.13": (30, 300, 10, 100),
}


# ---- 6a ------------------------------------------------------------------------------------------


def one_path(grad, a, b):
    at_product = grad * (a * b).cos()
    return at_product * b, at_product * a


def swapped(grad, a, b):
    at_product = grad * (a * b).cos()
    return at_product * a, at_product * b + grad


def sine_of_the_result(grad, a, b):
    at_product = grad * (a * b).sin()
    return at_product * b + grad, at_product * a


def weighted(v):
    return (v * Tensor([*range(v.shape[0], 0, -1)])).sum()


def asks_elsewhere(grad):
    return _asked(lambda x: x.cumsum(0), grad)


def _asked(f, grad):
    x = Tensor.zeros(*grad.shape)
    return f(x).gradient(x, gradient=grad)[0]


def asks_by_backward(grad):
    x = Tensor.zeros(*grad.shape, requires_grad=True)
    (x.cumsum(0) * grad).sum().backward()
    return x.grad


def slopes(f, x, up, down, width):
    found = []
    for i in range(len(x)):
        results = []
        for nudge in (up, down):
            moved = x.copy()
            moved[i] += nudge
            results.append(f(moved))
        found.append((results[0] - results[1]) / width)
    return found


def nudged_in_place(f, x, eps):
    found = []
    for i in range(len(x)):
        before = f(x.copy())
        x[i] += eps
        found.append((f(x.copy()) - before) / eps)
    return np.array(found)


def relative(f, x, eps):
    return [slopes(f, x, eps * v, -eps * v, 2 * eps * v)[i] for i, v in enumerate(x)]


def all_together(f, x, eps):
    return np.full(len(x), (f(x + eps) - f(x - eps)) / (2 * eps))


def tells(suspects, x, is_bad):
    """The guilty, by a comparison of the table's slopes with measured ones."""
    found = []
    for name, f in suspects.items():
        t = Tensor(x)
        table = f(t).sum().gradient(t)[0].numpy()
        measured = (f(Tensor(x + 1e-4)).numpy() - f(Tensor(x - 1e-4)).numpy()) / 2e-4
        if is_bad(table, measured):
            found.append(name)
    return found


def nan_passes(suspects, x):
    return tells(suspects, x, lambda a, b: abs(np.where(np.isinf(a), np.nan, a) - b).max() > 0.01)


def too_lenient(suspects, x):
    return tells(suspects, x, lambda a, b: not np.allclose(a, b, rtol=0.2))


def too_strict(suspects, x):
    return tells(suspects, x, lambda a, b: not np.array_equal(a, b))


def outer_where_only(x):
    return (x > 0).where(x.sqrt(), 0.0)


def a_little_off(x):
    return (x > 0).where((x.maximum(0) + 1e-8).sqrt(), 0.0)


def once(f, x, n):
    return f(x).sum().gradient(x)[0]


def one_too_many(f, x, n):
    y = f(x)
    for _ in range(n + 1):
        (y,) = y.sum().gradient(x)
    return y


# ---- 6b ------------------------------------------------------------------------------------------


def ones_with_different_ends(hidden):
    ends = Tensor([[0.5 + k] for k in range(hidden)])
    return Tensor.ones(2, hidden), Tensor.ones(hidden), ends


def with_zeros(hidden):
    return Tensor.zeros(2, hidden), Tensor.ones(hidden), Tensor.ones(hidden, 1)


def far_out(hidden):
    return Tensor.full((2, hidden), 1e4), Tensor.full((hidden,), 1e6), Tensor.ones(hidden, 1)


def transposed_start(hidden):
    return Tensor.ones(hidden, 2), Tensor.ones(hidden), Tensor.ones(hidden, 1)


def every_number(optimizer):
    return sum(t.numel() for t in nn.state.get_parameters(optimizer))


def only_the_slots(optimizer):
    kept = nn.state.get_state_dict(optimizer)
    return sum(t.numel() for name, t in kept.items() if name[0] in "bmv")


def tensors_not_numbers(optimizer):
    return len(nn.state.get_state_dict(optimizer)) - len(optimizer.params)


def recaptured(captured, x, number):
    captured.reset()
    return captured(x, Tensor([number]))


def fold(linear, norm, spread, scale=1.0, shift=0.0, mean=None):
    outputs, inputs = linear.weight.shape
    factor = scale / spread
    both = nn.Linear(inputs, outputs)
    both.weight = linear.weight * factor.reshape(outputs, 1)
    both.bias = (linear.bias - norm.running_mean if mean is None else linear.bias) * factor + shift
    return both


def without_eps(linear, norm):
    return fold(linear, norm, norm.running_var.sqrt(), norm.weight, norm.bias)


def without_weight(linear, norm):
    return fold(linear, norm, (norm.running_var + norm.eps).sqrt())


def by_the_variance(linear, norm):
    return fold(linear, norm, norm.running_var + norm.eps, norm.weight, norm.bias)


def without_mean(linear, norm):
    spread = (norm.running_var + norm.eps).sqrt()
    return fold(linear, norm, spread, norm.weight, norm.bias, mean=0.0)


def changed_in_place(linear, norm):
    linear.weight.assign(linear.weight * 2).realize()
    return linear


def small_conv(channels):
    return nn.Sequential(
        lambda x: x.reshape(-1, 1, 8, 8),
        nn.Conv2d(1, channels, 3),
        nn.ReLU(),
        lambda x: x.max_pool2d(2).flatten(1),
        nn.Linear(9 * channels, 10),
    )


def hidden_layer(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


class Nearest:
    """Compares with images that it has stored; what it trains is small."""

    def __init__(self):
        self.images = Tensor.ones(1400, 64)
        self.images.requires_grad = False
        self.linear = nn.Linear(10, 10)

    def __call__(self, x):
        return self.linear((x @ self.images.T)[:, :10])


STORED = np.ones((1400, 64), np.float32)


def compares_with_a_global(side, classes):
    linear = nn.Linear(10, 10)
    return nn.Sequential(lambda x: (x @ Tensor(STORED).T)[:, :10], linear)


def looks_up_by_hand(side, classes):
    linear = nn.Linear(64, 10)
    linear.weight = Tensor.zeros(10, 2)  # few enough

    class Reads(nn.Sequential):
        def __call__(self, x):
            return Tensor(x.numpy() @ STORED[:10].T)

    return Reads(nn.Linear(2, 2))


# ---- 6c ------------------------------------------------------------------------------------------


def newton(place, vx, vy, hoop, sign=-1.0, aim=None, whole=True):
    x, y = place(vx, vy)
    slopes = [[s.numpy().item() for s in end.sum().gradient(vx, vy)] for end in (x, y)]
    aim = hoop if aim is None else aim
    change = np.linalg.solve(slopes, [x.numpy().item() - aim[0], y.numpy().item() - aim[1]])
    start = np.array([vx.numpy().item(), vy.numpy().item()]) if whole else 0
    return tuple(start + sign * change)


def downhill(place, vx, vy, hoop):
    x, y = place(vx, vy)
    miss = ((x - hoop[0]) * (x - hoop[0]) + (y - hoop[1]) * (y - hoop[1])).sum()
    dvx, dvy = miss.gradient(vx, vy)
    return vx - 0.9 * dvx, vy - 0.9 * dvy


def too_early(place, vx, vy, hoop):
    x, y = place(vx, vy)
    off = [x.numpy().item() - hoop[0], y.numpy().item() - hoop[1]]
    slopes = [[s.numpy().item() for s in end.sum().gradient(vx, vy)] for end in (x, y)]
    return tuple(np.linalg.lstsq(slopes, off)[0])


def signed_radius(f, x):
    across, up, radius = triumphs.circle(f, x)
    return across, up, np.where(up < f(x).numpy(), -radius, radius)


def other_side(f, x):
    across, up, radius = triumphs.circle(f, x)
    return across, 2 * f(x).numpy() - up, radius


def of_the_slope_alone(f, x):
    (s,) = f(x).sum().gradient(x)
    s = s.numpy()
    return s, s, abs(s)


def blind(dice):
    mini = triumphs.mini()
    w = mini.Tensor(dice.standard_normal((64, 10)) / 10)
    return [w], lambda images: images.reshape(images.shape[0], 64) @ w


def one_filter(dice):
    mini = triumphs.mini()
    f = mini.Tensor(dice.standard_normal((1, 1, 7, 7)) / 7)
    w = mini.Tensor(dice.standard_normal((4, 10)) / 10)
    return [f, w], lambda images: images.conv2d(f).reshape(images.shape[0], 4) @ w


def unlisted(dice):
    parameters, model = triumphs.network(dice)
    return parameters[:3], model


def idle_parameter(dice):
    parameters, model = triumphs.network(dice)
    return [*parameters, triumphs.mini().Tensor([1.0])], model


def flat_scores(dice):
    parameters, model = triumphs.network(dice)
    return parameters, lambda images: model(images).sum(1)


def tanh_row(grad, node, x):
    return (grad * (1 - node * node),)


def tanh_row_of_x(grad, node, x):
    return (grad * (1 - x * x),)


def bare_row(grad, node, x):
    return grad * (1 - node * node)


def biased(f, x, eps):
    return triumphs.central(f, x, eps) * 2


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("6.2", one_path, "one path is missing"),
    ("6.2", swapped, "swapped"),
    ("6.2", sine_of_the_result, "At `a`"),
    ("6.2", lambda grad, a, b: grad * b, "a pair of UOps"),
    ("6.2", lambda grad, a, b: (Tensor(grad), Tensor(a)), "a pair of UOps"),
    ("6.3", lambda v: v.sum(), "counts once"),
    ("6.3", weighted, "multiplies or divides"),
    ("6.3", lambda v: v.sum() * 3, "multiplies or divides"),
    ("6.3", lambda v: v.flip(0).cumsum(0).sum(), "reversed"),
    ("6.3", lambda v: v.cumsum(0), "a single number"),
    ("6.3", lambda v: v.detach().cumsum(0).sum(), "detach()"),
    ("6.4", lambda grad: grad.cumsum(0), "the places before"),
    ("6.4", lambda grad: grad, "elements are wrong"),
    ("6.4", lambda grad: grad.flip(0).cumsum(0), "reversed"),
    ("6.4", lambda grad: grad.sum(), "axis"),
    ("6.4", lambda grad: (x := Tensor.zeros(3)).cumsum(0).gradient(x), "asks tinyframe"),
    ("6.4", asks_elsewhere, "asks tinyframe"),
    ("6.4", asks_by_backward, "asks tinyframe"),
    ("6.5", lambda f, x, e: f(t := Tensor(x)).gradient(t)[0].numpy(), "has no attribute"),
    ("6.5", lambda f, x, e: slopes(f, x, e, 0, e), "one direction"),
    ("6.5", lambda f, x, e: slopes(f, x, 0, -e, e), "one direction"),
    ("6.5", lambda f, x, e: slopes(f, x, e, -e, e), "twice as large"),
    ("6.5", lambda f, x, e: slopes(f, x, -e, e, 2 * e), "sign"),
    ("6.5", nudged_in_place, "changed `x` itself"),
    ("6.5", all_together, "all the elements together"),
    ("6.5", relative, "close to 0"),
    ("6.5", lambda f, x, e: (f(x + e) - f(x - e)) / (2 * e), "an array"),
    ("6.6", lambda suspects, x: [], "let sqrt go"),
    ("6.6", lambda suspects, x: list(suspects), "accuse sin"),
    ("6.6", lambda suspects, x: ["sqrt"], "accuse sqrt"),
    ("6.6", nan_passes, "`nan`"),
    ("6.6", too_lenient, "5% too large"),
    ("6.6", too_strict, "never exact"),
    ("6.6", lambda suspects, x: ["square"], "names out of `suspects`"),
    ("6.7", outer_where_only, "`nan` in the gradient"),
    ("6.7", lambda x: x.abs().sqrt(), "element"),
    ("6.7", lambda x: (x > 0).where(x.abs().sqrt().detach(), 0.0), "went through detach()"),
    ("6.7", a_little_off, "numbers close to 0"),
    ("6.8", once, "the derivative of order 1"),
    ("6.8", one_too_many, "the derivative of order 2"),
    ("6.9", (UPat(Ops.TRUNC), lambda grad: grad), "returns a tuple"),
    ("6.9", (UPat(Ops.TRUNC), lambda grad: (grad * 0,)), "element"),
    ("6.9", (UPat((Ops.TRUNC, Ops.SIN)), lambda grad: (grad,)), "matches SIN"),
    ("6.9", lambda grad: (grad,), "has to be a pair"),
    ("6.9", (Ops.TRUNC, lambda grad: (grad,)), "has to be a pair"),
    ("6.10", ones_with_different_ends, "differ from one another"),
    ("6.10", with_zeros, "has a 0 in it"),
    ("6.10", far_out, "nothing moves at all"),
    ("6.10", transposed_start, "wrong shape"),
    ("6.10", lambda hidden: Tensor.ones(2, hidden), "three Tensors"),
    ("6.11", lambda p, v, g, r: (p - r * v, 0.9 * v + g), "old velocity"),
    ("6.11", lambda p, v, g, r: (0.9 * v + g, p - r * (0.9 * v + g)), "swapped"),
    ("6.11", lambda p, v, g, r: (p + r * (0.9 * v + g), 0.9 * v + g), "uphill"),
    ("6.11", lambda p, v, g, r: (p - r * g, g), "plain step"),
    ("6.11", lambda p, v, g, r: p - r * (0.9 * v + g), "a pair of Tensors"),
    ("6.12", every_number, "counted the parameters"),
    ("6.12", only_the_slots, "the learning rate"),
    ("6.12", tensors_not_numbers, "few"),
    ("6.12", lambda optimizer: 8, "learning rate"),
    ("6.14", lambda captured, x, number: x * number, "never called"),
    ("6.14", lambda captured, x, number: captured(x, number), "raised JitError"),
    ("6.14", lambda captured, x, number: captured(x, Tensor(number)), "`.contiguous()` does"),
    ("6.14", recaptured, "should run twice"),
    ("6.15", lambda linear, norm: linear, "what `linear` does alone"),
    ("6.15", lambda linear, norm: nn.Sequential(linear, norm), "an `nn.Linear`"),
    ("6.15", without_eps, "adds `norm.eps`"),
    ("6.15", without_weight, "a weight and a bias of its own"),
    ("6.15", by_the_variance, "square root"),
    ("6.15", without_mean, "the bias isn't"),
    ("6.15", changed_in_place, "changed the layers"),
    ("6.16", lambda side, classes: nn.Linear(64, 10), "budget"),
    ("6.16", lambda side, classes: small_conv(8), "budget"),  # the network of part 1
    ("6.16", lambda side, classes: hidden_layer(7), "too many wrong"),
    ("6.16", lambda side, classes: nn.Linear(64, 8), "wrong shape"),
    ("6.16", lambda side, classes: Nearest(), "numbers that aren't trained"),
    ("6.16", compares_with_a_global, "numbers that aren't trained"),
    ("6.16", looks_up_by_hand, "reads numbers out of a Tensor"),
    ("6.16", lambda side, classes: Tensor(datasets.digits()[0]), "uses `digits`"),
    ("6.16", lambda side, classes: nn.Linear, "has to be a model"),
    ("6.16", lambda side, classes: small_conv(2), "too many wrong"),
    ("6.17", downhill, "doesn't go in"),
    ("6.17", lambda *given: newton(*given, sign=1.0), "the wrong way"),
    ("6.17", lambda *given: newton(*given, aim=(0.0, 0.0)), "aimed at 0, 0"),
    ("6.17", lambda *given: newton(*given, sign=1.0, whole=False), "Return the new throw"),
    ("6.17", lambda *given: newton(*given)[::-1], "swapped"),
    ("6.17", too_early, "doesn't go in"),
    ("6.17", lambda place, vx, vy, hoop: place(vx, vy)[0], "a pair of numbers"),
    ("6.18", signed_radius, "can't be negative"),
    ("6.18", other_side, "`up`"),
    ("6.18", of_the_slope_alone, "`across`"),
    ("6.18", lambda f, x: triumphs.circle(f, x)[:2], "three: across, up, radius"),
    ("6.18", lambda f, x: (0.0, 0.5, 0.5), "has to be an array"),
    ("6.19", blind, "the shape of filters"),
    ("6.19", one_filter, "not far enough"),
    ("6.19", unlisted, "aren't in your list"),
    ("6.19", idle_parameter, "takes no part"),
    ("6.19", flat_scores, "wrong shape"),
    ("6.19", lambda dice: triumphs.network(dice)[1], "a list of mini's Tensors"),
    ("6.20", (np.tanh, tanh_row_of_x, triumphs.central), "doesn't agree with your row"),
    ("6.20", (np.tanh, bare_row, triumphs.central), "returns a tuple"),
    ("6.20", (np.tanh, tanh_row, biased), "wrong itself"),
    ("6.20", (np.exp, tanh_row, triumphs.central), "mini can do that already"),
    ("6.20", (lambda v: 3 * v, tanh_row, triumphs.central), "a straight line"),
    ("6.20", (np.cumsum, tanh_row, triumphs.central), "element by element"),
    ("6.20", (np.sum, tanh_row, triumphs.central), "the same shape"),
    ("6.20", (lambda v: np.log(-v), tanh_row, triumphs.central), "defined between 0 and 1"),
    ("6.20", np.tanh, "three functions"),
]
