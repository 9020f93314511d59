"""Project 4: Handwritten digits. Build a network, train it, see what it gets wrong, and time it.

You will write nine functions and a class. Each one says what it is given and what it should return;
replace the `...` with your code. Nothing else needs to change, and you may add functions of your
own.

    python projects/04_mnist.py                       8 x 8 digits: a report in a minute or two
    python projects/04_mnist.py mnist                 28 x 28 digits, downloaded once (12 MB)
    python projects/04_mnist.py FOLDER                28 x 28 digits, from MNIST files of yours
    python -m classroom grade projects/04_mnist.py    100 points, and a hint for each miss

Start with the 8 x 8 digits; they come with scikit-learn. A task you have not written yet is simply
called open. When everything works, run it on MNIST, which takes a few minutes: after five epochs,
your network gets more than 98% of the test images right. The plots and the trained network are
saved beside this file, in 04_mnist_results/.

You need parts 1 to 6 of the course, and about four hours. A Tensor is a tinyframe Tensor, not a
NumPy array, but you may use NumPy on the way. Wherever a list is asked for, a tuple is fine too.
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from tinyframe import Context, Tensor, TinyJit, nn
from tinyframe.nn.idx import read_idx
from tinyframe.nn.optim import Adam
from tinyframe.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save
from tinyframe.observe import Observer, observing
from tinyframe.viz.roof import measured_roof

# ---- data ----------------------------------------------------------------------------------------


def normalise(images, training):
    """Task 1 (8 points). Images as a network likes them: floats around 0.

    images, training: Tensors of whole numbers (uint8), of shape (count, height, width). Return
    `images` as floats of shape (count, 1, height, width): subtract the mean of all pixels of
    `training`, then divide by their standard deviation.

    If the mean is 6 and the standard deviation 4, pixels 0, 4 and 8 become -1.5, -0.5 and 0.5.
    Test images are shifted and scaled by the same two numbers as the training images. Otherwise the
    same grey would mean one thing in training and something else in the test.
    """
    ### BEGIN SOLUTION
    pixels = training.float()
    return ((images.float() - pixels.mean()) / pixels.std()).unsqueeze(1)
    ### END SOLUTION


def batches(x, y, size, seed):
    """Task 2 (10 points). The images x and their labels y in batches: a list of pairs of Tensors.

    x: a Tensor (images, ...). y: their labels, a Tensor (images,). Shuffle them: each image goes
    into exactly one batch, together with its label. The same seed always gives the same order, and
    different seeds give different orders. Each batch has `size` images, and the last one has
    whatever is left: with 10 images and size 4, the batches have 4, 4 and 2. Keep the dtypes.

    A TinyJit is going to get these one after the other, so each one has memory of its own. A slice
    hasn't: it looks into the memory of all images. If you cut slices, `.contiguous().realize()`
    makes a copy of each.
    """
    ### BEGIN SOLUTION
    order = np.random.default_rng(seed).permutation(len(y))
    images, labels = x.numpy(), y.numpy()
    chosen = [order[start : start + size] for start in range(0, len(order), size)]
    return [(Tensor(images[rows]).realize(), Tensor(labels[rows]).realize()) for rows in chosen]
    ### END SOLUTION


# ---- the network and its training ----------------------------------------------------------------


class Network:
    """Task 3 (16 points). A convolutional network.

    Network(size, channels, classes) takes images of size x size pixels. It has one block for each
    number in `channels`, and each block has, in this order,

        nn.Conv2d       3 x 3 with padding 1; the number is how many channels it makes
        nn.BatchNorm    of those channels
        relu
        max_pool2d      the largest of each 2 x 2 square, which halves the size (7 becomes 3)

    After the blocks, one nn.Linear turns all that is left of an image into `classes` scores. There
    is no softmax. Keep the layers in attributes, or in a list that is one, so that
    get_parameters(model) finds them.

    model(x) takes x of shape (images, 1, size, size) and returns the scores, (images, classes).
    Network(8, (4, 6), 10) has two blocks, and then a Linear with 6 * 2 * 2 inputs.
    """

    def __init__(self, size, channels, classes):
        ### BEGIN SOLUTION
        self.blocks = []
        before = 1
        for count in channels:
            block = nn.Conv2d(before, count, 3, padding=1), nn.BatchNorm(count)
            self.blocks.append(block)
            before, size = count, size // 2
        self.last = nn.Linear(before * size * size, classes)
        ### END SOLUTION

    def __call__(self, x):
        ### BEGIN SOLUTION
        for convolution, norm in self.blocks:
            x = norm(convolution(x)).relu().max_pool2d()
        return self.last(x.flatten(1))
        ### END SOLUTION


def make_step(model, rate):
    """Task 4 (16 points). A function step(x, y) that lets the model learn from one batch.

    First make one Adam for the model, with learning rate `rate`. Each call of step(x, y) computes
    the model's scores for the images x, and their mean cross-entropy with the labels y, all in
    training mode (`with Tensor.train():`). Then Adam takes one step. Return the loss, a realized
    Tensor of shape (). With scores of 0 for each of ten classes, it is log(10), about 2.303.

    TinyJit(step) has to work too, so leave out .item() and printing.
    """
    ### BEGIN SOLUTION
    optimizer = Adam(get_parameters(model), lr=rate)

    def step(x, y):
        with Tensor.train():
            optimizer.zero_grad()
            loss = model(x).cross_entropy(y)
            loss.backward()
            optimizer.step()
            return loss.realize()

    return step
    ### END SOLUTION


def train(model, x, y, epochs, size, rate, seed, after_epoch):
    """Task 5 (12 points). Trains the model; returns a list of the mean loss of each epoch, floats.

    In each epoch, take one step for each batch of your batches(x, y, size, ...). Every epoch has a
    different order, which follows from `seed`. Make one step with make_step, and put it in a
    TinyJit. A TinyJit takes one shape only, so if the last batch is smaller, give it to the step
    itself: both change the same model, with the same Adam.

    After each epoch, call after_epoch(number, loss) with its number, counted from 1, and its mean
    loss, a float. For two epochs, that is after_epoch(1, 0.7) and then after_epoch(2, 0.4), and the
    list is [0.7, 0.4]. (Is that the mean over all batches, or over all images? If the last batch is
    smaller, they differ a little. Either will do.)
    """
    ### BEGIN SOLUTION
    step = make_step(model, rate)
    fast = TinyJit(step)
    found = []
    for epoch in range(epochs):
        losses = [
            (fast if len(labels) == size else step)(images, labels).item()
            for images, labels in batches(x, y, size, (seed, epoch))
        ]
        found.append(sum(losses) / len(losses))
        after_epoch(epoch + 1, found[-1])
    return found
    ### END SOLUTION


# ---- what it has learned -------------------------------------------------------------------------


def scores(model, x, size):
    """Task 6 (8 points). The model's scores for all images x, in order: a Tensor (images, classes).

    Give the model at most `size` images at a time, since each image takes memory in every layer:
    10 images with size 4 are three calls, of 4, 4 and 2. Leave training mode off. In training mode,
    the scores of an image depend on the other images in its batch, and BatchNorm would learn its
    statistics from the test.
    """
    ### BEGIN SOLUTION
    parts = [model(x[start : start + size]).realize() for start in range(0, len(x), size)]
    return Tensor.cat(*parts)
    ### END SOLUTION


def mistakes(scores, labels, count):
    """Task 7 (10 points). What is wrong, and what is most wrong. A dict:

    "accuracy"    the fraction of images that are right, a float: their largest score is that of
                  their label
    "confusion"   a Tensor of integers, (classes, classes): in row r and column c, how many images
                  with label r were taken for c
    "worst"       a list of integers, the positions of the `count` wrong images with the largest
                  loss, largest first; if fewer are wrong, all of those

    scores: a Tensor (images, classes). labels: a Tensor of integers, (images,). The loss of one
    image is its cross-entropy, -log(softmax(scores)[label]). Get it right for scores of 1000 too,
    where softmax rounds to 0. For scores [[2.0, 1.0], [5.0, 1.0]] and labels [0, 1], the accuracy
    is 0.5, the confusion [[1, 0], [1, 0]], and the worst is [1].
    """
    ### BEGIN SOLUTION
    losses = scores.cross_entropy(labels, reduction="none").numpy()
    values, truth = scores.numpy(), labels.numpy()
    answers = values.argmax(1)
    confusion = np.zeros((values.shape[1], values.shape[1]), np.int32)
    np.add.at(confusion, (truth, answers), 1)
    (wrong,) = np.nonzero(answers != truth)
    worst = wrong[np.argsort(-losses[wrong])][:count]
    return {
        "accuracy": float((answers == truth).mean()),
        "confusion": Tensor(confusion),
        "worst": worst.tolist(),
    }
    ### END SOLUTION


def reloaded(model, fresh, path):
    """Task 8 (6 points). Saves a model, and reads it into a new one; returns the new one.

    path: the safetensors file to write. fresh: a model of the same kind that was just made.
    Everything that the model's scores depend on goes into the file, the running statistics of its
    BatchNorms too. reloaded(model, fresh, "model.safetensors") is `fresh`, and gives exactly the
    scores that `model` gives.
    """
    ### BEGIN SOLUTION
    safe_save(get_state_dict(model), path)
    load_state_dict(fresh, safe_load(path))
    return fresh
    ### END SOLUTION


# ---- where the time goes -------------------------------------------------------------------------


def slowest_kernels(run, count, machine):
    """Task 9 (8 points). The `count` kernels that took the most time in run(), slowest first.

    run: a function without arguments. Call it once so that everything is compiled, and then again
    `with observing(watcher):`. The watcher is an object of a class of yours, derived from Observer.
    Its method ran(self, work) is called after each kernel, and there you find

        work.spec.name            the kernel's name
        work.seconds              how long this run of it took
        work.spec.mem_estimate    bytes that it reads and writes
        work.spec.ops_estimate    operations that it computes

    (For a copy, which is not a kernel, work.spec is None.) If a kernel with the same name runs
    several times, add up its runs. machine: a pair, how many operations the machine computes in a
    second at most, and how many bytes it moves. Return a list of dicts, one for each kernel:

    "name", "seconds", "bytes", "operations"
    "limit"    "memory" if, for this machine, moving the bytes takes longer than computing the
               operations, else "arithmetic"

    With the machine (1e9, 1e9), 100 bytes and 300 operations are limited by "arithmetic".
    """
    ### BEGIN SOLUTION
    rows = {}

    class Watcher(Observer):
        def ran(self, work):
            if work.spec is None:
                return
            empty = {"name": work.spec.name, "seconds": 0.0, "bytes": 0, "operations": 0}
            row = rows.setdefault(work.spec.name, empty)
            row["seconds"] += work.seconds
            row["bytes"] += work.spec.mem_estimate
            row["operations"] += work.spec.ops_estimate

    run()
    with observing(Watcher()):
        run()
    for row in rows.values():
        computing, moving = row["operations"] / machine[0], row["bytes"] / machine[1]
        row["limit"] = "memory" if moving > computing else "arithmetic"
    return sorted(rows.values(), key=lambda row: -row["seconds"])[:count]
    ### END SOLUTION


def compare(make, repeats):
    """Task 10 (6 points). The same work plain, with TinyJit, and with TinyJit and BEAM=2.

    make: a function that returns the work, which is a function without arguments. Each way, call
    the work a few times first: once is enough for the plain one, and a TinyJit needs two calls, the
    second of which it captures. Then measure `repeats` calls. Return a dict of seconds, floats:

    "plain", "jit", "beam"    what one call takes, on average
    "search"                  what the first calls took with BEAM=2: the search for better loops

    What a search finds is kept on disk, so the next search for the same kernel takes no time. With
    Context(BEAM=2, CACHE=0) it starts over, and you can measure it. For example, compare(make, 10)
    may be {"plain": 0.004, "jit": 0.0003, "beam": 0.0002, "search": 6.5}.
    """
    ### BEGIN SOLUTION

    def timed(work, calls):
        start = perf_counter()
        for _ in range(calls):
            work()
        begin = perf_counter()
        for _ in range(repeats):
            work()
        return begin - start, (perf_counter() - begin) / repeats

    _, plain = timed(make(), 1)
    _, jit = timed(TinyJit(make()), 2)
    with Context(BEAM=2, CACHE=0):
        search, beam = timed(TinyJit(make()), 2)
    return {"plain": plain, "jit": jit, "beam": beam, "search": search}
    ### END SOLUTION


# ---- run everything ------------------------------------------------------------------------------

RESULTS = Path(__file__).resolve().with_name(f"{Path(__file__).stem}_results")
SHADES = " .:-=+*#%@"

# For images of this size: channels of the network, epochs, size of a batch, learning rate.
PLANS = {8: ((16, 32), 10, 32, 3e-3), 28: ((16, 32), 5, 64, 1e-3)}


def load(where):
    """Images and labels to learn from, and to test with; images are (count, height, width)."""
    if where == "mnist":
        try:
            return [part.squeeze(1) if part.ndim == 4 else part for part in nn.datasets.mnist()]
        except nn.datasets.DatasetError as error:
            print(f"{error}\n\nSo here is the report on the 8 x 8 digits.\n")
            where = "digits"
    if where == "digits":
        return [part.squeeze(1) if part.ndim == 4 else part for part in nn.datasets.digits()]
    return load_folder(Path(where))


def load_folder(folder):
    def read(name):
        found = [folder / f"{name}-ubyte{end}" for end in (".gz", "")]
        return next((read_idx(path) for path in found if path.is_file()), None)

    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    images, labels, test_images, test_labels = map(read, names)
    if test_images is None or test_labels is None:
        raise SystemExit(f"{folder} needs t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz")
    if images is None or labels is None:
        print("This folder has only MNIST's test images: four fifths of them are for training.\n")
        cut = len(test_images) * 4 // 5
        images, test_images = test_images[:cut], test_images[cut:]
        labels, test_labels = test_labels[:cut], test_labels[cut:]
    return [Tensor(part) for part in (images, labels, test_images, test_labels)]


class Open(Exception):
    """A task without an answer."""


def written(answer):
    """The answer of a task; Open where there is none."""
    if answer is None or answer is ...:
        raise Open
    return answer


class Report:
    """Runs the tasks in order. A method for each of them calls your function, keeps what later ones
    need, and returns the text to print."""

    def __init__(self, where):
        self.images, labels, self.test_images, test_labels = load(where)
        self.labels, self.test_labels = (
            part.cast("int32").realize() for part in (labels, test_labels)
        )
        self.pixels = self.images.shape[1]
        self.channels, self.epochs, self.size, self.rate = PLANS.get(self.pixels, PLANS[28])
        self.x = self.test_x = self.pairs = self.model = self.scores = None
        self.machine = measured_roof()

    def run(self):
        tasks = [self.normalise, self.batches, self.network, self.step, self.train, self.score,
                 self.mistakes, self.reload, self.profile, self.compare]  # fmt: skip
        is_open = []
        for number, task in enumerate(tasks, 1):
            print(f"\n{number:2}. {task.__doc__}")
            try:
                text = task()
            except Open:
                text = "open"
                is_open.append(number)
            except Exception as error:
                if not is_open:  # then it is a mistake, and its traceback tells where
                    raise
                text = f"waits for task {is_open[0]} ({type(error).__name__}: {error})"
            print("\n".join(f"    {line}".rstrip() for line in text.splitlines()))

    def new_network(self):
        return Network(self.pixels, self.channels, 10)

    def normalise(self):
        """normalise: images around 0"""
        self.x = written(normalise(self.images, self.images)).realize()
        self.test_x = written(normalise(self.test_images, self.images)).realize()
        return (
            f"shape {self.x.shape}, mean {self.x.mean().item():.2f}, "
            f"standard deviation {self.x.std().item():.2f}"
        )

    def batches(self):
        """batches"""
        images = self.images if self.x is None else self.x
        self.pairs = written(batches(images, self.labels, self.size, 0))
        return f"{len(self.pairs)} batches; the last has {len(self.pairs[-1][1])} images"

    def network(self):
        """Network: what it keeps"""
        model = self.new_network()
        written(model(Tensor.zeros(1, 1, self.pixels, self.pixels)))
        self.model = model
        state = get_state_dict(model).items()
        return "\n".join(f"{name:34}{tensor.shape}" for name, tensor in state)

    def step(self):
        """make_step: five steps with the same batch"""
        step = written(make_step(self.new_network(), self.rate))
        losses = [step(*self.pairs[0]).item() for _ in range(5)]
        return "loss  " + "  ".join(f"{loss:.3f}" for loss in losses)

    def train(self):
        """train"""
        self.begin = perf_counter()
        how = self.epochs, self.size, self.rate, 0, self.after_epoch
        return plot_losses(written(train(self.model, self.x, self.labels, *how)))

    def after_epoch(self, number, loss):
        seconds, right = perf_counter() - self.begin, ""
        if (found := scores(self.model, self.test_x, 500)) is not None:
            part = (found.argmax(1) == self.test_labels).mean().item()
            right = f"   {part:6.2%} of the test images right"
        print(f"    epoch {number:2}   loss {loss:.4f}{right}   {seconds:4.0f} s", flush=True)

    def score(self):
        """scores of the test images"""
        self.scores = written(scores(self.model, self.test_x, 500))
        return f"shape {self.scores.shape}"

    def mistakes(self):
        """mistakes"""
        found = written(mistakes(self.scores, self.test_labels, 12))
        raw, truth = self.test_images.numpy(), self.test_labels.tolist()
        answers, worst = self.scores.argmax(1).tolist(), found["worst"]
        lines = [f"{found['accuracy']:.2%} right", "", *confusion_table(found["confusion"]), ""]
        if self.pixels == 8:  # larger ones are in the plot only
            captions = [f"{truth[p]}, taken for {answers[p]}" for p in worst[:3]]
            lines += ["   ".join(f"{caption:16}" for caption in captions)]
            lines += side_by_side([picture(raw[p]) for p in worst[:3]])
        return "\n".join([*lines, plot_mistakes(raw, truth, answers, worst)])

    def reload(self):
        """reloaded: saved, and read back"""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / "model.safetensors"
        new = written(reloaded(self.model, self.new_network(), path))
        again = scores(new, self.test_x, 500)
        before, after = (
            (found.argmax(1) == self.test_labels).mean().item() for found in (self.scores, again)
        )
        apart = (again - self.scores).abs().max().item()
        return (
            f"{before:.2%} right before, {after:.2%} after; scores differ by {apart:g} at most\n"
            f"saved: {path.parent.name}/{path.name}"
        )

    def profile(self):
        """slowest_kernels of a training step"""
        step = make_step(self.new_network(), self.rate)
        rows = written(slowest_kernels(lambda: step(*self.pairs[0]), 3, self.machine))
        return "\n".join(kernel_lines(rows, self.machine))

    def compare(self):
        """compare: the scores of one batch, three ways (the search takes a minute or more)"""
        found = written(compare(lambda: lambda: self.model(self.pairs[0][0]).realize(), 100))
        names = {"plain": "plain", "jit": "TinyJit", "beam": "TinyJit, BEAM=2"}
        lines = []
        for way, name in names.items():
            gain = found["plain"] / found[way]
            lines.append(f"{name:18}{found[way] * 1e3:9.3f} ms   {gain:6.1f} times as fast")
        return "\n".join([*lines, f"The search took {found['search']:.1f} s."])


# ---- tables, and pictures of digits --------------------------------------------------------------


def picture(image):
    """The lines of a small image as text, two characters to a pixel."""
    steps = np.clip(image / max(image.max(), 1) * len(SHADES), 0, len(SHADES) - 1).astype(int)
    return ["".join(SHADES[step] * 2 for step in row) for row in steps]


def side_by_side(pictures):
    return ["   ".join(row) for row in zip(*pictures, strict=True)]


def confusion_table(confusion):
    """Rows are labels, columns are answers."""
    counts = confusion.numpy()
    width = max(len(str(counts.max())), 2) + 1
    yield "label" + "".join(f"{digit:{width}}" for digit in range(len(counts))) + "   taken for"
    for digit, row in enumerate(counts):
        yield f"{digit:5}" + "".join(f"{count or '.':>{width}}" for count in row)


def kernel_lines(rows, machine):
    yield f"{'kernel':26}{'ms':>8}{'at best':>9}{'MB':>8}{'Mop':>8}   limit"
    for row in rows:
        best = max(row["operations"] / machine[0], row["bytes"] / machine[1])
        yield (
            f"{row['name'][:25]:26}{row['seconds'] * 1e3:8.3f}{best * 1e3:9.3f}"
            f"{row['bytes'] / 1e6:8.2f}{row['operations'] / 1e6:8.2f}   {row['limit']}"
        )
    yield f"at best: if this machine did nothing but compute at {machine[0] / 1e9:.0f} GFLOP/s,"
    yield f"or nothing but move bytes at {machine[1] / 1e9:.0f} GB/s, whichever takes longer"


def plot_losses(losses):
    from matplotlib.figure import Figure

    epochs = range(1, len(losses) + 1)
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(epochs, losses, marker="o")
    axes.set(xlabel="epoch", ylabel="mean loss", yscale="log", xticks=epochs)
    axes.grid(alpha=0.3, which="both")
    for numbers in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        numbers("{x:g}")
    return saved(figure, "loss.png")


def plot_mistakes(images, labels, answers, places):
    """The images at these places, each with its label and what it was taken for."""
    from matplotlib.figure import Figure

    columns = 6
    rows = max(-(-len(places) // columns), 1)
    figure = Figure(figsize=(1.4 * columns, 1.7 * rows), layout="constrained")
    for number, place in enumerate(places, 1):
        axes = figure.add_subplot(rows, columns, number)
        axes.imshow(images[place], cmap="gray_r")
        axes.set_title(f"{labels[place]}, taken for {answers[place]}", fontsize=8)
        axes.axis("off")
    return saved(figure, "mistakes.png")


def saved(figure, name):
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / name, dpi=150)
    return f"saved: {RESULTS.name}/{name}"


def main(where="digits"):
    Tensor.manual_seed(0)
    report = Report(where)
    size = report.pixels
    print(f"Handwritten digits, {size} x {size}: {len(report.images):,} to learn from, "
          f"{len(report.test_images):,} to test with\n")  # fmt: skip
    print("\n".join(side_by_side([picture(i) for i in report.images[: 32 // size].numpy()])))
    report.run()
    if RESULTS.is_dir() and not any(RESULTS.iterdir()):
        RESULTS.rmdir()


if __name__ == "__main__":
    main(*sys.argv[1:2])
