"""The text of a kernel: as a GPU's compiler takes it, and as the emulator does.

The emulator is told of three things that it can't see in what the compiler makes of a text: the
line that runs, shared arrays of two axes, and shared arrays whose size is no plain number. All
three are written into the text, at each `name[` and behind each `__shared__`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TOKEN = re.compile(
    r"#[^\n]*|//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|[A-Za-z_]\w*|\.?\d[\w.]*|->|::|\s+|.", re.S
)
SHARED = re.compile(
    r"__shared__\s+(?P<align>__align__\(\d+\)\s+)?(?P<kind>(?:\w+\s+)*?\w+)\s+(?P<names>[^;=]+);"
)
DECLARED = re.compile(r"(\w+)\s*((?:\[[^\]]*\]\s*)*)")
SIGNATURE = re.compile(r"\b__global__\b[^{]*\{(.*)\}", re.S)
# What a declaration begins with.
TYPE = re.compile(
    r"(auto|bool|char|const|constexpr|double|half|long|register|short|signed|static|struct|unsigned"
    r"|volatile|__shared__|dim3|\w+_t|u?(int|char|short|long)[1-4]?|(float|double)[1-4]?)$"
)
# What CUDA has for every kernel, and the emulator only for tinyframe's.
MATHS = "".join(
    [
        *(f"static inline float {name}(float x) {{ return __builtin_{name}(x); }}\n"
          for name in ("expf", "logf", "sqrtf", "fabsf", "floorf", "ceilf", "sinf", "cosf",
                       "tanhf")),
        *(f"static inline float {name}(float x, float y) {{ return __builtin_{name}(x, y); }}\n"
          for name in ("fmaxf", "fminf", "powf")),
        *(f"static inline {kind} {name}({kind} x, {kind} y) {{ return x {sign} y ? x : y; }}\n"
          for kind in ("int", "unsigned", "float", "double")
          for name, sign in (("max", ">"), ("min", "<"))),
        *(f"static inline {kind} {name}({one} x, {other} y) "
          f"{{ return {name}(({kind})x, ({kind})y); }}\n"
          for kind, pair in (("unsigned", ("unsigned", "int")), ("double", ("double", "float")))
          for one, other in (pair, pair[::-1]) for name in ("max", "min")),
    ]
)  # fmt: skip
# Words that may stand before an expression, where any other word would make it a declaration.
VERBS = frozenset("return else do case".split())


def parameters_of(arguments: Mapping[str, Any]) -> str:
    """The parameters of a kernel that is given these: numbers, arrays to read, and `out`."""
    kinds = {
        name: "int" if isinstance(value, int) else "float*" if name == "out" else "const float*"
        for name, value in arguments.items()
    }
    return ", ".join(f"{kind} {name}" for name, kind in kinds.items())


@dataclass(frozen=True)
class Kernel:
    """A kernel. parameters: as CUDA writes them, "float* out, const float* a, int n". body: what
    stands between its braces. most: how many threads a block may have. source: all of it, of a
    kernel that was not written by hand."""

    parameters: str
    body: str
    most: int = 1024
    source: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its parameters, in order."""
        return tuple(each.split()[-1].strip("*&") for each in self.parameters.split(","))

    @property
    def pointers(self) -> tuple[str, ...]:
        given = zip(self.names, self.parameters.split(","), strict=True)
        return tuple(name for name, each in given if "*" in each)

    @property
    def cuda(self) -> str:
        """The whole source, for a GPU."""
        return self.source or self._whole(self.body)

    @property
    def watched(self) -> str:
        """The whole source, for the emulator."""
        return self.source or MATHS + self._whole(marked(shared_made_known(self.body)))

    def _whole(self, body: str) -> str:
        # nvcc has this for every kernel, and NVRTC hasn't
        head = "#define INFINITY __int_as_float(0x7f800000)\n"
        head += f'extern "C" __global__ void __launch_bounds__({self.most}) kernel'
        return f'{head}({self.parameters}) {{\n#line 1 "kernel"\n{body}\n}}\n'

    @property
    def shared_shapes(self) -> dict[str, tuple[int, ...]]:
        """Of each shared array whose sizes are plain numbers: its shape."""
        found = {}
        for statement in SHARED.finditer(without_comments(self.body)):
            for name, sizes in DECLARED.findall(statement["names"]):
                lengths = re.findall(r"\[\s*(\d+)\s*\]", sizes)
                if len(lengths) == sizes.count("["):
                    found[name] = tuple(map(int, lengths)) or (1,)
        return found


