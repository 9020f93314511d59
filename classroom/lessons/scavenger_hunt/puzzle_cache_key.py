"""A C compiler with a new flag has to compile everything again, even if the text is the same. Which
method tells the disk cache?
Hint: What's the key of a compiled kernel? You designed one in 8a.
Hint: `Compiler.compile_cached` in `device.py` puts two things into the key. One is the text.
Because: The key is that string and the source: compiler, version, flags and machine.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(
    Names(
        hunted.who_says_what_a_binary_depends_on,
        "It gives all that the machine code depends on, beside the text.",
    )
)

# %% wrong, each line
"compile_cached"  # says Cold

# %% right, each line
"ClangCompiler.identity()"  # as it is called
"Compiler.identity"  # where device.py declares it
