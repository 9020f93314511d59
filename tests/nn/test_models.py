"""Real models: they learn what they are given, and a saved one is the same elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.models import (
    CHARACTERS,
    CONTEXT,
    TEXT,
    TOKENS,
    DigitNetwork,
    digit_accuracy,
    digit_images,
    text_batch,
    transformer,
)
from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.state import get_parameters, get_state_dict, safe_save

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def digit_network():
    """Trained in five epochs."""
    Tensor.manual_seed(0)
    model = DigitNetwork()
    optimizer = nn.optim.Adam(get_parameters(model))

    @TinyJit
    def step(x, y):
        with Tensor.train():
            optimizer.zero_grad()
            loss = model(x).cross_entropy(y).backward()
            optimizer.step()
        return loss

    x, y, _, _ = digit_images()
    batches = nn.DataLoader(x, y, batch_size=32, shuffle=True, seed=0)
    for _ in range(5):
        for batch in batches:
            step(*batch)
    return model


def test_the_cnn_of_the_texts_knows_98_percent_of_the_digits_after_five_epochs(digit_network):
    assert digit_accuracy(digit_network) > 0.98


ACCURACY = """
import sys
from tests.models import DigitNetwork, digit_accuracy
from tinyframe.nn.state import load_state_dict, safe_load

model = DigitNetwork()
load_state_dict(model, safe_load(sys.argv[1]), verbose=False)
print(digit_accuracy(model))
"""


def test_a_saved_model_is_as_good_in_a_new_process_and_opens_elsewhere(digit_network, tmp_path):
    path = tmp_path / "digits.safetensors"
    state = get_state_dict(digit_network)
    safe_save(state, path)
    command = [sys.executable, "-c", ACCURACY, str(path)]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert float(printed) == digit_accuracy(digit_network)
    elsewhere = load_file(path)
    assert elsewhere.keys() == state.keys()
    for name, array in elsewhere.items():
        np.testing.assert_array_equal(array, state[name].numpy())


def test_a_transformer_learns_a_text_by_heart():
    Tensor.manual_seed(0)
    model = transformer()
    optimizer = nn.optim.AdamW(get_parameters(model), lr=5e-3)
    parts = [nn.lr.LinearLR(optimizer, 0.04, 1.0, 120), nn.lr.CosineAnnealingLR(optimizer, 280)]
    schedule = nn.lr.SequentialLR(optimizer, parts, [120])

    @TinyJit
    def step(x, y):
        optimizer.zero_grad()
        loss = model.loss(x, y).backward()
        nn.clip_grad_norm_(optimizer.params, 1.0)
        optimizer.step()
        schedule.step()
        return loss

    for number in range(400):
        loss = step(*[Tensor(part).realize() for part in text_batch(number, 32)])
    assert loss.item() < 0.25  # the first characters of a window can only be guessed

    @TinyJit
    def next_token(x):
        return model(x)[0, -1].argmax().realize()

    written = list(TOKENS[:CONTEXT])
    with Tensor.no_grad():
        while len(written) < 150:
            context = np.array([written[-CONTEXT:]], np.int32)
            written.append(next_token(Tensor(context).realize()).item())
    assert "".join(CHARACTERS[token] for token in written) == TEXT[:150]
