"""Submissions that are alike, for the instructor to look at.

    found = alike(handed_in, {"submission.py": starter}, handed_out(), {SOLUTION: solution})
    print(found.text())
    Path("similar.html").write_text(found.page())

Files that are the same come first, then those that share much. The worked solution and the files of
the release take part, each under its name: what is copied from there is seen, however many did.

Two are compared by their fingerprints (classroom/prints.py): names, numbers, texts, comments and
formatting don't count. The starter counts for nothing, and between two students, neither does what
else was handed out.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from classroom import pages, release
from classroom.gradebook.handed import HandedIn
from classroom.grader.handed_in import IN_A_FILE, Files
from classroom.grader.report import cleaned, render_rows
from classroom.prints import ENOUGH, Token, fingerprints, hashes_of, python_in, tokens_of

SUSPICIOUS = 40  # percent of one's fingerprints, in either direction
MOST_BLOCKS = 12  # of two files that are shown side by side
MEANING = (
    "The percentages say how much of each one's own work, beyond what was handed out, is in the "
    "other file too, whatever its names, comments and order. They don't say why. "
    "Two who learned together, or from the same page, look like this as well, and so do short "
    "answers that leave little choice. Read the lines, then talk to both."
)
TITLE = "Submissions that are alike"
SOLUTION = "the worked solution"
SAME_BYTES = "the same files, byte by byte"
SAME_TOKENS = "the same but for comments and formatting"
SAME_SHAPE = "the same but for names, numbers, texts, comments and formatting"


@dataclass
class Work:
    """One student's, or a file that they may have copied from. at: where each fingerprint is, in
    tokens. all: those beyond the starter; own: and beyond what else was handed out."""

    name: str
    files: Files
    tokens: list[Token]
    at: dict[int, list[int]]
    all: set[int]
    own: set[int]
    is_student: bool = True

    @property
    def whose(self) -> str:
        return f"{self.name}'s" if self.is_student else self.name

    def shared(self, other: Work) -> set[int]:
        """The fingerprints by which two are compared."""
        is_of_course = not (self.own and other.own)
        return self.all & other.all if is_of_course else self.own & other.own


@dataclass(frozen=True)
class Pair:
    """Two works; percents: of the first one's fingerprints that the second has, and the other way
    round."""

    names: tuple[str, str]
    percents: tuple[int, int]


Lines = tuple[str, int, int]  # of a file: the first and the last, counted from 1


@dataclass(frozen=True)
class Group:
    """Works that are alike, directly or by way of others in it. same: in what way, in words, some
    of them are the same. pairs: the strongest others that hold it together."""

    names: tuple[str, ...]
    same: tuple[tuple[str, tuple[str, ...]], ...]
    pairs: tuple[Pair, ...]

    @property
    def most(self) -> int:
        return 100 if self.same else max(max(pair.percents) for pair in self.pairs)


@dataclass(frozen=True)
class Similarities:
    """given: the lines of the starter, which the page leaves out."""

    groups: tuple[Group, ...]
    works: dict[str, Work]
    compared: int
    given: frozenset[str] = frozenset()

    def text(self) -> str:
        """For a terminal."""
        if not self.groups:
            return f"{self.compared} submissions were compared; no two of them are alike."
        rows = [[", ".join(group.names), "\n".join([*_same(group), *map(self._said, group.pairs)])]
                for group in self.groups]  # fmt: skip
        return f"{render_rows(['alike', 'how much'], rows)}\n{textwrap.fill(MEANING, 100)}"

    def page(self) -> str:
        """For a browser, with the lines that match side by side."""
        groups = [{"names": group.names, "same": _same(group), "pairs": [*self._pairs(group)]}
                  for group in self.groups]  # fmt: skip
        return pages.page("similar", TITLE, title=TITLE, groups=groups, compared=self.compared,
                          meaning=MEANING)  # fmt: skip

    def _said(self, pair: Pair) -> str:
        one, other = (self.works[name] for name in pair.names)
        there, back = pair.percents
        return f"{there} % of {one.whose} is in {other.whose}; {back} % the other way round"

    def _pairs(self, group: Group) -> Iterator[dict[str, Any]]:
        shaped = [(names[:2], said) for said, names in group.same if said == SAME_SHAPE]
        for names, said in [*shaped, *((pair.names, self._said(pair)) for pair in group.pairs)]:
            both = [self.works[name] for name in names]
            yield {"said": said, "names": names, "blocks": [
                [{"file": _file(name), "first": first, "last": last,
                  "text": self._lines(_text(work.files[name])[first - 1 : last])}
                 for work, (name, first, last) in zip(both, block, strict=True)]
                for block in blocks(*both)
            ]}  # fmt: skip

    def _lines(self, lines: list[str]) -> str:
        """These lines, with ⋯ where some were given to everybody; a function's first line stays."""
        shown: list[str] = []
        for line in lines:
            is_given = line.strip() in self.given and not re.match(r"\s*(def|class) ", line)
            text = "⋯" if is_given else cleaned(line.expandtabs().rstrip(), 200)
            if text != "⋯" or shown[-1:] != ["⋯"]:
                shown.append(text)
        return "\n".join(shown)


