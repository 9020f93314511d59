"""Flat programs to source text, one module per language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """What a schedule has to know of the machine.

    vector_bytes: width of a vector register. vector_registers: how many there are. threads: how
    many may run at once. l1, l2, l3: bytes of cache, of one core for l1 and l2; 0 where it has none.
    """

    vector_bytes: int
    vector_registers: int
    threads: int
    l1: int
    l2: int
    l3: int = 0
