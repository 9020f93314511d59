"""From raw times to tables, pictures, and the tables of docs/benchmarks.md. Nothing here measures.

Results are the JSON that `python -m benchmarks` writes: {"method", "machine", "left out", "peaks":
{table: …}, "tables": {table: [row]}, "scheduling": {kernels: seconds of each repeat}}. A row has
its name, what it has to reach ("must"), operations and bytes, the seconds of every turn of each
library, a mark for each library that did not make it, and how many times as long as usual the
loops took that say how busy the machine was ("pace").
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.measure import Comparison, compare
from benchmarks.quiet import BUSY
from benchmarks.work import FEW

OTHERS = {"numpy": "NumPy", "torch": "PyTorch", "tinygrad": "tinygrad", "beside": "own matmul"}
HEAD = ["", "ms", "GFLOP/s", "of peak", "GB/s", "of memory's",
        *[f"× {label}" for label in OTHERS.values()], "must", "reached"]  # fmt: skip
NOTHING = "–"
WORDS = {"quicker": "yes", "slower": "no", "even": "even", "untested": "?"}
GROWTH = "growth"  # the table of times alone
BEGIN, END = "<!-- BENCHMARKS -->", "<!-- /BENCHMARKS -->"
Row = dict[str, Any]


def versus(row: Row, other: str, than: float = 1.0) -> Comparison | None:
    """How many times as quick as that library we are; None where one did not take part. Beside
    another row of ours, in operations a second."""
    seconds = row["seconds"]
    if not {other, "tinyframe"} <= seconds.keys():
        return None
    scale = row["flops"] / row["beside flops"] if other == "beside" else 1.0
    return compare([s * scale for s in seconds[other]], seconds["tinyframe"], than)


def reached(row: Row) -> str:
    """yes, no, or even: not told apart from what it must be."""
    found = versus(row, *row["must"]) if row["must"] else None
    return WORDS[found.verdict] if found else NOTHING


def busy_rows(results: Row) -> dict[str, list[str]]:
    """For each table, the names of the rows that never had a quiet machine."""
    found = {
        name: [row["name"] for row in rows if row["pace"] > BUSY]
        for name, rows in results["tables"].items()
    }
    return {name: rows for name, rows in found.items() if rows}


def replace_rows(results: Row, anew: Row) -> None:
    """Puts rows that were measured again in the place of those with their names."""
    for table, rows in anew["tables"].items():
        of = {row["name"]: row for row in rows}
        kept = results["tables"][table]
        results["tables"][table] = [of.get(row["name"], row) for row in kept]


def name_cell(row: Row) -> str:
    return f"{row['name']} (busy: {row['pace']:.1f})" if row["pace"] > BUSY else row["name"]


def peaks_of(results: Row, name: str) -> Row:
    """The peaks of a table. Where the machine was busy while the loop of multiply-adds ran, a row
    may have reached more: then that is the most that was seen of it."""
    peaks = results["peaks"][name]
    reached = [
        row["flops"] / statistics.median(seconds)
        for row in results["tables"][name]
        for library, seconds in row["seconds"].items()
        if library in ("tinyframe", *OTHERS) and library != "beside"
    ]
    return {**peaks, "flops": max([peaks["flops"], *reached])}


def cells(row: Row, peaks: Row) -> list[str]:
    must = f"{row['must'][1]:.2g} × {OTHERS[row['must'][0]]}" if row["must"] else NOTHING
    name = name_cell(row)
    if "tinyframe" not in row["seconds"]:
        empty = [NOTHING] * (len(HEAD) - 4)
        return [name, row["marks"].get("tinyframe", NOTHING), *empty, must, NOTHING]
    took = statistics.median(row["seconds"]["tinyframe"])

    def speed(work: float, peak: float) -> list[str]:
        return [f"{work / took * 1e-9:.1f}", f"{work / took / peak:.0%}"] if work else [NOTHING] * 2

    def beside(other: str) -> str:
        found = versus(row, other)
        return found.text() if found else row["marks"].get(other, NOTHING)

    counted = row["flops"] if row["flops"] > FEW * row["bytes"] else 0
    return [name, f"{took * 1e3:.3g}", *speed(counted, peaks["flops"]),
            *speed(0 if counted else row["bytes"], peaks["bandwidth"]),
            *map(beside, OTHERS), must, reached(row)]  # fmt: skip


def filled(rows: list[list[str]]) -> list[list[str]]:
    """Without the columns in which nothing stands."""
    keep = [n for n, column in enumerate(zip(*rows[1:], strict=True)) if {*column} != {NOTHING}]
    return [[row[n] for n in keep] for row in rows]


def growth_cells(row: Row) -> list[str]:
    def cell(name: str) -> str:
        if name in row["seconds"]:
            return microseconds(statistics.median(row["seconds"][name]))
        return row["marks"].get(name, NOTHING)

    return [name_cell(row), *[cell(name) for name in ("tinyframe", *OTHERS)]]


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}" if seconds >= 1e-4 else f"{seconds * 1e6:.3g}"


def tables(results: Row) -> list[tuple[str, list[list[str]]]]:
    """(title, rows of cells, the head first)"""
    found = []
    for name, rows in results["tables"].items():
        peaks = peaks_of(results, name)
        if name == GROWTH:
            head = ["µs", "tinyframe", *OTHERS.values()]
            timed = [growth_cells(row) for row in rows]
            found.append(("growth with size", filled([head, *timed])))
            continue
        title = (
            f"{name}: threads {peaks['threads']}, peaks as measured {peaks['flops'] * 1e-9:.0f} "
            f"GFLOP/s and {peaks['bandwidth'] * 1e-9:.1f} GB/s"
        )
        found.append((title, filled([HEAD, *[cells(row, peaks) for row in rows]])))
    if results["scheduling"]:
        head = ["kernels", "µs of Python to schedule each"]
        timed = [[f"{int(count):,}", microseconds(statistics.median(seconds))]
                 for count, seconds in results["scheduling"].items()]  # fmt: skip
        found.append(("scheduling", [head, *timed]))
    return found


def plain(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def markdown(rows: list[list[str]]) -> str:
    head, *rest = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---" * len(rows[0]) + "|", *rest])


def text(results: Row) -> str:
    notes = [f"left out: {line}" for line in results["left out"]]
    return "\n\n".join(
        [f"{title}\n{plain(rows)}" for title, rows in tables(results)] + ["\n".join(notes)]
    ).rstrip()


def fill_page(page: Path, results: Row, pictures: Sequence[Path] = ()) -> None:
    """Puts the tables, and pictures of them, between the markers. ValueError where there are
    none."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks {BEGIN} … {END}")
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    (title, first), *rest = [(title, markdown(rows)) for title, rows in tables(results)]
    shown = [f"![{picture.stem.replace('_', ' ')}]({picture.relative_to(page.parent)})"
             for picture in pictures]  # fmt: skip
    body = [f"**{title}**", first, *shown[:1]]
    body.append(f"Measured with {machine}. {results['method']}")
    body += [f"Left out: {line}." for line in results["left out"]]
    body.append("<details><summary>One core, growth with size, and rooflines</summary>")
    for title, table in rest:
        body += [f"**{title}**", table]
    body += [*shown[1:], "</details>"]
    page.write_text(before + begin + "\n\n" + "\n\n".join(body) + "\n\n" + end + after)


