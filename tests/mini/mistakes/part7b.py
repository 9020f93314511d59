"""(function, what somebody writes instead, what they are told)"""

from classroom.mini import stages
from tests.mini.planted import changed


def but(function, *changes):
    return changed(stages.find("7b"), function, *changes)


MISTAKES = [
    ("value_at", "return None", "should give a node"),
    ("value_at", "return node", "that's a whole array, not a number"),
    (
        "value_at",
        but("value_at", ("return UOp(Ops.LOAD, loops.element(node, index))", "return node")),
        "that's a whole array, not a number",
    ),
    ("value_at", but("value_at", ("if node.op is Ops.PAD:", "if False:")), "should be 0"),
    (
        "value_at",
        but("value_at", ("value, UOp(Ops.CONST, (), 0.0))", "UOp(Ops.CONST, (), 0.0), value)")),
        "at index",
    ),
    (
        "value_at",
        but("value_at", ("SOURCE_INDEX[node.op](index, shape, node.arg)", "index")),
        "at index",
    ),
    (
        "value_at",
        but("value_at", ("(index, shape, node.arg)", "(index, node.shape, node.arg)")),
        "a.reshape(2, 6) at index (1, 0) should be",
    ),
    (
        "value_at",
        but(
            "value_at",
            (
                "tuple(loops.value(source, index) for source in node.src)",
                "tuple(value_at(source, index, loops) for source in node.src)",
            ),
        ),
        "This follows every path",
    ),
    (
        "value_at",
        but("value_at", ("for axis in axes}", "for axis in axes[:1]}")),
        "a.sum() at index () should be",
    ),
    ("value_at", but("value_at", ("*running), op)", "*running), Ops.ADD)")), "at index"),
    (
        "value_at",
        but("value_at", ("if running else value", "if True else value")),
        "there's nothing to add",
    ),
    ("lower", "return kernel.graph, []", "is a STORE"),
    ("lower", "return kernel.graph", "should give a graph and a list of memory"),
    (
        "lower",
        but("lower", ("kernel.graph, index", "kernel.value, index")),
        "kernel.graph begins at memory",
    ),
    (
        "lower",
        but(
            "lower",
            ("loops.element(kernel.memory, index)", "loops.element(kernel.memory, index[::-1])"),
        ),
        "stores element 12 of 12",
    ),
    (
        "lower",
        but("lower", ("simplify(UOp(Ops.SINK, (store,)))", "UOp(Ops.SINK, (store,))")),
        "something to simplify",
    ),
    (
        "lower",
        but("lower", ("loops.arguments", "loops.arguments[::-1]")),
        "The first of the arguments",
    ),
    (
        "lower",
        but(
            "lower",
            ("for size in kernel.value.shape)", "for size in kernel.value.shape[::-1])[::-1]"),
        ),
        "in the order of the axes",
    ),
    (
        "value_at",
        but("value_at", ("if counter is not ZERO", "")),
        "Leave it out of the REDUCE's sources",
    ),
    (
        "value_at",
        but("value_at", ("(value, *running)", "(value, *counters.values())")),
        "Leave it out of the REDUCE's sources",
    ),
    (
        "value_at",
        but("value_at", ("counters.get(axis, i)", "i")),
        "a.sum(1) at index (0,) should be",
    ),
    ("linearize", "return None", "should give a list of nodes"),
    ("linearize", "return sink.toposort()", "4 needs no line"),
    (
        "linearize",
        "return [node for node in sink.toposort()[:-1] if node.op is not Ops.CONST]",
        "is never closed",
    ),
    ("linearize", but("linearize", ("reversed(outer)", "outer")), "closed in the opposite order"),
    ("linearize", but("linearize", ("reversed(inner)", "inner")), "closed in the opposite order"),
    (
        "linearize",
        but("linearize", ("max((depth[source] for source in node.src), default=0)", "len(outer)")),
        "It would be repeated for nothing",
    ),
    (
        "linearize",
        but(
            "linearize",
            ("lines += [UOp(Ops.DEFINE_REG, (node,)) for node in reduces]", "pass"),
            (
                "lines += reduces +",
                "lines += [UOp(Ops.DEFINE_REG, (node,)) for node in reduces] + reduces +",
            ),
        ),
        "the sum would start again from 0",
    ),
    (
        "linearize",
        but("linearize", ("if level == len(outer)", "if level == 0")),
        "each result has a sum of its own",
    ),
    (
        "linearize",
        but("linearize", ("lines += [UOp(Ops.DEFINE_REG, (node,)) for node in reduces]", "pass")),
        "needs its DEFINE_REG",
    ),
    (
        "linearize",
        but("linearize", (" or any(s.op is Ops.REDUCE or s in last for s in node.src)", "")),
        "needs the result of the REDUCE",
    ),
    (
        "linearize",
        but(
            "linearize",
            (
                "outer = sorted(set(loops) - set(inner), key=lambda counter: counter.arg[0])",
                "outer = [loop for loop in loops if loop not in inner]",
            ),
        ),
        "nested by their numbers",
    ),
    ("linearize", but("linearize", ("*reduces, ", "")), "2 lines"),
    ("linearize", but("linearize", ("lines += reduces + [", "lines += [")), "has no line"),
    (
        "linearize",
        but("linearize", ("n.op in (Ops.CONST, Ops.RANGE)", "n.op is Ops.RANGE")),
        "4 needs no line",
    ),
    ("render", "return None", "should give a pair of strings"),
    ("render", "return 'E_3_4', ''", "There is no function"),
    ("render", but("render", ("{i}++) {{", "{i}++)")), "The C compiler refuses this"),
    (
        "render",
        but("render", ("{i} < {node.arg[1]}", "{i} <= {node.arg[1]}")),
        "writes outside of its memory",
    ),
    (
        "render",
        but("render", ("{i} < {node.arg[1]}", "{i} < {node.arg[1]} - 1")),
        "element 3 of the result",
    ),
    ("render", but("render", ("FIRST[reduce.arg]", "FIRST[Ops.ADD]")), "should be"),
    ("render", but("render", ("C[node.arg].format(text[node], src[0])", "src[0]")), "should be"),
    (
        "render",
        but(
            "render",
            (
                "c_number(s.arg) if s.op is Ops.CONST",
                "str(int(s.arg)) if s.op is Ops.CONST and abs(s.arg) < 9 else c_number(s.arg) "
                "if s.op is Ops.CONST",
            ),
        ),
        "The C of a.exp() runs, but",
    ),
    ("render", but("render", ("c_number(s.arg)", "str(s.arg)")), "The C compiler refuses this"),
    (
        "render",
        but(
            "render",
            (
                "sorted(node.arg[0] for node in lines if node.op is Ops.DEFINE_GLOBAL)",
                "[n.arg[0] for n in lines if n.op is Ops.DEFINE_GLOBAL][::-1]",
            ),
        ),
        "The C of a * 2 runs, but",
    ),
    ("render", but("render", ("{c_type(node)} {name}", "int {name}")), "should be"),
]
