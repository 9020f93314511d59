"""Project 4: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution; a
whole set of them, in tasks of their own, is graded at once. All but one submission is graded in
this process.
"""

import pytest

from tests.grader.worked import Worked, gained, lost, printed

WORKED = Worked("04_mnist")

# what is replaced in the solution, by what, the points that it costs, and what the report says
MISTAKES = [
    {
        "normalise": (
            "pixels = training.float()", "pixels = images.float()",
            4, "it has the mean and the deviation of `images`; use those of `training`",
        ),
        "batches": (
            "np.random.default_rng(seed).permutation", "np.random.default_rng(0).permutation",
            2, "gave the same order",
        ),
        "Network": (
            "norm(convolution(x)).relu().max_pool2d()", "norm(convolution(x).relu()).max_pool2d()",
            8, "relu comes before the norm",
        ),
        "train": (
            "batches(x, y, size, (seed, epoch))", "batches(x, y, size, seed)",
            3, "the last batch of every epoch has the same images",
        ),
        "scores": (
            "    parts = [model(", "    size = len(x)\n    parts = [model(",
            4, "images at once, and size is",
        ),
        "mistakes": (
            "np.add.at(confusion, (truth, answers), 1)",
            "np.add.at(confusion, (answers, truth), 1)",
            4, "rows and columns are swapped",
        ),
        "reloaded": (
            "    return fresh\n", "    return model\n",
            4, "it returned the old model",
        ),
        "slowest_kernels": (
            "    run()\n    with observing(Watcher()):\n",
            "    with observing(Watcher()):\n        run()\n",
            2, "too many: was the first call watched?",
        ),
        "compare": (
            "timed(TinyJit(make()), 2)\n    with", "timed(make(), 2)\n    with",
            2, "is the second way in a TinyJit?",
        ),
    },
    {
        "normalise": (
            "pixels.std()).unsqueeze(1)", "pixels.var()).unsqueeze(1)",
            8, "it is divided by the variance",
        ),
        "batches": (
            "    order = np.random.default_rng(seed).permutation(len(y))\n",
            "    order = np.random.permutation(len(y))\n",
            2, "gave two different orders",
        ),
        "Network": (
            "before, size = count, size // 2", "before, size = count, -(-size // 2)",
            12, "raised ShapeError: Linear with weight",
        ),
        "make_step": (
            "        with Tensor.train():\n            optimizer.zero_grad()",
            "        with Tensor.train(False):\n            optimizer.zero_grad()",
            6, "training mode is off when the model runs",
        ),
        "train": (
            "(fast if len(labels) == size else step)(images, labels)", "step(images, labels)",
            2, "a TinyJit runs it twice, and then replays it",
        ),
        "scores": (
            "range(0, len(x), size)]\n    return Tensor.cat",
            "range(0, len(x) - size + 1, size)]\n    return Tensor.cat",
            6, "there are scores of",
        ),
        "mistakes": (
            'scores.cross_entropy(labels, reduction="none").numpy()',
            '(scores.softmax(1)[np.arange(len(labels)), labels].log() * -1).numpy()',
            2, "; its loss is ",
        ),
        "reloaded": (
            "    safe_save(get_state_dict(model), path)\n"
            "    load_state_dict(fresh, safe_load(path))\n",
            "    state = get_state_dict(model).items()\n"
            "    state = {name: t for name, t in state if 'running' not in name}\n"
            "    safe_save(state, path)\n"
            "    load_state_dict(fresh, safe_load(path), strict=False)\n",
            6, "running_mean is different in the new model",
        ),
        "slowest_kernels": (
            "moving > computing", "moving < computing",
            2, "'limit' is '",  # the other one: which, depends on what was slow
        ),
        "compare": (
            "    with Context(BEAM=2, CACHE=0):\n        search", "    if repeats:\n        search",
            2, "BEAM was never 2 when the work ran",
        ),
    },
]  # fmt: skip


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """reloaded() writes a file where it is told to, which is here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    found = WORKED.rows(WORKED.changed(*(pair[:2] for pair in mistakes.values())))
    assert lost(found) == {task: points for task, (_, _, points, _) in mistakes.items()}
    for task, (_, _, _, told) in mistakes.items():
        assert told in " ".join(row.found for row in found if row.task == task), task
    assert all(row.hint for row in found if not row.passed)


@pytest.mark.parametrize(
    "task, right, wrong, told",
    [
        ("make_step", "            optimizer.zero_grad()\n", "",
         "the gradients of all steps add up: call zero_grad() in each step"),
        ("batches", "Tensor(labels[rows]).realize()",
         "Tensor(labels[np.sort(rows)]).realize()",
         "images and labels no longer belong together; shuffle both in the same order"),
    ],
)  # fmt: skip
def test_a_mistake_that_spoils_the_training_too_is_told_where_it_is(task, right, wrong, told):
    found = WORKED.rows(WORKED.changed((right, wrong)), tasks={task, "train"})
    assert set(lost(found)) == {task, "train"}
    assert told in next(row.found for row in found if row.task == task)


# One epoch instead of ten, and nothing searched for.
QUICK = (
    ("8: ((16, 32), 10, 32", "8: ((4, 8), 1, 32"),
    ("    with Context(BEAM=2, CACHE=0):", "    with Context(BEAM=0):"),
)


def test_the_worked_solution_prints_a_report_and_saves_its_plots(tmp_path):
    said = printed(WORKED.changed(*QUICK), tmp_path, WORKED.name)
    assert "open" not in said and "waits" not in said
    assert "46 batches; the last has 2 images" in said
    assert "scores differ by 0 at most" in said
    saved = {path.name for path in (tmp_path / "04_mnist_results").iterdir()}
    assert saved == {"loss.png", "mistakes.png", "model.safetensors"}


def test_a_task_that_needs_one_that_is_open_waits_for_it(tmp_path):
    text = WORKED.changed(*QUICK, ("    return step\n    ### END", "    ### END"))
    said = printed(text, tmp_path, WORKED.name)
    assert said.count("waits for task 4") == 2, "train, and the profile of a step"


# ---- what is as good as the worked solution ------------------------------------------------------

AS_GOOD = [
    (  # everything as Tensors; layers in a Sequential, without biases; a DataLoader
        ("pixels.std()).unsqueeze(1)", "pixels.std(correction=0)).unsqueeze(1)"),
        ("    images, labels = x.numpy(), y.numpy()\n", "    Tensor.realize(x, y)\n"),
        ("(Tensor(images[rows]).realize(), Tensor(labels[rows]).realize()) for rows in chosen]",
         "[x[Tensor(rows)].realize(), y[Tensor(rows)].realize()] for rows in chosen]"),
        ("            self.blocks.append(block)", "            self.blocks += block"),
        ("count, 3, padding=1)", "count, 3, padding=1, bias=False)"),
        ("        for convolution, norm in self.blocks:\n"
         "            x = norm(convolution(x)).relu().max_pool2d()\n",
         "        for layer in self.blocks:\n            x = layer(x)\n"
         "            x = x.relu().max_pool2d() if isinstance(layer, nn.BatchNorm) else x\n"),
        ("loss = model(x).cross_entropy(y)\n",
         "chances = model(x).log_softmax(1)\n"
         "            loss = -(chances * y.one_hot(chances.shape[1])).sum(1).mean()\n"),
        ("    return Tensor.cat(*parts)\n",
         "    return Tensor(np.concatenate([part.numpy() for part in parts]))\n"),
        ("-losses[wrong])][:count]", "-losses[wrong], kind='stable')][:count]"),
        ('"worst": worst.tolist(),', '"worst": tuple(int(place) for place in worst),'),
    ),
    (  # a TinyJit for the smaller batch too; one function for all three ways
        ("    fast = TinyJit(step)\n", "    fast, last = TinyJit(step), TinyJit(step)\n"),
        ("(fast if len(labels) == size else step)", "(fast if len(labels) == size else last)"),
        ("loss.realize()\n", "loss.detach().realize()\n"),
        ("batches(x, y, size, (seed, epoch))", "batches(x, y, size, 1000 * seed + epoch)"),
        ("_, jit = timed(TinyJit(make()), 2)", "_, jit = timed(TinyJit(make()), 3)"),
        ("    _, plain = timed(make(), 1)", "    with Context(JIT=0):\n"
         "        _, plain = timed(TinyJit(make()), 1)"),
        ("    safe_save(get_state_dict(model), path)\n    load_state_dict(fresh, safe_load(path))",
         "    safe_save(get_state_dict(model), path)\n    loaded = safe_load(path)\n"
         "    for name, tensor in get_state_dict(fresh).items():\n"
         "        tensor.assign(loaded[name].to(tensor.device)).realize()"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(AS_GOOD)))
def test_what_the_words_allow_gets_all_points(number):
    found = WORKED.rows(WORKED.changed(*AS_GOOD[number]))
    assert lost(found) == {}, [row.found for row in found if row.found]


# ---- what was not asked for ----------------------------------------------------------------------


def test_constants_collected_from_reports_get_nothing():
    """A submission that gives back what was right for another file."""
    text = (
        "from tinyframe import Tensor\n"
        "def normalise(images, training): return Tensor.zeros(len(images), 1, *images.shape[1:])\n"
        "def batches(x, y, size, seed): return [(x[:size], y[:size])]\n"
        "class Network:\n"
        "    def __init__(self, size, channels, classes): self.classes = classes\n"
        "    def __call__(self, x): return Tensor.zeros(len(x), 5)\n"
        "def make_step(model, rate): return lambda x, y: Tensor(1.386)\n"
        "def train(model, x, y, epochs, size, rate, seed, after_epoch):\n"
        "    return [1.0 / (n + 1) for n in range(epochs)]\n"
        "def scores(model, x, size): return Tensor.zeros(16, 4)\n"
        "def mistakes(scores, labels, count):\n"
        "    return {'accuracy': 0.5, 'confusion': Tensor.eye(5), 'worst': [3, 1, 2]}\n"
        "def reloaded(model, fresh, path): return fresh\n"
        "def slowest_kernels(run, count, machine):\n"
        "    return [{'name': 'r_8', 'seconds': 1.0, 'bytes': 1, 'operations': 1}]\n"
        "def compare(make, repeats):\n"
        "    return {'plain': 1.0, 'jit': 1.0, 'beam': 1.0, 'search': 1.0}\n"
    )
    for seed in ("a", "b"):
        assert gained(WORKED.rows(text, seed)) == {}


def test_a_limit_that_knows_nothing_of_the_machine_is_noticed():
    own = 'computing, moving = row["operations"] / machine[0], row["bytes"] / machine[1]'
    text = WORKED.changed((own, 'computing, moving = row["operations"], row["bytes"]'))
    rows = WORKED.rows(text, tasks={"slowest_kernels"})
    assert lost(rows)["slowest_kernels"] in (1, 2)  # the slowest two of three may hide it once


@pytest.mark.parametrize("realized", ["", ".realize()"])
def test_batches_that_are_slices_are_told_so_in_both_tasks(realized):
    """They have the right numbers, and train() cannot use them."""
    begin = WORKED.text.index("    order = np.random.default_rng(seed).permutation(len(y))\n")
    end = WORKED.text.index("    ### END SOLUTION", begin)
    slices = (
        "    order = Tensor(np.random.default_rng(seed).permutation(len(y)))\n"
        f"    x, y = x[order]{realized}, y[order]{realized}\n"
        "    return [(x[k : k + size], y[k : k + size]) for k in range(0, len(y), size)]\n"
    )
    copies = slices.replace("k + size]", "k + size].contiguous().realize()")
    for body, points in ((slices, {"batches": 2, "train": 6}), (copies, {})):
        text = WORKED.text[:begin] + body + WORKED.text[end:]
        found = WORKED.rows(text, tasks={"batches", "train"})
        assert lost(found) == points, [row.found for row in found]
        said = [row.found for row in found if row.found]
        assert all("batches() has to copy its slices" in text for text in said)


def test_what_stops_a_tinyjit_is_said_as_it_is():
    kept = "    kept = []\n\n    def step(x, y):\n        kept[:] = [model(x).detach().realize()]\n"
    text = WORKED.changed(
        ("    def step(x, y):\n        with Tensor.train():", f"{kept}        with Tensor.train():")
    )
    found = [row.found for row in WORKED.rows(text, tasks={"train"}) if row.found]
    assert found and all("leaves a Tensor" in text and "slices" not in text for text in found)


def test_a_network_of_one_linear_layer_is_told_what_is_missing():
    text = WORKED.changed(
        ("x = norm(convolution(x)).relu().max_pool2d()", "pass"),
        ("            self.blocks.append(block)\n", ""),
        ("            before, size = count, size // 2\n", ""),
    )
    judged = WORKED.rows(text, tasks={"Network"})
    assert lost(judged) == {"Network": 16}
    found = " ".join(row.found for row in judged)
    assert "the model has no Conv2d" in found


def test_numpy_arrays_get_nothing_where_tensors_are_asked_for():
    text = WORKED.changed(
        ("pixels.std()).unsqueeze(1)", "pixels.std()).unsqueeze(1).numpy()"),
        ("    return Tensor.cat(*parts)\n", "    return Tensor.cat(*parts).numpy()\n"),
    )
    judged = WORKED.rows(text, tasks={"normalise", "scores"})
    assert lost(judged) == {"normalise": 8, "scores": 8}
    assert "but should be a Tensor" in " ".join(row.found for row in judged)


def test_the_checks_that_students_get_do_not_hold_an_answer():
    visible = WORKED.tasks.read_text().partition("### BEGIN HIDDEN")[0]
    assert "numpy_scores" not in visible and "zero_grad()\n" not in visible