def body_of(text: str) -> str:
    """What stands between the braces where a whole kernel was written, else the text; without empty
    lines around it, and without the marks of a worked notebook."""
    whole = SIGNATURE.search(text)
    lines = (whole[1] if whole else text).rstrip().split("\n")
    lines = [line for line in lines if not line.startswith("###")]
    while lines and not lines[0].strip():
        del lines[0]
    return "\n".join(lines)


def without_comments(text: str) -> str:
    """The text, with spaces in place of comments."""
    return "".join(
        re.sub(r"[^\n]", " ", token) if token.startswith(("//", "/*")) else token
        for token in TOKEN.findall(text)
    )


def shared_made_known(body: str) -> str:
    """Each shared array in a statement of its own, with as much room behind it, and made known."""

    def rewritten(statement: re.Match[str]) -> str:
        made = "".join(
            f"__shared__ {statement['align'] or ''}{_made_known(statement['kind'], name, sizes)}"
            for name, sizes in DECLARED.findall(statement["names"])
        )
        return made + "\n" * statement[0].count("\n")  # lines keep their numbers

    return SHARED.sub(rewritten, without_comments(body))


def _made_known(kind: str, name: str, sizes: str) -> str:
    if not sizes:
        known = f'emulated_shared("{name}", &{name}, sizeof {name}, sizeof {name});'
        return f"{kind} {name}; {known}"
    first, _, rest = sizes.strip().removeprefix("[").partition("]")
    return (
        f'{kind} {name}[2 * ({first})]{rest}; emulated_shared("{name}", '
        f"(void*){name}, (long long)({first}) * sizeof *{name}, sizeof({kind}));"
    )


def marked(body: str) -> str:
    """The text, in which each name before a `[` says in which line it is used."""
    return "".join(_marked(TOKEN.findall(body)))


def _marked(tokens: list[str]) -> Iterator[str]:
    statement: list[str] = []  # its tokens up to here, without spaces
    for place, token in enumerate(tokens):
        if token.isspace() or token.startswith(("//", "/*", "#")):
            yield token
            continue
        following = next((t for t in tokens[place + 1 :] if not t.isspace()), "")
        is_name = re.match(r"[A-Za-z_]", token) and not TYPE.match(token)
        uses = following == "[" and is_name and not _declares(statement)
        yield f"(emulated_line(__LINE__), {token})" if uses else token
        # The braces of `w[2] = {1, 2}` belong to its statement, and all others end one.
        ends = token == ";" or token in ("{", "}") and not _initializes(statement)
        statement = [] if ends else [*statement, token]


def _initializes(before: list[str]) -> bool:
    return bool(before) and (before[-1] == "=" or before.count("{") > before.count("}"))


def _declares(before: list[str]) -> bool:
    """Whether a name after these tokens of a statement, before a `[`, is being declared."""
    last = before[-1] if before else ""
    if last in (".", "->", "::"):
        return True  # no name of its own
    if re.match(r"[A-Za-z_]", last) and last not in VERBS:
        return True
    is_declaration = bool(before) and bool(TYPE.match(before[0]))
    depth = sum(map(before.count, "([{")) - sum(map(before.count, ")]}"))
    if last == "," and is_declaration and depth == 0:
        return True
    return last in ("*", "&") and is_declaration and not ({"=", "("} & {*before})
