"""Puzzles that are scored, and drawn. `game.py` says what a game is; modules of `games/` have them.

Part 3b's are twenty of one line each; a wrong answer is drawn beside the right one.

    from classroom import puzzle, puzzles

    def outer(a, b):
        return a.reshape(-1, 1) * b

    puzzle("outer", outer)

`table.py` has a row for each puzzle, `judge.py` tries an answer, `ops.py` counts what it does and
sees which functions it calls, `play.py` is what a notebook calls. `classroom/grids.py` draws.
"""
