"""Project NUMBER: what its checks ask, what they are worth, and a hint for each.

Each task has a check that students see and one that they don't. Whatever a constant could answer is
drawn at random, different for every file that is handed in.
"""

from classroom import measured
from classroom.grader.recorded import answer
from classroom.grader.tasks import Expression, Project, expect, expect_close, expect_equal

project = Project(
    "Project NUMBER: TITLE",
    points=100,
    main="MAIN",
    afterwards="Say what they can do now, and what comes next.",
)

# What tinyframe says of an expression; in the students' release, what it said.
kernels = answer(measured.kernels)


# ---- 1 weighted ----------------------------------------------------------------------------------


def expect_weighted(ask, rows, columns):
    total = ask.graph("weighted", ask.floats(rows, columns), ask.floats(columns))
    begun = "its graph does not start at x and weights; did you compute something already?"
    expect(total.inputs == [0, 1], begun)
    x, weights = ask.floats(rows, columns), ask.floats(columns)
    with ask.part("values"):
        expect_close(total.run(x, weights), (x * weights).sum(axis=1), "weighted(x, weights)")
    with ask.part("one kernel", "values"):
        expect(total.kernels == 1, f"it takes {total.kernels} kernels, not 1")


@project.check("weighted", 24, "a few rows", "Multiply first; sum(axis=1) adds up each row.")
def _(ask):
    expect_weighted(ask, ask.integer(2, 5), ask.integer(6, 9))


# ---- 2 kernels_of --------------------------------------------------------------------------------


def expect_counts(ask, *texts):
    for n in ask.rng.permutation(len(texts)):
        build = Expression(texts[n], {"a": ask.floats(3, 4)})
        expect_equal(ask("kernels_of", build), kernels(build), f"kernels_of(lambda: {build.text})")


def steps(count):
    """An expression that takes so many kernels."""
    text = "a"
    for _ in range(count):
        text = f"({text} + 1).contiguous()"
    return text


@project.check("kernels_of", 26, "one to three", "schedule() lists the kernels of a Tensor.")
def _(ask):
    expect_counts(ask, steps(1), steps(2), steps(3))


### BEGIN HIDDEN


@project.check("weighted", 24, "one row, and many", "A single row needs no special case.")
def _(ask):
    expect_weighted(ask, 1, ask.integer(2, 5))
    expect_weighted(ask, ask.integer(20, 30), ask.integer(2, 5))


@project.check("kernels_of", 26, "none, and more", "A movement by itself runs no kernel.")
def _(ask):
    expect_counts(ask, "a.T", steps(4), "a.softmax(1)", f"{steps(2)}.sum()")


### END HIDDEN
