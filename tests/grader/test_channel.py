"""Messages: what is sent arrives, and what is no message is refused before anything is done."""

import fcntl
import json
import math
import os
import struct
from time import monotonic

import numpy as np
import pytest

from classroom.grader.channel import (
    MOST_HEADER,
    Channel,
    Closed,
    Late,
    Malformed,
    Other,
    decode,
    encode,
)


@pytest.fixture
def pipe():
    """(a channel that reads, the file to write bytes to)"""
    read, write = os.pipe()
    spare_read, spare_write = os.pipe()
    file = os.fdopen(write, "wb", buffering=0)
    yield Channel(read, spare_write), file
    file.close()
    for end in (read, spare_read, spare_write):
        os.close(end)


def arrive(pipe, *parts):
    """What the channel makes of these bytes, which have to fit into a pipe."""
    channel, file = pipe
    data = b"".join(parts)
    assert len(data) < 1 << 16
    file.write(data)
    file.close()
    return channel.receive(monotonic() + 5)


def framed(header):
    return struct.pack(">I", len(header)) + header


def header(**changes):
    whole = {"nonce": "n", "kind": "value", "body": None, "arrays": []}
    return json.dumps({**whole, **changes}).encode()


VALUES = [None, True, 0, -(2**63), 1.5, "text", [], (1, (2.0,)), {"a": [1], 2: None}, ..., math.inf]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_survives(value):
    arrays = []
    body = json.loads(json.dumps(encode(value, arrays), allow_nan=False))
    assert decode(body, arrays) == value
    assert type(decode(body, arrays)) is type(value)


def test_arrays_survive_a_pipe():
    read, write = os.pipe()
    channel = Channel(read, write)
    sent = [np.arange(6, dtype=np.int16).reshape(2, 3), np.array(True), np.zeros((0, 4))]
    channel.send("n", "value", {"array": 0}, sent, monotonic() + 5)
    message = channel.receive(monotonic() + 5)
    for got, wanted in zip(message.arrays, sent, strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype
    channel.close()


def test_what_is_not_sent_is_named():
    class Evil(int):
        def __lt__(self, other):
            raise AssertionError("it was asked something")

    for value, name in ((Evil(3), "Evil"), (object(), "object"), ({1, 2}, "set")):
        assert decode(encode(value, []), []) == Other(name)
    assert isinstance(decode(encode(2**64, []), []), Other)


def test_what_contains_itself_is_sent_to_some_depth_only():
    value = []
    value.append(value)
    assert "levels deep" in json.dumps(encode(value, []))


# header: what is wrong with it
BAD = {
    b"": "no JSON .JSONDecodeError",
    b"nonsense": "no JSON .JSONDecodeError",
    b"[" * 50_000: "no JSON .RecursionError",
    b"\xff\xfe": "no JSON .JSONDecodeError",
    b'{"nonce": "n", "kind": "", "body": ' + b"9" * 5000 + b', "arrays": []}': "no JSON",
    b'{"nonce": NaN}': "NaN",
    b"[]": "no header",
    b'{"nonce": "n", "kind": "value", "body": 0}': "no header",
    header(more=1): "no header",
    header(nonce=3): "no header",
    header(arrays=3): "no header",
    header(arrays=[["object", [1]]]): "a dtype that is not sent",
    header(arrays=[[["float32"], [1]]]): "a dtype that is not sent",
    header(arrays=[["float32", [-1]]]): "a shape that cannot be",
    header(arrays=[["float32", [True]]]): "a shape that cannot be",
    header(arrays=[["float32", [1] * 9]]): "an array without a shape",
    header(arrays=[["float64", [16 << 20, 16 << 20]]]): "arrays that are too large",
    header(arrays=[["float64", [1 << 24] * 4 + [0]]]): "arrays that are too large",
}


@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_message_is_malformed(bad, pipe):
    with pytest.raises(Malformed, match=BAD[bad]):
        arrive(pipe, framed(bad))


@pytest.mark.parametrize(
    "body",
    [
        {}, {"array": 0}, {"array": -1}, {"array": True}, {"float": "1"}, {"tuple": 3}, {"x": 1},
        {"dict": [[1]]}, {"dict": [1]}, 2**63, {"a": 1, "b": 2}, {"other": 3},
    ],
    ids=repr,
)  # fmt: skip
def test_a_body_that_means_nothing_is_malformed(body):
    with pytest.raises(Malformed):
        decode(body, [])


def test_deep_bodies_are_malformed():
    body = 1
    for _ in range(200):
        body = [body]
    with pytest.raises(Malformed, match="deep"):
        decode(body, [])


def test_a_header_that_is_too_long_is_not_read(pipe):
    with pytest.raises(Malformed, match="too long"):
        arrive(pipe, struct.pack(">I", MOST_HEADER + 1))


def test_half_a_message_is_closed(pipe):
    with pytest.raises(Closed):
        arrive(pipe, framed(header(arrays=[["float32", [4]]])), b"1234567")


def test_no_message_is_late(pipe):
    channel, _ = pipe
    with pytest.raises(Late):
        channel.receive(monotonic())


def test_who_does_not_read_makes_the_sender_late(pipe):
    channel, _ = pipe
    with pytest.raises(Late):
        channel.send("n", "value", None, [np.zeros(1 << 20)], monotonic() + 0.05)


def test_a_bool_is_true_or_false_whatever_the_byte(pipe):
    message = arrive(pipe, framed(header(arrays=[["bool", [3]]])), b"\x00\x02\xff")
    assert message.arrays[0].view(np.uint8).tolist() == [0, 1, 1]


def test_numbers_from_1024_on_are_files_like_any_other():
    """Where a process has that many open, select() breaks."""
    read, write = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 1500) for end in (read, write)]
    channel = Channel(*high)
    channel.send("n", "value", 7, [], monotonic() + 5)
    assert channel.receive(monotonic() + 5).body == 7
    channel.close()
    os.close(read)
    os.close(write)


def test_somebody_looks_while_nothing_comes():
    """A check is called again and again, and may end the waiting."""
    read, write = os.pipe()
    calls = []

    def look():
        calls.append(1)
        if len(calls) == 3:
            raise Late

    channel = Channel(read, write, look, 0.001)
    with pytest.raises(Late):
        channel.receive(monotonic() + 3600)
    assert len(calls) == 3
    channel.close()
