"""A language without a plus: `a + b` should read `add(val0, val1)` in the C. Write it as a subclass
of CStyleLanguage.
Hint: Where does CStyleLanguage say how an ADD is written?
Hint: `code_for_op` is a dict. A row of yours takes the texts of both sources, and `dtype`.
Because: A language is a table, and one row of it is different. That's how WGSL and Metal begin,
too.
"""

from classroom.puzzlebook import changes
from classroom.puzzlebook.games.hunt import Question

puzzle = Question(changes.spelled_out)

# %% wrong: changes everybody's C
class Spelled(CStyleLanguage):
    CStyleLanguage.code_for_op[Ops.ADD] = lambda a, b, dtype: f"add({a}, {b})"

# %% right: a dict of its own, made when the language is
class Spelled(CStyleLanguage):
    def __init__(self):
        super().__init__()
        self.code_for_op = self.code_for_op | {Ops.ADD: lambda a, b, dtype: "add(%s, %s)" % (a, b)}
