"""Machine code in the explorer: against disassemblies written by hand, and those of every objdump
that is here, of code for every processor that a compiler here makes code for."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.arm64_device import CLANGS, compilers
from tests.kernels import filled, kernel_of
from tinyframe.codegen import get_program
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.runtime.cpu import renderer_for
from tinyframe.viz.explorer.disassembly import hot_loop, instructions, machine_code, output_of
from tinyframe.viz.instructions import meaning

X86 = """
Disassembly of section .plt:

0000000000000ff0 <f@plt>:
     ff0:\tjmp    ff0 <f@plt>

Disassembly of section .text:

0000000000001000 <f>:
    1000:\tmov    rax,rdi
    1003:\tvaddps zmm0,zmm1,zmm2
    1009:\tjmp    1003 <f+0x3>
    100b:\tvmulps zmm0,zmm1,zmm2
    1011:\tvfmadd231ps zmm0,zmm1,zmm2
    1017:\tadd    rax,0x40
    101b:\tjne    100b <f+0xb>
    101d:\tinc    rdx
    1020:\tjne    1003 <f+0x3>
    1022:\tret
"""
# as LLVM's objdump writes ARM on macOS
MACOS = """
/tmp/kernel.so:\tfile format mach-o arm64

Disassembly of section __TEXT,__text:

0000000000001000 <_f>:
    1000:      \tmov\tx8, #0
    1004:      \tldr\tq0, [x1, x8]
    1008:      \tfmla.4s\tv1, v0, v2[0]
    100c:      \tadd.4s\tv3, v3, v4
    1010:      \tadd\tx8, x8, #16
    1014:      \tcmp\tx8, #256
    1018:      \tb.ne\t0x1004 <_f+0x4>
    101c:      \tadd.4s\tv3, v3, v4
    1020:      \ttbnz\tw9, #3, 0x101c <_f+0x1c>
    1024:      \tcbnz\tx9, 0x1000 <_f>
    1028:      \tret

Disassembly of section __TEXT,__stubs:

000000000000102c <__stubs>:
    102c:      \tbr\tx16
"""
# as GNU's does on Linux
LINUX = """
Disassembly of section .text:

0000000000000764 <f>:
 764:\tfmul\tv0.4s, v0.4s, v1.4s
 768:\tsubs\tx1, x1, #0x1
 76c:\tb.ne\t764 <f>  // b.any
 770:\tret
"""


@pytest.mark.parametrize(
    ("text", "count", "loop"),
    [(X86, 10, ["100b", "1011", "1017", "101b"]),
     (MACOS, 11, ["1004", "1008", "100c", "1010", "1014", "1018"]),
     (LINUX, 4, ["764", "768", "76c"])],
    ids=["x86", "macOS", "Linux"],
)  # fmt: skip
def test_the_hot_loop_is_the_innermost_one_with_most_arithmetic(text, count, loop):
    assert len(instructions(text).splitlines()) == count
    found = hot_loop(text)
    assert found is not None
    assert [line.split(":")[0].strip() for line in found.splitlines()] == loop


def test_without_arithmetic_no_loop_is_hot():
    text = X86.replace("vfmadd231ps", "vmovaps").replace("vmulps", "vmovaps")
    assert hot_loop(text.replace("vaddps", "vmovaps")) is None
    assert hot_loop(MACOS.replace("fmla", "mla")) is None  # integers
    assert hot_loop("") is None


# ---- what the tools here print -------------------------------------------------------------------

CLANG = next(filter(shutil.which, CLANGS), None)
APPLE = [(f"{CLANG} --target=arm64-apple-macos12", "-mcpu=apple-m1"),
         (f"{CLANG} --target=x86_64-apple-macos12", "-march=haswell")] if CLANG else []  # fmt: skip
PROCESSORS = [("", ""), *[(arm, "-mcpu=cortex-a76") for arm in compilers()], *APPLE]
TOOLS = [*filter(shutil.which, ("objdump", "aarch64-linux-gnu-objdump", "llvm-objdump",
                                "llvm-objdump-14"))]  # fmt: skip


def compiled(command: str, flag: str, folder: Path) -> bytes:
    """A product of matrices, for one of PROCESSORS."""
    compiler = ClangCompiler(find_compiler(command), (flag,) if flag else ())
    x = filled(np.ones((64, 64), np.float32))
    program = get_program(kernel_of(x @ x), renderer_for(compiler, 1))
    made = str(folder / "kernel.o")
    compiler.run([*compiler.flags, "-x", "c", "-", "-c", "-o", made], program.src)
    return (folder / "kernel.o").read_bytes()


@pytest.mark.parametrize(("command", "flag"), PROCESSORS)
def test_the_hot_loop_of_a_product_multiplies_and_adds(command, flag, tmp_path):
    binary, read = compiled(command, flag, tmp_path), 0
    for tool in TOOLS:
        if (text := output_of(tool, binary)) is None:
            continue
        read += 1
        loop = hot_loop(text)
        assert loop is not None, text
        said = [meaning(line.split("\t", 1)[1]) for line in loop.splitlines()]
        assert sum(words.endswith(" × multiply and add") for words in said) >= 8, loop
    assert read or not TOOLS or "apple" in command  # GNU's reads no file of macOS'


def test_what_objdump_does_not_know_is_said():
    assert machine_code(b"no program")["text"] is None
