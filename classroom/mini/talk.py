"""What part 8d does with package `mini`, whoever wrote its stages: names, and a network of them.

    names()                            what the standard library's source calls its functions
    pairs(words)                       which letter follows which, as shares
    attention(scores, masked, mixed)   the learner's three functions, as one
    tried(gpt, look)                   a short training, to see what goes wrong
    learn(gpt, look)                   a long one, which is saved, and can be interrupted
    invented(talker, picked_by(pick))  names that a network makes up

A network is called with one-hot letters of shape (n, PLACES, 28) and an attention, and gives scores
of the same shape; its `parameters` are a list of Tensors. Outside of a learner's copy, `learn`
finds what we trained before, and has nothing left to do.
"""

from __future__ import annotations

import inspect
import random
import re
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display

from classroom.curves import PALE
from classroom.learner import kept, record
from classroom.mini import digits, figures
from classroom.mini.own_c import module, on
from classroom.speed import speeds
from classroom.yours import passes, yours_or
from tinyframe.nn.state import replacing
from tinyframe.viz.charts import LINES
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, n
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.picture import DrawnPicture

LETTERS = ".abcdefghijklmnopqrstuvwxyz_"  # "." begins a name, and ends it
PLACES = 16  # of the letters that a network is shown: "." and the 15 of the longest names
LEFT_OUT = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3"}  # folders

BATCH = 32  # names
RATE, LATE = 0.003, 0.7  # of learning; when that much is behind it, a fifth of the rate
EVERY = 4.0  # seconds, until it is saved and drawn again
ROUNDS = 20  # of names, each a batch, until there are enough that Python doesn't have
OURS = Path(__file__).with_name("gpt.npz")  # a training of 3,000 steps, by the worked functions
MINE = "my_gpt.npz"  # the learner's, beside their progress

LOWEST, HIGHEST = 1.0, 3.5  # nats a letter, of a curve
MOST_BITS = 12.0
FILLS = ("#e6e6e6", "#bfe3b9")

Shares = Callable[[str], np.ndarray]  # from the beginning of a word: how likely each letter is


# ---- names ---------------------------------------------------------------------------------------


