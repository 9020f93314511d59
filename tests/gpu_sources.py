"""Kernels that every GPU's language has to have words for, with their Opts.

What each becomes is in tests/expected_sources/. Those texts have been read, word by word, and each
has to be read again when it changes: `python -m tests.gpu_sources METAL` writes them anew, for `git
diff` to show.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.kernels import on_buffer, program_of
from tinyframe import Tensor, Variable, dtypes
from tinyframe.codegen.optimize.loops import Opt, OptOps

SPLIT, UPCAST, VECTOR, UNROLL = OptOps.SPLIT, OptOps.UPCAST, OptOps.VECTOR, OptOps.UNROLL
STAGE, GLOBAL, LOCAL, GROUP = OptOps.STAGE, OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP

# 16 × 16 results for a block of 8 × 8 threads, 2 × 2 for each; both operands in panels, 16 of k at
# a time
TILED = [Opt(SPLIT, 0, 16), Opt(SPLIT, 2, 16), Opt(UPCAST, 1, 2), Opt(UPCAST, 3, 2),
         Opt(LOCAL, 1, 0), Opt(LOCAL, 3, 0), Opt(GLOBAL, 0), Opt(GLOBAL, 2),
         Opt(SPLIT, 4, 16), Opt(STAGE, 4, 1), Opt(STAGE, 4, 2)]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One kernel: made of a function that gives memory, `memory(4, 5, dtype=…)`."""

    make: Callable[[Callable[..., Tensor]], Tensor]
    opts: tuple[Opt, ...] = ()

    def source(self, language: str) -> str:
        """What the NULL device of a language is given."""
        device = f"NULL:{language}"
        tensor = self.make(lambda *shape, **given: on_buffer(*shape, device=device, **given))
        return program_of(tensor, list(self.opts), device).src


ENDINGS = {"METAL": "metal", "HIP": "hip", "CUDA": "cu"}


def expected_path(language: str, name: str) -> Path:
    """The file that has the source of a case, as it should be."""
    folder = Path(__file__).parent / "expected_sources" / language.lower()
    return folder / f"{name.replace(' ', '_')}.{ENDINGS[language]}"


def row(memory: Callable[..., Tensor]) -> Tensor:
    n = Variable("n", 1, 100).bind(7)
    return memory(100)[:n] * 2


CASES = {
    "elementwise": Case(
        lambda memory: (memory(1024) * 2 + memory(1024)).maximum(0),
        (Opt(VECTOR, 0, 4), Opt(GLOBAL, 0), Opt(LOCAL, 0, 64)),
    ),
    "sum of rows": Case(lambda memory: memory(9, 250).sum(1), (Opt(GLOBAL, 0), Opt(GROUP, 1, 32))),
    "matmul": Case(lambda memory: memory(64, 48) @ memory(48, 64), tuple(TILED)),
    "half": Case(
        lambda memory: memory(64, dtype=dtypes.half) * memory(64, dtype=dtypes.half),
        (Opt(VECTOR, 0, 4), Opt(GLOBAL, 0)),
    ),
    "bfloat16": Case(lambda memory: memory(64, dtype=dtypes.bfloat16) * 3, (Opt(GLOBAL, 0),)),
    "padded": Case(
        lambda memory: memory(5, 6).pad(((1, 0), (0, 2))).contiguous(),
        (Opt(GLOBAL, 0), Opt(GLOBAL, 1)),
    ),
    "transposed": Case(
        lambda memory: memory(8, 64).T.contiguous(), (Opt(VECTOR, 1, 4), Opt(GLOBAL, 0))
    ),
    "bools": Case(
        lambda memory: (memory(64) < memory(64)) & memory(64, dtype=dtypes.bool) | (memory(64) > 0),
        (Opt(VECTOR, 0, 4),),
    ),
    "long": Case(
        lambda memory: memory(64, dtype=dtypes.long) * 3 // memory(64, dtype=dtypes.long),
        (Opt(GLOBAL, 0),),
    ),
    "long in vectors": Case(
        lambda memory: (memory(64, dtype=dtypes.long) * 3).maximum(memory(64, dtype=dtypes.long)),
        (Opt(VECTOR, 0, 2),),
    ),
    "root": Case(lambda memory: memory(64).sqrt() + memory(64).trunc(), (Opt(VECTOR, 0, 4),)),
    "rows chosen": Case(
        lambda memory: memory(50, 4)[memory(8, dtype=dtypes.int)], (Opt(GLOBAL, 0),)
    ),
    "a variable": Case(row),
}


if __name__ == "__main__":
    for language in sys.argv[1:]:
        for name, case in CASES.items():
            path = expected_path(language, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(case.source(language))
