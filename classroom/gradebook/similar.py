"""Submissions that are alike, for the instructor to look at.

    found = alike(handed_in, {"submission.py": starter})
    print(found.text())
    Path("similar.html").write_text(found.page())

By winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document
fingerprinting", SIGMOD 2003), over Python's tokens: every name counts as the same one, and so do
every number and every text; comments, docstrings, blank lines and indentation don't count at all.
Each run of K tokens has a hash, and of each WINDOW hashes in a row the smallest is a fingerprint,
so whatever two files share over K + WINDOW - 1 tokens is found. What was handed out doesn't count,
and neither does what more than a quarter of the class have.
"""

from __future__ import annotations

import html
import io
import keyword
import textwrap
import token
import tokenize
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from typing import NamedTuple

from classroom.gradebook.handed import HandedIn
from classroom.grader.handed_in import IN_A_FILE, Files
from classroom.grader.report import cleaned, render_rows
from classroom.look import document

K, WINDOW = 16, 8  # tokens in a hash, hashes of which one is kept
COMMON = 4  # what more than one in so many have doesn't count
FEW = 5  # but so many always may
ENOUGH = 8  # shared fingerprints that are worth a look
SUSPICIOUS = 40  # percent of one's fingerprints, in either direction
MOST_BLOCKS = 12  # of two files that are shown side by side
PRIME = (1 << 61) - 1
LEFT_OUT = {token.COMMENT, token.NL, token.INDENT, token.DEDENT, token.ENCODING, token.ENDMARKER}
UNREADABLE = (SyntaxError, tokenize.TokenError, ValueError, RecursionError)
MEANING = (
    "The percentages say how much of each one's own work, beyond what was handed out and what many "
    "have, is in the other file too, whatever its names, comments and order. They don't say why. "
    "Two who learned together, or from the same page, look like this as well, and so do short "
    "answers that leave little choice. Read the lines, then talk to both."
)
SAME_BYTES = "the same files, byte by byte"
SAME_TOKENS = "the same but for comments and formatting"
SAME_SHAPE = "the same but for names, numbers, texts, comments and formatting"


class Token(NamedTuple):
    """What counts of a token, as it stands, and where it begins."""

    kind: str
    text: str
    file: str
    line: int


@dataclass
class Work:
    """One student's. at: where each fingerprint is, in tokens."""

    student: str
    files: Files
    tokens: list[Token]
    at: dict[int, list[int]]
    own: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Pair:
    """Two students; percents: of the first one's fingerprints that the second has, and the other
    way round."""

    students: tuple[str, str]
    shared: int
    percents: tuple[int, int]


@dataclass(frozen=True)
class Block:
    """Lines of both that match, from and to, counted from 1."""

    files: tuple[str, str]
    lines: tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Group:
    """Students whose files are alike, directly or by way of others in it. identical: in words, in
    what way all of them are the same; "" where they aren't. pairs: the strongest ones that hold it
    together."""

    students: tuple[str, ...]
    pairs: tuple[Pair, ...]
    identical: str = ""

    @property
    def most(self) -> int:
        return max(max(pair.percents) for pair in self.pairs)


@dataclass(frozen=True)
class Similarities:
    """given: the lines that everybody was given, which the page leaves out."""

    groups: tuple[Group, ...]
    works: dict[str, Work]
    compared: int
    given: frozenset[str] = frozenset()

    def text(self) -> str:
        """For a terminal."""
        if not self.groups:
            return f"{self.compared} submissions were compared; no two of them are alike."
        rows = []
        for group in self.groups:
            said = [group.identical] if group.identical else []
            said += [f"{_first(pair)}; {_second(pair)}" for pair in group.pairs
                     if not group.identical]  # fmt: skip
            rows.append([", ".join(group.students), "\n".join(said)])
        if find_spec("rich") is None:
            table = "\n\n".join("\n".join(row) for row in rows)
        else:
            table = render_rows(["alike", "how much"], rows)
        return f"{table}\n{textwrap.fill(MEANING, 100)}"

    def page(self) -> str:
        """For a browser, with the lines that match side by side."""
        parts = [_group(group, self.works, self.given) for group in self.groups]
        found = "".join(parts) or "<p>No two of them are alike.</p>"
        said = f"{self.compared} submissions were compared. For the instructor's eyes only."
        head = f"<header><h1>{TITLE}</h1><p>{said}</p></header><p>{html.escape(MEANING)}</p>"
        return document(TITLE, f"{head}\n{found}", STYLE)


