"""Tables that a lesson shows: this machine, the compiler's stages, tinyframe's settings."""

from __future__ import annotations

from collections.abc import Sequence

from classroom.devices import there_and_missing
from classroom.pages import filled
from tinyframe.device import Compiler, Device, human_bytes
from tinyframe.renderer import Target
from tinyframe.runtime.clang import ClangCompiler
from tinyframe.settings import rows, settings, usable_cores
from tinyframe.viz.steps import MEANINGS_TO_C

# The scheduler's stages; the compiler's are in MEANINGS_TO_C.
SCHEDULER = {
    "tensor graph": "the graph of the Tensors that were asked for",
    "prepare": "removes nodes that no kernel needs",
    "lower to ranges": "turns each kernel's share of the graph into loops",
}
FLOAT_BYTES = 4


class Table:
    """Rows of words below a header: as the last line of a cell, or printed.

    summary: what a notebook shows in place of a long table until it is opened; "" of a short one.
    """

    def __init__(
        self, header: Sequence[str], body: Sequence[Sequence[str]], summary: str = ""
    ) -> None:
        self.header, self.body = tuple(header), [tuple(row) for row in body]
        self.summary = summary

    def __repr__(self) -> str:
        every = [self.header, *self.body]
        widths = [max(len(row[c]) for row in every) for c in range(len(self.header))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in every
        )

    def _repr_html_(self) -> str:
        return filled("table.html", header=self.header, body=self.body, summary=self.summary)


def settings_table() -> Table:
    """Every setting, as `tinyframe/settings.py` has them."""
    body = [(row.name, row.default_text, row.meaning) for row in rows().values()]
    return Table(("setting", "default", "what it does"), body, f"All {len(body)} settings")


def stages_table() -> Table:
    """The stages that DEBUG=4 shows, in order, and a few words on each."""
    body = [*SCHEDULER.items(), *MEANINGS_TO_C.items()]
    return Table(("stage", "what it does"), body)


def machine() -> Table:
    """What tinyframe has found on this machine. Of devices, it says what `start.py doctor` does."""
    there, missing = there_and_missing()
    cpu = Device["CPU"]
    target = cpu.renderer.target
    return Table(
        ("what", "on this machine"),
        [
            ("devices that work", ", ".join(f"{n} ({h})" if h else n for n, h in there.items())),
            *((f"{name} is missing", why) for name, why in missing.items()),
            ("default device", Device.DEFAULT),
            ("C compiler", compiler_name(cpu.compiler)),
            ("cores", str(usable_cores())),
            ("cores that a kernel may use (THREADS)", str(settings.THREADS)),
            ("one vector", vector_text(target)),
            ("caches of one core", f"{human_bytes(target.l1)}, then {human_bytes(target.l2)}"),
        ],
    )


def compiler_name(compiler: Compiler) -> str:
    """What the C compiler says that it is: "gcc (Debian 12.2.0-14) 12.2.0"."""
    assert isinstance(compiler, ClangCompiler), "the CPU device has no other"
    return compiler.run(["--version"], "").decode(errors="replace").partition("\n")[0]


def vector_text(target: Target) -> str:
    """The width of a vector: "64 bytes, which is 16 floats"."""
    return f"{target.vector_bytes} bytes, which is {target.vector_bytes // FLOAT_BYTES} floats"
