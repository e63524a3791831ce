"""The lines of a file that announces what happens: one thing a line, its reason behind `#`."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from hashlib import sha256

from conformance.errors import UsageError
from conformance.files import open_regular
from conformance.operators import OPERATORS
from conformance.text import quoted, without_unprintable

_MAX_BYTES = 1 << 24
_MOST_WRONG = 1000
_LINE = re.compile(r"(\S+)(?:\s+(?!#)(\S+))?\s*(.*)")


@dataclass(frozen=True, slots=True)
class ReasonedLine:
    """Line number `line` of a file: what `word` says of what `pattern` names, and the reason.

    Where `pattern` is of ids, `*` stands for any text and `?` for any one character. What the line
    announces need not happen if it `may_pass`. With an `answer`, `Result.answer` of a mismatch, it
    is about that alone.
    """

    line: int
    word: str
    pattern: str
    reason: str
    may_pass: bool = False
    answer: str = ""


def text_of(path: str | os.PathLike[str], what: str) -> str:
    """Return the text of a file that is to be `what`, "expected-failure file" for example.

    UsageError, one line with the path, where it cannot be read, is too large or no text.
    """
    try:
        with open_regular(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{what} {path}: {error.strerror or error}") from error
    if len(data) > _MAX_BYTES:
        raise UsageError(f"{path}: more than {_MAX_BYTES >> 20} MiB: no {what}")
    try:
        text = data.decode("utf-8-sig")
        bad = text.find("\0")
    except UnicodeDecodeError as error:
        text, bad = data.decode("latin-1"), error.start
    if bad >= 0:
        raise UsageError(f"{path}:{text.count(chr(10), 0, bad) + 1}: not text in UTF-8")
    return text


def digest_of(text: str) -> str:
    """Return a digest of the text of a file: the shards of one run have the same."""
    return sha256(text.encode()).hexdigest()[:12]


def said_of(path: str, digest: str) -> str:
    """Return a file in words that are alike where its content is; by path in older reports."""
    return f"a file with digest {digest}" if digest else path


def lines_in(
    text: str, path: str | os.PathLike[str], line_of: Callable[[int, str], ReasonedLine]
) -> tuple[ReasonedLine, ...]:
    """Return the lines of a text that are neither blank nor comments.

    `line_of` makes each from its number and text, or raises ValueError with what is wrong about
    it. Raises UsageError, one line with path and number, for the first that is wrong.
    """
    lines: dict[tuple[str, str], ReasonedLine] = {}
    wrong: list[str] = []
    for number, text_of_line in enumerate(text.split("\n"), 1):
        stripped = text_of_line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if len(wrong) == _MOST_WRONG:
            raise UsageError(f"{wrong[0]} (and at least {_MOST_WRONG - 1:,} more wrong lines)")
        try:
            line = line_of(number, stripped)
        except ValueError as error:
            wrong.append(f"{path}:{number}: {error}")
            continue
        first = lines.setdefault((line.word, line.pattern), line)
        if first is not line:
            same = f"{line.word} {quoted(line.pattern)}"
            wrong.append(f"{path}:{number}: {same} is already on line {first.line}")
    if wrong:
        rest = len(wrong) - 1
        more = f" (and {rest:,} more wrong {'line' if rest == 1 else 'lines'})" if rest else ""
        raise UsageError(wrong[0] + more)
    return tuple(lines.values())


def split(line: str) -> tuple[str, str, str]:
    """Return the first two words of a line, "" for one that is not there, and what follows."""
    match = _LINE.fullmatch(line)
    first, second, rest = match.groups() if match else (line, None, "")
    return first, second or "", rest


def reason_in(rest: str, pattern: str, form: str) -> str:
    """Return the reason that ends a line about a pattern; ValueError, with the form, if none."""
    if rest and not rest.startswith("#"):
        raise ValueError(f"{quoted(rest)} is no reason, which begins with #; {form}")
    reason = without_unprintable(rest[1:])
    if not reason:
        raise ValueError(f"{quoted(pattern)} has no reason; {form}")
    return reason


def matched(pattern: str, ordered: Sequence[str]) -> Sequence[str]:
    """Return the ids that match a pattern, of ids that are sorted and differ."""
    literal, *others = re.split(r"[*?]", pattern)
    first = bisect_left(ordered, literal)
    if literal == pattern:
        return ordered[first : first + 1] if ordered[first : first + 1] == [pattern] else ()
    last = bisect_right(ordered, literal, first, key=lambda name: name[: len(literal)])
    longest = max(others, key=len)  # asked for first: that is many times as fast
    candidates = [vector_id for vector_id in ordered[first:last] if longest in vector_id]
    if len(pattern.replace("*", "")) > max(map(len, candidates), default=0):
        return ()
    matches = re.compile(translate(pattern.replace("[", "[[]"))).match
    return [vector_id for vector_id in candidates if matches(vector_id)]


def of_no_vector(patterns: Iterable[str], operators: Collection[str]) -> tuple[str, ...]:
    """Return the patterns, of those that match no vector of some operators, that match none at all.

    One that may be of the vectors of another operator, whose ids begin with its name, is left out.
    """
    others = [f"{name}/" for name in OPERATORS if name not in operators]

    def may_be_of_others(pattern: str) -> bool:
        begin = re.split(r"[*?]", pattern)[0]
        return any(begin.startswith(name) or name.startswith(begin) for name in others)

    return tuple(pattern for pattern in patterns if not may_be_of_others(pattern))
