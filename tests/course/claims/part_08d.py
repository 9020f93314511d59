"""What the last page of 8d claims."""

from __future__ import annotations

import numpy as np

from classroom.lessons.it_talks.talk_size import parts
from classroom.mini import talk
from tests.course.claims import claim
from tests.mini.test_talk import LOOK, Tensor, gpt, trained


@claim(
    "A language model says how likely each letter is to come next; to make up text, roll the dice"
    " by that."
)
def names_by_a_table_are_made_of_pairs_that_it_knows():
    table = talk.pairs(["abc", "abd"])
    assert np.allclose(table.sum(1), 1)
    words = talk.by_table(talk.pairs(["abc"] * 10_000), 20, seed=0)
    assert words.count("abc") >= 18


@claim("Attention is a score for each pair of places, a mask and a mixture.")
def attention_is_these_three():
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 4)).astype(np.float32)
    scores = np.where(np.tri(5, dtype=bool), q @ k.swapaxes(1, 2) / 2, -np.inf)
    shares = np.exp(scores - scores.max(2, keepdims=True))
    expected = shares / shares.sum(2, keepdims=True) @ v
    assert np.allclose(LOOK(*map(Tensor, (q, k, v))).numpy(), expected, atol=1e-5)


@claim("A mask that lets the future through makes the loss wonderful and the network useless.")
def a_network_that_sees_the_answer_knows_nothing():
    fooled = talk.tried(gpt(), LOOK.blind(), steps=80)
    held = talk.names()[1]
    assert fooled.history[-1][1] < 0.5 < 1.5 < trained().nats(held)  # better than can be
    words = talk.sampled(fooled, talk.pick, 0.8, "", np.random.default_rng(0))
    assert words.count("") > len(words) / 2


@claim("A low temperature makes the likely likelier.")
def a_low_temperature_makes_the_likely_likelier():
    scores, dice = np.log([1.0, 2.0, 4.0]), np.random.default_rng(0)
    of_last = [np.mean([talk.pick(scores, t, dice) == 2 for _ in range(2000)]) for t in (2, 1, 0.3)]
    assert of_last[0] < of_last[1] - 0.05 < of_last[2] - 0.2


@claim("Nearly all parameters of a GPT are in 12 · width² for each layer.")
def parameters_are_in_the_matrices_of_the_layers():
    tables = parts(50257, 2048, 4096, 32)
    assert tables["matrices"] > 0.95 * sum(tables.values()) > 6e9
    sizes = [tensor.numpy().size for tensor in gpt().parameters]
    assert sum(sizes) == sum(parts(28, 16, 48, 2).values())


claim("A low loss means a good model.")(a_network_that_sees_the_answer_knows_nothing)


@claim("A language model looks names up.")
def most_of_what_it_says_is_in_no_list():
    words = talk.sampled(trained(), talk.pick, 0.8, "", np.random.default_rng(0))
    known = {*talk.names()[0], *talk.names()[1]}
    assert sum(word in known for word in words) < len(words) / 2