# ---- pictures -----------------------------------------------------------------------------------


def plot(results: Row, folder: Path) -> list[Path]:
    """Ratios as bars, and a roofline, for each table; as SVG."""
    import matplotlib

    matplotlib.use("svg")
    # the same picture is the same file, and its words are words
    matplotlib.rcParams |= {"svg.hashsalt": "tinyframe", "svg.fonttype": "none"}
    from matplotlib import pyplot

    files = []
    for name, rows in results["tables"].items():
        timed = [row for row in rows if "tinyframe" in row["seconds"]]
        if name == GROWTH or not timed:
            continue
        for kind, draw in (("ratios", draw_ratios), ("roofline", draw_roofline)):
            figure, axes = pyplot.subplots(figsize=(8, max(3, 0.3 * len(timed) + 1.5)))
            draw(axes, timed, peaks_of(results, name))
            axes.set_title(f"{name}, threads {results['peaks'][name]['threads']}")
            files.append(folder / f"{kind}_{name.replace(' ', '_')}.svg")
            figure.savefig(files[-1], bbox_inches="tight", metadata={"Date": None})
            pyplot.close(figure)
            files[-1].write_text(described(files[-1].read_text(), f"{kind}, {name}", timed))
    return files


def described(svg: str, title: str, rows: list[Row]) -> str:
    """The picture with its numbers in words, for those who cannot see it."""
    pairs = [(row["name"], other, versus(row, other)) for row in rows for other in OTHERS]
    said = [f"{name}: {found.ratio:.2f} times as quick as {OTHERS[other]}"
            for name, other, found in pairs if found]  # fmt: skip
    head, _, rest = svg.partition(">\n <metadata>")
    words = f"<title>{escape(title)}</title>\n <desc>{escape('; '.join(said))}</desc>"
    return f"{head}>\n {words}\n <metadata>{rest}"


