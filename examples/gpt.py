"""A GPT that learns to write Python, byte by byte, from the source of Python's standard library.

    python examples/gpt.py                   trains for half an hour, or until Ctrl-C
    python examples/gpt.py --hours 8         goes on from there: the network is in gpt.safetensors
    python examples/gpt.py --sample "def "   writes 500 bytes that begin like this, without training

About one file in 20 is held out, and the validation loss, in nats per byte, is measured on those.
The checkpoint holds everything that later losses depend on, so a run that was stopped goes on with
exactly the losses of one that never was.

How good is its Python? Here is a number. A piece is 128 bytes from the beginning of a line, without
what follows its last newline, and without the indentation that all its lines share. It parses if
`ast.parse` finds no error, and at least one statement. Many pieces of the library itself don't,
because they begin or end inside a docstring or a call. Some pieces of noise do, so the share is
printed beside that of a table of byte pairs, which only knows how often one byte follows another.
"""

from __future__ import annotations

import argparse
import ast
import json
import signal
import sys
import sysconfig
import textwrap
import threading
import time
import warnings
import zlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from tinyframe import Device, Tensor, TinyJit, Variable, nn
from tinyframe.device import DeviceUnavailable
from tinyframe.nn.state import FileError, StateError

# of a network and its training; the seed is for its first weights, and for the batches
SETTINGS = {"width": 256, "layers": 4, "heads": 8, "context": 128, "batch": 32, "rate": 2e-3,
            "seed": 1}  # fmt: skip
WARM, STEADY = 100, 1000  # the steps at which the rate has been reached, and begins to fall
LINE, PAUSE = 10, 120  # seconds between lines, and between checkpoints
PIECES, PIECE = 128, 128  # how many are written at once, and the bytes in each

# ---- the text ------------------------------------------------------------------------------------

# tests, installed packages, tables of characters and of help texts
LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages", "encodings",
            "pydoc_data"}  # fmt: skip


def library() -> tuple[np.ndarray, np.ndarray]:
    """The source of the standard library as bytes: to learn from, and to validate with."""
    folder = Path(sysconfig.get_path("stdlib"))
    parts: tuple[list[bytes], list[bytes]] = [], []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder)
        if LEFT_OUT.isdisjoint(name.parts):
            # chosen by name, so that a file is on the same side in every version of Python
            parts[zlib.crc32(name.as_posix().encode()) % 20 == 0].append(path.read_bytes())
    if not all(parts):
        sys.exit(f"there is no source of the standard library in {folder}")
    learned, kept_out = (np.frombuffer(b"".join(files), np.uint8) for files in parts)
    return learned, kept_out


