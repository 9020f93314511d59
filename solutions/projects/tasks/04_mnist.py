"""Project 4: what its checks ask, what they are worth, and a hint for each.

Numbers are compared with NumPy's, computed here. Models, and functions that remember something,
stay in the submission's process (ask.keep); most of them are the grader's own and small, so that
each task is judged by itself. A model has a function in it whose numbers are drawn, and in hidden
checks the function is, too; what it should become is computed in NumPy from slopes that are
measured. What they saw is told by their values: a model that sees how many images it is given,
images that make every batch alike, orders that are tried one after the other. What only their
process can know, how often something ran, is taken on trust, and a report for instructors says so.
"""

from collections import Counter
from copy import deepcopy

import numpy as np

from classroom import measured
from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    Project,
    Raised,
    Wrong,
    expect,
    expect_close,
    expect_equal,
    expect_integers,
    expect_kind,
    looks_like,
    or_known,
)
from tinyframe import Tensor
from tinyframe.nn.lazy_file import FileError
from tinyframe.nn.state import safe_load

project = Project(
    "Project 4: Handwritten digits",
    points=100,
    times=4,  # a training step is a dozen kernels to compile, or more
    afterwards="Your network reads handwriting, and you know which kernels its training waits for. "
    "Next: part 7, and then project 5, where you find out what happened to them on the way to C.",
)


# ---- 1 normalise ---------------------------------------------------------------------------------


def pixels(ask, *shape):
    low, high = sorted((ask.integer(0, 90), ask.integer(120, 255)))
    return ask.rng.integers(low, high, shape).astype(np.uint8)


def expect_normal(ask, images, training):
    got = ask("normalise", images, training)
    expect_kind(got, np.ndarray, "the result of normalise()")
    missing = f"it has shape {got.shape}, without the axis of channels, which has size 1"
    expect(got.shape != images.shape, missing)

    def by(mean, deviation):
        return ((images - mean) / deviation)[:, None]

    def nearest(of, spread):
        """Both ways to count for the mean of the squares are fine."""
        ways = (by(of.mean(), spread(of, ddof=ddof)) for ddof in (0, 1))
        return min(ways, key=lambda way: far(got, way))

    mistakes = {
        "it is divided by the variance; divide by its root, the standard deviation":
            nearest(training, np.var),
        "it has the mean and the deviation of `images`; use those of `training`":
            nearest(images, np.std),
    }  # fmt: skip
    with or_known(got, mistakes):
        expect_close(got, nearest(training, np.std), "normalise(images, training)")
    expect(got.dtype.kind == "f", f"it has dtype {got.dtype}, but should hold floats")


def far(got, wanted):
    return float(np.abs(got - wanted).max()) if got.shape == wanted.shape else np.inf


@project.check(
    "normalise",
    4,
    "training images, shifted and scaled by themselves",
    "Whole numbers have no place for -0.5: begin with images.float(). unsqueeze(1) adds an axis.",
)
def _(ask):
    images = pixels(ask, ask.integer(5, 9), 4, ask.integer(5, 7))
    expect_normal(ask, images, images)


# ---- 2 batches -----------------------------------------------------------------------------------


def numbered(ask, count):
    """Images that each say which one they are, in every pixel, and labels that do not."""
    x = np.broadcast_to(np.arange(count, dtype=np.float32)[:, None, None, None], (count, 1, 2, 3))
    return np.ascontiguousarray(x), ask.rng.integers(0, 10, count).astype(np.int32)


def order_of(ask, x, y, size, seed):
    """Which images came, in order; the batches are right otherwise."""
    pairs = ask("batches", x, y, size, seed)
    expect_kind(pairs, list, "the result of batches()")
    for pair in pairs:
        expect_kind(pair, tuple, "a batch")
        expect(len(pair) == 2, f"a batch has {len(pair)} parts, not 2: images and labels")
        for part, like, name in zip(pair, (x, y), ("images", "labels"), strict=True):
            these = f"the {name} of a batch"
            expect_kind(part, np.ndarray, these)
            wanted = (*part.shape[:1], *like.shape[1:])
            expect(part.shape == wanted, f"{these} have shape {part.shape}, not {wanted}")
            types = f"{these} have dtype {part.dtype}, not {like.dtype}"
            expect(part.dtype == like.dtype, types)
    rows = [len(labels) for _, labels in pairs]
    whole, rest = divmod(len(y), size)
    sizes = f"with {len(y)} images and size {size}, the list of the sizes of the batches"
    expect_equal(rows, [size] * whole + [rest] * (rest > 0), sizes)
    images = np.concatenate([images for images, _ in pairs])
    labels = np.concatenate([labels for _, labels in pairs])
    order = images[:, 0, 0, 0].astype(int)
    counts = Counter(order.tolist())
    missing = [n for n in range(len(y)) if not counts[n]]
    expect(not missing, f"image {min(missing, default=0)} is in no batch")
    apart = "images and labels no longer belong together; shuffle both in the same order"
    expect(np.array_equal(labels, y[order]), apart)
    return order.tolist()


# The sums of all whole batches, twice over, by a TinyJit that replays what it captured.
REPLAYED = Expression(
    "(lambda step: [step(x, y).tolist() for _ in range(3) for x, y in pairs if len(y) == size])"
    "(TinyJit(lambda x, y: Tensor.stack(x.sum(), y.sum().float()).realize()))",
    {},
    "pairs, size",
)


