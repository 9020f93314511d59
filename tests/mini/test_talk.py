"""Part 8d's network: its values against NumPy, its training, and what is kept of it."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from benchmarks.own_c import in_numpy, of_lesson
from classroom.mini import talk
from classroom.mini.own_c import module

LOOK = talk.Attention(talk.scores, talk.masked, talk.mixed)


def Tensor(values):
    return module("part6").Tensor(values)


def gpt(**sizes):
    return of_lesson("GPT")(**sizes)


@cache
def trained():
    """The one that stands in the repository."""
    talker = talk.Talker(gpt(), LOOK)
    talker.load(talk.OURS)
    return talker


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A learner's copy, as the working directory; a report after each step."""
    folder = tmp_path / "my_course"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(talk, "EVERY", 0.0)
    return folder


def values(model):
    return [tensor.numpy().copy() for tensor in model.parameters]


def test_the_network_is_what_its_formulas_say():
    model, words = gpt(width=12, layers=2, seed=1), ["", "a", "get_name", "abcdefghijklmno"]
    x = talk.one_hot(words)
    wanted = np.random.default_rng(0).random(x.shape, dtype=np.float32)
    scores, loss, grads = in_numpy(values(model), x, wanted)
    assert np.allclose(model(Tensor(x), LOOK).numpy(), scores, atol=1e-4)
    found = model(Tensor(x), LOOK)
    ours = -(found.log_softmax() * Tensor(wanted)).sum()
    slopes = ours.gradient(*model.parameters)
    assert ours.numpy() == pytest.approx(loss, rel=1e-5)
    for slope, grad in zip(slopes, grads, strict=True):
        assert np.allclose(slope.numpy(), grad, rtol=1e-3, atol=1e-3 * np.abs(grad).max())


def test_names_are_those_of_the_standard_library():
    known, held = talk.names()
    assert not {*known} & {*held} and len(held) == len([*known, *held]) // 10
    assert {"getsource", "dumps", "heappush"} <= {*known, *held}  # of inspect, json, heapq
    assert all(re.fullmatch("[a-z_]{3,15}", name) for name in (*known, *held))


def test_ours_has_learned_to_make_up_names():
    known, held = talk.names()
    table, talker = talk.pairs(known), trained()

    def by_table(beginning):
        return table[talk.LETTERS.index(("." + beginning)[-1])]

    assert talker.nats(held) <= 1.95  # asked for in issue 51; a table of pairs: 2.58
    bits = [
        np.mean([talk.bits(model, word) for word in held[:40]])
        for model in (by_table, talker.shares)
    ]
    assert bits[1] < bits[0] - 0.8
    made = talk.invented(talker, talk.pick, 12, beginning="get_")
    assert len({*made}) == 12 and all(word.startswith("get_") for word in made)
    assert not {*made} & {*known, *held}


def test_nats_are_bits_of_every_letter():
    talker, words = trained(), ["get_name", "x"]
    letters = [len(word) + 1 for word in words]
    bits = [talk.bits(talker.shares, word) for word in words]
    assert talker.nats(words) == pytest.approx(
        np.average(bits, weights=letters) * np.log(2), rel=1e-5
    )


def test_a_training_is_saved_and_goes_on(copy):
    model = gpt(width=8, layers=1)
    first = talk.learn(model, LOOK, steps=3)
    assert [step for step, _, _ in first.history] == [1, 2, 3]
    again = talk.learn(other := gpt(width=8, layers=1, seed=5), LOOK, steps=3)  # nothing to do
    assert again.history == first.history and again.made_up == first.made_up
    assert all(map(np.array_equal, values(other), values(model)))
    more = talk.learn(other, LOOK, steps=40)
    assert more.history[:3] == first.history and more.steps == 40
    assert more.history[-1][2] < first.history[0][2] - 0.3  # of names held back


def test_an_interrupted_training_keeps_what_was_saved(copy, monkeypatch, capsys):
    model, count = gpt(width=8, layers=1), iter(range(99))
    some_steps = talk._some_steps

    def interrupted(talker, training, most):
        if next(count) == 2:
            raise KeyboardInterrupt
        some_steps(talker, training, most)

    monkeypatch.setattr(talk, "_some_steps", interrupted)
    assert talk.learn(model, LOOK, steps=9).steps == 2
    assert "goes on from step 2." in capsys.readouterr().out
    assert talk.learn(gpt(width=8, layers=1), LOOK, steps=9).steps == 9
    assert "goes on from step 2, which is in my_course/my_gpt.npz" in capsys.readouterr().out
    assert [file.name for file in copy.iterdir()] == [talk.MINE]


def test_what_was_saved_of_a_different_network_is_refused_and_stays(copy):
    talk.learn(gpt(width=8, layers=1), LOOK, steps=1)
    saved = (copy / talk.MINE).read_bytes()
    with pytest.raises(ValueError, match="my_gpt.npz is a network of a different shape: rename"):
        talk.learn(gpt(width=8, layers=2), LOOK, steps=1)
    assert (copy / talk.MINE).read_bytes() == saved
    (copy / talk.MINE).write_bytes(saved[: len(saved) // 2])
    with pytest.raises(ValueError, match="my_gpt.npz is damaged .*: delete it"):
        talk.learn(gpt(width=8, layers=1), LOOK, steps=1)


@pytest.mark.parametrize("beginning", ["Guido", "a" * 16, "a.b", "é"])
def test_a_beginning_that_no_name_has_is_refused(beginning):
    with pytest.raises(ValueError, match="the network knows words of up to 15 letters"):
        talk.invented(trained(), talk.pick, beginning=beginning)
    with pytest.raises(ValueError, match="isn't one"):
        talk.looks(trained(), beginning)


def test_pictures_say_what_they_show():
    assert "nats a letter" in repr(trained()) and "1.80" in repr(trained())
    assert repr(talk.Talker(gpt(width=8, layers=1), LOOK)) == "nothing learned yet"
    found = talk.surprise(None, {"none": lambda beginning: np.full(28, 1 / 28)}, ["abc"])
    assert found.text == "abc, none: 4.8 bits"
    page = talk.page_of(trained(), ["one", "two"], talk.pick)
    assert page.text == "one\ntwo"
    assert "class Adam" in page.source and "def pick(" in page.source


def test_an_arrangement_that_is_right_is_used_for_each_program(capsys):
    assert talk.device_by(lambda program: program) is module("part8").CRunner
    seen = []

    def arrange(program):
        seen.append(program)
        return of_lesson("arrange")(program)

    device = talk.device_by(arrange)
    assert "are arranged by your function" in capsys.readouterr().out
    seen.clear()
    model, words = gpt(width=16, layers=1), ["get_name"]
    found = talk.Talker(model, LOOK, device).scores(words)
    nothing = np.zeros((1, talk.PLACES, len(talk.LETTERS)), np.float32)
    scores, _, _ = in_numpy(values(model), talk.one_hot(words), nothing)
    assert np.allclose(found, scores, atol=1e-4)
    assert len(seen) > 10
