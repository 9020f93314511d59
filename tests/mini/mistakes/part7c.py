"""(function, what somebody writes instead, what they are told)"""

from classroom.mini import stages
from tests.mini.planted import changed


def but(function, *changes):
    return changed(stages.find("7c"), function, *changes)


MISTAKES = [
    ("split", "return None", "should give a pair"),
    (
        "split",
        but(
            "split",
            (
                "return simplify(walk(program, change)), inner",
                "return simplify(walk(program, change))",
            ),
        ),
        "should give a pair",
    ),
    ("split", but("split", ("if old.arg[1] % size:", "if False:")), "two rows would be left over"),
    (
        "split",
        but(
            "split", ("both = outer * size + inner", "both = inner * (old.arg[1] // size) + outer")
        ),
        "outer * 4 + inner should stand",
    ),
    (
        "split",
        but("split", ("both = outer * size + inner", "both = outer + inner")),
        "never stored",
    ),
    ("split", but("split", ("max(ranges) + 1", "number + 1")), "should leave loops of the sizes"),
    (
        "split",
        but(
            "split",
            ("(number, old.arg[1] // size, *old.arg[2:])", "(number, size)"),
            ("(max(ranges) + 1, size, *kind)", "(max(ranges) + 1, old.arg[1] // size)"),
        ),
        "should leave loops of the sizes",
    ),
    ("split", but("split", (", *kind)", ")")), "comes after number and size"),
    (
        "split",
        but("split", ("(outer, inner) if source is both", "(outer,) if source is both")),
        "changes what is computed",
    ),
    (
        "split",
        but("split", ("if node.op is Ops.REDUCE and both in node.src[1:]:", "if False:")),
        "gives a program that can't run",
    ),
    ("upcast", "return None", "should give a program"),
    ("upcast", "return split(program, number, size)[0]", "should store 4 elements"),
    ("upcast", but("upcast", ("for n in range(size)", "for n in range(size - 1)")), "never stored"),
    ("upcast", but("upcast", ("inner.const(n)", "inner.const(0)")), "never stored"),
    (
        "upcast",
        but("upcast", ("inner.const(n)", "UOp(Ops.CONST, (), float(n))")),
        "gives a program that can't run",
    ),
    ("upcast", but("upcast", ("tuple(copies)", "tuple(copies[:1])")), "never stored"),
    ("vector", "return None", "should give a program"),
    ("vector", "return split(program, number, size)[0]", "needs the kind"),
    ("vector", but("vector", ("terms(node.src[1]).get(inner) != 1", "False")), "a whole row apart"),
    (
        "vector",
        but(
            "vector",
            ("node.op in (Ops.LOAD, Ops.STORE) and terms", "node.op is Ops.LOAD and terms"),
        ),
        "what is stored doesn't",
    ),
    (
        "vector",
        but(
            "vector",
            ("node.op in (Ops.LOAD, Ops.STORE) and terms", "node.op is Ops.STORE and terms"),
        ),
        "what is loaded doesn't",
    ),
    (
        "vector",
        but("vector", ("terms(node.src[1]).get(inner) != 1", "inner not in terms(node.src[1])")),
        "a whole row apart",
    ),
    (
        "vector",
        but("vector", ("(node.op is Ops.REDUCE and node.arg is not Ops.ADD)", "False")),
        "no maximum of vectors",
    ),
    ("vector", but("vector", ("node.op not in VECTORS or", "")), "no exp2f of vectors"),
    ("vector", but("vector", ("not lanes(node.src[2])", "False")), "a number isn't a vector"),
    ("reorder", "return None", "should give a program"),
    ("reorder", "return program", "the outermost first"),
    (
        "reorder",
        but(
            "reorder",
            (
                "dict(zip(numbers, sorted(numbers), strict=True))",
                "dict(zip(sorted(numbers), numbers, strict=True))",
            ),
        ),
        "the outermost first",
    ),
    (
        "reorder",
        but(
            "reorder",
            (
                "dict(zip(numbers, sorted(numbers), strict=True))",
                "{number: place for place, number in enumerate(numbers)}",
            ),
        ),
        "trade places",
    ),
    ("reorder", but("reorder", (", *node.arg[1:])", ", 4)")), "never stored"),
]
