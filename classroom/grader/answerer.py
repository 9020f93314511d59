"""The process of a submission: loads the file, and answers until no more questions come.

It shares this process with the submission, which can change anything here. That gains it nothing:
what leaves the process is only an answer, and the grader judges answers by what is in them.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections import abc
from time import monotonic
from types import ModuleType
from typing import Any

import numpy as np

from classroom.grader.channel import Channel, Closed, Malformed, Message, NumpyArray, encode
from classroom.grader.expressions import Expression
from classroom.grader.graphs import Refused, to_table
from tinyframe import Tensor
from tinyframe.dtype import DType, dtypes
from tinyframe.uop.node import Ops, UOp

A_DAY = 24 * 60 * 60.0
# For what is derived from these, such as a StrEnum.
PLAIN: dict[type, Any] = {str: str.__str__, int: int.__int__, float: float.__float__}


def main(channel: Channel, path: str) -> None:
    submission: ModuleType | None = None
    kept: dict[int, Any] = {}
    while True:
        try:
            question = channel.receive(monotonic() + A_DAY)
        except Closed:
            return
        arrays: list[np.ndarray] = []
        try:
            if question.kind == "hello":
                kind, body = "hello", None
            elif question.kind == "load":
                submission = load(path)
                kind, body = "loaded", None
            else:
                kind, body = answer(submission, question, arrays, kept)
        except BaseException as error:  # an exit() or an interrupt is one answer like any other
            kind, body, arrays = "raised", what_was_raised(error, path), []
        try:
            channel.send(question.nonce, kind, body, arrays, monotonic() + A_DAY)
        except Malformed as error:
            channel.send(question.nonce, "refused", str(error), [], monotonic() + A_DAY)


def load(path: str) -> ModuleType:
    """The file as a module that is not `__main__`: what stands under that guard does not run."""
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = ModuleType("submission")
    # by its own name too: other files of the same folder may import it
    name = os.path.splitext(os.path.basename(path))[0]
    sys.modules["submission"] = sys.modules[name] = module
    module.__file__ = path
    sys.path.insert(0, os.path.dirname(path))
    exec(code, module.__dict__)
    return module


def answer(
    submission: ModuleType | None, question: Message, arrays: list[np.ndarray], kept: dict[int, Any]
) -> tuple[str, Any]:
    """kept: the results that stay here, by number, for as long as later questions may name them."""
    name, want = question.body["function"], question.kind
    inputs: dict[UOp, int] = {}

    def argument(body: Any) -> Any:
        return _argument(body, question.arrays, inputs, kept)

    function = getattr(submission, name, None) if isinstance(name, str) else argument(name)
    if function is None:
        return "missing", None
    result = function(*map(argument, question.body["arguments"]))
    if want == "keep" and result is not None and result is not ...:
        kept[question.body["keep"]] = result
        return "kept", None
    if want != "graph" or not isinstance(result, Tensor):
        return "value", encode(_plain(result), arrays)
    try:
        return "graph", to_table(result.uop, inputs, arrays)
    except Refused as error:
        arrays.clear()
        return "refused", str(error)


def _argument(
    body: Any, arrays: list[np.ndarray], inputs: dict[UOp, int], kept: dict[int, Any]
) -> Any:
    """What the grader wrote: arrays are Tensors in memory, expressions are functions or values."""
    if isinstance(body, list):
        return [_argument(x, arrays, inputs, kept) for x in body]
    if not isinstance(body, dict):
        return body
    if "array" in body:
        tensor = Tensor(arrays[body["array"]]).realize()
        inputs[tensor.uop.base] = len(inputs)
        return tensor
    if "numpy" in body:
        return np.array(arrays[body["numpy"]])
    if "dict" in body:
        return {key: _argument(x, arrays, inputs, kept) for key, x in body["dict"]}
    if "kept" in body:
        return kept[body["kept"]]
    text, named, parameters = body["expression"]
    return Expression(text, {k: arrays[n] for k, n in named.items()}, parameters).argument()


def _plain(value: Any, depth: int = 0) -> Any:
    """The same in plain containers, with the values of Tensors, and the names of dtypes and ops.

    A namedtuple, an OrderedDict or a StrEnum is as good an answer as a tuple, a dict or a text. A
    NumPy array is no Tensor, and is sent as what it is; a submission could forge that, but it could
    as well build the Tensor.
    """
    if depth > 8:
        return value
    if isinstance(value, Tensor):
        floats = value.float() if value.dtype is dtypes.bfloat16 else value
        return np.array(floats.numpy())
    if isinstance(value, np.ndarray):
        return NumpyArray(np.array(value, value.dtype.newbyteorder("=")))
    if isinstance(value, (DType, Ops)):
        return str(value)
    if isinstance(value, abc.Mapping):
        return {_plain(k, depth + 1): _plain(value[k], depth + 1) for k in value}
    for kind, plain in PLAIN.items():
        if isinstance(value, kind) and not isinstance(value, bool):
            return plain(value)
    if isinstance(value, tuple):
        return tuple(_plain(x, depth + 1) for x in value)
    if isinstance(value, abc.Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(x, depth + 1) for x in value]
    return value


def what_was_raised(error: BaseException, path: str) -> dict[str, Any]:
    """The type, the message, and the last line of the submission on the way there."""
    try:
        message = str(error)[:300]
    except BaseException:
        message = ""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
        message = str(error.msg)[:300]
    last = next((n for n in reversed(lines) if type(n) is int), None)
    return {"type": type(error).__name__[:60], "message": message, "line": last}
