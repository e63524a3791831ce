"""Slips in lists and words: a number or a word that is read as another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, permutations, product

from conformance.diagnosis.slips.slip import Slip
from conformance.faults.atoms.lists import (
    EVERYWHERE,
    LENGTHS,
    NOUNS,
    OF_AXES,
    OF_BOTH_PADS,
    OF_NUMBERS,
    ORDERS_OF_PADS,
    PADS,
    PLACES,
    ZERO,
    Atom,
    Change,
    as_long_as,
    at_most,
    at_most_number,
    computed,
    each,
    on_axis,
    reads,
    reordered,
    same_as,
)
from conformance.faults.atoms.norms import EXPONENTS, with_exponent
from conformance.faults.atoms.words import PLACES_OF_WORDS, in_words, meaning
from conformance.faults.behaviour import (
    ADAPTIVE,
    AUTO_PADDED,
    AVERAGES,
    DILATED,
    EVERY,
    NORMS,
    WINDOWED,
)
from conformance.operators import windows as axis
from conformance.operators.attributes import MEANINGS
from conformance.operators.needs import Needs

_BOUNDS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024)
"""Numbers that others may be limited to."""
_ATTRIBUTES = ("kernel", "strides", *PADS)
_NO_PADS = ("sizes", "kernel", "strides")
_LIMITED = (*_ATTRIBUTES, "dilations", "sizes", "output")
_FROM_ZERO = (*PADS, "total")
"""Lists whose numbers may be 0."""
_ALIKE = ("kernel", "strides", "dilations")


def of_lists() -> Iterator[Slip]:
    """Yield slips in which a list holds other numbers, for every step or for one alone."""
    for place in PLACES:
        # Where pads are found, those that are given are ignored.
        others = ("sizes", *_ATTRIBUTES) if place.needs != AUTO_PADDED else _NO_PADS
        for names, said, change in _changes(place.lists, others):
            needs = _having(*names) & (AVERAGES if place.step == "divide" else EVERY)
            yield Slip(f"{said}{place.words}", place.step, place.wrap(change), needs)
    for least, length, place in product((1, 2), LENGTHS, _PLACES_OF_LENGTHS):
        which = "a dilated" if least > 1 else "a"
        said = f"{which} kernel were as long as {length.words}{place.words}"
        yield Slip(said, place.step, place.wrap(reads(as_long_as(length, least))), DILATED)
    single = [(f"every {NOUNS[name]}", (name,)) for name in _LIMITED]
    for (what, names), atom in product((*single, ("every pad", PADS)), _LIMITS):
        limited = reads(dict.fromkeys(names, atom))
        wrap = EVERYWHERE.wrap(limited)
        yield Slip(f"{what} were {atom.words}", EVERYWHERE.step, wrap, _having(*names))


_PLACES_OF_LENGTHS = tuple(
    place for place in PLACES if "dilations" in place.lists and place.step in {"pads", "extent"}
)


def _having(*names: str) -> Needs:
    """Return what operators need that have these lists."""
    if {"wanted", "total"} & {*names}:
        return AUTO_PADDED
    if "output" in names:
        return ADAPTIVE
    if "dilations" in names:
        return DILATED
    return WINDOWED if {*_ATTRIBUTES} & {*names} else EVERY


def _changes(
    names: tuple[str, ...], others: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, Change]]:
    """Yield lists of those given, and what may be read in place of them, in words.

    Numbers of `others` are among that.
    """
    for name in names:
        for atom in _atoms(name, others):
            yield (name,), f"every {NOUNS[name]} were {atom.words}", reads({name: atom})
    for several, what, atoms in _OF_SEVERAL:
        if {*several} <= {*names}:
            for atom in atoms:
                yield several, f"{what} were {atom.words}", reads(dict.fromkeys(several, atom))
    for one, other in (PADS, *combinations(_ALIKE, 2)):
        if {one, other} <= {*names}:
            said = f"{NOUNS[one]} and {NOUNS[other]} were exchanged"
            yield (one, other), said, reads({one: same_as(other), other: same_as(one)})
    if {*PADS} <= {*names}:
        for order in ORDERS_OF_PADS:
            yield PADS, f"the list of pads were {order.words}", reordered(order)


def _atoms(name: str, others: tuple[str, ...]) -> Iterator[Atom]:
    """Yield what may be read in place of a list."""
    yield from OF_AXES
    numbers = OF_NUMBERS if name in _FROM_ZERO else [atom for atom in OF_NUMBERS if atom != ZERO]
    yield from numbers
    yield from _of_others(other for other in others if other != name)
    if name in {"wanted", "total", "extent"}:
        yield from _FORMULAS
    if name == "extent":
        yield from _COUNTS
    yield from _on_one_axis((*numbers, *OF_AXES))
    yield from _on_second_of_three(OF_AXES)


def _on_one_axis(atoms: Iterable[Atom]) -> Iterator[Atom]:
    for atom in atoms:
        yield on_axis(0, atom)
        yield on_axis(-1, atom)


def _on_second_of_three(atoms: Iterable[Atom]) -> Iterator[Atom]:
    return (on_axis(1, atom, axes=3) for atom in atoms)


def _of_others(others: Iterable[str]) -> Iterator[Atom]:
    """Yield what may be read in place of a list that other lists hold, or bound."""
    for other in others:
        yield same_as(other)
        yield at_most(other)
        yield computed(f"at least the {NOUNS[other]}", max, "", other)
        for words, of in _LESS:
            yield computed(f"at most {words} the {NOUNS[other]}", of, "", other)


_LESS: tuple[tuple[str, Callable[[int, int], int]], ...] = (
    ("half", lambda n, other: min(n, other // 2)),
    ("one less than", lambda n, other: min(n, other - 1)),
)
_LIMITS = (
    *map(at_most_number, _BOUNDS),
    *(each(f"kept in {bits} bits", lambda n, b=bits: n % (1 << b)) for bits in (4, 7, 8, 15, 16)),  # type: ignore[misc]
)
_OF_SEVERAL: tuple[tuple[tuple[str, ...], str, tuple[Atom, ...]], ...] = (
    (
        PADS,
        "every pad",
        (
            *OF_AXES,
            *_on_second_of_three(OF_AXES),
            *OF_NUMBERS,
            *_on_one_axis((*OF_NUMBERS, *OF_AXES)),
            *_of_others(_NO_PADS),
        ),
    ),
    (PADS, "both pads of an axis", OF_BOTH_PADS),
    (
        _ATTRIBUTES,
        "every number of an attribute",
        (*OF_AXES, *_on_second_of_three(OF_AXES), *_on_one_axis(OF_AXES)),
    ),
)


# Numbers of windows ------------------------------------------------------------------------------

_SIGNS = {-1: " less 1", 0: "", 1: " plus 1"}
_COUNTS = tuple(
    computed(
        f"what a window can slide{_SIGNS[more]} over the stride, rounded {how}{_SIGNS[plus]}",
        lambda d, begin, end, k, s, more=more, plus=plus, rounded=rounded: (
            rounded(d + begin + end - k + more, s) + plus
        ),
        *("sizes", *PADS, "kernel", "strides"),
    )
    for more, plus in product((-1, 0, 1), (0, 1))
    for how, rounded in (
        ("down", lambda a, b: a // b),
        ("up", axis.ceil_div),
        ("to nearest", lambda a, b: (2 * a + b) // (2 * b)),
    )
)
_FORMULAS = tuple(
    computed(
        f"the {NOUNS[one]} {words} {f'the {NOUNS[other]}' if other else 'one'}{rounded}",
        lambda a, b=1, of=of: of(a, max(1, b)),
        *filter(None, (one, other)),
    )
    for one, other in (*permutations(("sizes", "kernel", "strides"), 2), ("kernel", ""))
    for words, rounded, of in (
        ("less", "", lambda a, b: a - b),
        ("over", ", rounded down", lambda a, b: a // b),
        ("over", ", rounded up", axis.ceil_div),
        ("less its remainder by", "", lambda a, b: a - a % b),
    )
    if other or words == "less"
)


# Words -------------------------------------------------------------------------------------------


def of_exponents() -> Iterator[Slip]:
    """Yield slips in which the exponent of a norm is another one."""
    for atom in EXPONENTS:
        yield Slip(f"the exponent were {atom.words}", "resolve", with_exponent(atom), NORMS)


def of_words() -> Iterator[Slip]:
    """Yield slips in which a word means another one, for every step or for one alone."""
    for role, meanings in MEANINGS.items():
        if role in {"channels_last", "accumulator"}:
            continue  # no step reads these: faults of layouts are in the catalogue
        needs = Needs(roles=(role,))
        for one, other in permutations(meanings, 2):
            said = f"{in_words(role, one)} were {in_words(role, other)}"
            for step in _STEPS_OF_WORDS.get(role, ("resolve",)):
                wrap = meaning(role, {one: other})
                yield Slip(f"{said}{PLACES_OF_WORDS[step]}", step, wrap, needs)
        for one, other in combinations(meanings, 2):
            said = f"{in_words(role, one)} and {in_words(role, other)} were exchanged"
            exchanged = meaning(role, {one: other, other: one})
            yield Slip(said, "resolve", exchanged, needs)


_STEPS_OF_WORDS: Mapping[str, tuple[str, ...]] = {"auto_pad": ("resolve", "extent")}
