"""Texts of strangers inside Markdown: shown as they are, never as markup, links or HTML."""

from __future__ import annotations

import re

_LONGEST = 400
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_MARKUP = re.compile(
    r"""[^\w\s,;()=/%'"+…:.-]  # any other sign
    | (?<![^\W_])_ | _(?![^\W_])  # within a word it is but a sign
    | :(?=\S)                 # of an address or an emoji
    | (?<=www)\. | (?<=\d)\.(?=\s)""",
    re.VERBOSE | re.IGNORECASE,
)
_TICKS = re.compile("`+")


def prose(text: str) -> str:
    """Return text for a sentence, a character reference for each sign that may mean something.

    A space of no width after each @ keeps an address from becoming a link.
    """
    found = _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", shortened(text))
    return found.replace("&#64;", "&#64;&#8203;")


def code(text: str) -> str:
    """Return text as a code span: nothing in it has a meaning."""
    short = shortened(text)
    if not short:
        return ""
    fence = "`" * (1 + max(map(len, _TICKS.findall(short)), default=0))
    # Spaces at both ends are dropped; without them a tick would join the fence.
    pad = " " if short.startswith(("`", " ")) or short.endswith(("`", " ")) else ""
    return f"{fence}{pad}{short}{pad}{fence}"


def cell(text: str) -> str:
    """Return text as a code span in a table, where a pipe ends the cell even inside code."""
    # An escaped backslash would leave the pipe after it bare.
    return re.sub(r"\\+\|", lambda found: found[0][:-1] + " |", code(text)).replace("|", "\\|")


def block(text: str, language: str = "text") -> list[str]:
    """Return the lines of a block of code."""
    encodable = _encodable(text).split("\n")
    lines = [line if line.isprintable() else _BLANK.sub(" ", line) for line in encodable]
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def row(*cells: str) -> str:
    """Return a row of a table; the cells are Markdown."""
    return f"| {' | '.join(cells)} |"


def table(*headers: str) -> list[str]:
    """Return the first two lines of a table: all columns but the first are for numbers."""
    rule = [":---", *["---:"] * (len(headers) - 1)]
    return [row(*headers), row(*rule)]


def shortened(text: str) -> str:
    """Return text on one line, without its end if it is long."""
    line = _BLANK.sub(" ", _encodable(text[: 4 * _LONGEST])).strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _encodable(text: str) -> str:
    """Return text with "?" for half a surrogate pair, which has no UTF-8 form."""
    return text.encode("utf-8", "replace").decode()