def alike(handed: Iterable[HandedIn], original: Files) -> Similarities:
    """Which of these are alike. original: the files that everybody was given."""
    given = set(_hashes(_tokens(original)))
    works = []
    for each in handed:
        if tokens := _tokens(each.files):
            at = _fingerprints(tokens)
            works.append(Work(each.student, each.files, tokens, at, set(at) - given))
    who: dict[int, list[int]] = defaultdict(list)
    for n, work in enumerate(works):
        for print_ in work.own:
            who[print_].append(n)
    most = max(FEW, len(works) // COMMON)
    shared: Counter[tuple[int, int]] = Counter()
    for print_, students in who.items():
        if len(students) > most:
            for n in students:
                works[n].own.discard(print_)
        else:
            shared.update(combinations(students, 2))
    pairs = [pair for (a, b), count in shared.items()
             if (pair := _pair(works[a], works[b], count))]  # fmt: skip
    groups = [*_identical(works)]
    in_those = {frozenset(pair) for group in groups for pair in combinations(group.students, 2)}
    left = [pair for pair in pairs if frozenset(pair.students) not in in_those]
    groups += _grouped(left)
    groups.sort(key=lambda group: (not group.identical, -group.most, group.students))
    lines = frozenset(line.strip() for data in original.values() for line in _text(data))
    return Similarities(tuple(groups), {work.student: work for work in works}, len(works), lines)


def _pair(one: Work, other: Work, shared: int) -> Pair | None:
    """None where it is no more than chance."""
    percents = tuple(100 * shared // len(work.own) for work in (one, other))
    if shared < ENOUGH or max(percents) < SUSPICIOUS:
        return None
    return Pair((one.student, other.student), shared, (percents[0], percents[1]))


# ---- fingerprints --------------------------------------------------------------------------------


def _tokens(files: Files) -> list[Token]:
    """Those that count, of all Python files; of one that can't be read, those up to there."""
    found: list[Token] = []
    for name, data in files.items():
        if name.endswith(".py"):
            statement: list[Token] = []
            for one in _read(name, data):
                statement.append(one)
                if one.kind == "\n":
                    if [each.kind for each in statement] != ["text", "\n"]:  # no docstring
                        found += statement
                    statement = []
            found += statement
    return found


def _read(name: str, data: bytes) -> Iterator[Token]:
    try:
        for one in tokenize.tokenize(io.BytesIO(data).readline):
            if one.type not in LEFT_OUT:
                yield Token(_kind(one), one.string, name, one.start[0])
    except UNREADABLE:
        return


def _kind(one: tokenize.TokenInfo) -> str:
    """What a token counts as."""
    if one.type == token.NAME:
        return one.string if keyword.iskeyword(one.string) else "name"
    kinds = {token.NUMBER: "number", token.STRING: "text", token.NEWLINE: "\n"}
    return kinds.get(one.type) or (one.string if one.type == token.OP else "text")


def _hashes(tokens: list[Token]) -> list[int]:
    """Of each run of K tokens, by rolling on from one to the next (Karp and Rabin, 1987)."""
    codes = [zlib.crc32(one.kind.encode()) + 1 for one in tokens]
    base = 1_000_003
    first = pow(base, K, PRIME)
    found, rolled = [], 0
    for n, code in enumerate(codes):
        gone = codes[n - K] * first if n >= K else 0
        rolled = (rolled * base + code - gone) % PRIME
        if n >= K - 1:
            found.append(rolled)
    return found


def _fingerprints(tokens: list[Token]) -> dict[int, list[int]]:
    """Where each begins: of a window the smallest hash, the last one if there are several."""
    hashes = _hashes(tokens)
    found: dict[int, list[int]] = defaultdict(list)
    last = -1
    for start in range(max(1, len(hashes) - WINDOW + 1)) if hashes else ():
        window = hashes[start : start + WINDOW]
        at = start + len(window) - 1 - window[::-1].index(min(window))
        if at != last:
            found[hashes[at]].append(at)
            last = at
    return dict(found)


# ---- groups --------------------------------------------------------------------------------------


def _identical(works: list[Work]) -> Iterator[Group]:
    """Groups of files that are the same in one of three ways, each student in the first that fits.
    Who has nothing of their own, as in what was handed out, is in none."""
    ways = (
        (SAME_BYTES, lambda files, tokens: sorted(files.items())),
        (SAME_TOKENS, lambda files, tokens: [one.text for one in tokens if one.kind != "\n"]),
        (SAME_SHAPE, lambda files, tokens: [one.kind for one in tokens]),
    )
    left = [work for work in works if work.own]
    for said, key in ways:
        same: dict[int, list[Work]] = defaultdict(list)
        for work in left:
            same[hash(repr(key(work.files, work.tokens)))].append(work)
        for group in same.values():
            if len(group) > 1:
                pairs = [Pair((a.student, b.student), len(a.own), (100, 100))
                         for a, b in zip(group, group[1:], strict=False)]  # fmt: skip
                yield Group(tuple(work.student for work in group), tuple(pairs), said)
                left = [work for work in left if work not in group]


def _grouped(pairs: list[Pair]) -> list[Group]:
    """Pairs that have a student in common are one group, held together by the strongest."""
    of: dict[str, str] = {}

    def root(student: str) -> str:
        while of.setdefault(student, student) != student:
            student = of[student]
        return student

    kept: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: (-max(pair.percents), -sum(pair.percents))):
        one, other = map(root, pair.students)
        if one != other:
            of[other] = one
            kept.append(pair)
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in kept:
        groups[root(pair.students[0])].append(pair)
    return [
        Group(tuple(sorted({name for pair in some for name in pair.students})), tuple(some))
        for some in groups.values()
    ]


# ---- lines that match ----------------------------------------------------------------------------


def blocks(one: Work, other: Work) -> list[Block]:
    """The longest stretches that two have in common, in the order of the first one's lines."""
    a, b = ([each.kind for each in work.tokens] for work in (one, other))
    found: list[tuple[int, int, int]] = []  # where they begin, and how many tokens
    taken: set[int] = set()
    for print_ in sorted(one.own & other.own, key=lambda each: one.at[each][0]):
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
    return [_block(one.tokens[i : i + n], other.tokens[j : j + n]) for i, j, n in longest]


def _block(ours: list[Token], theirs: list[Token]) -> Block:
    """The lines of the file in which each begins."""
    spans = []
    for tokens in (ours, theirs):
        in_file = [one.line for one in tokens if one.file == tokens[0].file]
        spans.append((in_file[0], in_file[-1]))
    return Block((ours[0].file, theirs[0].file), (spans[0], spans[1]))


# ---- the page ------------------------------------------------------------------------------------

TITLE = "Submissions that are alike"
STYLE = """
main{max-width:80rem}
table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.6rem 0 1rem;
background:var(--card)}
th,td{border:1px solid var(--line);padding:.4rem .6rem;vertical-align:top;text-align:left}
pre{margin:0;font-size:13px;white-space:pre-wrap;overflow-wrap:anywhere}
@media print{tr{break-inside:avoid}}
"""


def _group(group: Group, works: dict[str, Work], given: frozenset[str]) -> str:
    names = " · ".join(f"<bdi>{html.escape(name)}</bdi>" for name in group.students)
    said = f"<p>{html.escape(group.identical).capitalize()}.</p>\n" if group.identical else ""
    if group.identical in ("", SAME_SHAPE):  # else, both look the same
        said += "".join(_side_by_side(pair, works, given) for pair in group.pairs)
    return f"<section><h2>{names}</h2>\n{said}</section>\n"


def _first(pair: Pair) -> str:
    one, other = pair.students
    return f"{pair.percents[0]} % of {one}'s is in {other}'s"


def _second(pair: Pair) -> str:
    return f"{pair.percents[1]} % the other way round"


def _side_by_side(pair: Pair, works: dict[str, Work], given: frozenset[str]) -> str:
    one, other = (works[name] for name in pair.students)
    rows = []
    for block in blocks(one, other):
        cells = [
            _lines(_text(work.files[name])[span[0] - 1 : span[1]], given)
            for work, name, span in zip((one, other), block.files, block.lines, strict=True)
        ]
        heads = [f"{html.escape(_file(name))}lines {span[0]} to {span[1]}"
                 for name, span in zip(block.files, block.lines, strict=True)]  # fmt: skip
        rows += [f"<tr><th>{heads[0]}</th><th>{heads[1]}</th></tr>",
                 f"<tr><td>{cells[0]}</td><td>{cells[1]}</td></tr>"]  # fmt: skip
    said = html.escape(f"{_first(pair)}; {_second(pair)}.")
    names = "".join(f"<th>{html.escape(name)}</th>" for name in pair.students)
    return f"<p>{said}</p>\n<table>\n<tr>{names}</tr>\n" + "\n".join(rows) + "\n</table>\n"


def _file(name: str) -> str:
    """Which of several files it is; a submission that is one file has none of its own name."""
    return "" if name == IN_A_FILE else f"{cleaned(name)}, "


def _text(data: bytes) -> list[str]:
    return data.decode(errors="replace").split("\n")


def _lines(lines: list[str], given: frozenset[str]) -> str:
    """These lines, with ⋯ where some were given to everybody; a function's first line stays."""
    shown: list[str] = []
    for line in lines:
        is_given = line.strip() in given and not line.lstrip().startswith(("def ", "class "))
        text = "⋯" if is_given else cleaned(line.expandtabs().rstrip(), 200)
        if text != "⋯" or shown[-1:] != ["⋯"]:
            shown.append(text)
    return f"<pre>{html.escape(chr(10).join(shown))}</pre>"