def expect_batches(ask, count, size):
    x, y = numbered(ask, count)
    seed = ask.integer(0, 1000)
    order = order_of(ask, x, y, size, seed)
    with ask.part("every image once, with its label"):
        pass  # or there would be no order to speak of
    with ask.part("shuffled"):
        expect(order != sorted(order), "the images come in their old order; shuffle them")
    with ask.part("the same seed"):
        again = order_of(ask, x, y, size, seed)
        expect(again == order, f"two calls with the seed {seed} gave two different orders")
    with ask.part("a different seed"):
        other = order_of(ask, x, y, size, seed + 1)
        expect(other != order, f"the seeds {seed} and {seed + 1} gave the same order")
    with ask.part("memory of its own"):
        pairs = ask.keep("batches", x, y, size, seed)
        try:
            summed = ask(REPLAYED, pairs, size)
        except Raised as error:
            raise Wrong(slices(error)) from None
        same = "a TinyJit that gets one batch after the other adds up something else each time"
        expect(summed == summed[: count // size] * 3, same)


def slices(error):
    """What to say where a TinyJit did not take the next batch."""
    if error.kind != "JitError" or "another view" not in error.message:
        return f"with the batches in a TinyJit, it raised {error}"
    return (
        "a TinyJit takes the first batches and stops at the next one, which is another part of the "
        "same memory. batches() has to copy its slices: .contiguous().realize()"
    )


@project.check(
    "batches",
    5,
    "each image once, with its label; the order follows the seed",
    "np.random.default_rng(seed).permutation(count) is an order. Cut it into pieces, and pick the "
    "images and the labels of a batch with the same piece.",
)
def _(ask):
    expect_batches(ask, ask.integer(20, 25), ask.integer(8, 9))


# ---- 3 Network -----------------------------------------------------------------------------------

STATE = Expression("nn.state.get_state_dict(model)", {}, "model")
WRITE = Expression(  # True, since a check takes None for a task that is open
    "nn.state.load_state_dict(model, dict(zip(names, values)), False, False) is None",
    {},
    "model, names, values",
)


class Weights:
    """The layers of a Network, found by the shapes of what it keeps, in its own order."""

    def __init__(self, state, size, channels, classes):
        self.convolutions = [name for name, a in state.items() if a.ndim == 4]
        self.norms = [name for name in state if name.endswith("running_mean")]
        self.linear = [name for name, a in state.items() if a.ndim == 2]
        shapes = [(c, before, 3, 3) for before, c in zip((1, *channels), channels, strict=False)]
        last = channels[-1] * (size >> len(channels)) ** 2
        found = [state[name].shape for name in self.convolutions]
        expect(bool(found), "the model has no Conv2d: are its layers in attributes?")
        expect_equal(found, shapes, "the list of the shapes of its Conv2d weights")
        expect(bool(self.norms), "the model has no BatchNorm")
        found = [state[name].shape for name in self.norms]
        expect_equal(found, [(c,) for c in channels], "the list of the shapes of its running means")
        found = [state[name].shape for name in self.linear]
        expect_equal(found, [(classes, last)], "the list of the shapes of its Linear weights")


def state_of(ask, model):
    state = ask(STATE, model)
    return {name: value for name, value in state.items() if isinstance(value, np.ndarray)}


def expect_network(ask, size, channels, classes):
    model = ask.keep("Network", size, channels, classes)
    x = ask.floats(3, 1, size, size)
    named = f"Network({size}, {channels}, {classes})"
    with ask.part(f"{size} x {size}"):
        got = ask(model, x)
        expect_kind(got, np.ndarray, f"the result of {named}(x)")
        wanted = (3, classes)
        shapes = f"for x of shape {x.shape}, its scores have shape {got.shape}, not {wanted}"
        expect(got.shape == wanted, f"{named}: {shapes}")
        state = state_of(ask, model)
        found = Weights(state, size, channels, classes)
        for names, what in ((found.linear, "the Linear's"), (found.convolutions, "a Conv2d's")):
            before, zeros = ask(model, x), [state[name] * 0 for name in names]
            ask(WRITE, model, names, zeros)
            alike = np.ptp(ask(model, x), axis=0).max() < 1e-5
            alone = f"{named}: its scores should depend on the image, and with 0 for {what} weights"
            expect(alike and np.ptp(before, axis=0).max() > 1e-5, f"{alone} they shouldn't")
            ask(WRITE, model, names, [state[name] for name in names])


@project.check(
    "Network",
    8,
    "the shapes of its scores, and of what it keeps",
    "The first convolution reads 1 channel, every later one as many as the one before it makes; "
    "halve the size in each block (7 // 2 is 3).",
)
def _(ask):
    expect_network(ask, 8, (ask.integer(2, 3), ask.integer(4, 5)), ask.integer(3, 6))
    expect_network(ask, 5 + 2 * ask.integer(0, 1), (ask.integer(2, 5),), ask.integer(3, 6))


# ---- 4 make_step ---------------------------------------------------------------------------------

OFF = "training mode is off when the model runs; put `with Tensor.train():` around the call"


def log_softmax(scores):
    shifted = scores.astype(np.float64) - scores.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def mean_loss(scores, y):
    return -log_softmax(scores)[np.arange(len(y)), y].mean()


ACTIVATIONS = {"(t * {}).tanh()": np.tanh}
BRIGHT = "(2 if Tensor.training else 1)"


class Small:
    """A network of two layers with a drawn function between them, in the submission's process. What
    the first sees is `seen`, an expression in x, and what comes out of it goes through `then`."""

    def __init__(self, ask, activations, seen="x", then="x"):
        self.ask, self.features, self.classes = ask, ask.integer(4, 7), ask.integer(3, 5)
        text, steep = str(ask.rng.choice(list(activations))), ask.integer(5, 12) / 8
        self.model = ask.keep(Expression(
            f"nn.Sequential(lambda x: {seen}, "
            f"nn.Linear({self.features}, 5), lambda x: (lambda t: {text.format(steep)})({then}), "
            f"nn.Linear(5, {self.classes}))"
        ))  # fmt: skip
        self.first = list(state_of(ask, self.model).values())

        def scores(values, x, seen=lambda x: x):
            hidden = activations[text](seen(seen(x) @ values[0].T + values[1]) * steep)
            return hidden @ values[2].T + values[3]

        self.scores = scores
        self.loss = lambda values, x, y: mean_loss(scores(values, x), y)

    def examples(self, count):
        labels = self.ask.rng.integers(0, self.classes, count).astype(np.int32)
        return self.ask.floats(count, self.features), labels

    def weights(self):
        """All that it has by now."""
        return flat(state_of(self.ask, self.model).values())


def flat(values):
    return np.concatenate([value.ravel() for value in values])


class Learner:
    """What becomes of the values of a loss, in NumPy: Kingma and Ba's Adam, by measured slopes."""

    def __init__(self, small, rate, adds_up=False):
        self.loss, self.rate, self.adds_up, self.steps = small.loss, rate, adds_up, 0
        self.values = [v.astype(np.float64) for v in small.first]
        self.gradients, self.first, self.second = (
            [np.zeros_like(v) for v in self.values] for _ in range(3)
        )

    def slope(self, value, x, y):
        found = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            was, sides = value[place], []
            for value[place] in (was + 1e-5, was - 1e-5):
                sides.append(self.loss(self.values, x, y))
            value[place], found[place] = was, (sides[0] - sides[1]) / 2e-5
        return found

    def step(self, x, y):
        self.steps += 1
        loss = self.loss(self.values, x, y)
        for n, new in enumerate([self.slope(value, x, y) for value in self.values]):
            g = self.gradients[n] = new + self.gradients[n] * self.adds_up
            self.first[n] = 0.9 * self.first[n] + 0.1 * g
            self.second[n] = 0.999 * self.second[n] + 0.001 * g * g
            mean = self.first[n] / (1 - 0.9**self.steps)
            square = self.second[n] / (1 - 0.999**self.steps)
            self.values[n] = self.values[n] - self.rate * mean / (np.sqrt(square) + 1e-8)
        return loss


def expect_steps(ask, count, jit, activations=ACTIVATIONS):
    """`count` steps on fresh batches, and the same in NumPy."""
    rate, small = ask.integer(1, 4) / 64, Small(ask, activations, f"x * {BRIGHT}")
    model = small.model
    # by how much brighter it sees its images
    ways = {n: (Learner(small, rate), Learner(small, rate, adds_up=True)) for n in (2, 1)}
    expected = {n: [] for n in ways}
    step = ask.keep("make_step", model, rate)
    if jit:
        step = ask.keep(Expression("TinyJit(step)", {}, "step"), step)
    losses = []
    for _ in range(count):
        x, y = small.examples(8)
        losses.append(ask(step, x, y))
        for bright, models in ways.items():
            expected[bright].append([model.step(bright * x, y) for model in models][0])

    def apart(bright):
        pairs = zip(losses, expected[bright], strict=True)
        return sum(far(np.asarray(loss), np.asarray(value)) for loss, value in pairs)

    bright = min(ways, key=apart)
    right, adding = ways[bright]
    with ask.part("losses"):
        for number, (loss, value) in enumerate(zip(losses, expected[bright], strict=True), 1):
            summed = "the loss is the sum over the batch; return the mean"
            with or_known(loss, {summed: value * 8}):
                expect_close(loss, value, f"the loss of step {number}", rtol=1e-3)
    with ask.part("weights"):
        mistakes = {
            "the weights have not changed: did Adam take a step?": flat(small.first),
            "the gradients of all steps add up: call zero_grad() in each step":
                flat(adding.values),
        }  # fmt: skip
        with or_known(weights := small.weights(), mistakes):
            expect_close(weights, flat(right.values), f"after {count} steps, weights", rtol=1e-3)
    with ask.part("training mode"):
        expect(bright == 2, OFF)
        told = looks_like(losses[0], expected[2][0])
        expect(told, "with another loss at the first step, the mode cannot be told")


@project.check(
    "make_step",
    8,
    "three steps of a small model, as NumPy takes them",
    "zero_grad(), the loss, backward(), step(), in this order, with one Adam that you make before.",
)
def _(ask):
    expect_steps(ask, 3, jit=False)


# ---- 5 train -------------------------------------------------------------------------------------

LOG, READ = Expression("[]"), Expression("log", {}, "log")
# and what the weights are by then
AFTER = Expression(
    "lambda number, loss: told.append([number, loss, "
    "{name: value.numpy() for name, value in nn.state.get_state_dict(model).items()}])",
    {},
    "told, model",
)
SMALL = Expression(
    "nn.Sequential(lambda x: (log.append(x.shape[0]), x)[1], "
    "nn.Conv2d(1, 4, 3), nn.BatchNorm(4), Tensor.relu, nn.Flatten(), nn.Linear(144, 10))",
    {},
    "log",
)


def drawn_digits(ask, *counts):
    """Ten fresh patterns of 8 x 8 pixels, and noisy images of them."""
    patterns = ask.rng.normal(size=(10, 8, 8))
    for count in counts:
        labels = ask.rng.integers(0, 10, count).astype(np.int32)
        noise = ask.rng.normal(size=(count, 8, 8))
        yield (patterns[labels] + 0.8 * noise)[:, None].astype(np.float32), labels


def normed(x, state, name, axes=(slice(None), None, None)):
    """What the BatchNorm of that name makes of x, not in training."""
    parts = ("running_mean", "running_var", "weight", "bias")
    mean, variance, scale, shift = (state[f"{name}.{part}"][axes] for part in parts)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def convolved(x, weight):
    """A 3 x 3 convolution without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight)


def trained(ask, model, x, y, epochs, size, rate):
    """What train() returns, where its form is right; and what it told after_epoch, with the weights
    at that time."""
    told = ask.keep(LOG)
    how = epochs, size, rate, ask.integer(0, 99), ask.keep(AFTER, told, model)
    try:
        losses = ask("train", model, x, y, *how)
    except Raised as error:
        raise Wrong(slices(error)) if error.kind == "JitError" else error from None
    expect_kind(losses, list, "the result of train()")
    expect(len(losses) == epochs, f"train() returned {len(losses)} losses for {epochs} epochs")
    for loss in losses:
        expect_kind(loss, float, "a loss that train() returned")
    return losses, ask(READ, told)


def expect_told(losses, told):
    numbers, got = [number for number, *_ in told], [loss for _, loss, _ in told]
    wanted = list(range(1, len(losses) + 1))
    expect_equal(numbers, wanted, "the list of numbers given to after_epoch")
    expect_equal(got, list(losses), "the list of losses given to after_epoch")


def expect_trained(ask, count, epochs, size):
    """A small network of the grader's learns noisy patterns; its weights are right on new ones."""
    log = ask.keep(LOG)
    model = ask.keep(SMALL, log)
    (x, y), (test, truth) = drawn_digits(ask, count, 100)
    before = state_of(ask, model)
    losses, told = trained(ask, model, x, y, epochs, size, 1 / 64)
    with ask.part("losses", "steps"):
        expect_told(losses, told)
        for number, loss, after in told:
            # it falls while the epoch lasts: its mean is between what it was and what it is then
            both = [small_scores(s, x, in_training=True) for s in (before, plain_state(after))]
            most, least = (mean_loss(scores, y) for scores in both)
            of = f"before and after epoch {number}, the weights have losses of"
            fits = 0.8 * least - 0.02 < loss < 1.2 * most + 0.02
            expect(fits, f"{of} {most:.4f} and {least:.4f}, and the loss you gave is {loss:.4f}")
            before = plain_state(after)
    with ask.part("TinyJit", "steps"):
        seen = ask(READ, log)
        expect(bool(seen), "the model was never called")
        often = f"your step ran in Python for {seen.count(size)} batches of {size} images"
        expect(seen.count(size) <= 4, f"{often}; a TinyJit runs it twice, and then replays it")
    with ask.part("accuracy", "steps"):
        right = float((small_scores(state_of(ask, model), test).argmax(1) == truth).mean())
        after = f"after {epochs} epochs, the weights get {right:.0%} of new images right"
        expect(right >= 0.8, f"{after}; it should be 80% or more")


def plain_state(state):
    """The arrays of a state that came as NumPy arrays."""
    return {name: value.values for name, value in state.items()}


def small_scores(state, x, in_training=False):
    """Those of SMALL; in training, by the mean and the variance of these images."""
    x = convolved(x, state["1.weight"]) + state["1.bias"][:, None, None]
    if in_training:
        state = {**state, "2.running_mean": x.mean((0, 2, 3)), "2.running_var": x.var((0, 2, 3))}
    x = np.maximum(normed(x, state, "2"), 0).reshape(len(x), -1)
    return x @ state["5.weight"].T + state["5.bias"]


def expect_every_batch(ask, epochs, size):
    """Where all images are the same, so are all batches, and each step is NumPy's."""
    rate, rest, small = ask.integer(1, 4) / 64, ask.integer(1, size - 1), Small(ask, ACTIVATIONS)
    count = 2 * size + rest
    x, y = (np.repeat(a, count, axis=0) for a in small.examples(1))

    def after(steps):
        """The weights, and each epoch's losses, after so many steps in each epoch."""
        learner = Learner(small, rate)
        losses = [[learner.step(x[:1], y[:1]) for _ in range(steps)] for _ in range(epochs)]
        return flat(learner.values), losses

    losses, told = trained(ask, small.model, x, y, epochs, size, rate)
    weights, (wanted, each), fewer = small.weights(), after(3), [after(n)[0] for n in (2, 1)]
    left = f"{count} images in batches of {size} leave a batch of {rest}"
    mistakes = {
        "the weights have not changed: did the model take any step?": flat(small.first),
        f"{left}, which the model never saw": fewer[0],
        f"the model took one step in each epoch; {left}, so there are 3": fewer[1],
    }
    for part, enough in (("steps", any(looks_like(weights, few) for few in fewer)),
                         ("every batch", False)):  # fmt: skip
        with ask.part(part), or_known(weights, mistakes):
            what = f"after {epochs} epochs of 3 batches, weights"
            enough or expect_close(weights, wanted, what, rtol=1e-3)
    with ask.part("every batch"):
        expect_told(losses, told)
        for number, (loss, of_steps) in enumerate(zip(losses, each, strict=True), 1):
            # the mean of the batches' means, or that of all images
            means = np.mean(of_steps), np.average(of_steps, weights=[size, size, rest])
            of = f"all batches being the same, the loss of epoch {number} is {loss:.4f}"
            fits = min(abs(loss - mean) for mean in means) < 1e-3
            expect(fits, f"{of}, and should be {means[0]:.4f}")


@project.check(
    "train",
    6,
    "a small network learns ten fresh patterns; a smaller one, batch by batch",
    "step = make_step(model, rate) and fast = TinyJit(step), once. Give `fast` all batches of "
    "`size` images, and give `step` a smaller one.",
    trusts="how often the step ran in Python",
)
def _(ask):
    expect_trained(ask, 165, 5, 32)
    expect_every_batch(ask, 2, ask.integer(3, 5))


# ---- 6 scores ------------------------------------------------------------------------------------


# What it sees depends on how many images it is given, one way or the other: counted by adding up
# ones, since a shape can be told.
ROWS = "(x[:, :1] * 0 + 1).sum()"
COUNTED = {f"x * {{}} + {ROWS} / {{}}": lambda x, rows, k: x + rows / k,
           f"x * {{}} * (1 + {ROWS} / {{}})": lambda x, rows, k: x * (1 + rows / k)}  # fmt: skip


def expect_scores(ask, count, size, activations=ACTIVATIONS):
    """Of a drawn model, a function that doesn't show its weights."""
    text, k = str(ask.rng.choice(list(COUNTED))), ask.integer(18, 40)
    small = Small(ask, activations, *[text.format(BRIGHT, k)] * 2)
    model = ask.keep(Expression("lambda x: model(x)", {}, "model"), small.model)
    classes, (x, _) = small.classes, small.examples(count)

    def scores(row, rows, is_bright):
        return small.scores(small.first, row, lambda x: COUNTED[text](x * (1 + is_bright), rows, k))

    got = ask("scores", model, x, size)
    expect_kind(got, np.ndarray, "the result of scores()")
    shape = f"it has shape {got.shape}, and should have {(count, classes)}"
    expect(got.shape[1:] == (classes,), shape)
    seen = [together(row, pixels, scores, count) for row, pixels in zip(got, x, strict=False)]
    with ask.part("values"):
        of = f"for {count} images and size {size}, there are scores of {len(got)} images"
        expect(len(got) == count, of)
        for number, found in enumerate(seen):
            expect(bool(found), f"row {number} is not what the model gives for image {number}")
    with ask.part("batches"):
        expect(all(seen), "with wrong values, the batches cannot be told")
        largest = max(rows for rows, _ in seen)
        expect(largest <= size, f"the model got {largest} images at once, and size is {size}")
    with ask.part("mode"):
        expect(all(seen), "with wrong values, the mode cannot be told")
        on = "training mode is on when the model runs; leave Tensor.train() out"
        expect(not any(training for _, training in seen), on)


def together(row, pixels, scores, most):
    """(with how many images its own was given to the model, whether in training mode), by the
    scores of one image; None where they are of no such call."""
    for training in (False, True):
        for rows in range(1, most + 1):
            if np.allclose(row, scores(pixels, rows, training), atol=1e-4):
                return rows, training
    return None


@project.check(
    "scores",
    4,
    "a small model's, in batches, not in training mode",
    "x[start : start + size] is a batch; Tensor.cat(*parts) puts the parts together.",
)
def _(ask):
    expect_scores(ask, ask.integer(15, 17), ask.integer(6, 7))


# ---- 7 mistakes ----------------------------------------------------------------------------------


def random_scores(ask, count, classes, scale):
    """Scores with one largest in each row, right for some of the labels, and losses that differ."""
    labels = ask.rng.integers(0, classes, count).astype(np.int32)
    while True:
        scores = (ask.rng.normal(size=(count, classes)) * scale).astype(np.float32)
        scores[np.arange(count), labels] += 0.8 * scale
        losses = -log_softmax(scores)[np.arange(count), labels]
        wrong = scores.argmax(1) != labels
        apart = np.diff(np.sort(losses[wrong]))
        if 4 <= wrong.sum() < count and apart.min() > 0.01 * scale:
            return scores, labels, losses, wrong


def expect_mistakes(ask, count, classes, most, scale):
    scores, labels, losses, wrong = random_scores(ask, count, classes, scale)
    most = int(wrong.sum()) + 2 if most is None else most
    found = ask("mistakes", scores, labels, most)
    expect_kind(found, dict, "the result of mistakes()")
    for name in ("accuracy", "confusion", "worst"):
        with ask.part(name):
            expect(name in found, f"there is no {name!r} in the dict")
            JUDGED[name](found[name], scores, labels, losses, wrong, most)


def expect_accuracy(got, scores, labels, losses, wrong, most):
    expect_kind(got, float, "it")
    right = 1 - wrong.mean()
    turned = "this is the fraction that is wrong, not the one that is right"
    with or_known(True, {turned: abs(got - wrong.mean()) < 1e-6}):
        expect(abs(got - right) < 1e-6, f"it is {got:.6g}, and should be {right:.6g}")


def expect_confusion(got, scores, labels, losses, wrong, most):
    wanted = np.zeros((scores.shape[1],) * 2, np.int64)
    np.add.at(wanted, (labels, scores.argmax(1)), 1)
    expect_kind(got, np.ndarray, "it")
    expect_integers(got, "it")
    swapped = "rows and columns are swapped: rows are labels, columns are answers"
    with or_known(got, {swapped: wanted.T}):
        expect_close(got, wanted, "it")


def expect_worst(got, scores, labels, losses, wrong, most):
    order = np.argsort(-np.where(wrong, losses, -np.inf))[: min(most, int(wrong.sum()))].tolist()
    expect_kind(got, list, "it")
    got = list(got)
    with or_known(got, {"the smallest loss comes first, not the largest": order[::-1]}):
        right = [n for n in got if type(n) is int and 0 <= n < len(wrong) and not wrong[n]]
        expect(not right, f"it names image {min(right, default=0)}, which is right")
        for place, (one, other) in enumerate(zip(got, order, strict=False)):
            if one != other and one in order:
                apart = f"{losses[one]:.4g}, and image {other} has {losses[other]:.4g}"
                expect(False, f"image {one} is at place {place}; its loss is {apart}")
        expect_equal(got, order, "it")


JUDGED = {"accuracy": expect_accuracy, "confusion": expect_confusion, "worst": expect_worst}


@project.check(
    "mistakes",
    5,
    "the scores of some fresh images",
    'scores.argmax(1) has the answers; cross_entropy(labels, reduction="none") has a loss for each '
    "image.",
)
def _(ask):
    expect_mistakes(ask, ask.integer(40, 50), ask.integer(4, 6), 3, 1.0)


# ---- 8 reloaded ----------------------------------------------------------------------------------

NORMED = Expression(
    "nn.Sequential(nn.Linear(features, 6), nn.BatchNorm(6), nn.Linear(6, 3))", {}, "features"
)
BYTES = Expression("Tensor(list(open(path, 'rb').read()), dtype=dtypes.uint8)", {}, "path")


def filled(ask, model):
    """Writes fresh values into all floats that a model keeps, and returns them. They are positive,
    since some are variances."""
    state = {n: v for n, v in state_of(ask, model).items() if v.dtype == np.float32}
    values = {name: ask.floats(*value.shape, low=0.25) for name, value in state.items()}
    ask(WRITE, model, list(values), list(values.values()))
    return values


def normed_scores(x, values):
    x = normed(x @ values["0.weight"].T + values["0.bias"], values, "1", axes=())
    return x @ values["2.weight"].T + values["2.bias"]


def expect_state(got, values, whose):
    """The values that the grader wrote into the old model."""
    for name, value in values.items():
        expect(name in got, f"{whose} has no {name}")
        expect(np.array_equal(got[name], value), f"{name} is different in {whose}")


def expect_reloaded(ask, path):
    features = ask.integer(4, 7)
    model, fresh = ask.keep(NORMED, features), ask.keep(NORMED, features)
    values = filled(ask, model)
    x = ask.floats(5, features)
    new = ask.keep("reloaded", model, fresh, path)
    with ask.part("the same scores", "the file"):
        is_old = ask(Expression("new is model", {}, "new, model"), new, model)
        expect(not is_old, "it returned the old model; return the one that you read the file into")
        expect_state(state_of(ask, new), values, "the new model")
        expect_close(ask(new, x), normed_scores(x, values), "the new model's scores", rtol=1e-3)
    with ask.part("a model of its own", "the file"):
        is_same = looks_like(ask(new, x), normed_scores(x, values))
        expect(is_same, "its scores are not those of the old model")
        filled(ask, model)
        shared = "when the old model changes, the new one changes too: they share memory"
        expect(looks_like(ask(new, x), normed_scores(x, values)), shared)
    with ask.part("the file"):
        expect_state(held(ask, path), values, "the file")


def held(ask, path):
    """What a safetensors file of the submission holds, read here."""
    try:
        content = ask(BYTES, path)
    except Raised:
        raise Wrong(f"there is no file {path}") from None
    expect_kind(content, np.ndarray, "its content")
    try:
        found = safe_load(Tensor(content))
    except FileError:
        raise Wrong("it is not a safetensors file, or not a whole one") from None
    return {name: tensor.numpy() for name, tensor in found.items()}


@project.check(
    "reloaded",
    3,
    "a model with a BatchNorm",
    "safe_save(get_state_dict(model), path), then load_state_dict(fresh, safe_load(path)).",
)
def _(ask):
    expect_reloaded(ask, f"weights{ask.integer(10, 99)}.safetensors")


# ---- 9 slowest_kernels ---------------------------------------------------------------------------


estimates = answer(measured.estimates)
SECONDS = "the seconds"


def expect_slowest(ask, texts, most):
    size = 8 * ask.integer(3, 6)
    arrays = {name: ask.floats(size, size) for name in "abc"}
    # a TinyJit that has captured them: no graph is built any more, so only running shows kernels;
    # it runs once in the first call and more often in others, so what it captured tells no totals
    often = ask.integer(2, 4)
    work = f"lambda: [{', '.join(f'({text}).realize()' for text in texts)}]"
    run = ask.keep(
        Expression(
            "(lambda jit, turns: (jit(), jit(), lambda: "
            f"[jit() for _ in range(next(turns, {often}))])[-1])(TinyJit({work}), iter([1]))",
            arrays,
        )
    )
    totals = Counter()
    for text in texts:
        for source, moved, operations in estimates(Expression(text, arrays)):
            totals[source, "bytes"] += often * moved
            totals[source, "operations"] += often * operations
    sources = {source for source, _ in totals}
    wanted = Counter((totals[s, "bytes"], totals[s, "operations"]) for s in sources)
    ratio = sorted({operations / moved for moved, operations in wanted})
    # so that one kernel's limit is memory, and that of others arithmetic, also where a kernel has
    # fewer operations than bytes: it depends on the machine
    balance = (ratio[0] * ratio[1]) ** 0.5
    machine = [balance * 1e9, 1e9]
    rows = ask("slowest_kernels", run, most, machine)
    expect_kind(rows, list, "the result of slowest_kernels()")
    for row in rows:
        expect_kind(row, dict, "a row")
    kernels = sum(wanted.values())
    asked = f"of {kernels} different kernels, the slowest {most} were asked for"
    expect(len(rows) == min(most, kernels), f"{asked}, and there are {len(rows)} rows")
    with ask.part("seconds", "bytes and operations"):
        seconds = [row.get("seconds") for row in rows]
        for each in seconds:
            expect_kind(each, float, "'seconds'")
            expect(each > 0, f"'seconds' is {each}")
        ordered = seconds == sorted(seconds, reverse=True)
        expect(ordered, "the rows are not in order: the slowest comes first")
    told = [(row.get("name"), (row.get("bytes"), row.get("operations"))) for row in rows]
    told = [(f"{name} has {n[0]} bytes and {n[1]} operations", n) for name, n in told]
    more = {(m * (often + 1) / often, n * (often + 1) / often): (m, n) for m, n in wanted}
    more = {both: one for both, one in more.items() if both not in wanted}
    with ask.part("bytes and operations"):
        left = Counter(wanted)
        for numbers, found in told:
            found = more.get(found, found)
            expect(left[found] > 0, f"{numbers}; no kernel has those, all its runs together")
            left[found] -= 1
    with ask.part("one call", "bytes and operations"):
        for numbers, found in told:
            expect(found not in more, f"{numbers}, too many: was the first call watched?")
    with ask.part("limit", "bytes and operations"):
        for row in rows:
            slow = "memory" if row["operations"] < balance * row["bytes"] else "arithmetic"
            on = f"({machine[0]:.3g}, {machine[1]:.3g})"
            name = f"for {row['operations']} operations and {row['bytes']} bytes"
            expect_equal(row.get("limit"), slow, f"{name} on the machine {on}, 'limit'")


@project.check(
    "slowest_kernels",
    4,
    "a product of matrices, a sum and an addition",
    "class Watcher(Observer), with a method ran(self, work) that writes into a dict by name.",
    trusts=SECONDS,
)
def _(ask):
    expect_slowest(ask, ["a @ b", "(a + b).sum()", "b * c + a"], 3)


# ---- 10 compare ----------------------------------------------------------------------------------

RUNS = "the seconds, and how often the work ran in Python"
MAKE = Expression("lambda: lambda: (log.append(settings.BEAM), (a + 1).realize())[1]", {}, "log, a")


def expect_compared(ask, repeats):
    log = ask.keep(LOG)
    make = ask.keep(MAKE, log, ask.floats(ask.integer(3, 8)))
    found = ask("compare", make, repeats)
    expect_kind(found, dict, "the result of compare()")
    seen = ask(READ, log)
    usual, beam = seen.count(0), seen.count(2)
    with ask.part("seconds", "plain and jit", "beam"):
        for name in ("plain", "jit", "beam", "search"):
            expect(name in found, f"there is no {name!r} in the dict")
            expect_kind(found[name], float, repr(name))
            expect(found[name] > 0, f"{name!r} is {found[name]}")
        expect(
            len(set(found.values())) == len(found),
            "two of the times are the same to the last digit; did you measure them?",
        )
    with ask.part("plain and jit"):
        often = f"for {repeats} repeats, the work ran in Python {usual} times without BEAM"
        expect(usual > repeats, f"{often}: too few to measure the plain way, and to warm up")
        expect(usual < 2 * repeats, f"{often}: is the second way in a TinyJit?")
    with ask.part("beam"):
        expect(beam > 0, "BEAM was never 2 when the work ran: put the calls in the Context, too")
        often = f"with BEAM=2, the work ran in Python {beam} times"
        expect(beam < repeats, f"{often}: put it in a TinyJit, too")


@project.check(
    "compare",
    3,
    "one small kernel",
    "TinyJit(make()) is the second way; the third is the same in `with Context(BEAM=2, CACHE=0):`.",
    trusts=RUNS,
)
def _(ask):
    expect_compared(ask, 12)


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------


@project.check(
    "normalise",
    4,
    "images to test with, shifted and scaled as the others",
    "The mean and the standard deviation are those of `training`, one number each.",
)
def _(ask):
    shape = 4, ask.integer(5, 7)
    expect_normal(
        ask, pixels(ask, ask.integer(5, 9), *shape), pixels(ask, ask.integer(10, 15), *shape)
    )


@project.check("batches", 5, "other sizes", "The last batch has what is left, if anything is.")
def _(ask):
    size = ask.integer(5, 8)
    expect_batches(ask, 3 * size, size)
    expect_batches(ask, size + 9, size + 12)


def pooled(x):
    """The maximum of each 2 x 2 square."""
    n, channels, height, width = x.shape
    cut = x[:, :, : height // 2 * 2, : width // 2 * 2]
    return cut.reshape(n, channels, height // 2, 2, width // 2, 2).max((3, 5))


def numpy_scores(x, state, weights, relu_first=False):
    """The scores of a Network with these values, not in training."""

    def value(name, part):
        return state.get(f"{name.rpartition('.')[0]}.{part}")

    for convolution, norm in zip(weights.convolutions, weights.norms, strict=True):
        x = convolved(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), state[convolution])
        if (bias := value(convolution, "bias")) is not None:
            x = x + bias[:, None, None]
        x = np.maximum(x, 0) if relu_first else x
        x = normed(x, state, norm.rpartition(".")[0])
        x = pooled(x if relu_first else np.maximum(x, 0))
    (last,) = weights.linear
    return x.reshape(len(x), -1) @ state[last].T + (0 if (b := value(last, "bias")) is None else b)


@project.check(
    "Network",
    8,
    "its scores for fresh weights, as NumPy computes them",
    "A block is convolution, norm, relu and maximum, in this order. After the blocks, flatten(1).",
)
def _(ask):
    for size, channels in ((8, (2, 3)), (ask.integer(9, 11), (3, 4))):
        classes = ask.integer(3, 6)
        model = ask.keep("Network", size, channels, classes)
        x = ask.floats(2, 1, size, size)
        ask(model, x)
        weights = Weights(state_of(ask, model), size, channels, classes)
        values = state_of(ask, model)
        for name, value in values.items():
            if value.dtype == np.float32:
                is_variance = name.endswith("running_var")
                values[name] = ask.floats(*value.shape, low=0.5 if is_variance else -1.0)
        ask(WRITE, model, list(values), list(values.values()))
        got = ask(model, x)
        named = f"with fresh weights, the scores of Network({size}, {channels}, {classes})"
        slip = "relu comes before the norm; in each block it is the other way round"
        with or_known(got, {slip: numpy_scores(x, values, weights, relu_first=True)}):
            expect_close(got, numpy_scores(x, values, weights), named, rtol=1e-3)


OTHERS = {"(t * {}).sin()": np.sin, "(t * {}).sigmoid()": lambda t: 1 / (1 + np.exp(-t)),
          "(t * {}).softplus()": lambda t: np.logaddexp(t, 0)}  # fmt: skip


@project.check(
    "make_step",
    8,
    "six steps in a TinyJit, as NumPy takes them",
    "Make the Adam outside of step(), once; return loss.realize(), a Tensor.",
)
def _(ask):
    expect_steps(ask, 6, jit=True, activations=OTHERS)


def expect_exact(ask, epochs):
    """Where one batch holds everything, its order does not matter: each loss is NumPy's, and the
    weights are after each epoch."""
    rate, small = 1 / 32, Small(ask, OTHERS)
    x, y = small.examples(12)
    right = Learner(small, rate)
    losses, told = trained(ask, small.model, x, y, epochs, 12, rate)
    expect_told(losses, told)
    for number, (loss, (_, _, after)) in enumerate(zip(losses, told, strict=True), 1):
        wanted = right.step(x, y)
        of = f"with all images in one batch, the loss of epoch {number} is {loss:.4f}"
        expect(abs(loss - wanted) < 1e-3, f"{of}, and should be {wanted:.4f}")
        weights = flat(plain_state(after).values())
        expect_close(weights, flat(right.values), f"after epoch {number}, weights", rtol=1e-3)


def orders(ask, epochs, count):
    """Which image was left for the last batch of each epoch, by the losses: one list for each way
    to explain them. Each epoch is a batch of all images but one, and a batch of that one."""
    rate, small = 1 / 8, Small(ask, OTHERS)
    x, y = small.examples(count)
    found = [([], Learner(small, rate))]
    losses, _ = trained(ask, small.model, x, y, epochs, count - 1, rate)
    for loss in losses:
        further = []
        for chosen, before in found:
            for left in range(count):
                after = deepcopy(before)
                most, one = np.arange(count) != left, np.arange(count) == left
                both = after.step(x[most], y[most]), after.step(x[one], y[one])
                means = np.mean(both), (both[0] * (count - 1) + both[1]) / count
                if min(abs(loss - mean) for mean in means) < 1e-4:
                    further.append(([*chosen, left], after))
        found = further
    weights = small.weights()  # further from NumPy's than after one step
    found = [each for each in found if np.allclose(weights, flat(each[1].values), atol=0.01)]
    expect(bool(found), "the losses are not those of two batches in each epoch, in any order")
    return [chosen for chosen, _ in found]


def expect_orders(ask):
    same = "the last batch of every epoch has the same images: give each epoch a seed of its own"
    for _ in range(2):  # by chance they are the same once in 343 times
        # any, since once in 300 times other images explain the losses as well
        if not any(len(set(chosen)) == 1 for chosen in orders(ask, 4, 7)):
            return
    raise Wrong(same)


@project.check(
    "train",
    6,
    "each loss, one batch being all; an order for each epoch",
    "The seed of an epoch can be anything that follows from `seed` and the epoch's number.",
)
def _(ask):
    with ask.part("each loss"):
        expect_exact(ask, 4)
    with ask.part("a different order in each epoch"):
        expect_orders(ask)


@project.check("scores", 4, "other sizes", "The last batch may be smaller, and the first one too.")
def _(ask):
    expect_scores(ask, ask.integer(5, 8), 9, OTHERS)
    size = ask.integer(3, 4)
    expect_scores(ask, 3 * size, size, OTHERS)


@project.check(
    "mistakes",
    5,
    "scores of a thousand, and fewer mistakes than asked for",
    "log_softmax and cross_entropy subtract the largest score first; softmax().log() overflows.",
)
def _(ask):
    expect_mistakes(ask, ask.integer(30, 40), ask.integer(3, 5), None, 500.0)


@project.check(
    "reloaded", 3, "a file in its own folder", "`path` may be in any folder that is there."
)
def _(ask):
    expect_reloaded(ask, f"./model{ask.integer(10, 99)}.safetensors")


@project.check(
    "slowest_kernels",
    4,
    "kernels that run several times, and fewer than there are",
    "Kernels with the same name are one row; cut the list after sorting it.",
    trusts=SECONDS,
)
def _(ask):
    expect_slowest(ask, ["a + b", "b + c", "a + c", "a @ b"], 5)
    expect_slowest(ask, ["a @ b", "(a * b).sum(1)", "a - c"], 2)


@project.check(
    "compare",
    3,
    "more repeats",
    "`repeats` is how many calls each time is a mean of.",
    trusts=RUNS,
)
def _(ask):
    expect_compared(ask, ask.integer(20, 30))


### END HIDDEN
