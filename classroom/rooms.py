"""The ten rooms of part 10a, a question for each, and how its right answers are found.

The texts that this course began with name ten files to read. Here are ours, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import unwrap
from typing import Any

from classroom.ask import describe
from classroom.exercise import Open, Wrong, wrong_if
from classroom.paths import Walk, counted, route, walked
from classroom.places import Place, returned_by, said, temperature
from classroom.walking import Call, calls_of
from classroom.yours import yours_or
from tinyframe import Context, Tensor
from tinyframe.codegen import full_rewrite_to_sink, get_program
from tinyframe.nn import Linear
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.schedule.fuse import _FORCED
from tinyframe.uop import Ops, UOp
from tinyframe.viz.picture import Picture

PLAIN = CStyleLanguage()


@dataclass(frozen=True)
class Room:
    """A file to read, and a question that it answers. find: gives the right answers."""

    file: str
    find: Callable[[], Iterable[Place]]


def floats(*values: float) -> Tensor:
    return Tensor(list(values)).realize()


def kernel_of_a_sum() -> UOp:
    (item,) = (floats(1.0, 2.0, 3.0) + floats(4.0, 5.0, 6.0)).schedule()
    return item.ast


def whose_plus() -> list[Place]:
    owner = next(c for c in Tensor.__mro__ if "__add__" in vars(c))
    file = owner.__module__.partition(".")[2].replace(".", "/") + ".py"
    return [Place(file, owner.__qualname__, beside="__add__")]


def always_stored() -> list[Place]:
    return [Place("tensor/laziness.py", op.name) for op in sorted(_FORCED, key=lambda op: op.name)]


def who_makes_the_key() -> list[Place]:
    found = returned_by(
        lambda: (floats(1.0, 2.0) * 3).schedule(),
        lambda _, frame: (
            frame.f_code.co_name == "__init__" and hasattr(frame.f_locals.get("self"), "structure")
        ),
        under="schedule/",
    )
    return [Place(place.file, place.name.partition(".")[0]) for place in found]


def who_finds_a_node_again() -> list[Place]:
    there = UOp.const(Tensor([1.0]).dtype, 5.0)
    return returned_by(
        lambda: UOp(there.op, there.dtype, there.src, there.arg),
        lambda result, _: result is there,
        under="uop/node.py",
    )


def who_guards_a_pad() -> list[Place]:
    """What runs in lowering for a PAD, and not without one."""
    x = Tensor([[1.0] * 41] * 3).realize()
    without = calls_of(lambda: (x * 2).schedule())
    with_pad = calls_of(lambda: (x.pad(((1, 1), (0, 0))) * 2).schedule())
    new = [call for call in dict.fromkeys(with_pad) if call not in without]
    return [Place(*call) for call in new if call[0] == "schedule/ranges.py"][:1]


def what_closes_a_loop() -> list[Place]:
    sink = full_rewrite_to_sink(kernel_of_a_sum(), PLAIN, [])
    in_graph = {u.op for u in sink.toposort()}
    program = get_program(kernel_of_a_sum(), PLAIN, []).uops
    new = dict.fromkeys(u.op for u in program if u.op not in in_graph)
    return [Place("codegen/linearize.py", op.name) for op in new]


def the_table_of_a_language() -> list[Place]:
    tables = [name for name, value in vars(CStyleLanguage).items()
              if isinstance(value, Mapping) and Ops.ADD in value]  # fmt: skip
    return [Place("renderer/cstyle.py", f"CStyleLanguage.{name}", beside="ADD") for name in tables]


def what_an_entry_is_called() -> list[Place]:
    program = get_program(kernel_of_a_sum(), PLAIN, [])
    (line,) = [x for x in program.src.splitlines() if x.startswith(f"void {program.function}_")]
    whole = line.removeprefix("void ").partition("(")[0]
    suffix = whole.removeprefix(program.function)
    names = (suffix, whole, f"NAME{suffix}")
    return [Place("runtime/cpu.py", name, beside="void") for name in names]


def who_runs_on_a_gpu() -> list[Place]:
    from tinyframe.device import Runner
    from tinyframe.gpu.drivers import cuda

    classes = [value for value in vars(cuda).values() if isinstance(value, type)]
    own = [c for c in classes if issubclass(c, Runner) and c.__module__ == cuda.__name__]
    return [Place("gpu/drivers/cuda.py", c.__qualname__) for c in own]


def who_multiplies_for_a_layer() -> list[Place]:
    layer, x = Linear(3, 2), floats(1.0, 2.0, 3.0)
    return returned_by(
        lambda: layer(x),
        lambda result, frame: (
            isinstance(result, Tensor)
            and frame.f_back is not None
            and frame.f_back.f_code is unwrap(Linear.__call__).__code__
            and frame.f_locals.get("self") is x
        ),
    )


ROOMS: tuple[Room, ...] = (
    Room("tensor/core.py", whose_plus),
    Room("tensor/laziness.py", always_stored),
    Room("schedule/__init__.py", who_makes_the_key),
    Room("uop/node.py", who_finds_a_node_again),
    Room("schedule/ranges.py", who_guards_a_pad),
    Room("codegen/linearize.py", what_closes_a_loop),
    Room("renderer/cstyle.py", the_table_of_a_language),
    Room("runtime/cpu.py", what_an_entry_is_called),
    Room("gpu/drivers/cuda.py", who_runs_on_a_gpu),
    Room("nn/linear.py", who_multiplies_for_a_layer),
)


@cache
def answers_of(number: int) -> tuple[Place, ...]:
    """What is right for a room, 1 to 10, found by running tinyframe once."""
    with Context(NOOPT=1, DEBUG=0):
        return tuple(ROOMS[number - 1].find())


def answered(answers: Any, numbers: range) -> None:
    """Wrong, with the first room that is, unless these rooms are answered right. Open, with those
    that are still to be read, where all that's there is right."""
    if isinstance(answers, (list, tuple)) and len(answers) == len(numbers):
        answers = dict(zip(numbers, answers, strict=True))
    wrong_if(not isinstance(answers, Mapping),
             "The answer has to be a dict, from the number of a room to a name.",
             got=describe(answers))  # fmt: skip
    if not answers:
        raise Open("")
    given = {_number(key): value for key, value in answers.items()}
    if strange := [key for key in given if key not in numbers]:
        raise Wrong(f"Here the rooms are {numbers[0]} to {numbers[-1]}, so there's no room "
                    f"{strange[0]}.")  # fmt: skip
    right: list[int] = []
    for number, value in sorted(given.items()):
        text, places = said(value), answers_of(number)
        if not any(place.is_meant_by(text) for place in places):
            so_far = f"{listed(right)} right. " if right else ""
            raise Wrong(f"{so_far}Room {number}: {temperature(text, places)}", got=text)
        right.append(number)
    if left := [number for number in numbers if number not in given]:
        raise Open(f"{listed(right)} right. Still to be read: {', '.join(map(str, left))}.")


def _number(key: Any) -> Any:
    return int(key) if isinstance(key, str) and key.strip().isdecimal() else key


def listed(numbers: list[int]) -> str:
    """`Room 1 is`, `Rooms 1, 2 and 3 are`."""
    if len(numbers) == 1:
        return f"Room {numbers[0]} is"
    return f"Rooms {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} are"


def farthest(expression: Any, ours: str = "Tensor.rand(3).sum()") -> Walk:
    """The walk of the learner's expression, or of ours as long as there is none that goes."""
    if isinstance(expression, str):
        try:
            walk = walked(expression)
        except Wrong as wrong:
            print(wrong)
        else:
            print("The way of your expression.")
            return walk
    print("The way of our expression, until there is one of yours.")
    return walked(ours)


def mapped(walk: Walk, rooms: Callable[[list[Call]], Any]) -> Picture:
    """The way of a walk, with the learner's function of 10.1 once that passes its check."""
    count = yours_or("rooms-on-the-way", rooms, lambda calls: counted(Walk("", tuple(calls))))
    return route(walk, dict(count(list(walk.calls))))