def _same(group: Group) -> list[str]:
    return [f"{', '.join(names)}: {said}" for said, names in group.same]


def handed_out() -> dict[str, Files]:
    """What students have from a release: Python, also that in notebooks and pages, by name."""
    found = {name: python_in(name, data) for name, (_, data) in release.contents().items()}
    return {name: {f"{name.removesuffix('.py')}.py": code} for name, code in found.items() if code}


def alike(
    handed: Iterable[HandedIn], starter: Files, course: Mapping[str, Files] | None = None,
    solution: Files | None = None,
) -> Similarities:  # fmt: skip
    """Which of these are alike. course: what else students were given, by name."""
    given = tokens_of(starter)
    nothing, texts = set(hashes_of(given)), [one.text for one in given]

    def work(name: str, files: Files, is_student: bool = False) -> Work:
        tokens = tokens_of(files)
        at = fingerprints(tokens)
        beyond = set(at) - nothing
        return Work(name, files, tokens, at, beyond, beyond - known, is_student)

    known: set[int] = set()
    sources = [work(name, files) for name, files in (course or {}).items()]
    known = set().union(*(source.all for source in sources))
    for source in sources:
        source.own = set()
    works = [each for one in handed if (each := work(one.student, one.files, True)).tokens]
    compared = len(works)
    works = [*([work(SOLUTION, solution)] if solution else []), *works]  # first, so it is compared
    works = [each for each in works if [one.text for one in each.tokens] != texts]
    everything = {each.name: each for each in [*works, *sources]}
    same, left = _identical([*works, *sources])
    groups = [group for group in _grouped(same, [*_pairs(left), *_copied(left, sources)])
              if any(everything[name].is_student for name in group.names)]  # fmt: skip
    groups.sort(key=lambda group: (not group.same, -group.most, group.names))
    lines = frozenset(line.strip() for data in starter.values() for line in _text(data))
    return Similarities(tuple(groups), everything, compared, lines)


def _pairs(works: list[Work]) -> Iterator[Pair]:
    """Of students and the worked solution."""
    who: dict[int, list[int]] = defaultdict(list)
    for n, work in enumerate(works):
        for print_ in work.own:
            who[print_].append(n)
    shared = Counter(pair for there in who.values() for pair in combinations(there, 2))
    for (a, b), count in shared.items():
        yield from _pair(works[a], works[b], count, works[a].own, works[b].own)


def _copied(works: list[Work], sources: list[Work]) -> Iterator[Pair]:
    """Of each student and the file of the course that has most of theirs."""
    where: dict[int, list[Work]] = defaultdict(list)
    for source in sources:
        for print_ in source.all:
            where[print_].append(source)
    for work in works:
        found = Counter(source.name for print_ in work.all for source in where.get(print_, ()))
        if work.is_student and found:
            ((name, count),) = found.most_common(1)
            best = next(source for source in sources if source.name == name)
            yield from _pair(work, best, count, work.all, best.all)


