"""The games, a module each, which has a `GAME` (`classroom/puzzlebook/game.py`)."""
