"""What 7a says and shows beside its last page."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from classroom.build import ROOT
from classroom.lessons.rules.shared import rewrites_of_two_sums, work_of_four
from classroom.obvious import TEN
from classroom.puzzlebook.games.mutants import GAME, HONEST
from tinyframe import Variable
from tinyframe.dtype import dtypes
from tinyframe.uop import Ops, UOp
from tinyframe.uop.evaluate import evaluate


def notebook() -> str:
    cells = json.loads((ROOT / "solutions/course/07a_rules.ipynb").read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


MESS = """
from classroom.mini import loader, stages
from classroom.mini.places import draw_rounds, place, rounds, written

loader.use(stages.find("7a"))
from mini.part4 import Ops, UOp
from mini.part5 import Tensor

counters = [UOp(Ops.RANGE, (), (n, size)) for n, size in enumerate((2, 9))]
mess = place(Tensor(range(10)).windows(2), *counters)
*_, last = rounds(mess)
print(written(mess))
print(written(last))
print(draw_rounds(mess).svg().startswith("<svg"), draw_rounds(last).headline)
"""


def test_the_mess_that_is_shown_is_what_the_reference_makes_and_is_tidied_up():
    done = subprocess.run([sys.executable, "-c", MESS], cwd=ROOT, capture_output=True, text=True)
    mess, last, drawn = done.stdout.splitlines()
    assert mess in " ".join(notebook().split())
    assert last == "i + j" and drawn == "True 3 nodes, and 3 after 0 rounds"


def test_each_mutants_row_stands_in_the_notebook_as_it_runs():
    text = notebook()
    for mutant in GAME.puzzles:
        assert f"**{mutant.name}.**" in text and f"\n    {mutant.row}\n" in text, mutant.name
    assert len(HONEST) == 8 and "eight honest rows" in " ".join(text.split())
    below_par = sum(mutant.best < mutant.par for mutant in GAME.puzzles)
    assert below_par == 5 and "For five of the ten" in " ".join(text.split())


def test_the_ten_rules_are_listed_as_they_are_tried():
    text = "".join(notebook().split())
    for rule in TEN:
        before, after = ("".join(side.split()) for side in rule.text.split("→"))
        assert f"{before}→{after}" in text, rule.text


def test_what_is_said_of_remainders_and_shifts():
    i, eight = Variable("i", 0, 7), UOp.const(dtypes.int, 8)
    assert evaluate((i - 8).alu(Ops.CDIV, eight), {i: 7}) == 0
    assert 29 >> 3 == 29 // 8 and 29 & 7 == 29 % 8 and -1 % 4 == 3


def test_the_predictions_are_about_what_the_notebook_does():
    cells = json.loads((ROOT / "solutions/course/07a_rules.ipynb").read_text())["cells"]
    shown = "".join("".join(o.get("text", "")) for cell in cells for o in cell.get("outputs", []))
    assert re.findall(r"rewrites: (\d+)", shown) == [str(n) for n in rewrites_of_two_sums()]
    assert re.findall(r"NOOPT=[01]: (\d+)", shown) == [str(n) for n in work_of_four()]
