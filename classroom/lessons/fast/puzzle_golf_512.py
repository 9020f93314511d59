"""Hint: Which of the plan's Opts is only there so that a different one pays?
Hint: `STAGE` with axis -1 copies all of `b`, in the order in which it will be read, before any loop
begins.
Because: Without a panel, a column of `b` is spread over 256 pages of memory. With one for all of
`b`, the loops can stay in their order, and you've saved the REORDER.
"""

from classroom.puzzlebook.games.golf import Hole

puzzle = Hole(512, best=4)
