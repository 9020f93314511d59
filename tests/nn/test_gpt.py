"""examples/gpt.py learns, stops, goes on as if it had not stopped, and writes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import gpt
from tinyframe import Tensor
from tinyframe.nn.state import FileError, safe_save
from tinyframe.run import realize

ROOT = Path(__file__).resolve().parents[2]
TINY = {"width": 32, "layers": 2, "heads": 2, "context": 16, "batch": 8, "rate": 0.01, "seed": 1}
TEXT = np.frombuffer(Path(gpt.__file__).read_bytes(), np.uint8)


def test_a_run_that_was_stopped_goes_on_with_equal_losses(tmp_path):
    whole = gpt.Run(TINY)
    losses = [whole.learn(TEXT) for _ in range(60)]
    assert losses[-1] < losses[0] - 1
    begun = gpt.Run(TINY)
    first = [begun.learn(TEXT) for _ in range(20)]
    begun.save(tmp_path / "run")
    resumed = gpt.Run.load(tmp_path / "run", {"width": 32})
    assert resumed.step == 20
    assert first + [resumed.learn(TEXT) for _ in range(40)] == losses
    assert resumed.validation(TEXT) == whole.validation(TEXT)


def command(folder, *arguments):
    options = [f"--{name}={value}" for name, value in TINY.items()]
    program = [sys.executable, "-m", "examples.gpt", "--file", str(folder / "file")]
    return subprocess.Popen(
        [*program, *options, *arguments], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_ctrl_c_leaves_a_whole_checkpoint_that_the_same_command_goes_on_from(tmp_path):
    with command(tmp_path) as running:
        while not running.stdout.readline().startswith("step 1 "):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        said = running.stdout.read()
    assert running.returncode == 0
    step = gpt.Run.load(tmp_path / "file", TINY).step
    assert step >= 1
    assert f"at step {step:,}; the same command" in said
    with command(tmp_path, f"--steps={step + 5}") as resumed:
        said = resumed.stdout.read()
    assert f"is at step {step:,}" in said
    assert f"at step {step + 5:,}; the same command" in said
    assert "% of 512 pieces parse; of byte pairs" in said
    with command(tmp_path, "--sample=def ") as writing:
        said = writing.stdout.read()
    assert said.startswith("def ")
    assert len(said.encode()) >= 500


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    gpt.Run(TINY).save(tmp_path / "run")
    with pytest.raises(FileError, match="--width 32, not 64"):
        gpt.Run.load(tmp_path / "run", {"width": 64})
    with pytest.raises(SystemExit, match="--rate 0.01, not 0.5"):
        gpt.main(["--file", str(tmp_path / "run"), "--rate", "0.5"])


def test_a_damaged_file_and_one_of_somebody_else_are_refused(tmp_path):
    path = tmp_path / "run"
    gpt.Run(TINY).save(path)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(SystemExit, match="no complete safetensors file"):
        gpt.main(["--file", str(path)])
    safe_save({"weight": Tensor([1.0])}, path)
    with pytest.raises(SystemExit, match="not a checkpoint"):
        gpt.main(["--file", str(path)])


def test_a_loss_that_is_no_number_ends_the_run_and_not_the_checkpoint(tmp_path):
    run, path = gpt.Run(TINY | {"rate": 1e30}), tmp_path / "run"
    with pytest.raises(SystemExit, match="a lower --rate may help"):
        gpt.train(run, path, TEXT, TEXT, seconds=60, steps=50)
    assert np.isfinite(gpt.Run.load(path, {}).validation(TEXT))


def test_what_is_written_byte_by_byte_has_the_scores_of_the_whole():
    model = gpt.Run(TINY).model
    x = np.random.default_rng(0).integers(0, 256, (3, 16)).astype(np.int32)
    writer = gpt.Writer(model, 3)
    found = [
        writer.scores(Tensor(x[:, n, None]).realize(), writer.place.bind(n)).numpy()
        for n in range(16)
    ]
    np.testing.assert_allclose(np.stack(found, 1), model(Tensor(x)).numpy(), atol=1e-5)


def test_no_place_needs_kernels_of_its_own_and_a_text_may_be_longer_than_the_context():
    writer, rng = gpt.Writer(gpt.Run(TINY).model, 4), np.random.default_rng(0)
    writer.write(b"def", 3, rng)
    kernels = len(realize._kernels)
    written = writer.write(b"a prompt that is longer than what it sees", 40, rng)
    assert [len(text) for text in written] == [40] * 4
    assert len(set(written)) == 4
    assert len(realize._kernels) == kernels


@pytest.mark.parametrize(("piece", "does"), [
    (b"x = 1\ny = 2\ncut o", True),
    (b"    return x\n", True),  # a margin doesn't matter, and `ast` takes a return anywhere
    (b"if x:\n", False),
    (b"# nothing\n\n", False),
    (b"no end of a line", False),
    (b"a\0b\n", False),
    (b"\xff\n", False),
])  # fmt: skip
def test_a_piece_parses_if_its_lines_are_python(piece, does):
    assert gpt.parses(piece) is does


def test_the_librarys_own_pieces_parse_more_often_than_those_of_byte_pairs():
    learned, kept_out = gpt.library()
    assert len(learned) > 10 * len(kept_out)
    chance = gpt.pieces_by_chance(learned[:1_000_000], 500)
    assert {len(piece) for piece in chance} == {gpt.PIECE}
    assert gpt.share(chance) < 0.1 < gpt.share(gpt.pieces_of(kept_out, 500))