def draw_ratios(axes: Any, rows: list[Row], peaks: Row) -> None:
    """Beside the library that the row is held against, or PyTorch; the quartiles as whiskers."""
    for y, row in enumerate(rows):
        other, must = row["must"] or ("torch", None)
        if found := versus(row, other):
            whisker = [[found.ratio - found.low], [found.high - found.ratio]]
            color = "C0" if other == "torch" else "C1"
            axes.barh(y, found.ratio - 1, left=1, xerr=whisker, color=color)  # from 1 on, as quick
            axes.annotate(f"{found.ratio:.2f}", (found.high, y), (3, 0),
                          textcoords="offset points", va="center", fontsize=7)  # fmt: skip
        if must:
            axes.plot([must, must], [y - 0.45, y + 0.45], color="black")
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.1)
    axes.set_xlabel("times as quick as PyTorch (blue), NumPy (orange); black: what it must be")


def draw_roofline(axes: Any, rows: list[Row], peaks: Row) -> None:
    """Operations in a second over operations per byte, as the compiled kernels count them; a
    number for each row, and the rows' names beside the picture."""
    corner = peaks["flops"] / peaks["bandwidth"]
    intensities = [2.0**-5, corner, 2.0**11]
    roof = [min(peaks["flops"], i * peaks["bandwidth"]) * 1e-9 for i in intensities]
    axes.plot(intensities, roof, color="black")
    number = 0
    for row in rows:
        ops, moved = row["kernel ops"], row["kernel bytes"]
        if ops and moved:
            point = ops / moved, ops / statistics.median(row["seconds"]["tinyframe"]) * 1e-9
            number += 1
            axes.plot(*point, "o", color="C0", markersize=4, label=f"{number}  {row['name']}")
            axes.annotate(str(number), point, fontsize=7, xytext=(3, 2), textcoords="offset points")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("operations for each byte of the kernels' arguments")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("GFLOP/s")
    if number:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7, frameon=False,
                    handlelength=0, handletextpad=0, markerscale=0)  # fmt: skip


def summary(results: Row) -> str:
    """One line: how many rows reach what they must."""
    rows = [row for name, table in results["tables"].items() if name != GROWTH for row in table]
    verdicts = [reached(row) for row in rows]
    counts = {word: verdicts.count(word) for word in WORDS.values()}
    ratios = [found.ratio for row in rows if (found := versus(row, "torch"))]
    said = (
        f"{counts['yes']} rows are above what they must be, {counts['even']} at it, "
        f"{counts['no']} below"
    )
    if ratios:
        said += f"; geometric mean beside PyTorch {statistics.geometric_mean(ratios):.2f}"
    return said
