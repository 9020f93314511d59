"""The toy of part 9: the larger of two numbers, without the op MAX. Loaded by the judge."""

from __future__ import annotations

import numpy as np

from classroom.grader.tasks import Project, expect, expect_close

project = Project(
    "A toy: the larger of two", points=100, afterwards="And not a MAX in sight. That was honest."
)


@project.check("larger", 30, "the numbers", hint="Take each pair for itself.")
def _(ask):
    for shape in ((5,), (2, 3)):
        a, b = ask.floats(*shape), ask.floats(*shape)
        expect_close(ask("larger", a, b), np.maximum(a, b), "larger(a, b)")


@project.check("larger", 70, "without MAX", hint="where() picks one of two numbers.")
def _(ask):
    graph = ask.graph("larger", ask.floats(6), ask.floats(6))
    a, b = ask.floats(6), ask.floats(6)
    expect_close(graph.run(a, b), np.maximum(a, b), "its graph, run on other numbers,")
    by_max = "MAX" in graph.ops or any(op == "MAX" for op, *_ in graph.reductions)
    expect(not by_max, "there is a MAX in its graph")
