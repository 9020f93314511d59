"""What a lesson says about what the learner's machine has just done: of two texts, the true one.

    what_happened(greedy(rates))

Tests of notebooks do not compare it. rates: of `climb`, GFLOP/s by label, NumPy's among them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping

from classroom.learner import show
from tinyframe.codegen.optimize.loops import OptOps
from tinyframe.search.beam import SearchResult

LEVEL = 0.05  # what is nearer than that is as fast

Rates = Mapping[str, float]


def what_happened(*texts: str) -> None:
    """Show some paragraphs; what is in backticks is code."""
    show.both(f"This machine: {' '.join(texts)}", as_html(texts))


def as_html(texts: Iterable[str]) -> str:
    """Paragraphs, in a form that tests of notebooks do not compare."""
    code = [re.sub("`(.*?)`", r"<code>\1</code>", html.escape(text)) for text in texts]
    return f'<div class="measured">{"".join(f"<p>{text}</p>" for text in code)}</div>'


def by(ratio: float) -> str:
    """How much faster or slower: "by 30%"."""
    return f"by {abs(ratio - 1):.0%}"


def greedy(rates: Rates) -> str:
    ratio = rates["greedy"] / rates["6 rows"]
    where = (
        f"Below, {by(ratio)}." if ratio < 1 - LEVEL
        else "No higher, for all that it saves." if ratio < 1 + LEVEL
        else f"Above, {by(ratio)}, not much, with three of four loads gone."
    )  # fmt: skip
    return (
        f"{where} Look at the last line of the count: 73 registers, where there are 16. (With "
        "AVX-512 there are 32, which isn't enough either.) The compiler doesn't complain. It puts "
        "what doesn't fit into memory, and fetches it and puts it back in every single turn. Those "
        "loads aren't in our count, because we didn't write them."
    )


def four_by_three(rates: Rates) -> str:
    ratio = rates["4 rows of 3"] / rates["6 rows of 2"]
    if ratio < 1 - LEVEL:
        return (
            f"Fewer loads, and slower {by(ratio)}. Part of the reason is the last number that was "
            "printed: each cache line of `b` now serves four rows, where it served six. The "
            "other part I don't know. Counting tells you what to try, and the clock has the last "
            "word."
        )
    how = f"faster {by(ratio)}" if ratio > 1 + LEVEL else "just as fast, whatever was counted"
    return (
        f"Fewer loads, and {how}. On an older machine of mine it was slower by a quarter: there, "
        "the lines that were printed beside the loads decided it. So counting tells you what to "
        "try, and the clock has the last word, on each machine anew."
    )


def beside_numpy(rates: Rates) -> str:
    ratio = rates["6 rows of 2"] / rates["NumPy"]
    if ratio < 1 - LEVEL:
        return f"We're at {ratio:.0%} of NumPy now."
    if ratio < 1 + LEVEL:
        return "We've caught up with NumPy. There's more to be had."
    return (
        f"We're ahead of NumPy now, at {ratio:.0%} of it: the library behind yours doesn't get the "
        "most out of this processor. Do we?"
    )


def panel(rates: Rates) -> str:
    ratio = rates["a panel"] / rates["columns first"]
    if ratio > 1 + LEVEL:
        return f"Tidying up paid: {ratio:.2f} times as fast as the same loops without it."
    return (
        "The panel gained nothing here, copying included. Your processor finds 256 pages quickly "
        "enough as they are; many others don't. A count says what's done, not what you end up "
        "waiting for."
    )


def at_the_end(rates: Rates) -> str:
    ratio = rates["a panel"] / rates["NumPy"]
    words = (
        "people have been tuning the library behind NumPy for twenty years. You didn't write one "
        "loop. You said what should become of them."
    )
    if ratio > 1.1:
        return f"That's {ratio:.0%} of NumPy, and {words}"
    if ratio > 0.85:
        return f"That's NumPy, or close to it, and {words}"
    return f"That's {ratio:.0%} of NumPy. Five lines, and {words}"


def rows_or_lanes(seconds: Mapping[str, float]) -> str:
    """seconds: of the programs of part 8a."""
    ratio = seconds["8 lanes, 8 rows"] / seconds["8 rows at a time"]
    if ratio > 1 + LEVEL:
        return (
            "Your 8 rows are faster without your lanes. The compiler makes vectors of those rows, "
            f"as long as this machine has them, and that's {ratio - 1:.0%} faster than the program "
            "that takes 8, as you've told it to."
        )
    return (
        "Your 8 rows gain little by your lanes, if anything: the compiler makes vectors by itself."
        if ratio > 1 - LEVEL
        else "Your lanes pay, once there are 8 rows: the compiler didn't make vectors by itself."
    )


def mirrored_search(found: SearchResult) -> str:
    ratio = found.planned / found.seconds
    if ratio < 1 + LEVEL:
        return "It found nothing better, which I've never seen here. You'll do better in a moment."
    how = (
        "vectors along the columns, backwards or not"
        if any(opt.op is OptOps.VECTOR for opt in found.opts)
        else "no vectors, but several columns at a time, and the C compiler makes vectors of those"
    )
    listed = ", ".join(map(str, found.opts))
    return (
        f"{ratio:.1f} times as fast, for {_waited(found)} of searching. It found `{listed}`: {how}."
    )


def matmul_search(found: SearchResult) -> str:
    ratio = found.planned / found.seconds
    if ratio < 1 + LEVEL:
        return (
            f"The plan was good already, and for {_waited(found)} of searching you got nothing, or "
            "nothing that you'd notice."
        )
    runs = found.searched / (found.planned - found.seconds)
    return (
        f"BEAM is ahead of the plan {by(ratio)}, and that takes {runs:,.0f} runs to earn back the "
        f"{_waited(found)} of searching."
    )


def _waited(found: SearchResult) -> str:
    return f"{found.searched:.0f} seconds" if found.searched >= 2 else "a second or so"