@cache
def names() -> tuple[list[str], list[str]]:
    """Names to learn from, and a tenth that is held back."""
    found = set[str]()
    for path in Path(sysconfig.get_path("stdlib")).rglob("*.py"):
        if not LEFT_OUT & {*path.parts}:
            text = path.read_text(encoding="utf-8", errors="replace")
            found.update(re.findall(r"^\s*(?:async )?def _*(\w+?)_*\(", text, re.MULTILINE))
    short = sorted(name for name in found if re.fullmatch(r"[a-z_]{3,15}", name))
    random.Random(0).shuffle(short)
    return short[len(short) // 10 :], short[: len(short) // 10]


def encode(words: Sequence[str]) -> np.ndarray:
    """(words, PLACES + 1): the places of a word's letters in LETTERS, "." before and after it.
    ValueError of a word that has other letters, or too many."""
    for word in words:
        if len(word) >= PLACES or not {*word} <= {*LETTERS[1:]}:
            raise ValueError(f"the network knows words of up to {PLACES - 1} letters, a to z and "
                             f"_, and {word!r} isn't one")  # fmt: skip
    return np.array([[*map(LETTERS.index, f".{word}".ljust(PLACES + 1, "."))] for word in words])


def one_hot(words: Sequence[str]) -> np.ndarray:
    """(words, PLACES, 28): what a network is shown of words, or of their beginnings."""
    return np.eye(len(LETTERS), dtype=np.float32)[encode(words)[:, :-1]]


def pairs(words: Sequence[str]) -> np.ndarray:
    """(28, 28): row i has the share of each letter among those that come right after letter i.

    A pair that never occurs counts as a tenth of one: a share of 0 would be infinitely surprising.
    """
    counts = np.full((len(LETTERS), len(LETTERS)), 0.1)
    for word in words:
        row = [*map(LETTERS.index, f".{word}.")]
        np.add.at(counts, (row[:-1], row[1:]), 1)
    return counts / counts.sum(1, keepdims=True)


@cache
def nats_by_table() -> float:
    """What a table of pairs needs for a letter of the names that are held back."""
    (known, held), surprises = names(), list[float]()
    table = -np.log(pairs(known))
    for word in held:
        row = [*map(LETTERS.index, f".{word}.")]
        surprises += [*table[row[:-1], row[1:]]]
    return float(np.mean(surprises))


def by_table(table: np.ndarray, count: int, seed: int = 0) -> list[str]:
    """Names by a table of pairs."""
    dice, made = np.random.default_rng(seed), list[str]()
    while len(made) < count:
        word = ""
        while letter := int(dice.choice(len(LETTERS), p=table[LETTERS.index(("." + word)[-1])])):
            word += LETTERS[letter]
        made += [word] * (0 < len(word) < PLACES)
    return made


# ---- what the learner writes, and ours until it is right -----------------------------------------


def bits(shares: Shares, word: str) -> float:
    found = [shares(word[:n])[LETTERS.index(c)] for n, c in enumerate(word + ".")]
    return float(-np.log2(found).mean())


def scores(q: Any, k: Any) -> Any:
    count, places, width = q.shape
    products = q.reshape(count, places, 1, width) * k.reshape(count, 1, places, width)
    return products.sum(3) * width**-0.5


def masked(found: Any) -> Any:
    ahead = np.triu(np.full(found.shape[-2:], -1e9), 1)
    return found + module("part4").Tensor(ahead)


def mixed(found: Any, v: Any) -> Any:
    count, places, width = v.shape
    shares = found.log_softmax().exp().reshape(count, places, places, 1)
    return (shares * v.reshape(count, 1, places, width)).sum(2)


def pick(found: np.ndarray, temperature: float, dice: np.random.Generator) -> int:
    weights = np.exp((found - found.max()) / temperature)
    return int(dice.choice(len(weights), p=weights / weights.sum()))


class Attention:
    """Of queries, keys and values, each (n, places, width): what each place takes of the values."""

    def __init__(self, scores: Any, masked: Any, mixed: Any) -> None:
        self.scores, self.masked, self.mixed = scores, masked, mixed

    def __call__(self, q: Any, k: Any, v: Any) -> Any:
        return self.mixed(self.masked(self.scores(q, k)), v)

    def blind(self) -> Attention:
        """The same, by somebody who forgot the mask."""
        return Attention(self.scores, lambda found: found, self.mixed)


def attention(yours: Any, your_mask: Any, your_mixture: Any) -> Attention:
    """The learner's functions, each if it passes its check, and else ours."""
    return Attention(
        yours_or("talk-scores", yours, scores, "Scores by"),
        yours_or("talk-mask", your_mask, masked, "Mask by"),
        yours_or("talk-mixed", your_mixture, mixed, "Mixtures by"),
    )


def picked_by(yours: Any) -> Any:
    return yours_or("talk-pick", yours, pick, "Letters picked by")


def device_by(arrange: Any) -> Any:
    """A device that compiles what the learner's function makes of a program, once that passes its
    check, and until then the program itself."""
    part4, part7b, part8 = module("part4"), module("part7b"), module("part8")
    if not passes("talk-arrange", arrange):
        print("Programs stay as they are, until your function passes its check.")
        return part8.CRunner

    def arranged(lines: list[Any]) -> Any:
        stores = tuple(node for node in lines if node.op is part4.Ops.STORE)
        return part8.CRunner(part7b.linearize(arrange(part4.UOp(part4.Ops.SINK, stores))))

    print("Programs are arranged by your function.")
    return arranged


# ---- a network that is trained, and asked --------------------------------------------------------


class Talker:
    """A network with its attention, captured, on a device of mini.

    history: after how many steps of training, the mean loss since the last time, and that of names
    held back, in nats a letter. made_up: names, as it made them up last.
    """

    def __init__(self, gpt: Any, look: Attention, device: Any = None) -> None:
        part8 = module("part8")
        self.gpt, self.look, self.device = gpt, look, device or part8.CRunner
        self.history: list[tuple[int, float, float]] = []
        self.made_up: list[str] = []
        self._captured = part8.jit(lambda x, *read: gpt(x, look).realize(), [], self.device)

    @property
    def steps(self) -> int:
        """How many it has learned for."""
        return self.history[-1][0] if self.history else 0

    def scores(self, words: Sequence[str]) -> np.ndarray:
        """(words, PLACES, 28): the network's scores of what comes after each letter."""
        Tensor, found = module("part4").Tensor, []
        for start in range(0, len(words), BATCH):
            part = [*words[start : start + BATCH]]
            padded = one_hot(part + [""] * (BATCH - len(part)))
            with on(self.device):
                scores = self._captured(Tensor(padded), *self.gpt.parameters)
                found.append(scores.numpy()[: len(part)])
        return np.concatenate(found)

    def shares(self, beginning: str) -> np.ndarray:
        """How likely each of LETTERS is to come next."""
        return np.exp(_log_shares(self.scores([beginning])[0, len(beginning)]))

    def nats(self, words: Sequence[str]) -> float:
        """The mean surprise of a letter of these words, the end of each included."""
        wanted = encode(words)[:, 1:]
        found = np.take_along_axis(_log_shares(self.scores(words)), wanted[..., None], 2)[..., 0]
        return float(-found[_counts(wanted)].mean())

    def save(self, path: Path) -> None:
        """The parameters, the history and what was made up last: as a whole, or not at all."""
        arrays = {f"{n}": tensor.numpy() for n, tensor in enumerate(self.gpt.parameters)}
        with replacing(path) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, history=self.history, made_up=self.made_up, **arrays)

    def load(self, path: Path) -> None:
        """ValueError where the file is damaged, or of a network of a different shape."""
        tensors = self.gpt.parameters
        try:
            with np.load(path) as found:
                values = [found[f"{n}"] for n in range(len(found.files) - 2)]
                self.history = [(int(a), b, c) for a, b, c in found["history"].tolist()]
                self.made_up = found["made_up"].tolist()
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as problem:
            raise ValueError(
                f"{path.parent.name}/{path.name} is damaged ({problem}): delete it to begin anew"
            ) from None
        if [value.shape for value in values] != [tensor.shape for tensor in tensors]:
            raise ValueError(f"{path.parent.name}/{path.name} is a network of a different shape: "
                             "rename the file to keep it, or delete it, and this one can begin"
                             )  # fmt: skip
        for tensor, value in zip(tensors, values, strict=True):
            tensor.uop = module("part4").Tensor(value).uop

    def __repr__(self) -> str:
        return repr(self.picture())

    def _repr_mimebundle_(self, **given: Any) -> dict[str, Any]:
        return self.picture()._repr_mimebundle_(**given)

    def picture(self, words: Sequence[str] | None = None) -> DrawnPicture:
        """How it learned, and what it made up last, or these words."""
        sheet, words = Drawing(), self.made_up if words is None else words
        sheet.width = PAGE
        if not self.history:
            sheet.words(0, 20, "It hasn't learned anything yet.", 14, colour=MUTED)
            return DrawnPicture("a network before its training", "nothing learned yet", sheet)
        now = f"{self.history[-1][2]:.2f} nats a letter"
        sheet.words(0, 26, now, 26, bold=True, colour=MUTED)
        unseen = f"of names that it has never seen, after {self.steps:,} steps"
        sheet.words(0, 46, unseen, 12, colour=MUTED)
        sheet.put(_curves(self.history), 0, 60)
        for number, word in enumerate(words):
            sheet.words(460, 50 + 20 * number, word, 14, mono=True, colour=MUTED)
        text = "\n".join([f"{now} {unseen}", *words])
        return DrawnPicture("a network that makes up names", text, sheet)


