"""Programs of the kinds that come with tinygrad, small: they import what those import, from here.

Each returns what it found and, where NumPy or a plainer program says what that should be, the
expected values. `docs/from_tinygrad.md` is for those who bring such a program.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tinyframe import Context, Device, GlobalCounters, Tensor, TinyJit, UOp, Variable, dtypes, nn
from tinyframe.dtype import dtypes as dtypes_by_path
from tinyframe.engine.jit import TinyJit as jit_by_path
from tinyframe.function import function
from tinyframe.helpers import (
    BEAM,
    CI,
    DEBUG,
    JIT,
    Timing,
    colored,
    fetch,
    flatten,
    get_child,
    getenv,
    partition,
    prod,
    tqdm,
    trange,
)
from tinyframe.nn.datasets import cifar, mnist
from tinyframe.nn.download import DownloadError
from tinyframe.nn.optim import SGD, Adam, AdamW, Muon, OptimizerGroup
from tinyframe.nn.state import (
    get_parameters,
    get_state_dict,
    load_state_dict,
    safe_load,
    safe_save,
    torch_load,
)
from tinyframe.tensor import Tensor as tensor_by_path
from tinyframe.uop.ops import UOp as uop_by_path

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


# ---- training ------------------------------------------------------------------------------------


@program
def convolutions_on_digits():
    layers = [
        nn.Conv2d(1, 4, 5), Tensor.relu, nn.BatchNorm(4), Tensor.max_pool2d,
        lambda x: x.flatten(1), nn.Linear(4 * 12 * 12, 10),
    ]  # fmt: skip
    optimizer = nn.optim.Adam(nn.state.get_parameters(layers), fused=False)
    images, labels = Tensor.rand(16, 1, 28, 28), Tensor.randint(16, high=10)

    @TinyJit
    @Context(TRAINING=1)
    def step() -> Tensor:
        optimizer.zero_grad()
        samples = Tensor.randint(getenv("BS", 8), high=images.shape[0])
        loss = images[samples].sequential(layers)
        loss = loss.sparse_categorical_crossentropy(labels[samples]).backward()
        return loss.realize(*optimizer.schedule_step())

    @TinyJit
    def accuracy() -> Tensor:
        return (images.sequential(layers).argmax(axis=1) == labels).mean() * 100

    for _ in (bar := trange(30, disable=True)):
        GlobalCounters.reset()
        bar.set_description(colored(f"loss {step().item():.2f}", "green"))
    return accuracy().numpy() > 60, True


@program
def a_perceptron_in_the_old_way():
    one, two = nn.Linear(2, 16, bias=False), nn.Linear(16, 2)
    optimizer = SGD([one.weight, *get_parameters(two)], lr=0.2, momentum=0.9, nesterov=True)
    data = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
    labels = (data[:, 0] * data[:, 1] > 0).astype(np.int32)
    with Tensor.train():
        for _ in range(40):
            out = two(one(Tensor(data, requires_grad=False)).leaky_relu())
            loss = out.sparse_categorical_crossentropy(Tensor(labels))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return (out.argmax(axis=-1) == Tensor(labels)).mean().item() > 0.9, True


@program
def a_generator_against_a_discriminator():
    generator, critic = nn.Linear(4, 8), nn.Linear(8, 1)
    ours, theirs = Adam(get_parameters(generator), lr=0.1), Adam(get_parameters(critic), lr=0.1)
    real = Tensor.full((16, 8), 3.0)
    with Context(TRAINING=1):
        for _ in range(40):
            fake = generator(Tensor.randn(16, 4))
            theirs.zero_grad()
            (critic(fake.detach()).softplus().mean() + (-critic(real)).softplus().mean()).backward()
            theirs.step()
            ours.zero_grad()
            (-critic(generator(Tensor.randn(16, 4)))).softplus().mean().backward()
            ours.step()
    return generator(Tensor.zeros(1, 4)).mean().item() > 0.5, True


@program
def an_actor_and_a_critic():
    actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
    optimizer = OptimizerGroup(Adam(get_parameters(actor), 0.05), AdamW(get_parameters(critic)))

    @TinyJit
    @Context(TRAINING=1)
    def step(state: Tensor, action: Tensor, reward: Tensor, before: Tensor):
        likely, value = actor(state).log_softmax(), critic(state)
        advantage = (reward.reshape(-1, 1) - value).detach().flatten()
        mask = action.reshape(-1, 1) == Tensor.arange(2).reshape(1, -1).expand(action.shape[0], 2)
        ratio = ((likely - before) * mask.float()).sum(-1).exp()
        loss = -(ratio * advantage).minimum(ratio.clip(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        (loss + (value.flatten() - reward).square().mean()).backward()
        return loss.realize(*optimizer.schedule_step())

    state, action = Tensor.ones(6, 4), Tensor([0, 1, 0, 1, 1, 0])
    before = actor(state).log_softmax().detach().realize()
    for _ in range(10):
        step(state.clone().realize(), action, (action == 1).float().realize(), before)
    after = actor(state).exp()[0]
    return (after[1] > after[0]).item(), True


@program
def gradients_that_add_up():
    weight = Tensor.eye(3).contiguous().realize()
    optimizer = SGD([weight], lr=0.5)
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)

    @function
    def loss_of(x: Tensor) -> Tensor:
        return (x @ weight).square().sum() / 4

    optimizer.zero_grad()
    for row in Tensor(rows).split(1):
        loss_of(row).backward()
    optimizer.step()
    return weight, np.eye(3) - 0.5 * 2 * rows.T @ rows / 4


@program
def a_low_rank_change_of_a_frozen_weight():
    frozen = nn.Linear(4, 4, bias=False)
    frozen.weight.is_param_(False)
    down, up = Tensor.kaiming_uniform(4, 1).is_param_(), Tensor.zeros(1, 4).contiguous().is_param_()
    optimizer = Adam([down, up], lr=0.1)
    before, x = frozen.weight.numpy(), Tensor.eye(4)
    with Context(TRAINING=1):
        for _ in range(60):
            loss = (frozen(x) + x @ down @ up - frozen.weight.T - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    same = np.array_equal(frozen.weight.numpy(), before)
    return [loss.item() < 0.01, same, frozen.weight.is_param], [True, True, False]


@program
def a_target_that_follows_slowly():
    net, target = nn.Linear(2, 1), nn.Linear(2, 1)
    load_state_dict(target, get_state_dict(net), verbose=False)
    old = target.weight.numpy()
    net.weight.assign(net.weight + 1).realize()
    for slow, fast in zip(get_parameters(target), get_parameters(net), strict=True):
        slow.assign(0.9 * slow + 0.1 * fast.detach()).realize()
    return target.weight, old + 0.1


@program
def an_attack_on_the_input():
    with Context(ALL_GRADS=1):  # as in tinygrad, where nothing has to be marked
        image, weight = Tensor([[0.5, -0.5, 1.0]]), Tensor([[1.0], [-2.0], [0.0]])
        score = (image @ weight).relu()
        score.sum().backward()
    found = [image.grad, weight.grad.T, score.grad, (image + 0.1 * image.grad.sign())]
    return found, [[[1, -2, 0]], [[0.5, -0.5, 1]], [[1]], [[0.6, -0.6, 1]]]


@program
def muon_and_a_falling_rate():
    weight = Tensor.rand(4, 4).realize()
    optimizer = Muon([weight], lr=0.1, weight_decay=0.0)
    for step in range(30):
        optimizer.lr.assign(Tensor([0.1 * (1 - step / 30)]).reshape(())).realize()
        optimizer.zero_grad()
        (weight - Tensor.eye(4)).square().sum().backward()
        optimizer.step()
    return (weight - Tensor.eye(4)).abs().max().item() < 0.2, True


# ---- language and speech -------------------------------------------------------------------------


def rotated(x: Tensor, start) -> Tensor:
    half = x.shape[-1] // 2
    rates = 1.0 / (100 ** (Tensor.arange(0, half, dtype=dtypes.float) / half))
    angles = Tensor.arange(16, dtype=dtypes.float).unsqueeze(1) * rates.unsqueeze(0)
    angles = angles.shrink(((start, start + x.shape[1]), None)).reshape(1, x.shape[1], 1, half)
    a, b = x[..., :half], x[..., half:]
    return Tensor.cat(
        a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos(), dim=-1
    )


class Decoder:
    """A layer of a language model, with a cache of keys and values."""

    def __init__(self, dim: int, heads: int):
        self.heads, self.qkv, self.out = (
            heads,
            nn.Linear(dim, 3 * dim, bias=False),
            nn.Linear(dim, dim),
        )
        self.norm, self.gate, self.up = nn.RMSNorm(dim), nn.Linear(dim, 8), nn.Linear(dim, 8)
        self.down, self.last_norm = nn.Linear(8, dim), nn.LayerNorm(dim)

    def __call__(self, x: Tensor, start) -> Tensor:
        batch, length, dim = x.shape
        parts = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, dim // self.heads)
        q, k, v = [parts.shrink((None, None, (i, i + 1), None, None)).squeeze(2) for i in range(3)]
        q, k = rotated(q, start), rotated(k, start)
        if not hasattr(self, "cache"):
            self.cache = Tensor.zeros(2, batch, 16, *k.shape[2:]).contiguous().realize()
        place = (None, None, (start, start + length), None, None)
        self.cache.shrink(place).assign(Tensor.stack(k, v)).realize()
        keys = self.cache[0].shrink((None, (0, start + length), None, None))
        values = self.cache[1].shrink((None, (0, start + length), None, None))
        mask = None
        if length > 1:
            mask = Tensor.full((1, 1, length, length), float("-inf")).triu(1)
        q, keys, values = (t.transpose(1, 2) for t in (q, keys, values))
        x = x + self.out(
            q.scaled_dot_product_attention(keys, values, mask)
            .transpose(1, 2)
            .reshape(shape=x.shape)
        )
        return self.last_norm(x + self.down(self.gate(x).silu() * self.up(x)).contiguous_backward())


@program
def a_language_model_with_a_cache():
    table, layer = nn.Embedding(11, 8), Decoder(8, 2)
    token_ids = [3, 1, 4, 1, 5]
    whole = (layer(table(Tensor([token_ids])), 0) @ table.weight.T)[0].numpy()

    @TinyJit
    def step(token: UOp, start: UOp) -> Tensor:
        embedded = table.weight.shrink(((token, token + 1), None)).unsqueeze(0)
        return (layer(embedded, start) @ table.weight.T).flatten().realize()

    found = [whole[0]]
    for place, token in enumerate(token_ids[1:], 1):
        start = Variable("start_pos", 1, 15).bind(place)
        found.append(step(Variable("token", 0, 10).bind(token), start).numpy())
    return np.stack(found), whole


@program
def a_language_model_that_trains():
    table, layer = nn.Embedding(6, 8), nn.Linear(8, 6)
    optimizer, text = AdamW(get_parameters([table, layer]), lr=0.1), Tensor([[0, 1, 2, 3, 4, 5]])
    with Context(TRAINING=1):
        for _ in range(25):
            logits = layer(table(text[:, :-1]).contiguous_backward())
            loss = logits.flatten(0, 1).sparse_categorical_crossentropy(text[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return logits.argmax(-1), [[1, 2, 3, 4, 5]]


@program
def an_encoder_that_masks():
    q = Tensor.rand(2, 2, 4, 3).realize()
    keep = Tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
    mask = (1.0 - keep.unsqueeze(1).unsqueeze(2).float()) * -10000.0
    found = q.scaled_dot_product_attention(q, q, mask)
    scores = q.numpy() @ q.numpy().transpose(0, 1, 3, 2) / math.sqrt(3) + mask.numpy()
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return found, weights / weights.sum(-1, keepdims=True) @ q.numpy()


@program
def speech_to_vectors():
    first, second = (
        nn.Conv1d(5, 6, 3, padding=1),
        nn.Conv1d(6, 6, kernel_size=3, stride=2, padding=1),
    )
    x = second(first(Tensor.rand(2, 5, 12)).gelu()).gelu().permute(order=(0, 2, 1))
    place = Tensor.arange(6).reshape(-1, 1) * Tensor([1.0, 0.1, 0.01]).reshape(1, 3)
    x = x + Tensor.cat(place.sin(), place.cos(), dim=1)
    logits = (x @ nn.Embedding(7, 6).weight.T).log_softmax(-1)
    return [x.shape, logits.exp().sum(-1)], [(2, 6, 6), np.ones((2, 6))]


@program
def a_transducer():
    cell, joint = nn.LSTMCell(3, 4), nn.Linear(8, 5)
    x, state, out = Tensor.rand(6, 2, 3), None, []
    for frame in x:
        state = cell(frame, state)
        out.append(state[0])
    encoded = Tensor.stack(*out)
    pairs = encoded.unsqueeze(1).expand(6, 3, 2, 4).cat(Tensor.zeros(6, 3, 2, 4), dim=-1)
    return [encoded.shape, joint(pairs).relu().shape], [(6, 2, 4), (6, 3, 2, 5)]


@program
def a_state_space():
    decay, drive = Tensor.rand(8) * 0.5 + 0.5, Tensor.rand(8)
    total = decay.log().cumsum()
    found, state, expected = ((drive * (-total).exp()).cumsum() * total.exp()), 0.0, []
    for a, b in zip(decay.tolist(), drive.tolist(), strict=True):
        expected.append(state := a * state + b)
    return found, expected


@program
def experts_of_which_two_answer():
    gate, x = nn.Linear(4, 3, bias=False), Tensor.rand(1, 4)
    experts = [nn.Linear(4, 4) for _ in range(3)]
    weights, chosen = gate(x).softmax(-1).topk(2)
    answers = Tensor.stack(*[expert(x) for expert in experts], dim=1)
    picked = answers.gather(1, chosen.unsqueeze(-1).expand(1, 2, 4))
    order = np.argsort(-gate(x).numpy()[0])[:2]
    by_hand = sum(weights.numpy()[0, i] * experts[e](x).numpy() for i, e in enumerate(order))
    return (picked * weights.unsqueeze(-1)).sum(1), by_hand


# ---- pictures ------------------------------------------------------------------------------------


class Bottleneck:
    def __init__(self, channels: int, stride: int = 1):
        self.conv1 = nn.Conv2d(
            channels, channels, kernel_size=3, stride=stride, padding=1, bias=False
        )
        self.bn1, self.downsample = nn.BatchNorm2d(channels), []
        if stride != 1:
            self.downsample = [
                nn.Conv2d(channels, channels, 1, stride, bias=False),
                nn.BatchNorm2d(channels),
            ]

    def __call__(self, x: Tensor) -> Tensor:
        return (self.bn1(self.conv1(x)) + x.sequential(self.downsample)).relu()


@program
def residual_layers_from_a_file():
    model = [Bottleneck(3), Bottleneck(3, 2)]
    twin, x = [Bottleneck(3), Bottleneck(3, 2)], Tensor.rand(2, 3, 8, 8)
    path = Path("weights.safetensors")
    safe_save(get_state_dict(model), path)
    for name, value in tqdm(safe_load(path).items(), disable=True):
        get_child(twin, name).assign(value.to(Device.DEFAULT)).realize()
    return x.sequential(twin).mean((2, 3)), x.sequential(model).mean((2, 3)).numpy()


@program
def depthwise_with_squeeze_and_excitation():
    weight, x = Tensor.glorot_uniform(4, 1, 3, 3), Tensor.rand(1, 4, 7, 7)
    y = x.pad((0, 1, 0, 1)).conv2d(weight, stride=2, groups=4).swish()
    squeezed = y.avg_pool2d(y.shape[2:4]).conv2d(Tensor.full((4, 4, 1, 1), 0.25)).sigmoid()
    return (y * squeezed), y.numpy() / (1 + np.exp(-y.numpy().mean((1, 2, 3))))


@program
def a_volume_down_and_up():
    down = nn.Conv2d(1, 2, kernel_size=(3, 3, 3), stride=2, padding=(1, 1, 1, 1, 1, 1), bias=False)
    up, norm = nn.ConvTranspose2d(2, 1, kernel_size=(2, 2, 2), stride=2), nn.InstanceNorm(2)
    x = Tensor.rand(1, 1, 4, 4, 4)
    y, padded = down(x), np.pad(x.numpy()[0, 0], 1)
    corners = [(padded[i : i + 3, j : j + 3, k : k + 3] * down.weight.numpy()[1, 0]).sum()
               for i in (0, 2) for j in (0, 2) for k in (0, 2)]  # fmt: skip
    both = up(norm(y)).cat(x, dim=1)
    return [y[0, 1].flatten(), both.shape], [corners, (1, 2, 4, 4, 4)]


@program
def a_step_of_diffusion():
    into, out = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 2, 3, padding=1)
    norm, time = nn.GroupNorm(2, 4), nn.Linear(6, 4)
    query, steps = nn.Conv2d(4, 4, 1), Tensor([3.0]) * Tensor([1.0, 0.1, 0.01])
    x = Tensor.rand(1, 2, 4, 4)
    embedded = steps.cos().cat(steps.sin(), dim=-1).reshape(1, 6)
    h = norm(into(x)).swish() + time(embedded).swish().reshape(1, 4, 1, 1)
    q = query(h).reshape(1, 4, 16).transpose(1, 2)
    h = h + q.scaled_dot_product_attention(q, q).transpose(1, 2).reshape(h.shape)
    h = h.interpolate((8, 8), mode="nearest").avg_pool2d((2, 2))
    noise, kept = out(h), (1 - Tensor.linspace(0.01, 0.2, 10)).cumprod()
    clean = (x - (1 - kept[4]).sqrt() * noise) / kept[4].sqrt()
    return clean * kept[4].sqrt() + (1 - kept[4]).sqrt() * noise, x.numpy()


@program
def boxes_from_distributions():
    anchors, strides = Tensor([[0.5, 1.5], [0.5, 0.5]]), Tensor([8.0])
    sides = (Tensor.rand(1, 4, 3, 2) * 5).transpose(2, 1).softmax(1)
    sides = sides.conv2d(Tensor.arange(3).reshape(1, 3, 1, 1).float()).reshape(1, 4, 2)
    low, high = anchors - sides.chunk(2, dim=1)[0][0], anchors + sides.chunk(2, dim=1)[1][0]
    boxes = Tensor.cat((low + high) / 2, high - low, dim=0) * strides
    upsampled = Tensor.arange(4).reshape(1, 1, 2, 2).float()
    upsampled = upsampled.repeat_interleave(2, 2).repeat_interleave(2, 3)
    s = sides.numpy()[0]
    return [boxes[2:], upsampled], [
        (s[:2] + s[2:]) * 8,
        np.kron([[0, 1], [2, 3]], np.ones((1, 1, 2, 2))),
    ]


@program
def patches_and_attention():
    x, project = Tensor.rand(2, 3, 8, 8), Tensor.scaled_uniform(6, 3, 4, 4)
    patches = x.conv2d(project, stride=4).reshape(shape=(2, 6, -1)).permute(order=(0, 2, 1))
    tokens = Tensor.zeros(1, 1, 6).expand(shape=(2, 1, 6)).cat(patches, dim=1)
    q = tokens.layernorm().linear(Tensor.scaled_uniform(6, 6), Tensor.zeros(6))
    q = q.reshape(shape=(2, -1, 2, 3)).permute(order=(0, 2, 1, 3))
    weights = (q @ q.transpose(-2, -1) / 3**0.5).softmax()
    return [(weights @ q).transpose(1, 2).flatten(2).shape, weights.sum(-1)], [
        (2, 5, 6),
        np.ones((2, 2, 5)),
    ]


@program
def blocks_with_the_channels_last():
    x, scale = Tensor.rand(1, 4, 6, 6), Tensor.full((4,), 0.5)
    depthwise, norm = nn.Conv2d(4, 4, 7, padding=3, groups=4), nn.LayerNorm(4, eps=1e-6)
    y = norm(depthwise(x).permute(0, 2, 3, 1))
    y = (nn.Linear(16, 4)(nn.Linear(4, 16)(y).gelu()) * scale).permute(0, 3, 1, 2)
    flipped = x.flip(axis=(2, 3)).flip(3).flip(axis=2)
    return [(x + y).shape, flipped], [(1, 4, 6, 6), x.numpy()]


@program
def pictures_and_their_captions():
    pictures, captions = Tensor.rand(3, 4), Tensor.rand(3, 4)
    a, b = (t / t.square().sum(axis=-1, keepdim=True).sqrt() for t in (pictures, captions))
    alike = Tensor.einsum("ik,jk->ij", a, b) * math.exp(0.5)
    p, c = (
        t / np.linalg.norm(t, axis=1, keepdims=True) for t in (pictures.numpy(), captions.numpy())
    )
    return alike, p @ c.T * np.exp(0.5)


@program
def smoothed_labels_in_half_precision():
    model, data = nn.Linear(4, 3), Tensor.rand(5, 4)
    for value in get_state_dict(model).values():
        value.replace(value.cast(dtypes.half).realize())
    loss = (
        model(data.half())
        .cast(dtypes.float)
        .cross_entropy(Tensor([0, 1, 2, 0, 1]), reduction="none", label_smoothing=0.2)
    )
    logits = model(data.half()).float().numpy()
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    target = np.eye(3)[[0, 1, 2, 0, 1]] * 0.8 + 0.2 / 3
    return loss, -(logs * target).sum(-1)


# ---- the programs, and what they import ----------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_that_kind_finds_what_it_should(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Tensor.manual_seed(7)
    found, expected = PROGRAMS[name]()
    both = [found] if not isinstance(found, list) else found
    wanted = [expected] if not isinstance(found, list) else expected
    for one, other in zip(both, wanted, strict=True):
        value = one.numpy() if isinstance(one, Tensor) else np.asarray(one)
        np.testing.assert_allclose(value, np.asarray(other), rtol=2e-4, atol=2e-5)
    assert not Tensor.training


def test_names_lie_where_such_programs_look_for_them():
    assert (tensor_by_path, jit_by_path, uop_by_path) == (Tensor, TinyJit, UOp)
    assert dtypes_by_path is dtypes
    assert (DEBUG, JIT, BEAM, CI) == (0, 1, 0, getenv("CI", "") != "")
    assert callable(torch_load) and callable(mnist) and callable(cifar)


def test_the_small_functions():
    assert prod((2, 3, 4)) == 24 and prod(()) == 1
    assert flatten([[1], [2, 3]]) == [1, 2, 3]
    assert partition([1, 2, 3], lambda n: n > 1) == ([2, 3], [1])
    assert get_child({"a": [nn.Linear(2, 3)]}, "a.0.weight").shape == (3, 2)
    assert colored("x", "red") == "\x1b[31mx\x1b[0m" and colored("x", None) == "x"
    assert colored("x", "GREEN", background=True) == "\x1b[102mx\x1b[0m"


def test_a_variable_of_the_environment_has_the_type_of_its_default(monkeypatch):
    monkeypatch.setenv("STEPS", "12")
    assert (getenv("STEPS"), getenv("STEPS", 1.5), getenv("STEPS", "")) == (12, 12.0, "12")
    assert (getenv("NO_SUCH", 3), getenv("NO_SUCH")) == (3, 0)


def test_loops_and_blocks_say_how_far_they_are(capsys):
    for number in (bar := trange(3, desc="reading")):
        bar.set_description(f"at {number}")
    with Timing("slept ", lambda ns: f", {ns >= 0}"):
        pass
    said = capsys.readouterr()
    assert said.err == "at 2 3\n"
    assert said.out.startswith("slept ") and said.out.endswith(" ms, True\n")


def test_without_a_network_a_file_is_asked_for_by_its_place(tmp_path, monkeypatch):
    url = "http://127.0.0.1:9/some/weights.bin"
    with Context(TINYFRAME_DATA=tmp_path):
        place = tmp_path / "fetched" / "127.0.0.1:9" / "some" / "weights.bin"
        with pytest.raises(DownloadError, match=f"put the file at {place}"):
            fetch(url)
        place.write_bytes(b"here")
        assert fetch(url).read_bytes() == b"here"
    assert fetch("here.bin") == Path("here.bin")


def test_all_gradients_can_be_asked_for_from_the_outside():
    code = "from tinyframe import Tensor; x = Tensor([2.0]); (x * x).backward(Tensor([1.0]))"
    code += "; assert x.grad.tolist() == [4]"
    command = [sys.executable, "-c", code]
    root = str(Path(__file__).parents[2])
    env = {"PYTHONPATH": root, "ALL_GRADS": "1", "PATH": "/usr/bin:/bin"}
    assert subprocess.run(command, env=env).returncode == 0


def test_training_is_one_switch_with_three_names():
    assert not Tensor.training
    with Context(TRAINING=1):
        assert Tensor.training
        with Tensor.train(False):
            assert not Tensor.training
            Tensor.training = True
            assert Tensor.training
        assert Tensor.training
    try:
        Tensor.training = True
        assert Tensor.training
    finally:
        Tensor.training = False
    assert Context(TRAINING=1)(lambda: Tensor.training)()
