"""One kernel's way through the compiler, as something to step through.

    way = way_of(sink, renderer)
    way.stages[0].rules[0].meaning, way.stops[12], way.view(way.stops[12])

The kernel is compiled to source text once more, and watched (`explorer/record.py`). Nothing runs. A
stop is one rewrite, or the end of a stage; what is drawn at one is worked out when it is asked for.
"""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tinyframe.algebra.symbolic import forget_simplified
from tinyframe.codegen import get_program
from tinyframe.observe import observing
from tinyframe.renderer import Renderer
from tinyframe.uop.node import UOp
from tinyframe.viz.explorer.record import OURS, Recorder, shown_rule
from tinyframe.viz.explorer.rows import Row, below
from tinyframe.viz.explorer.rows import Step as Rewrite
from tinyframe.viz.explorer.store import Store
from tinyframe.viz.explorer.trace import Described, Stage, Trace, rules_fired

# What each stage of the compiler does on the way to C.
MEANINGS_TO_C = {
    "simplify": "applies algebra to indices and values",
    "tidy loops": "merges neighbouring loops, and splits those that a division cuts in two",
    "optimize": "splits, reorders and vectorizes the loops, as the list of opts says",
    "flatten indices": "turns one index per dimension into one offset into memory",
    "ranges to values": "turns the loops that a GPU shares out into numbers of blocks and threads",
    "decompose": "rewrites operations that the device lacks into ones that it has",
    "expand lanes": "turns a loop over lanes into vectors",
    "expand copies": "writes out the iterations of unrolled loops side by side",
    "decompose anew": "rewrites again what the last stages added, and picks the shortest form",
    "masks": "turns vectors of booleans into masks, as the language has them",
    "linearize": "puts the operations into the order in which they run",
}
# And to other languages, whose renderers add stages of their own.
MEANINGS = {
    **MEANINGS_TO_C,
    "scalarize": "computes lane by lane, where the language can only move vectors",
    "wrap integers": "computes with unsigned integers where signed ones need not wrap around",
    "emulate int64": "computes 64-bit integers in two words, where the language has none as wide",
    "replace unsupported ops": "rewrites what the language cannot express",
}


class Rule(NamedTuple):
    """A rule of the compiler. place: `file.py:line`. source: that line. meaning: the first line of
    its docstring, where it has one."""

    place: str
    source: str
    meaning: str = ""

    @property
    def name(self) -> str:
        """Its function's name, or its line where it is a row of a table."""
        if self.source.startswith("def "):
            return self.source[4:].partition("(")[0]
        return self.source

    @property
    def title(self) -> str:
        """Where it is, and which one there, where it has a name."""
        return f"{self.place}  {self.name}" if self.meaning else self.place

    @property
    def words(self) -> str:
        """What it does, in words, or as code where nobody wrote any."""
        return self.meaning or self.source


def rule_at(file: str, line: int) -> Rule:
    """The rule that is written there."""
    shown = shown_rule(file, line)
    place = f"{shown.file if file.startswith(OURS) else Path(file).name}:{line}"
    is_function = shown.text.startswith("def ")
    return Rule(place if shown.file else "", shown.text, _docstring(file, line) * is_function)


def _docstring(file: str, line: int) -> str:
    """The first sentence below a function's head."""
    while line and not linecache.getline(file, line).rstrip().endswith(":"):
        if not linecache.getline(file, line):
            return ""
        line += 1
    words: list[str] = []
    while text := linecache.getline(file, line + 1).strip():
        words.append(text.replace('"""', ""))
        if not words[0] or not (text.startswith('"""') or len(words) > 1):
            return ""
        if text.endswith((".", '"""')) or len(words) == 4:
            break
        line += 1
    return " ".join(words).partition(". ")[0].rstrip(".")


class Stop(NamedTuple):
    """A place to stop at: rewrite number `step` of stage number `stage`, or with None its end."""

    stage: int
    step: int | None


@dataclass(frozen=True, repr=False)
class Way:
    """All that happened to one kernel. function: its name in the source. opts: what was done to its
    loops."""

    function: str
    source: str
    opts: list[str]
    described: Described
    rules: list[Rule]

    @property
    def stages(self) -> list[Stage]:
        return self.described.stages

    @cached_property
    def changing(self) -> list[int]:
        """The numbers of the stages that changed something, or are another form of the kernel."""
        return [
            n for n, s in enumerate(self.stages) if s.step_count or s.before is not s.after
        ]  # fmt: skip

    @cached_property
    def stops(self) -> list[Stop]:
        """Every rewrite in the order in which it was made, and the end of each stage."""
        return [
            Stop(n, step)
            for n in self.changing
            for step in (*range(self.stages[n].step_count), None)
        ]

    @property
    def count(self) -> int:
        """How many rewrites there are."""
        return sum(s.step_count for s in self.stages)

    @property
    def first(self) -> list[Row]:
        """The kernel before the first stage."""
        before = self.stages[0].before
        return [before] if before is not None else []

    def before_stage(self, n: int) -> list[Row]:
        """The graph that a stage starts from."""
        before = self.stages[n].before
        return [before] if before is not None else self.stages[n - 1].roots if n else []

    def rewrite(self, stop: Stop) -> Rewrite | None:
        """The rule and the two nodes of a stop; None at the end of a stage."""
        if stop.step is None:
            return None
        one, at = self.stages[stop.stage].step(stop.step)
        return one.steps[at]

    def fired(self, n: int) -> list[tuple[Rule, int]]:
        """The rules of a stage and how often each was applied, the busiest first."""
        return [(self.rules[r], times) for r, times in rules_fired(self.stages[n])]

    def busiest(self, most: int) -> list[tuple[Rule, int, Stop]]:
        """The rules that were applied most often: how often, and where each first did something."""
        times: Counter[int] = Counter()
        first: dict[int, Stop] = {}
        for stop in self.stops:
            if (rewrite := self.rewrite(stop)) is not None and self.rules[rewrite.rule].place:
                times[rewrite.rule] += 1
                first.setdefault(rewrite.rule, stop)
        return [(self.rules[r], count, first[r]) for r, count in times.most_common(most)]


def way_of(ast: UOp, renderer: Renderer, opts: Sequence | None = None) -> Way:
    """What the compiler does to a kernel on its way to source text."""
    recorder = Recorder(Store.temporary(), [])
    forget_simplified()  # or what another kernel has in common with this one would be no step here
    with observing(recorder):
        recorder.compiling(ast, renderer.device)
        program = get_program(ast, renderer, opts)
        recorder.programmed(program, recorder.started, recorder.started)
    described = Trace(recorder.store, dict).described("kernel/0")
    rules = [rule_at(*place) for place in recorder.rules]
    return Way(program.function, program.src, described.data["opts"], described, rules)


def count_nodes(roots: Sequence[Row]) -> int:
    """How many nodes some graphs have together."""
    return len(below(roots))
