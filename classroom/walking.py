"""A walk, as it is made: `classroom/paths.py` starts this in a Python of its own, and draws it.

Calls are seen by `sys.setprofile`, over here, so a debugger, a profiler or coverage over there
notices nothing. What a walk counts is the same on every machine when it goes to C: the C is that of
a plain processor, garbage is not collected meanwhile, and what runs while a file is imported is
left out. Nothing but tinyframe is imported, since somebody waits.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import tinyframe

ROOT = Path(__file__).parents[1]
PACKAGE = Path(tinyframe.__file__).parent  # as Python names its files, wherever they are
# A comprehension is a call in some versions of Python and none in others, and so are annotations.
NO_FUNCTIONS = {"<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "__annotate__"}

Call = tuple[str, str]  # a file of tinyframe, and a function in it, with its class


def calls_of(work: Callable[[], Any]) -> list[Call]:
    """The functions of tinyframe that this thread enters while `work` runs, in order. Who was told
    of calls before is told of them again afterwards."""
    calls: list[Call] = []
    importing = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal importing
        code, file = frame.f_code, frame.f_code.co_filename
        if not file.startswith(here):
            return
        if code.co_name == "<module>":  # a file that is imported late: its own calls don't count
            importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing and code.co_name not in NO_FUNCTIONS:
            calls.append((file[len(here) :], code.co_qualname))

    here, before, collects = f"{PACKAGE}{os.sep}", sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return calls


def main() -> None:
    """Answers what `walks` asks."""
    from tinyframe import Tensor
    from tinyframe.codegen import get_program
    from tinyframe.device import Device, NoCompiler
    from tinyframe.renderer.cstyle import CStyleLanguage
    from tinyframe.uop import Ops

    asked = json.load(sys.stdin)
    with suppress(NoCompiler):
        _ = Device["CPU"].renderer  # which asks the compiler for what this processor has
    a, b = Tensor([1.0, 2.0, 3.0]).realize(), Tensor([4.0, 5.0, 6.0]).realize()
    m = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]).realize()
    plain, answers = CStyleLanguage(), []
    for expression in asked["expressions"]:
        code, text = compile(expression, "<your expression>", "eval"), [""]

        def work(code: Any = code, text: list[str] = text) -> None:
            found = eval(code, {"Tensor": Tensor, "a": a, "b": b, "m": m})
            if not isinstance(found, Tensor):
                raise TypeError(f"it gives a {type(found).__name__}, and not a Tensor")
            if asked["to"] == "numbers":
                found.numpy()
                return
            for item in found.schedule():
                if item.ast.op is Ops.SINK:
                    text[0] = get_program(item.ast, plain).src

        answers.append({"calls": calls_of(work), "source": text[0]})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
