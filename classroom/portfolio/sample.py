"""A made-up learner, to see what a portfolio looks like before there is one."""

from __future__ import annotations

from classroom.mini.stages import STAGES
from classroom.portfolio.made import Digits, Game, Made, Part, Project, Speeds, Stage
from classroom.portfolio.projects import described

PARTS = ((13, 13, 4, 6, 0), (20, 21, 6, 9, 1), (11, 12, 3, 4, 0), (19, 24, 5, 9, 2))
LINES = ((58, 22, 121), (64, 31, 160), (71, 12, 133), (40, 19, 118), (52, 40, 171),
         *[(0, 0, 0)] * 4)  # fmt: skip
POINTS = {1: (52, 52), 2: (41, 48)}


def sample() -> Made:
    """Half of the course, with two projects; not one number of it is anybody's."""
    titles = ("Why tinyframe", "Wrong bills and lost time", "Tensors", "Lazy evaluation")
    return Made(
        tuple(
            Part(number, title, *counts)
            for number, (title, counts) in enumerate(zip(titles, PARTS, strict=True), 1)
        ),
        tuple(
            Stage(stage.name, stage.title, *lines, lines[0] > 0, int(stage.name == "4b"))
            for stage, lines in zip(STAGES, LINES, strict=True)
        ),
        (
            Game("one-liners", "Twenty one-liners", "ops", 20, 20, 71, 74, 69),
            Game("golf", "Matmul golf", "Opts", 2, 3, 6, 7, 5, helped=1),
        ),
        tuple(
            Project(p, *POINTS.get(p.number, ()))
            for p in described()
        ),
        Digits(345 / 355, 355),
        Speeds(
            {"three loops": 1.8, "vectors": 14.0, "6 rows": 46.0, "of 2 vectors": 71.0,
             "a panel": 96.0},
            roof=(118.0, 14.0), intensity=85.3,
        ),
    )  # fmt: skip