def parses(piece: bytes) -> bool:
    """Whether the complete lines of a piece are Python: at least one statement, and no error."""
    lines = piece[: piece.rfind(b"\n") + 1].decode(errors="replace")
    with warnings.catch_warnings(action="ignore"):  # about "\d", an unknown escape
        try:
            return bool(ast.parse(textwrap.dedent(lines)).body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # a 0 is a ValueError
            return False


def printable(piece: bytes) -> str:
    """A piece as text, without characters that would upset a terminal."""
    text = piece.decode(errors="replace")
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def share(pieces: Iterable[bytes]) -> float:
    """The share of pieces that parse."""
    return float(np.mean([parses(piece) for piece in pieces]))


def pieces_of(text: np.ndarray, count: int) -> list[bytes]:
    """Pieces from anywhere in a text."""
    starts = np.flatnonzero(text[:-PIECE] == ord("\n")) + 1
    return [text[n : n + PIECE].tobytes() for n in np.random.default_rng(0).choice(starts, count)]


def pieces_by_chance(text: np.ndarray, count: int) -> list[bytes]:
    """What a table of the byte pairs of a text writes."""
    pairs = text[:-1] * np.int32(256) + text[1:]
    sums = np.bincount(pairs, minlength=1 << 16).reshape(256, 256).cumsum(1)
    rng = np.random.default_rng(0)
    written = [np.full(count, ord("\n"))]
    for _ in range(PIECE):
        upto = sums[written[-1]]  # how often the last byte of each piece precedes 0 to n
        written.append((upto <= rng.random(count)[:, None] * upto[:, -1:]).sum(1))
    return [piece.tobytes() for piece in np.stack(written[1:], 1).astype(np.uint8)]


# ---- the network ---------------------------------------------------------------------------------

Cache = tuple[Tensor, Tensor]  # keys and values of a block: (rows, heads, context, width of a head)


class Block:
    """Attention to everything before, then two linear layers at each place; both add to x."""

    def __init__(self, width: int, heads: int):
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def __call__(self, x: Tensor, cache: Cache | None = None, place: Any = None) -> Tensor:
        """(rows, length, width) to the same shape. With a cache, which holds what came before, x
        is of length 1, at the given place."""
        rows, length, width = x.shape
        normal = self.norm1(x)
        q, k, v = (
            layer(normal).reshape(rows, length, self.heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        if cache is not None:
            for kept, new in zip(cache, (k, v), strict=True):
                kept[:, :, place : place + 1] = new
            k, v = (kept[:, :, : place + 1] for kept in cache)
        mixed = q.scaled_dot_product_attention(k, v, is_causal=cache is None)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, width))
        return x + self.down(self.up(self.norm2(x)).gelu())


class GPT:
    """Tokens, (rows, context), to scores for what comes after each, (rows, context, vocabulary)."""

    def __init__(self, width: int, layers: int, heads: int, context: int, vocabulary: int = 256):
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.blocks = [Block(width, heads) for _ in range(layers)]
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def __call__(self, x: Tensor) -> Tensor:
        h = self.token(x) + self.position.weight
        return self.scores(self.norm(h.sequential(self.blocks)))

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """The mean of -log(probability of the right token), in nats."""
        return self(x).flatten(0, 1).cross_entropy(y.flatten())

    def next(self, x: Tensor, caches: list[Cache], place: Any) -> Tensor:
        """The same for tokens at one place: (rows, 1) to (rows, vocabulary)."""
        h = self.token(x) + self.position.weight[place]
        for block, cache in zip(self.blocks, caches, strict=True):
            h = block(h, cache, place)
        return self.scores(self.norm(h)).squeeze(1)


class Writer:
    """Continues `rows` texts at once, a byte each per step. The place of that byte is a Variable,
    so all places share the same kernels."""

    def __init__(self, model: GPT, rows: int):
        self.model, self.context = model, model.position.vocab_size
        heads, width = model.blocks[0].heads, model.position.embed_size
        shape = rows, heads, self.context, width // heads
        self.caches: list[Cache] = [
            (Tensor.zeros(shape).contiguous().realize(), Tensor.zeros(shape).contiguous().realize())
            for _ in model.blocks
        ]
        self.place = Variable("place", 0, self.context - 1)

    @TinyJit
    def scores(self, x: Tensor, place: Any) -> Tensor:
        with Tensor.no_grad():
            return self.model.next(x, self.caches, place).realize()

    def write(self, prompt: bytes, length: int, rng: np.random.Generator) -> list[bytes]:
        """What comes after the prompt, `length` bytes for each row."""
        rows = self.caches[0][0].shape[0]
        text = np.tile(np.frombuffer(prompt, np.uint8).astype(np.int32), (rows, 1))
        start = place = 0  # where in the text its context starts, and a place in the context
        while text.shape[1] < len(prompt) + length:
            if place == self.context:  # full: start over with the latter half
                start, place = start + (self.context + 1) // 2, 0
            x = Tensor(text[:, start + place, None]).realize()
            scores = self.scores(x, self.place.bind(place)).numpy()
            place += 1
            if start + place == text.shape[1]:
                drawn = (scores + rng.gumbel(size=scores.shape)).argmax(1)
                text = np.column_stack([text, drawn.astype(np.int32)])
        return [row[len(prompt) :].astype(np.uint8).tobytes() for row in text]


# ---- a run ---------------------------------------------------------------------------------------


class Run:
    """A network in training: its optimizer, its schedule, and the number of steps so far."""

    def __init__(self, settings: dict[str, Any]):
        Tensor.manual_seed(settings["seed"])
        self.settings, self.step = settings, 0
        self.model = GPT(*(settings[name] for name in ("width", "layers", "heads", "context")))
        self.optimizer = nn.optim.AdamW(nn.state.get_parameters(self.model), lr=settings["rate"])
        self.schedule = nn.lr.LambdaLR(
            self.optimizer,
            lambda step: ((step + 1) / WARM).minimum((STEADY / (step + 1)).sqrt()).minimum(1.0),
        )

    @TinyJit
    def _learn(self, x: Tensor, y: Tensor) -> Tensor:
        self.optimizer.zero_grad()
        loss = self.model.loss(x, y).backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.realize()

    @TinyJit
    def _loss(self, x: Tensor, y: Tensor) -> Tensor:
        with Tensor.no_grad():
            return self.model.loss(x, y).realize()

    def _batch(self, text: np.ndarray, starts: np.ndarray) -> tuple[Tensor, Tensor]:
        windows = text[starts[:, None] + np.arange(self.settings["context"] + 1)].astype(np.int32)
        return Tensor(windows[:, :-1]).realize(), Tensor(windows[:, 1:]).realize()

    def learn(self, text: np.ndarray) -> float:
        """Takes a step, and gives its loss. The batch depends on the seed and the number of the
        step, so a checkpoint needs no other state of the random numbers."""
        rng = np.random.default_rng((self.settings["seed"], self.step))
        starts = rng.integers(len(text) - self.settings["context"], size=self.settings["batch"])
        loss = self._learn(*self._batch(text, starts)).item()
        self.step += 1
        return loss

    def validation(self, text: np.ndarray) -> float:
        """The mean loss of eight batches spread over the text, always the same ones."""
        last, batch = len(text) - self.settings["context"] - 1, self.settings["batch"]
        starts = np.linspace(0, last, 8 * batch).astype(np.int64).reshape(batch, 8)
        return float(np.mean([self._loss(*self._batch(text, row)).item() for row in starts.T]))

    def _state(self) -> dict[str, Tensor]:
        everything = nn.state.get_state_dict({"model": self.model, "schedule": self.schedule})
        return {n: t for n, t in everything.items() if ".params." not in n}  # those are the model's

    def save(self, path: Path) -> None:
        """Writes everything that later steps depend on."""
        facts = {"settings": self.settings, "step": self.step}
        nn.state.safe_save(self._state(), path, {"gpt": json.dumps(facts)})

    @classmethod
    def load(cls, path: Path, asked: dict[str, Any]) -> Run:
        """The run in a checkpoint. FileError if one of the settings asked for differs."""
        metadata = nn.state.safe_load_metadata(path)
        if "gpt" not in metadata:
            raise FileError(f"{path} is not a checkpoint of examples/gpt.py")
        facts = json.loads(metadata["gpt"])
        for name, value in asked.items():
            if value != facts["settings"][name]:
                raise FileError(
                    f"{path} was trained with --{name} {facts['settings'][name]}, not {value}. "
                    f"Leave out --{name} to go on with it, or start a new one with --file"
                )
        run = cls(facts["settings"])
        nn.state.load_state_dict(run._state(), nn.state.safe_load(path))
        run.step = facts["step"]
        return run


stop = threading.Event()


def ask_to_stop(number: int, _: FrameType | None) -> None:
    """Ctrl-C stops after the current step, when all state is consistent; a second one, at once."""
    stop.set()
    signal.signal(number, signal.default_int_handler)


def train(run: Run, path: Path, learned: np.ndarray, kept_out: np.ndarray, seconds: float,
          steps: float) -> None:  # fmt: skip
    """Trains until the time is up, it has taken `steps` steps, or Ctrl-C."""
    chance, real = share(pieces_by_chance(learned, 4000)), share(pieces_of(kept_out, 1000))
    writer = Writer(run.model, PIECES)
    run.save(path)  # if that fails, it should now, not in an hour
    begun = said = paused = time.monotonic()
    losses: list[float] = []
    validation = "-"
    while True:
        now = time.monotonic()
        finished = run.step >= steps or now - begun > seconds
        pause = finished or stop.is_set() or now - paused > PAUSE
        if losses and (pause or now - said > LINE or run.step == 1):
            per_step = (now - said) / len(losses)
            left = min(begun + seconds - now, (steps - run.step) * per_step)
            each = run.settings["batch"] * run.settings["context"] / per_step
            print(f"step {run.step:,}  loss {np.mean(losses):.3f}  validation {validation}  "
                  f"{each:,.0f} bytes/s  {timedelta(seconds=max(0, round(left)))} left",
                  flush=True)  # fmt: skip
            said, losses = now, []
        if pause:
            run.save(path)
            if stop.is_set():
                break
            validation = f"{run.validation(kept_out):.3f}"
            rng = np.random.default_rng(run.step)
            rounds = range(4 if finished else 1)  # a share of few pieces is a rough one
            written = [piece for _ in rounds for piece in writer.write(b"\n", PIECE, rng)]
            print(f"\n{textwrap.indent(printable(written[0]), '    ')}\n\n"
                  f"step {run.step:,}  validation {validation}  {share(written):.1%} of "
                  f"{len(written)} pieces parse; of byte pairs {chance:.1%}, of the library itself "
                  f"{real:.1%}\n", flush=True)  # fmt: skip
            if finished:
                break
            said = paused = time.monotonic()
        losses.append(run.learn(learned))
        if not np.isfinite(losses[-1]):
            sys.exit(f"the loss of step {run.step:,} is {losses[-1]}; a lower --rate may help. "
                     f"{path} is as it was last saved")  # fmt: skip
    print(f"saved {path} at step {run.step:,}; the same command goes on from there")


# ---- the command ---------------------------------------------------------------------------------


def number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--file", type=Path, default=Path("gpt.safetensors"), help="the checkpoint: goes on from "
        "it if it exists (%(default)s)")  # fmt: skip
    add("--hours", type=float, default=0.5, help="how long to train (%(default)s)")
    add("--steps", type=number, default=float("inf"), help="stop at this step, counted from the "
        "very first, even if there is time left")  # fmt: skip
    add("--device", help="such as CUDA (CPU, unless DEVICE is set)")
    add("--sample", metavar="TEXT", help="write 500 bytes that begin like this, and don't train")
    shape = parser.add_argument_group("a new network", "An existing file keeps its own settings.")
    for name, usual in SETTINGS.items():
        shape.add_argument(f"--{name}", type=number if isinstance(usual, int) else float,
                           help=f"({usual})")  # fmt: skip
    options = parser.parse_args(arguments)
    asked = {name: getattr(options, name) for name in SETTINGS}
    asked = {name: value for name, value in asked.items() if value is not None}
    settings = SETTINGS | asked
    path, exists = options.file, options.file.exists()
    if not exists and settings["width"] % settings["heads"]:
        parser.error(f"a width of {settings['width']} can't be divided among {settings['heads']} "
                     "heads")  # fmt: skip
    if not exists and options.sample is not None:
        parser.error(f"there is no {path} to sample from: train first, without --sample")
    try:
        Device.DEFAULT = options.device or Device.DEFAULT
        Device[Device.DEFAULT]  # opens it
    except (ValueError, DeviceUnavailable) as error:
        parser.error(str(error))
    try:
        run = Run.load(path, asked) if exists else Run(settings)
        if options.sample is not None:
            prompt = options.sample.encode() or b"\n"
            (text,) = Writer(run.model, 1).write(prompt, 500, np.random.default_rng())
            print(printable(prompt + text))
            return
        learned, kept_out = library()
        print(f"{sum(t.numel() for t in run.optimizer.params):,} weights on {Device.DEFAULT}, "
              f"{len(learned):,} bytes to learn from, {len(kept_out):,} to validate with; "
              + (f"{path} is at step {run.step:,}" if exists else f"a new {path}"),
              flush=True)  # fmt: skip
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, ask_to_stop)
        train(run, path, learned, kept_out, options.hours * 3600, options.steps)
    except (FileError, StateError, OSError) as error:  # an OSError is of the disk
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(f"stopped at once: {path} is as it was last saved")


if __name__ == "__main__":
    main()
