"""Hint: How large is all of `b` here, and how large is your second cache?
Hint: Take Opts away one at a time. Which one can you do without, at this size?
Because: All of `b` is 147 KB and stays in the second cache. A tile that fits the registers is
enough: 192 is a multiple of 6 and of 16, so no tile overlaps another.
"""

from classroom.puzzlebook.games.golf import Hole

puzzle = Hole(192, best=3)
