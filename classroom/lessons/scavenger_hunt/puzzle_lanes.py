"""Split a loop with a VECTOR Opt, and sooner or later there's a VECTORIZE in the graph. In which
pass does it turn up?
Hint: Run the passes one by one, as in 7b, and look at the ops after each.
Hint: `for name, function in passes: sink = function(sink, job)`, with a `Compilation` that has a
VECTOR among its Opts.
Because: Up to there, a VECTOR loop is a RANGE like any other. This pass makes its turns into the
lanes of one value.
"""

from classroom.puzzlebook.games.hunt import Question, Words, hunted

puzzle = Question(
    Words(
        hunted.pass_of_vectors,
        "Before it, no node had that op.",
        "There's no new VECTORIZE after that one.",
    )
)

# %% wrong, each line
"optimize"  # says no new VECTORIZE

# %% right, each line
"expand_lanes"  # as its function is called
"the pass expand lanes"  # in words
