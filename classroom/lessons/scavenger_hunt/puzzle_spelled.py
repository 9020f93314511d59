"""A language without a plus: `a + b` should read `add(val0, val1)` in the C. Write it as a subclass
of CStyleLanguage.
Hint: Where does CStyleLanguage say how an ADD is written?
Hint: `code_for_op` is a dict. A row of yours takes the texts of both sources, and `dtype`.
Because: A language is a table, and one row of it is different. That's how WGSL and Metal begin,
too.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.spelled_out)

# %% shared
ADDED = {**CStyleLanguage.code_for_op, Ops.ADD: lambda a, b, dtype: f"add( {a},{b} )"}

# %% wrong, each line
type("Swapped", (CStyleLanguage,), {"code_for_op": {**ADDED, Ops.ADD: lambda a, b, dtype: f"add({b}, {a})"}})  # says isn't written like that
type("Everything", (CStyleLanguage,), {"code_for_op": {**ADDED, Ops.MUL: lambda a, b, dtype: f"mul({a}, {b})"}})  # says products look different
"add"  # says has to be a language

# %% right, each line
type("Added", (CStyleLanguage,), {"code_for_op": ADDED})  # other blanks
type("Added", (CStyleLanguage,), {"code_for_op": ADDED})()  # an object for the class

# %% asked again, each line
type("Untouched", (CStyleLanguage,), {"__doc__": "C that calls add(a, b)."})  # as it was

# %% wrong: changes everybody's C
class Spelled(CStyleLanguage):
    CStyleLanguage.code_for_op[Ops.ADD] = lambda a, b, dtype: f"add({a}, {b})"

# %% right: a dict of its own, made when the language is
class Spelled(CStyleLanguage):
    def __init__(self):
        super().__init__()
        self.code_for_op = self.code_for_op | {Ops.ADD: lambda a, b, dtype: "add(%s, %s)" % (a, b)}
