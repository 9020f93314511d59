"""What every notebook promises beside printing what is stored, which nbval checks.

Worked notebooks are in solutions/course; `make course` makes the learners' of them, and runs both.
"""

from __future__ import annotations

import json
import re
from inspect import isfunction
from pathlib import Path

import pytest
from nbval import plugin as nbval

from classroom.build import ROOT, SANITIZER, sanitized
from classroom.exercises import exercises, parts
from classroom.site import pages as site
from tinyframe import viz

WORKED = sorted((ROOT / "solutions" / "course").glob("*.ipynb"))
LEARNERS = sorted((ROOT / "course").glob("*.ipynb"))

# A cell with one of these is run, and what it prints is not compared. PNGs are never compared.
UNCHECKED_TAGS = {"nbval-ignore-output", "nbval-skip", "skip"}
MOST_UNCHECKED = 0.15

MACHINE_PATHS = re.compile(
    r"(?<!\w)/(home|Users|root|tmp|work|workspace|private|var|opt|usr/l|mnt)/|site-packages"
    r"|[A-Z]:\\\\Users"
)

# check("4.3", …) and predict("4.1", …) in a cell
ASKED = re.compile(r'^(?:check|predict)\("(\d+\.\d+)"', re.MULTILINE)

POSED = re.compile(r"^\*\*Exercise (\d+\.\d+)", re.MULTILINE)

every_notebook = pytest.mark.parametrize(
    "path", WORKED + LEARNERS, ids=lambda path: str(path.relative_to(ROOT))
)


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def code_cells(path: Path) -> list[dict]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def texts(output: dict) -> dict[str, str]:
    """What an output shows, by MIME type; a stream as text/plain."""
    data = {"text/plain": output["text"]} if "text" in output else output.get("data", {})
    return {kind: "".join(lines) for kind, lines in data.items()}


def plots(cell: dict) -> list[str]:
    return [kind for o in cell["outputs"] for kind in texts(o) if kind.startswith("image/")]


def part_of(path: Path) -> int:
    """The number of a part, which may be two notebooks (04a, 04b); 0 of one that is none."""
    return int(path.name[:2]) if path.name[:2].isdecimal() else 0


every_part = pytest.mark.parametrize(
    "path",
    [path for path in WORKED + LEARNERS if part_of(path)],
    ids=lambda path: str(path.relative_to(ROOT)),
)


# ---- exercises -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [0, *parts()])
@pytest.mark.parametrize("notebooks", [WORKED, LEARNERS], ids=["worked", "learners"])
def test_exercises_are_those_of_the_table_in_order(notebooks, part):
    cells = [cell for path in notebooks if part_of(path) == part for cell in code_cells(path)]
    asked = [number for cell in cells for number in ASKED.findall(source(cell))]
    assert asked == [exercise.number for exercise in exercises(part)]


@every_notebook
def test_predictions_come_before_the_cell_that_shows_them(path):
    cells = code_cells(path)
    by_number = {exercise.number: exercise for exercise in exercises(part_of(path))}
    for place, cell in enumerate(cells):
        for number in ASKED.findall(source(cell)):
            word = "predict" if by_number[number].shown_by else "check"
            assert f'{word}("{number}"' in source(cell)
            if by_number[number].shown_by == "the next cell":
                assert not ASKED.search(source(cells[place + 1])), number


@every_notebook
def test_every_exercise_is_posed_above_its_cell(path):
    posed: list[str] = []
    for cell in read(path)["cells"]:
        found = POSED if cell["cell_type"] == "markdown" else ASKED
        for number in found.findall(source(cell)):
            assert found is POSED or posed[-1:] == [number], number
            posed += [number] if found is POSED else []


@pytest.mark.parametrize("part", parts())
def test_every_exercise_says_why_its_answer_is_right(part):
    lacking = [e.number for e in exercises(part) if not e.because.endswith((".", ".)", "!"))]
    assert not lacking, f"`because` is missing, or no sentence: {', '.join(lacking)}"


# ---- every notebook -----------------------------------------------------------------------------


