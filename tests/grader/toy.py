"""A project of two tasks, for submissions that are about something else. Loaded by the judge."""

from classroom.grader.tasks import Project, expect, expect_close

project = Project("Toy", points=100)


@project.check("double", 60, "numbers", hint="Add x to itself.")
def _(ask):
    x = ask.floats(3, 4)
    expect_close(ask("double", x), 2 * x, "double(x)")


@project.check("lazily", 40, "a graph", hint="Do not realize it.")
def _(ask):
    graph = ask.graph("lazily", ask.floats(6))
    other = ask.floats(6)
    expect_close(graph.run(other), 2 * other, "lazily(x)")
    expect(graph.kernels == 1, f"it takes {graph.kernels} kernels")
