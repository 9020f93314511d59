"""What the last page of part 9 claims."""

from __future__ import annotations

import numpy as np

from classroom.grader.tasks import Ask, expect_close
from classroom.mini.stages import STAGES
from classroom.portfolio.lines import of_the_course, whose_lines
from classroom.toys.files import COUSINS, FORGED, HARD_CODED, HONEST, UNDER_ANOTHER_NAME
from classroom.toys.grading import Here, gullible, really, refused
from tests.course.claims import claim


@claim(
    "A question that never changes can be answered from memory, so a grader has to ask fresh ones."
)
def memory_answers_a_fixed_question_only():
    assert gullible("first", HARD_CODED)[0] == 100
    assert not gullible("second", HARD_CODED)[0]


@claim(
    "A rule about spelling is no rule, because a graph shows what was done, whatever it was called."
)
def the_graph_has_a_max_in_it():
    assert "max" not in UNDER_ANOTHER_NAME
    a = np.ones(3, np.float32)
    assert "MAX" in Ask(Here(UNDER_ANOTHER_NAME), 0).graph("larger", a, a).ops


@claim("Whoever runs in the judge's process can be the judge.")
def a_file_writes_its_own_points():
    assert gullible("third", FORGED)[0] == 100
    assert "larger" not in FORGED


@claim(
    "A check is as good as the cheats that it catches and the honest files that it lets through."
)
def one_cheat_gets_past_a_careless_check():
    def careless(ask):
        a, b = ask.floats(8), ask.floats(8)
        expect_close(ask("larger", a, b), np.maximum(a, b), "larger")

    assert not any(refused(careless, text) for text in HONEST.values())
    passing = [name for name, text in COUSINS.items() if not refused(careless, text)]
    assert passing and len(passing) < len(COUSINS)


@claim("The right numbers are proof of work.")
def right_numbers_from_elsewhere():
    ask = Ask(Here(COUSINS["does it all in NumPy"]), 0)
    a, b, c, d = (ask.floats(5) for _ in range(4))
    graph = ask.graph("larger", a, b)
    assert (graph.run(a, b) == np.maximum(a, b)).all()
    assert not (graph.run(c, d) == np.maximum(c, d)).all()


@claim("A report that was printed by the file is a report.")
def what_is_printed_earns_nothing():
    report = really('print("100 of 100 points")\n\n\ndef larger(a, b):\n    return a\n')
    assert "100 of 100 points" in report.printed and report.score == 0


@claim("A line that I typed is my line.")
def a_copied_file_has_no_lines_of_its_own():
    for stage in STAGES:
        text = stage.reference.read_text()
        assert whose_lines(text).own == 0 < whose_lines(text).lines
    assert len(of_the_course()) > 500
