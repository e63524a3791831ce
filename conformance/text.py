"""Texts of strangers (backends, files, models) made safe to show.

A text from outside may be endless, hold line ends, or steer a terminal with control characters.
What shows one calls a function of this module; forms with more rules of their own (Markdown,
HTML, XML) build on these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def visible(text: str, *, keep: str = "") -> str:
    r"""Return text with an escape such as \x1b for each character that is not printable.

    Characters in `keep` stay. The text may become longer.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text
    )


def masked(text: str, *, keep: str = "\n", mask: str = "\ufffd") -> str:
    """Return text with a mark in place of each character that is not printable.

    Characters in `keep` stay. The text keeps its length, so that columns stay in line.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else mask for c in text)


def listed(items: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the name that is most like a word, "" if none is."""
    close = get_close_matches(word[:80], list(names), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def cut(text: str, most: int) -> str:
    """Return at most `most` characters of a text; one that was longer ends with three dots."""
    return text if len(text) <= most else text[: most - 3] + "..."


def one_line(text: str, most: int) -> str:
    """Return a text as one printable line of at most `most` characters.

    Line ends and other blanks become single spaces, characters that are not printable escapes.
    """
    return cut(visible(" ".join(text[: 4 * most].split())), most)


def without_unprintable(text: str) -> str:
    """Return a text on one line, with single spaces for what is blank or not printable."""
    return " ".join(masked(text, keep="", mask=" ").split())


def quoted(text: str, most: int = 80) -> str:
    """Return at most `most` characters of a text as a Python literal, for a message."""
    return repr(cut(text, most))


LONGEST_IN_MARKDOWN = 400
LONGEST_ON_PAGE = 4000
"""Characters of one text that is shown there."""

_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_MARKUP = re.compile(
    r"""[^\w\s,;()=/%'"+…·:.-]  # any other sign
    | (?<![^\W_])_ | _(?![^\W_])  # within a word it is but a sign
    | :(?=\S)                 # of an address or an emoji
    | (?<=www)\. | (?<=\d)\.(?=\s|$)""",
    re.VERBOSE | re.IGNORECASE,
)
_TICKS = re.compile("`+")


def markdown(text: str) -> str:
    """Return text for a sentence of Markdown, where it has no markup and makes no links.

    Each sign that may mean something becomes a character reference. A space of no width after each
    @ keeps an address from becoming a link. Long texts are cut.
    """
    escaped = _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", markdown_line(text))
    return escaped.replace("&#64;", "&#64;&#8203;")


def markdown_escaped(text: str) -> str:
    """Return text of our own for a table of Markdown; `markdown` is for that of strangers."""
    return re.sub(r"[*|<]", r"\\\g<0>", text)


def markdown_code(text: str, *, in_table: bool = False) -> str:
    """Return text as a code span of Markdown: nothing in it has a meaning. Long texts are cut."""
    line = markdown_line(text)
    if not line:
        return ""
    fence = "`" * (1 + max(map(len, _TICKS.findall(line)), default=0))
    # Spaces at both ends are dropped; without them a tick would join the fence.
    pad = " " if line.startswith(("`", " ")) or line.endswith(("`", " ")) else ""
    span = f"{fence}{pad}{line}{pad}{fence}"
    if not in_table:
        return span
    # A pipe ends a cell even inside code, and an escaped backslash would leave the pipe bare.
    return re.sub(r"\\+\|", lambda pipe: f"{pipe[0][:-1]} |", span).replace("|", "\\|")


def markdown_block(text: str, language: str = "text") -> list[str]:
    """Return the lines of a block of code in Markdown, fences included."""
    lines = [
        line if line.isprintable() else _BLANK.sub(" ", line)
        for line in encodable(text).split("\n")
    ]
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def markdown_line(text: str) -> str:
    """Return text on one line, without its end if it is long."""
    most = LONGEST_IN_MARKDOWN
    line = _BLANK.sub(" ", encodable(text[: 4 * most])).strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"


def html(text: str, most: int = LONGEST_ON_PAGE) -> str:
    """Return text for a page, which escapes it: what cannot be seen is written as an escape.

    Line ends and tabs stay. Text beyond `most` characters is cut, and says so.
    """
    shown = visible(text[:most], keep="\n\t")
    return shown if len(text) <= most else f"{shown} … ({len(text):,} characters in all)"


def encodable(text: str) -> str:
    """Return text with "?" for half a surrogate pair, which has no UTF-8 form."""
    return text.encode("utf-8", "replace").decode()
