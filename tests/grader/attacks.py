"""Submissions that want points without work, for each of the projects: attacks.txt has them.

Each is code after the file that was handed out, where nothing is written. FORGED are functions that
answer with what is wrong and looks right; PATCHED change, before they answer, what answers are made
with, and need a process of their own. Every one is about the tasks whose names it defines. COMMON
is what several of them need.
"""

from pathlib import Path

FORGED: dict[str, dict[str, str]] = {}
PATCHED: dict[str, dict[str, str]] = {}
COMMON, *_attacks = Path(__file__).with_suffix(".txt").read_text().split("\n=== ")
for attack in _attacks:
    about, _, code = attack.partition("\n")
    kind, project, name = about.split(" ", 2)
    {"FORGED": FORGED, "PATCHED": PATCHED}[kind].setdefault(project, {})[name] = f"\n{code}\n"
