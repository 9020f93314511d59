"""What two programs have in common, whatever their names.

    fingerprints(tokens_of({"backend.py": code}))    # where each is, in tokens

By winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document
fingerprinting", SIGMOD 2003), over Python's tokens: every name counts as the same one, and so do
every number and every text; comments, docstrings, blank lines and indentation don't count at all.
Each run of K tokens has a hash, and of each WINDOW hashes in a row the smallest is a fingerprint,
so whatever two files share over K + WINDOW - 1 tokens is found.
"""

from __future__ import annotations

import io
import json
import keyword
import re
import token
import tokenize
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

K, WINDOW = 16, 8  # tokens in a hash, hashes of which one is kept
PRIME = (1 << 61) - 1
LEFT_OUT = {token.COMMENT, token.NL, token.INDENT, token.DEDENT, token.ENCODING, token.ENDMARKER}
UNREADABLE = (SyntaxError, tokenize.TokenError, ValueError, RecursionError)
ENOUGH = 8  # shared fingerprints that are worth a look


class Token(NamedTuple):
    """What counts of a token, as it stands, and where it begins."""

    kind: str
    text: str
    file: str
    line: int


def tokens_of(files: dict[str, bytes]) -> list[Token]:
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


def hashes_of(tokens: list[Token]) -> list[int]:
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


def fingerprints(tokens: list[Token]) -> dict[int, list[int]]:
    """Where each begins: of a window the smallest hash, the last one if there are several."""
    hashes = hashes_of(tokens)
    found: dict[int, list[int]] = defaultdict(list)
    last = -1
    for start in range(max(1, len(hashes) - WINDOW + 1)) if hashes else ():
        window = hashes[start : start + WINDOW]
        at = start + len(window) - 1 - window[::-1].index(min(window))
        if at != last:
            found[hashes[at]].append(at)
            last = at
    return dict(found)


def python_in(name: str, data: bytes) -> bytes:
    """The code of a file of Python, of a notebook's cells, or of the examples in a page."""
    text = data.decode(errors="replace")
    if name.endswith(".ipynb"):
        cells = (cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
        return "\n".join("".join(cell["source"]) for cell in cells).encode()
    if name.endswith(".md"):
        return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)).encode()
    return data if name.endswith(".py") else b""
