"""BEAM=2 beside the plan: what a search gains, and what it costs in time and memory."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tinyframe import Device, Tensor
from tinyframe.codegen import get_program
from tinyframe.device import human_bytes
from tinyframe.schedule import create_schedule
from tinyframe.search.beam import Bench, search

WIDTH = 2


def programs():
    """Expressions of one kernel each."""

    def empty(*shape: int) -> Tensor:
        return Tensor.empty(*shape).realize()

    yield "matmul 1024", empty(1024, 1024) @ empty(1024, 1024)
    yield "softmax 1024²", empty(1024, 1024).softmax()
    yield "sum axis 0 of 4096²", empty(4096, 4096).sum(axis=0)


def main(quick: bool, keep: Path | None) -> None:
    if quick:
        return
    print(f"BEAM={WIDTH} beside the plan, the least of several runs in turn:")
    rows = {}
    for name, tensor in programs():
        (item,) = create_schedule(tensor.uop.sink())[0]
        device = Device["CPU"]
        found = search(Bench(get_program(item.ast, device.renderer), device), WIDTH)
        rows[name] = {**asdict(found), "opts": list(map(repr, found.opts))}
        print(
            f"  {name:20s} {found.planned * 1e3:7.3f} ms to {found.seconds * 1e3:7.3f} ms, "
            f"{found.planned / found.seconds:.2f} times as quick; {found.tried} tried in "
            f"{found.searched:.0f} s with {human_bytes(found.memory)}",
            flush=True,
        )
    if keep:
        (keep / "searches.json").write_text(json.dumps(rows, indent=1))
