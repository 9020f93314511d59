"""From raw times to tables, pictures, and the README's table. Nothing here measures.

Results are the JSON that `benchmarks.run` writes: {"method", "machine", "left out", "peaks":
{table: …}, "tables": {table: [row]}, "growth": [row]}. A row has its name, what it has to reach
("must"), operations and bytes, and the seconds of every turn of each library.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.measure import Comparison, compare

OTHERS = {"numpy": "NumPy", "torch": "PyTorch", "tinygrad": "tinygrad"}
HEAD = ["", "ms", "GFLOP/s", "of peak", "GB/s", "of memory's", "× NumPy", "× PyTorch",
        "× tinygrad", "must", "reached"]  # fmt: skip
WORDS = {"quicker": "yes", "slower": "no", "even": "even", "untested": "?"}
BEGIN, END = "<!-- BENCHMARKS -->", "<!-- /BENCHMARKS -->"
Row = dict[str, Any]


def versus(row: Row, other: str, than: float = 1.0) -> Comparison | None:
    """How many times as quick as that library we are; None where it did not take part."""
    seconds = row["seconds"]
    return compare(seconds[other], seconds["tinyframe"], than) if other in seconds else None


def reached(row: Row) -> str:
    """yes, no, or even: not told apart from what it must be."""
    found = versus(row, *row["must"]) if row["must"] else None
    return WORDS[found.verdict] if found else "–"


def cells(row: Row, peaks: Row) -> list[str]:
    took = statistics.median(row["seconds"]["tinyframe"])

    def speed(work: float, peak: float) -> list[str]:
        return [f"{work / took * 1e-9:.1f}", f"{work / took / peak:.0%}"] if work else ["–", "–"]

    ratios = [versus(row, other) for other in OTHERS]
    must = f"{row['must'][1]:g} × {OTHERS[row['must'][0]]}" if row["must"] else "–"
    counted = row["flops"] if row["flops"] > 8 * row["bytes"] else 0  # else memory is what counts
    return [row["name"], f"{took * 1e3:.3g}", *speed(counted, peaks["flops"]),
            *speed(0 if counted else row["bytes"], peaks["bandwidth"]),
            *[r.text() if r else "–" for r in ratios], must, reached(row)]  # fmt: skip


def growth_cells(row: Row) -> list[str]:
    times = {name: statistics.median(s) for name, s in row["seconds"].items()}
    unit = "µs per kernel" if row["what"] == "scheduling" else "µs"
    shown = [microseconds(times[n]) if n in times else "–" for n in ("tinyframe", *OTHERS)]
    return [f"{row['what']} {row['size']:,}", unit, *shown[:-1]]


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}" if seconds >= 1e-4 else f"{seconds * 1e6:.3g}"


def tables(results: Row) -> list[tuple[str, list[list[str]]]]:
    """(title, rows of cells, the head first)"""
    found = []
    for name, rows in results["tables"].items():
        peaks = results["peaks"][name]
        title = (
            f"{name}: threads {peaks['threads']}, measured peaks {peaks['flops'] * 1e-9:.0f} "
            f"GFLOP/s and {peaks['bandwidth'] * 1e-9:.1f} GB/s"
        )
        found.append((title, [HEAD, *[cells(row, peaks) for row in rows if row["seconds"]]]))
    if results["growth"]:
        head = ["", "unit", "tinyframe", "NumPy", "PyTorch"]
        found.append(("growth with size", [head, *map(growth_cells, results["growth"])]))
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


def fill_readme(readme: Path, results: Row, pictures: Sequence[Path] = ()) -> None:
    """Puts the tables, and pictures of them, between the markers. ValueError where there are
    none."""
    before, begin, rest = readme.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{readme} lacks {BEGIN} … {END}")
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    (title, first), *rest = [(title, markdown(rows)) for title, rows in tables(results)]
    shown = [f"![{picture.stem.replace('_', ' ')}]({picture.relative_to(readme.parent)})"
             for picture in pictures]  # fmt: skip
    body = [f"**{title}**", first, *shown[:1]]
    body.append(f"Measured with {machine}. {results['method']}")
    body += [f"Left out: {line}." for line in results["left out"]]
    body.append("<details><summary>One core, growth with size, and rooflines</summary>")
    for title, table in rest:
        body += [f"**{title}**", table]
    body += [*shown[1:], "</details>"]
    readme.write_text(before + begin + "\n\n" + "\n\n".join(body) + "\n\n" + end + after)


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
        timed = [row for row in rows if row["seconds"]]
        for kind, draw in (("ratios", draw_ratios), ("roofline", draw_roofline)):
            figure, axes = pyplot.subplots(figsize=(8, max(3, 0.3 * len(timed) + 1.5)))
            draw(axes, timed, results["peaks"][name])
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
    verdicts = [reached(row) for rows in results["tables"].values() for row in rows]
    counts = {word: verdicts.count(word) for word in WORDS.values()}
    ratios = [r.ratio for rows in results["tables"].values() for row in rows
              if (r := versus(row, "torch"))]  # fmt: skip
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan
    return (
        f"{counts['yes']} rows are above what they must be, {counts['even']} at it, {counts['no']} "
        f"below; geometric mean beside PyTorch {mean:.2f}"
    )