@every_notebook
def test_every_code_cell_was_run_once_from_top_to_bottom(path):
    counts = [cell["execution_count"] for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


@every_notebook
def test_no_cell_is_empty(path):
    assert all(source(cell).strip() for cell in read(path)["cells"])


@every_notebook
def test_a_fold_is_the_end_of_its_cell(path):
    """Right below a closed one, what follows would look like what is folded."""
    sources = [source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "markdown"]
    folds = [text for text in sources if "</details>" in text]
    assert all(text.count("</details>") == 1 and text.endswith("</details>") for text in folds)


@every_notebook
def test_no_cell_ends_in_an_error_or_a_warning(path):
    for cell in code_cells(path):
        assert not [o for o in cell["outputs"] if o["output_type"] == "error"], source(cell)
        assert not [o for o in cell["outputs"] if o.get("name") == "stderr"], source(cell)


@every_notebook
def test_nothing_of_the_authors_machine_is_stored(path):
    for cell in read(path)["cells"]:
        shown = [source(cell)]
        shown += [text for o in cell.get("outputs", []) for text in texts(o).values()]
        found = [match[0] for text in shown if (match := MACHINE_PATHS.search(text))]
        assert not found, f"{found} in: {source(cell)[:200]}"


@every_notebook
def test_the_first_cell_pins_device_threads_and_vectors(path):
    first = source(code_cells(path)[0])
    assert 'os.environ.update(DEVICE="CPU", THREADS="1", NOOPT="1", NO_COLOR="1")' in first
    assert first.index("os.environ") < first.index("tinyframe")


@every_notebook
def test_metadata_is_clean(path):
    notebook = read(path)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert set(notebook["metadata"]["language_info"]) == {"name"}
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags"}, source(cell)


@every_notebook
def test_nearly_all_cells_are_compared(path):
    cells = [cell for cell in code_cells(path) if cell["outputs"]]
    unchecked = []
    for cell in cells:
        kinds = [set(texts(o)) - {"text/plain"} for o in cell["outputs"]]
        only_pixels = all(kind & {"image/png", "image/jpeg"} for kind in kinds)
        if UNCHECKED_TAGS & set(cell["metadata"].get("tags", [])) or only_pixels:
            unchecked.append(source(cell))
    assert len(unchecked) <= MOST_UNCHECKED * len(cells), unchecked


@every_notebook
def test_plots_are_svg_shown_last_and_carry_a_printed_fact(path):
    for cell in code_cells(path):
        if plots(cell):
            assert set(plots(cell)) == {"image/svg+xml"}, source(cell)
            assert source(cell).rstrip().endswith("plt.show()"), source(cell)
            assert any(o.get("name") == "stdout" for o in cell["outputs"]), source(cell)


@every_notebook
def test_plots_have_no_date_and_the_same_names_in_every_run(path):
    plotting = [source(cell) for cell in code_cells(path) if plots(cell)]
    everything = "\n".join(source(cell) for cell in code_cells(path))
    if plotting:
        assert "use_style()" in everything  # which sets svg.hashsalt
        assert '"Date": None' in everything


COPIED = {"course", "projects", "mini"}


@every_notebook
def test_links_lead_somewhere(path):
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            for target in re.findall(r"\]\(([^)#\s]+)\)", source(cell)):
                kind, _, name = target.partition(":")
                if kind == "attachment":  # a picture that is inside the cell
                    assert name in cell["attachments"], target
                elif "://" not in target:
                    # a worked notebook has the learner's links
                    assert (ROOT / "course" / target).exists(), target
                    # a learner's copy has these folders, and JupyterLab shows nothing outside of it
                    there = (ROOT / "course" / target).resolve()
                    assert there.relative_to(ROOT).parts[0] in COPIED, target


@every_part
def test_it_says_how_long_it_takes_and_what_it_is_for(path):
    opening = source(read(path)["cells"][0])
    assert re.search(r"About \d+ minutes", opening)
    assert "After this part you can" in opening


# ---- the gallery ---------------------------------------------------------------------------------

MEASURED = {"timeline", "roofline"}  # pictures of times, which no two runs have in common


def gallery() -> dict[str, list[dict]]:
    """The cells of the gallery by the function of viz that they end with."""
    (path,) = [path for path in WORKED if not part_of(path)]
    found: dict[str, list[dict]] = {}
    for cell in code_cells(path)[1:]:
        found.setdefault(source(cell).splitlines()[-1].partition("(")[0], []).append(cell)
    return found


def test_the_gallery_shows_every_picture_of_viz():
    functions = {name for name, value in vars(viz).items() if isfunction(value)}
    # why() gives words, and use_style() is for matplotlib
    assert gallery().keys() == functions - {"use_style", "why"}


def test_each_cell_of_the_gallery_ends_in_a_picture_with_words_for_it():
    for name, cells in gallery().items():
        for cell in cells:
            shown = texts(cell["outputs"][-1])
            assert shown.keys() == {"text/html", "text/plain"}, name
            image = r'(?s)(<style>.*>)?<img [^>]*alt="[^"]{20,}" src="data:image/svg.*">'
            assert re.fullmatch(image, shown["text/html"])
            assert len(shown["text/plain"].splitlines()) > 2, name


def test_only_measurements_of_the_gallery_are_not_compared():
    unchecked = {
        name for name, cells in gallery().items() for cell in cells if cell["metadata"].get("tags")
    }
    assert unchecked == MEASURED


# ---- what is not compared ----------------------------------------------------------------------


def kernel_line(time: str, name: str = "r_64_16", shapes: str = "64 <- 64x16") -> str:
    return f"CPU     {name}   {shapes}  {time}      1.2 GFLOP/s     3.4 GB/s  36 B in use"


def test_nbval_takes_every_rule_for_one():
    text = SANITIZER.read_text()
    assert len(nbval.get_sanitize_patterns(text)) == len(re.findall("^\\[", text, re.MULTILINE))


def test_machine_code_of_two_compilers_compares_equal_and_its_c_does_not():
    gcc = "9 instructions for 2 lines of C.\n  1  a = b;\n     | mov rax, rbx\n  2  }"
    clang = gcc.replace("9", "11").replace("mov rax, rbx", "ldr x0, [x1]\n     | ret")
    assert sanitized(gcc) == sanitized(clang) != sanitized(gcc.replace("a = b", "a = c"))


def test_two_runs_of_a_kernel_compare_equal():
    assert sanitized(kernel_line("   8.0 us")) == sanitized(kernel_line("  12.3 ms"))
    assert sanitized("3 kernels, 0.31 ms") == sanitized("3 kernels, 12.00 ms")


@pytest.mark.parametrize(
    "one, other",
    [
        (kernel_line("8.0 us"), kernel_line("8.0 us", name="r_64_8")),
        (kernel_line("8.0 us"), kernel_line("8.0 us", shapes="64 <- 64x8")),
        ("1 kernel, 0.31 ms", "2 kernels, 0.31 ms"),
        ("8 MB read", "24 MB read"),
        ("   2 BUFFER float [0, 1]  4", "   2 BUFFER float [0, 1]  8"),
        ("<Ops.ADD: 49>", "<Ops.MUL: 49>"),
        ("data0[0] = 1.0f;", "data0[0] = 2.0f;"),
    ],
)
def test_what_matters_still_differs(one, other):
    assert sanitized(one) != sanitized(other)


def test_where_a_cell_needs_an_answer_the_site_shows_what_a_worked_one_gave(tmp_path):
    site.write(ROOT, tmp_path)
    text = (tmp_path / "course" / LEARNERS[0].name).read_text()
    shown = {cell["id"]: cell["outputs"] for cell in json.loads(text)["cells"] if "outputs" in cell}
    worked = {cell["id"]: cell for cell in json.loads(WORKED[0].read_text())["cells"]}
    for cell, words in site.SAMPLES.items():
        caption, *outputs = shown[cell]
        assert words in caption["data"]["text/html"] and outputs == worked[cell]["outputs"]
    code = re.search("<code>(return .*?)</code>", site.RETURN)[1]
    assert code in "".join("".join(cell["source"]) for cell in worked.values())
    assert "Nothing to train with yet" not in text and "Nothing to compare" not in text
