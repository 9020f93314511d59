"""Two recordings as a readable difference: which kernels are new, gone and changed, and how."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from tests.replay.recording import Kernel, Program, Recording

Pair = tuple[Program | None, Program | None]


@dataclass(frozen=True)
class Difference:
    """One kernel of which two recordings say something different. pairs: the programs that differ,
    before and after; None where there is none."""

    kind: str  # "new", "gone" or "changed"
    kernel: Kernel
    pairs: tuple[Pair, ...]

    @property
    def name(self) -> str:
        """What its programs are called, before or else after."""
        names = {(old or new).name: None for old, new in self.pairs}  # type: ignore[union-attr]
        return ", ".join(filter(None, names)) or self.kernel.key


def differences(old: Recording, new: Recording) -> list[Difference]:
    """What is gone, new or changed, in this order, each by name. A kernel that both have is
    compared in the languages that both write: an older commit may lack some."""
    nothing = Kernel("")
    shared = old.written & new.written
    found = []
    for key in old.kernels.keys() | new.kernels.keys():
        before, after = old.kernels.get(key), new.kernels.get(key)
        pairs = tuple(paired((before or nothing).programs, (after or nothing).programs))
        kind = "gone" if after is None else "new" if before is None else "changed"
        if kind == "changed":
            pairs = tuple(p for p in pairs if (p[0] or p[1]).language in shared)  # type: ignore[union-attr]
        if pairs or kind != "changed":
            found.append(Difference(kind, after or before or nothing, pairs))
    order = ["gone", "new", "changed"]
    return sorted(found, key=lambda d: (order.index(d.kind), d.name, d.kernel.key))


def paired(before: set[Program], after: set[Program]) -> Iterator[Pair]:
    """The programs that are in one set only, each beside its like: by language and settings."""
    like: defaultdict[tuple[str, str], tuple[list[Program], list[Program]]]
    like = defaultdict(lambda: ([], []))
    for side, programs in enumerate((before - after, after - before)):
        for program in sorted(programs):
            like[program.language, program.settings][side].append(program)
    for key in sorted(like):
        yield from zip_longest(*like[key])


# ---- as text -------------------------------------------------------------------------------------


def report(old: Recording, new: Recording, most: int = 20) -> str:
    """The whole comparison. most: so many differences are shown in full, 0 for all."""
    found = differences(old, new)
    count = Counter(difference.kind for difference in found)
    lines = [f"old: {old.label}, {_kernels(len(old.kernels))}",
             f"new: {new.label}, {_kernels(len(new.kernels))}"]  # fmt: skip
    if old.machine != new.machine:
        lines.append(f"They are of different machines: {old.machine}; {new.machine}")
    lines += [
        f"Only {who} writes {', '.join(sorted(more))}."
        for who, more in (("old", old.written - new.written), ("new", new.written - old.written))
        if more and old.kernels and new.kernels
    ]
    if not found:
        return "\n".join([*lines, "No difference."])
    lines.append(", ".join(f"{count[kind]} {kind}" for kind in ("gone", "new", "changed")))
    lines += ["", *by_file(found)]
    shown = found if most == 0 else found[:most]
    for difference in shown:
        lines += ["", *described(difference)]
    if len(found) > len(shown):
        rest = len(found) - len(shown)
        lines += ["", f"… and {rest} more; --most 0 shows all."]
    return "\n".join(lines)


def by_file(found: list[Difference]) -> list[str]:
    """How many kernels of each file of tests are gone, new or changed."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for difference in found:
        for file in difference.kernel.files:
            counts[file][difference.kind] += 1
    width = max(map(len, counts), default=0)
    return [
        f"{file:<{width}}  " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts[file].items()))
        for file in sorted(counts)
    ]


def described(difference: Difference) -> list[str]:
    """One kernel: its name, where it was asked for, and each program that differs."""
    files = sorted(difference.kernel.files)
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    lines = [f"{difference.kind} {difference.name}   {files[0] if files else ''}{more}"]
    if difference.kind != "changed":
        languages = sorted({(old or new).language for old, new in difference.pairs})  # type: ignore[union-attr]
        return [*lines, f"  in {', '.join(languages)}"]
    for old, new in difference.pairs:
        lines += [f"  {line}" if line else "" for line in _program_lines(old, new)]
    return lines


def _program_lines(old: Program | None, new: Program | None) -> Iterator[str]:
    one = old or new
    assert one is not None
    where = " ".join(filter(None, (one.language, one.settings)))
    if old is None or new is None:
        yield f"{where}: {'one more program' if old is None else 'one program less'}, {one.name}"
        return
    yield f"{where}:"
    for what, before, after in (
        ("name", old.name, new.name),
        ("plan", old.plan, new.plan),
        ("opts", ", ".join(old.opts), ", ".join(new.opts)),
    ):
        if before != after:
            yield f"  {what}: {before or 'none'}"
            yield f"    -> {after or 'none'}"
    yield from difflib.unified_diff(
        old.source.splitlines(), new.source.splitlines(), "old", "new", lineterm="", n=2
    )


def _kernels(count: int) -> str:
    return f"{count} kernel{'s' * (count != 1)}"
