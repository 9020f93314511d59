"""Helper classes, dataclasses and enumerations, wherever there is room for one."""

import enum
import re
from collections import UserDict, namedtuple
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from time import perf_counter

from tinyframe import GlobalCounters, Tensor


class Dtype(enum.StrEnum):
    BOOL, HALF, FLOAT = "dtypes.bool", "dtypes.half", "dtypes.float"
    CHAR, INT, LONG = "dtypes.char", "dtypes.int", "dtypes.long"


class Op(str, enum.Enum):  # noqa: UP042
    BUFFER = "BUFFER"
    CONST = "CONST"


class Bytes(enum.IntEnum):
    NONE = 0


Facts = namedtuple("Facts", "shape dtype bytes")


def describe(tensor):
    return Facts(tensor.shape, Dtype(str(tensor.dtype)), tensor.nbytes)


class Counted(int):
    """A number of kernels."""


def kernel_count(build):
    with counting() as counted:
        build().realize()
    return Counted(counted.kernels)


@dataclass
class Counting:
    kernels: int = 0
    seconds: float = 0.0


@contextmanager
def counting():
    before, begin = GlobalCounters.kernel_count, perf_counter()
    yield (found := Counting())
    found.seconds = perf_counter() - begin
    found.kernels = GlobalCounters.kernel_count - before


@dataclass
class Change:
    before: int
    op: str
    after: int
    is_now: Op


def before_and_after(build):
    op = build().uop.base.op.name
    before, after = kernel_count(build), Op[build().realize().uop.base.op.name]
    return astuple(Change(before, op, Bytes.NONE, after))


def compare(start, steps):
    def run(realize):
        tensor = start()
        for step in steps:
            tensor = realize(step(tensor))
        return tensor.realize()

    found, results = UserDict(), []
    for name, realize in {"together": lambda tensor: tensor, "apart": Tensor.realize}.items():
        run(realize)
        with counting() as counted:
            results += [run(realize)]
        found |= {f"{what} {name}": value for what, value in asdict(counted).items()}
    return found | {"equal": bool(results[0].isclose(results[1], rtol=0, atol=1e-5).all().item())}


class Line(str):
    """A line of a kernel, which knows what it does."""

    def is_there(self, op):
        value = self.value
        is_sum = bool(re.match(r"(acc\d+) \+ ", value)) and self.startswith(value.split(" ")[0])
        value = re.sub(r"^acc\d+ \+ ", "", value) if is_sum else value
        plain = re.sub(r"\[.*?\]", "", value)
        return {"LOAD": value.startswith("data"), "STORE": self.startswith("data"),
                "ADD": " + " in plain, "MUL": " * " in plain, "RELU": "? 0.0f" in value,
                "SUM": is_sum}[op]  # fmt: skip

    @property
    def value(self):
        return self.partition(" = ")[2]


def find_op(source, op):
    lines = {
        n: Line(line.strip().removeprefix("float ")) for n, line in enumerate(source.split("\n"), 1)
    }
    is_float = re.compile(r"(val|alu|acc|data)\d+.* = ")
    return tuple(
        Counted(n) for n, line in lines.items() if is_float.match(line) and line.is_there(op)
    )


class Report(list):
    def __str__(self):
        return "\n".join(f"{row['name']}: {row['kernels apart']} kernels -> "
                         f"{row['kernels together']}, {self.gain(row):.1f} times as fast"
                         for row in sorted(self, key=self.gain, reverse=True))  # fmt: skip

    @staticmethod
    def gain(row):
        return row["seconds apart"] / row["seconds together"]


def report(rows):
    return str(Report(rows))
