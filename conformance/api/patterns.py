"""A few patterns in place of many ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

_LEAST = 3
"""Ids that a pattern stands for, at least: fewer are better named."""
_FAILING_TO_PASSING = 9
"""Ids of failures, for each id of a vector that passes, that a pattern matches, at least."""
_WORDS = 40
"""Words of ids that patterns are made of, the commonest: all pairs of them are tried."""
_PLAIN = re.compile(r"[\w.,=+-]+")


def few_patterns(
    failing: Iterable[str],
    passing: Iterable[str],
    others: Iterable[str],
    matched: Callable[[str, Sequence[str]], Sequence[str]],
) -> Iterator[tuple[str, Sequence[str], bool]]:
    """Yield patterns that match ids of failures, a few of those that pass, and none of the others.

    With each come the failures that it stands for and those before do not, and whether it matches
    something that passes. All failures begin with the same operator. A pattern has up to two words
    of ids, perhaps of one element type; the one that stands for most failures comes first.
    `matched` returns which of sorted ids a pattern matches. Failures that are better named one by
    one are left over.
    """
    left = sorted(set(failing))
    operator = left[0].split("/")[0] if left else ""
    if len(left) < _LEAST or not _PLAIN.fullmatch(operator):
        return
    wanted = frozenset(left)
    allowed = frozenset(name for name in passing if name.startswith(f"{operator}/"))
    forbidden = frozenset(name for name in others if name.startswith(f"{operator}/"))
    everything = sorted(wanted | allowed | forbidden)
    of_failing, of_passing, of_others = (
        _bits(name in names for name in everything) for names in (wanted, allowed, forbidden)
    )
    not_yet = of_failing
    candidates = _candidates(operator, left, everything, of_failing, of_passing, of_others)
    for pattern, bits in candidates:
        if (bits & not_yet).bit_count() < _LEAST:
            continue
        found = frozenset(matched(pattern, everything))
        gained = sorted(found.intersection(left))
        if len(gained) >= _LEAST and found.isdisjoint(forbidden):
            yield pattern, gained, not found.isdisjoint(allowed)
            left = sorted(set(left).difference(gained))
            not_yet &= ~bits


def _candidates(
    operator: str,
    ids: Sequence[str],
    everything: Sequence[str],
    wanted: int,
    passing: int,
    others: int,
) -> list[tuple[str, int]]:
    """Return patterns worth trying, those that match most of some ids first.

    With each comes the set of those of all ids that hold its words: a bit for each. `wanted`,
    `passing` and `others` are such sets: of the ids of failures, of those that pass, of the rest.
    """
    counts = Counter(word for name in ids for word in dict.fromkeys(_words(name)))
    words = [word for word, number in counts.most_common(_WORDS) if number >= _LEAST]
    holding = {word: _bits(word in name for name in everything) for word in words}
    types = dict.fromkeys(word for name in ids for word in _words(name)[:1] if word in holding)
    fronts = {operator: wanted | passing | others}
    fronts |= {f"{operator}/{word}": holding[word] for word in types}
    choices: list[tuple[int, int, int, str, int]] = []
    for front, bits in fronts.items():
        for several in ((), *combinations(words, 1), *combinations(words, 2)):
            found = bits
            for word in several:
                found &= holding[word]
            failing, passes = (found & wanted).bit_count(), (found & passing).bit_count()
            if failing >= max(_LEAST, _FAILING_TO_PASSING * passes) and not found & others:
                ordered = sorted(several, key=_first_holding(several, ids).find)
                pattern = "*".join([f"{front}/", *ordered, ""])
                choices.append((-failing, passes, len(several), pattern, found))
    return [(pattern, found) for *_, pattern, found in sorted(choices)]


def _bits(flags: Iterable[bool]) -> int:
    """Return a set of places as an integer: bit n is flag n."""
    packed = np.packbits(np.fromiter(flags, np.bool_), bitorder="little")
    return int.from_bytes(packed.tobytes(), "little")


def _first_holding(words: Sequence[str], ids: Sequence[str]) -> str:
    return next(name for name in ids if all(word in name for word in words))


def _words(name: str) -> list[str]:
    """Return the words of an id but for its operator, that of the element type first."""
    return [word for word in re.split("[/-]", name.partition("/")[2]) if _PLAIN.fullmatch(word)]
