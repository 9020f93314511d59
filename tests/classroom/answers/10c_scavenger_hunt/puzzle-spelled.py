# %% wrong: changes everybody's C
class Spelled(CStyleLanguage):
    CStyleLanguage.code_for_op[Ops.ADD] = lambda a, b, dtype: f"add({a}, {b})"

# %% right: a dict of its own, made when the language is
class Spelled(CStyleLanguage):
    def __init__(self):
        super().__init__()
        self.code_for_op = self.code_for_op | {Ops.ADD: lambda a, b, dtype: "add(%s, %s)" % (a, b)}
