"""Machine code beside its C: against assembly written by hand, and what the kernel needs."""

from __future__ import annotations

import re

import pytest

from tests.viz.drawn import checked, said
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.device import Device
from tinyframe.viz import instructions
from tinyframe.viz.instructions import by_line, meaning

X86 = """\
	.file	"<stdin>"
r_4:
.LFB0:
	.loc 1 1 98
	xor	eax, eax
.L3:
	.loc 1 5 14 is_stmt 0	# <stdin>:5:14
	vfmadd231ss	xmm0, xmm1, DWORD PTR [rdi+rax]
	.loc 1 4 33
	add	rax, 4	# a comment
	cmp	rax, 16
	jne	.L3
	.loc 1 5 14
	vmovaps	xmm2, xmm0
	.size	r_4, .-r_4
r_4_entry:
	.loc 1 9 3
	jmp	r_4@PLT
"""

MACOS = """\
_r_4:                                   ; @r_4
Lfunc_begin0:
	.loc	1 1 0                           ; <stdin>:1:0
; %bb.0:
LBB0_1:                                 ; in Loop
	.loc	1 5 14 prologue_end
	ldr	q1, [x1, #16]                   ; 16-byte Folded Reload
	.loc	1 0 14 is_stmt 0
	str	q2, [sp]
	fmla.4s	v0, v1, v2[0]
	add	x8, x8, #16
	ret
_r_4_entry:
	b	_r_4
"""

GCC_FOR_ARM = """\
r_4:
.LFB0:
	.loc 1 2 1 view .LVU1
#APP
// 2 "<stdin>" 1
#NO_APP
	adrp	x2, .LC0
	ldr	q26, [x2, #:lo12:.LC0]	// 4 floats
	fmla	v28.4s, v21.4s, v0.s[0]
	.size	r_4, .-r_4
"""


@pytest.mark.parametrize(("assembly", "function", "lines"), [
    (X86, "r_4", {1: ["xor eax, eax"],
                  5: ["vfmadd231ss xmm0, xmm1, DWORD PTR [rdi+rax]", "vmovaps xmm2, xmm0"],
                  4: ["add rax, 4", "cmp rax, 16", "jne .L3"]}),
    (X86, "r_4_entry", {9: ["jmp r_4@PLT"]}),
    (MACOS, "r_4", {5: ["ldr q1, [x1, #16]", "str q2, [sp]", "fmla.4s v0, v1, v2[0]",
                        "add x8, x8, #16", "ret"]}),
    (GCC_FOR_ARM, "r_4", {2: ["adrp x2, .LC0", "ldr q26, [x2, #:lo12:.LC0]",  # `#` is a number
                              "fmla v28.4s, v21.4s, v0.s[0]"]}),
])  # fmt: skip
def test_instructions_belong_to_the_line_that_was_named_last(assembly, function, lines):
    assert by_line(assembly, function) == lines


@pytest.mark.parametrize("instruction, words", [
    ("vfmadd231ps zmm0, zmm1, ZMMWORD PTR -256[rax]", "16 × multiply and add"),
    ("vfmadd213sd xmm0, xmm1, xmm2", "multiply and add"),
    ("mulps xmm0, xmm1", "4 × multiply"),
    ("vaddpd ymm0, ymm0, ymm1", "4 × add or subtract"),
    ("subss xmm0, xmm1", "add or subtract"),
    ("vmaxss xmm0, xmm1, xmm2", "larger or smaller"),
    ("sqrtss xmm0, xmm0", "square root"),
    ("fmadd s0, s1, s2, s0", "multiply and add"),
    ("fmul v0.2d, v1.2d, v2.2d", "2 × multiply"),
    ("fmla v0.4s, v1.4s, v2.s[0]", "4 × multiply and add"),
    ("fmla.4s v0, v1, v2[0]", "4 × multiply and add"),
    ("fmaxnm.2d v0, v1, v2", "2 × larger or smaller"),
    ("fadd.8h v0, v1, v2", "8 × add or subtract"),
    ("vaddph zmm0, zmm1, zmm2", "32 × add or subtract"),
    ("add v0.4s, v1.4s, v2.4s", ""),
    ("add.4s v0, v1, v2", ""),
    ("mul.4s v0, v1, v2", ""),
    ("vpaddd zmm0, zmm1, zmm2", ""),
    ("fmov v0.4s, #1.0", ""),
    ("b.ne LBB0_1", ""),
    ("add rax, 4", ""),
    ("sub x8, x8, #4", ""),
    ("vmovups zmm0, ZMMWORD PTR [rdi]", ""),
    ("jne .L3", ""),
])  # fmt: skip
def test_arithmetic_is_said_in_words(instruction, words):
    assert meaning(instruction) == words


@pytest.mark.parametrize("noopt", [0, 1])
def test_the_line_that_multiplies_has_an_instruction_that_does(noopt):
    a, b = Tensor.empty(32, 32), Tensor.empty(32, 32)
    with Context(NOOPT=noopt, DEVICE="CPU"):
        picture = instructions(a @ b)
    drawn = " ".join(said(checked(picture)))
    text = picture.text.splitlines()
    lines = {int(m[1]): m[2] for line in text if (m := re.match(r" *(\d+)  (.*)", line))}
    assert any("acc0 = acc0 + val0 * val1" in line for line in lines.values())
    assert any(line.endswith("multiply and add") or "multiply" in line for line in text)
    assert "instructions for" in drawn


def test_of_several_kernels_one_is_chosen():
    a = Tensor.empty(40, 40)
    assert "kernel 1 of 2" in instructions(a / a.sum(), number=1).headline
    with pytest.raises(ValueError, match="there are 2 kernels"):
        instructions(a / a.sum(), number=3)
    with pytest.raises(ValueError, match="draws kernels of CPU; PYTHON does not"):
        instructions(Tensor([1.0, 2.0], device="PYTHON") + 1)


def test_a_long_kernel_fits_a_screen_and_its_text_has_all():
    with Context(NOOPT=0):
        x = Tensor.empty(512, 512) @ Tensor.empty(512, 512)
        picture, (item,) = instructions(x), x.schedule()
        program = get_program(item.ast, Device["CPU"].renderer)
    checked(picture)
    made = by_line(Device["CPU"].compiler.assembly(program.src), program.function)
    assert f"{sum(map(len, made.values()))} instructions" in picture.text