def _pair(one: Work, other: Work, shared: int, ours: set[int], theirs: set[int]) -> Iterator[Pair]:
    """Nothing where it is no more than chance."""
    if not one.is_student:
        one, other, ours, theirs = other, one, theirs, ours
    percents = 100 * shared // len(ours), 100 * shared // len(theirs)
    if shared >= ENOUGH and max(percents) >= SUSPICIOUS:
        yield Pair((one.name, other.name), percents)


# ---- groups --------------------------------------------------------------------------------------


def _identical(works: list[Work]) -> tuple[list[tuple[str, tuple[str, ...]]], list[Work]]:
    """Those that are the same in one of three ways, and one of each beside all others."""
    ways: tuple[tuple[str, Callable[[Work], object]], ...] = (
        (SAME_BYTES, lambda work: sorted(work.files.values())),
        (SAME_TOKENS, lambda work: [one.text for one in work.tokens if one.kind != "\n"]),
        (SAME_SHAPE, lambda work: [one.kind for one in work.tokens]),
    )
    found = []
    for said, key in ways:
        same: dict[int, list[Work]] = defaultdict(list)
        for work in works:
            same[hash(repr(key(work)))].append(work)
        found += [(said, tuple(work.name for work in group)) for group in same.values()
                  if len(group) > 1]  # fmt: skip
        works = [group[0] for group in same.values()]
    return found, works


def _grouped(same: list[tuple[str, tuple[str, ...]]], pairs: list[Pair]) -> list[Group]:
    """What has a work in common is one group, held together by the strongest."""
    of: dict[str, str] = {}

    def root(name: str) -> str:
        while of.setdefault(name, name) != name:
            name = of[name]
        return name

    for _, names in same:
        of.update({root(name): root(names[0]) for name in names[1:]})
    kept: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: (-max(pair.percents), -sum(pair.percents))):
        one, other = map(root, pair.names)
        if one != other:
            of[other] = one
            kept.append(pair)
    members: dict[str, list[str]] = defaultdict(list)
    for name in sorted(of):
        members[root(name)].append(name)
    return [
        Group(tuple(names), tuple(each for each in same if each[1][0] in names),
              tuple(pair for pair in kept if pair.names[0] in names))
        for names in members.values()
    ]  # fmt: skip


# ---- lines that match ----------------------------------------------------------------------------


def blocks(one: Work, other: Work) -> list[tuple[Lines, Lines]]:
    """The longest stretches that two have in common, in the order of the first one's lines."""
    a, b = ([each.kind for each in work.tokens] for work in (one, other))
    found: list[tuple[int, int, int]] = []  # where they begin, and how many tokens
    taken: set[int] = set()
    for print_ in sorted(one.shared(other), key=lambda each: one.at[each][0]):
        i, j = one.at[print_][0], other.at[print_][0]
        if i in taken:
            continue
        begin = 0
        while i - begin and j - begin and a[i - begin - 1] == b[j - begin - 1]:
            begin += 1
        end = 0
        while i + end < len(a) and j + end < len(b) and a[i + end] == b[j + end]:
            end += 1
        found.append((i - begin, j - begin, begin + end))
        taken.update(range(i - begin, i + end))
    longest = sorted(sorted(found, key=lambda run: -run[2])[:MOST_BLOCKS])
    return [(_lines(one.tokens[i : i + n]), _lines(other.tokens[j : j + n]))
            for i, j, n in longest]  # fmt: skip


def _lines(tokens: list[Token]) -> Lines:
    """Those of the file in which it begins."""
    in_file = [one.line for one in tokens if one.file == tokens[0].file]
    return tokens[0].file, in_file[0], in_file[-1]


def _file(name: str) -> str:
    """Which of several files it is; a submission that is one file has none of its own name."""
    return "" if name == IN_A_FILE else f"{cleaned(name)}, "


def _text(data: bytes) -> list[str]:
    return data.decode(errors="replace").split("\n")
