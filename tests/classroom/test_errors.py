"""An error in a cell: the learner's own lines and the message, in a real kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from classroom.build import clean_environment

ROOT = Path(__file__).resolve().parents[2]

CELLS = {
    "begin": "from classroom import check\nfrom tinyframe import Tensor\n\na, b = Tensor([1.0]), 7",
    "def": "def seven(x):\n    return x.reshape(b)\n\n\ndef outer(x):\n    return seven(x)\n",
    "framework": "print('before')\nouter(a)",
    "all of it": "%tb",
    "numpy": "import numpy as np\n\nnp.zeros(6).reshape(7)",
    "forgotten": "print(of_yesterday)",
    "recursion": "def deeper(n):\n    return deeper(n + 1)\n\n\ndeeper(0)",
    "stopped": "raise KeyboardInterrupt",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    int('seven')",
    "own file": (
        "import pathlib, sys, tempfile\n\nfolder = pathlib.Path(tempfile.mkdtemp())\n"
        "(folder / 'stage_three.py').write_text('def flat(x):\\n    return x.nothing\\n')\n"
        "sys.path.insert(0, str(folder))\n"
        "import stage_three\n\nstage_three.flat(Tensor([1.0]))"
    ),
    "syntax": "x ===",
    "stage without quotes": "from classroom import check_mini\n\ncheck_mini(9z)  # and 7a",
    "number without quotes": "hint(2.10)",
    "words with them": "print('check_mini(7a)', hint)\nx = 4.10",
    "after": "print('still running')",
}


@pytest.fixture(scope="module")
def shown() -> dict[str, nbformat.NotebookNode]:
    """The last output of each cell."""
    notebook = new_notebook(cells=[new_code_cell(text) for text in CELLS.values()])
    client = NotebookClient(notebook, allow_errors=True, kernel_name="python3", timeout=120)
    client.execute(env=clean_environment() | {"NO_COLOR": "1"})
    outputs = [cell.outputs[-1] if cell.outputs else None for cell in notebook.cells]
    return dict(zip(CELLS, outputs, strict=True))


def text(output: nbformat.NotebookNode) -> str:
    assert output.output_type == "error"
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback))


def test_the_message_then_the_learners_lines_then_how_to_see_more(shown):
    assert text(shown["framework"]).splitlines() == [
        "ShapeError: cannot reshape (1,) to (7,): 1 elements do not fill 7",
        "",
        "line 2 of this cell:",
        "       1  print('before')",
        "--->   2  outer(a)",
        "",
        "line 6 of cell [2], in outer():",
        "       4",
        "       5  def outer(x):",
        "--->   6      return seven(x)",
        "",
        "line 2 of cell [2], in seven():",
        "       1  def seven(x):",
        "--->   2      return x.reshape(b)",
        "",
        "%tb shows every step.",
    ]
    assert shown["framework"].ename == "ShapeError"
    assert shown["framework"].evalue.startswith("cannot reshape")


@pytest.mark.parametrize(
    "cell, said",
    [
        ("stage without quotes", "mini has no stage 9z."),
        ("number without quotes", "2.10, hint 1 of 2."),
    ],
)
def test_a_number_may_be_typed_without_quotes(shown, cell, said):
    """Of the first, Python said "invalid decimal literal", and the second was 2.1."""
    assert said in shown[cell].data["text/plain"]


def test_what_only_looks_like_it_stays(shown):
    assert shown["words with them"].text.startswith("check_mini(7a) <function")


def test_tb_shows_the_way_through_the_framework(shown):
    report = text(shown["all of it"])
    assert "ShapeError" in report and "movement.py" in report


@pytest.mark.parametrize(
    "cell, first, line",
    [
        ("numpy", "ValueError: cannot reshape array of size 6 into shape (7,)",
         "--->   3  np.zeros(6).reshape(7)"),
        ("stopped", "KeyboardInterrupt: you stopped this cell",
         "--->   1  raise KeyboardInterrupt"),
        ("chained", "ValueError: invalid literal for int() with base 10: 'seven'",
         "--->   4      int('seven')"),
    ],
)  # fmt: skip
def test_only_the_learners_own_line_is_shown(shown, cell, first, line):
    report = text(shown[cell]).splitlines()
    assert report[0] == first and line in report and report[-1] == "%tb shows every step."
    assert sum("--->" in row for row in report) == 1
    assert "site-packages" not in "".join(report)


def test_a_name_that_is_not_there_comes_with_how_to_get_it_back(shown):
    what_to_do = "Run All Above Selected Cell.\n\n%tb shows every step."
    assert text(shown["forgotten"]).endswith(what_to_do)
    assert not any(what_to_do in text(shown[cell]) for cell in ("framework", "numpy", "stopped"))


def test_a_recursion_is_shown_once(shown):
    report = text(shown["recursion"])
    assert report.startswith("RecursionError") and report.count("--->") == 2


def test_a_file_of_the_learners_own_is_named(shown):
    report = text(shown["own file"])
    assert "line 2 of stage_three.py, in flat():" in report
    assert "--->   2      return x.nothing" in report


def test_a_syntax_error_is_reported_as_ever_and_the_kernel_goes_on(shown):
    assert shown["syntax"].ename == "SyntaxError" and "^" in text(shown["syntax"])
    assert shown["after"].text == "still running\n"


def test_in_plain_python_nothing_changes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import classroom\n\n1 / 0\n")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True,
        env=clean_environment(),
    )  # fmt: skip
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert "%tb" not in done.stderr and done.returncode == 1
