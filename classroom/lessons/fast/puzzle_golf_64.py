"""Hint: All of it fits into the nearest cache. What is left to save, but loads?
Hint: A vector along axis 1, and then only rows: how many of them fit into the registers?
Because: Small matrices never leave the cache, so neither order nor panels matter. All that counts
is loads for each multiplication, and a tile takes care of those.
"""

from classroom.puzzlebook.games.golf import Hole

puzzle = Hole(64, par=3, best=2)