def _curves(history: Sequence[tuple[int, float, float]]) -> Drawing:
    """Both losses, over the steps of a training."""
    sheet, left, wide, high = Drawing(), 26.0, 400.0, 170.0

    def place(step: int, loss: float) -> tuple[float, float]:
        up = (min(max(loss, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
        return left + wide * step / history[-1][0], high * (1 - up)

    for nats in (1, 2, 3):
        y = place(0, nats)[1]
        sheet.words(left - 8, y + 4, str(nats), 10, anchor="end", colour=MUTED)
        sheet.line([(left, y), (left + wide, y)], 0.5)
    y = place(0, nats_by_table())[1]
    sheet.line([(left, y), (left + wide, y)], 1.5)
    sheet.words(left + wide, y - 4, "the table", 11, anchor="end", colour=MUTED)
    for number, name in enumerate(("names it learns from", "names held back")):
        points = " ".join(
            f"{n(x)},{n(y)}" for x, y in (place(each[0], each[1 + number]) for each in history)
        )
        colour, look = LINES[number][0], ' stroke-dasharray="7 3"' * number
        sheet.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                           f'stroke-width="2"{look}/>')  # fmt: skip
        sheet.words(left + wide * 0.45, 14 + 16 * number, name, 11, anchor="end", colour=colour)
    for step in (0, history[-1][0]):
        x = place(step, 0)[0]
        sheet.words(x, high + 14, f"{step:,}", 10, anchor="middle", colour=MUTED)
    sheet.words(left + wide / 2, high + 14, "steps", 10, anchor="middle", colour=MUTED)
    return sheet


def _log_shares(found: np.ndarray) -> np.ndarray:
    found = found - found.max(-1, keepdims=True)
    return found - np.log(np.exp(found).sum(-1, keepdims=True))


def _counts(wanted: np.ndarray) -> np.ndarray:
    """Which letters of `encode` count: those of a word, and the first "." after it."""
    return np.cumsum(wanted == 0, axis=1) - (wanted == 0) == 0


# ---- a training ----------------------------------------------------------------------------------


def steps_of(talker: Talker, rate: float, seed: int) -> Iterator[float]:
    """A step each time that it is asked for one: the loss of a batch, before the step."""
    part6, part8, dice = module("part6"), module("part8"), np.random.default_rng(seed)
    adam = part6.Adam(talker.gpt.parameters, lr=rate)
    learned, eye = encode(names()[0]), np.eye(len(LETTERS), dtype=np.float32)

    def step(x: Any, wanted: Any) -> Any:
        return adam.step(-(talker.gpt(x, talker.look).log_softmax() * wanted).sum())

    def batch() -> list[Any]:
        rows = learned[dice.integers(len(learned), size=BATCH)]
        x, wanted, counts = rows[:, :-1], rows[:, 1:], _counts(rows[:, 1:])[..., None]
        return [part6.Tensor(eye[x]), part6.Tensor(eye[wanted] * counts / counts.sum())]

    with on(talker.device), digits.changes_of(adam) as changed:
        loss = step(*batch())
    fast = part8.jit(step, changed, talker.device)
    while True:
        yield float(loss.numpy())
        with on(talker.device):
            loss = fast(*batch())


def tried(gpt: Any, look: Attention, steps: int = 120) -> Talker:
    """A short training, of which nothing is kept."""
    talker = Talker(gpt, look)
    training = steps_of(talker, RATE, seed=0)
    losses = [next(training) for _ in range(steps)]
    talker.history = [(steps, float(np.mean(losses[-20:])), talker.nats(names()[1]))]
    return talker


def learn(gpt: Any, look: Attention, steps: int = 3000, device: Any = None) -> Talker:
    """Trains until it has learned for so many steps in all, and shows how it goes.

    It is saved every few seconds. Whether it was interrupted or has ended, the next call goes on
    from there. ValueError where what was saved is a network of a different shape.
    """
    talker, progress = Talker(gpt, look, device), record.place()
    file = progress.with_name(MINE) if progress else OURS
    where = f"{file.parent.name}/{file.name}"
    if file.exists():
        talker.load(file)
        print(f"It goes on from step {talker.steps:,}, which is in {where}. "
              "To begin anew, give that file a different name, or delete it.")  # fmt: skip
    shown = display(talker, display_id=True)
    try:
        for rate, until in ((RATE, int(LATE * steps)), (RATE / 5, steps)):
            training = steps_of(talker, rate, seed=talker.steps)
            while talker.steps < until:
                _some_steps(talker, training, until - talker.steps)
                if progress:
                    talker.save(file)
                if shown is not None:
                    shown.update(talker)
    except KeyboardInterrupt:
        print(f"Stopped. Run the cell again, and it goes on from step {talker.steps:,}.")
    return talker


def _some_steps(talker: Talker, training: Iterator[float], most: int) -> None:
    """Steps for a few seconds, and a line of its history."""
    start, losses = time.monotonic(), [next(training)]
    while len(losses) < most and time.monotonic() - start < EVERY:
        losses.append(next(training))
    held = talker.nats(names()[1])
    talker.made_up = invented(talker, pick, seed=talker.steps)
    talker.history.append((talker.steps + len(losses), float(np.mean(losses)), held))


def invented(
    talker: Talker,
    picks: Any,
    count: int = 10,
    temperature: float = 0.8,
    beginning: str = "",
    seed: int = 0,
) -> list[str]:
    """Names that begin like this and aren't among those that were read."""
    encode([beginning])  # refuses what can't be one
    dice, known, made = np.random.default_rng(seed), {*names()[0], *names()[1]}, list[str]()
    for _ in range(ROUNDS):
        words = dict.fromkeys(sampled(talker, picks, temperature, beginning, dice))
        made += [word for word in words if len(word) > 1 and word not in {*known, *made}]
        if len(made) >= count:
            break
    return made[:count]


def sampled(
    talker: Talker, picks: Any, temperature: float, beginning: str, dice: np.random.Generator
) -> list[str]:
    """A batch of words that begin like this, whatever they are."""
    words, ended = [beginning] * BATCH, np.zeros(BATCH, bool)
    for place in range(len(beginning), PLACES - 1):
        found = talker.scores(words)[:, place]
        for row in np.flatnonzero(~ended):
            letter = picks(found[row], temperature, dice)
            words[row] += LETTERS[letter] if letter else ""
            ended[row] = letter == 0
    return words


# ---- pictures ------------------------------------------------------------------------------------


def map_of(table: np.ndarray) -> None:
    """28 × 28 shares, in matplotlib's figure: a row for each letter, a column for what follows."""
    _, axes = plt.subplots(figsize=(6.4, 6))
    _shaded(axes, np.sqrt(table), LETTERS)
    axes.set(xlabel="the next letter", ylabel="a letter")


def knob(talker: Talker, beginning: str, temperatures: Sequence[float]) -> None:
    """The shares of the next letter at some temperatures, in matplotlib's figure."""
    found = np.log(talker.shares(beginning))
    _, rows = plt.subplots(1, len(temperatures), figsize=(9, 2.2), sharey=True)
    for axes, temperature in zip(rows, temperatures, strict=True):
        axes.bar([*LETTERS], np.exp(_log_shares(found / temperature)))
        axes.set_title(f"temperature {temperature}", fontsize=10)
        axes.tick_params(axis="x", labelsize=7)


def looks(talker: Talker, word: str) -> None:
    """Who looks at whom in a word, in each layer, in matplotlib's figure."""
    Tensor, seen, look = module("part4").Tensor, list[np.ndarray](), talker.look

    def watched(q: Any, k: Any, v: Any) -> Any:
        seen.append(look.masked(look.scores(q, k)).log_softmax().exp().numpy()[0])
        return look(q, k, v)

    with on(talker.device):
        talker.gpt(Tensor(one_hot([word])), watched).numpy()
    size = len(word) + 1
    _, row = plt.subplots(1, len(seen), figsize=(9, 4.6), squeeze=False)
    for number, (axes, shares) in enumerate(zip(row[0], seen, strict=True), 1):
        _shaded(axes, shares[:size, :size], f".{word}")
        axes.set(xlabel=f"layer {number}")


def _shaded(axes: Any, values: np.ndarray, letters: str) -> None:
    ticks = range(len(letters))
    axes.imshow(values, cmap="Blues", vmin=0, vmax=1)
    axes.set(xticks=ticks, yticks=ticks, xticklabels=[*letters], yticklabels=[*letters])
    axes.xaxis.tick_top()


def surprise(yours: Any, models: Mapping[str, Shares], words: Sequence[str]) -> DrawnPicture:
    """The bits a letter of each word, by each model, as bars. yours: the learner's `bits`."""
    chosen, sheet, y = yours_or("talk-bits", yours, bits, "Counted by"), Drawing(), 6.0
    left, wide, lines = 190.0, PAGE - 240.0, list[str]()
    encode(words)  # refuses what isn't a word
    sheet.width = PAGE
    for word in words:
        sheet.words(0, y + 16, word, 14, mono=True, colour=MUTED)
        for number, (name, shares) in enumerate(models.items()):
            value = float(chosen(shares, word))
            long = wide * min(value, MOST_BITS) / MOST_BITS
            sheet.words(left - 8, y + 16, name, 11, anchor="end", colour=MUTED)
            sheet.box(left, y, long, 22, FILLS[number % 2])
            sheet.words(left + long + 6, y + 16, f"{value:.1f}", 13, bold=True, colour=MUTED)
            lines.append(f"{word}, {name}: {value:.1f} bits")
            y += 27
        y += 12
    return DrawnPicture("the surprise of a letter, in bits", "\n".join(lines), sheet)


def cards_of_steps(gpt: Any, look: Attention, devices: Mapping[str, Any]) -> DrawnPicture:
    """How long a step of training takes on each device, captured."""
    trainings = {
        name: steps_of(Talker(gpt, look, device), RATE, seed=0) for name, device in devices.items()
    }
    return speeds({name: partial(next, training) for name, training in trainings.items()})


def page_of(talker: Talker, favourites: Sequence[str], *parts: Any) -> figures.Page:
    """The learner's favourite names, how the network learned, and whose framework it is. parts:
    what the learner wrote for it, to be saved with the framework."""
    whose = figures.of_framework()
    title = "I wrote a GPT, and what it runs on" if whose.theirs else "A GPT, and what it runs on"
    sheet = Drawing()
    sheet.box(0, 0, PAGE, 350, PALE, ARROW, radius=10)
    sheet.words(22, 44, title, 26, bold=True)
    sheet.words(22, 66, f"A framework of {whose.lines} lines, {whose.written} "
                f"{whose.by}. It learned from Python's names, and made these up.",
                13)  # fmt: skip
    sheet.put(talker.picture(favourites).drawing, 22, 90)
    if whose.theirs and talker.history:
        nats = talker.history[-1][2]
        kept.keep("names", time.time(), {"nats": nats, "names": [*favourites]})  # the latest
    page = figures.Page(title, "\n".join(favourites), sheet)
    page.source = "\n\n\n".join([whose.source, *map(_source, parts)])
    return page


def _source(part: Any) -> str:
    """The text of a function or class; of a class in a cell, `inspect` knows only its methods."""
    is_class = inspect.isclass(part)
    functions = [*filter(inspect.isfunction, vars(part).values())] if is_class else [part]
    try:
        text = "\n".join(map(inspect.getsource, functions))
    except (OSError, TypeError):  # typed where nobody remembers it
        return ""
    return f"class {part.__name__}:\n{text}" if is_class else text
