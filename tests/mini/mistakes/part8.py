"""(function, what somebody writes instead, what they are told)"""

from classroom.mini import stages
from tests.mini.planted import changed


def but(function, *changes):
    return changed(stages.find("8"), function, *changes)


RUN, NUMBERED, REPLAY = "PythonRunner.__call__", "numbered", "replay"
MISTAKES = [
    ("CRunner.__init__", "self.function = None", "Keep the text"),
    (
        "CRunner.__init__",
        but("CRunner.__init__", ("name, self.text", "self.text, name")),
        "CalledProcessError",
    ),
    ("CRunner.__init__", but("CRunner.__init__", ("compiled(self.text)", "self.text")), "OSError"),
    ("CRunner.__call__", "self.function(*arrays)", "It wants the address of its memory"),
    ("CRunner.__call__", "return None", "nothing is stored"),
    (
        "CRunner.__call__",
        but("CRunner.__call__", ("in arrays", "in [arrays[0].copy(), *arrays[1:]]")),
        "nothing is stored",
    ),
    (RUN, "return None", "nothing is stored"),
    (RUN, but(RUN, ("at = line_of[counter]", "pass")), "and it is nan"),
    (
        RUN,
        but(RUN, ("values[counter] < counter.arg[1]", "values[counter] <= counter.arg[1]")),
        "LOAD at 12 of 12 elements",
    ),
    (
        RUN,
        but(RUN, ("at = line_of[counter]", "at = line_of[counter] - 1")),
        "a loop that never ends",
    ),
    (
        RUN,
        but(RUN, ("np.float32(0 if node.src[0].arg is Ops.ADD else -np.inf)", "np.float32(0)")),
        "and it is 0",
    ),
    (
        RUN,
        but(
            RUN,
            (
                "np.float32(0 if node.src[0].arg is Ops.ADD else -np.inf)",
                "values.get(node.src[0], np.float32(0))",
            ),
        ),
        "Element (1,) should be",
    ),
    (RUN, but(RUN, ("ALU[node.arg](values[node], src[0])", "src[0]")), "Element (0,) should be"),
    (
        RUN,
        but(RUN, ("ALU[node.arg](values[node], src[0])", "values[node] + src[0]")),
        "and it is -inf",
    ),
    (RUN, but(RUN, ("src[0][src[1]] = src[2]", "src[0][src[1]] += src[2]")), "nothing is stored"),
    (
        RUN,
        but(RUN, ("0 <= src[1] < len(src[0])", "src[1] < len(src[0])")),
        "Python counts that from the end",
    ),
    (
        RUN,
        but(
            RUN,
            ("if node.op in (Ops.LOAD, Ops.STORE) and not", "if node.op is Ops.LOAD and not"),
        ),
        "This writes element -3",
    ),
    (
        RUN,
        but(RUN, ("kind = np.float32 if node.dtype is float else int", "kind = np.float64")),
        "only integers",
    ),
    (RUN, but(RUN, ("kind(ALU[node.op](*src))", "int(ALU[node.op](*src))")), "and it is 0"),
    (RUN, but(RUN, ("arrays[node.arg[0]]", "arrays[-1]")), "nothing is stored"),
    (
        RUN,
        but(
            RUN,
            ("line_of = {", "line_of = {"),
            ("values, at = {}, 0", "values, at = self.__dict__.setdefault('values', {}), 0"),
            ("np.float32(0 if", "values.get(node.src[0]) or np.float32(0 if"),
        ),
        "Element (1,) should be",
    ),
    (NUMBERED, "return sink, {}", "There is still a BUFFER"),
    (NUMBERED, "return sink", "gives a pair"),
    (NUMBERED, but(NUMBERED, ("(n, b.shape)", "(id(b), b.shape)")), "different nodes of them"),
    (NUMBERED, but(NUMBERED, ("(n, b.shape)", "(0, b.shape)")), "isn't the same work"),
    (NUMBERED, but(NUMBERED, ("b.arg.data for", "b.arg.data.copy() for")), "not a copy"),
    (NUMBERED, but(NUMBERED, ("b.shape)", "())")), "IndexError"),
    (NUMBERED, but(NUMBERED, ("enumerate(buffers)", "enumerate(buffers, 1)")), "0 and 1"),
    (
        NUMBERED,
        but(
            NUMBERED,
            (
                "{slots[b]: b.arg.data for b in buffers}",
                "{slots[b]: c.arg.data for b, c in zip(buffers, reversed(buffers))}",
            ),
        ),
        "the array of a different one",
    ),
    ("call", "return []", "a list with an array for each result"),
    ("call", "return None", "a list with an array for each result"),
    (
        "call",
        but("call", ("for parameter in arguments", "for parameter in arguments[::-1]")),
        "The values are different",
    ),
    (
        "call",
        but(
            "call",
            (
                "return [memory[result] for result in results]",
                "return [memory[result] for result in results[:1]]",
            ),
        ),
        "here 2",
    ),
    (
        "call",
        but("call", ("np.empty(result.shape, np.float32)", "np.empty(result.shape)")),
        "C will write 32-bit floats",
    ),
    (
        "call",
        but(
            "call",
            (
                "memory[result] = np.empty(result.shape, np.float32)",
                "memory[result] = next(iter(memory.values()))",
            ),
        ),
        "The values are different",
    ),
    (REPLAY, "return None", "gives a Tensor"),
    (REPLAY, but(REPLAY, ("memory[slot] = tensor.uop.arg.data", "pass")), "used again"),
    (REPLAY, but(REPLAY, ('dict(tape["memory"])', "{}")), "start from what tape"),
    (REPLAY, but(REPLAY, ("tensor.uop = node", "pass")), "starts from the last one"),
    (
        REPLAY,
        but(REPLAY, ('for place in tape["places"]', 'for place in range(len(tape["places"]))')),
        "each call starts from the last one",
    ),
    (REPLAY, but(REPLAY, ("return Tensor(out)", "return Tensor(results[0])")), "were mixed up"),
    (
        REPLAY,
        but(
            REPLAY, ('zip(tape["slots"], tensors, strict=True)', 'zip(tape["slots"], tensors[:1])')
        ),
        "each call starts from the last one",
    ),
]
