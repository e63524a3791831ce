"""Slips in lists and words: a number or a word that is read as another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

from conformance.diagnosis.slips.slip import Slip
from conformance.faults.catalogue.building_blocks import (
    ADAPTIVE,
    AUTO_PADDED,
    AVERAGES,
    DILATED,
    EVERY,
    NORMS,
    WINDOWED,
)
from conformance.faults.wraps import after, before, instead
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.attributes import MEANINGS
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Pads, Windows, pads_for
from conformance.vector import Array

Numbers = tuple[int, ...]
Lists = Mapping[str, Numbers]
"""Lists of one number per spatial axis, by name: those that a step is given or returns."""
Change = Callable[[Lists], Lists]
Reading = Callable[[Lists, str], Numbers]
"""From all lists and the name of one of them: what is read in its place."""

# Lists -------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A place where lists are read: words for it, a step, its replacement, and which lists."""

    words: str
    step: str
    wrap: Callable[[Change], StepWrap]
    lists: tuple[str, ...]


_NOUNS = {
    "kernel": "kernel size",
    "strides": "stride",
    "dilations": "dilation",
    "pads_begin": "begin pad",
    "pads_end": "end pad",
    "sizes": "input size",
    "output": "output size asked for",
    "extent": "output size",
    "wanted": "number of windows that same_* pads for",
    "total": "padding of same_*",
}
_BOUNDS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024)
"""Numbers that others may be limited to."""
_LEAST = {"pads_begin": 0, "pads_end": 0, "total": 0}
"""The least number of a list; 1 for others."""


def _lists(params: Params, pads: Pads | None = None, *_others: Any) -> dict[str, Numbers]:
    named = {name: getattr(params, name, ()) for name in _NOUNS}
    if pads:
        named |= {"pads_begin": _side(pads, 0), "pads_end": _side(pads, 1)}
    return {name: numbers for name, numbers in named.items() if numbers}


def _side(pads: Pads, end: int) -> Numbers:
    return tuple(pad[end] for pad in pads)


def _pads(lists: Lists) -> Pads:
    return tuple(zip(lists["pads_begin"], lists["pads_end"], strict=True))


def _with(params: Params, lists: Lists) -> Params:
    fields: dict[str, Any] = dict(lists)
    return replace(params, **fields)


def _before(change: Change) -> StepWrap:
    """Give a step other lists."""

    def other(params: Params, *others: Any) -> tuple[Any, ...]:
        lists = change(_lists(params, *others))
        others = (_pads(lists), *others[1:]) if others and others[0] else others
        return (_with(params, lists), *others)

    return before(other)


def _resolved(change: Change) -> StepWrap:
    """Change the lists for every step."""
    return after(lambda params, _given: _with(params, change(_lists(params))))


def _padded(change: Change) -> StepWrap:
    """Change the pads that are found, those of same_* too."""
    return after(lambda pads, params: _pads(change(_lists(params, pads))))


def _counted(change: Change) -> StepWrap:
    """Change the output size that is found."""
    return after(
        lambda extent, params, pads: change({**_lists(params, pads), "extent": extent})["extent"]
    )


def _of_same(name: str) -> Callable[[Change], StepWrap]:
    """Compute the padding of same_* from another number of windows, or another total."""

    def wrong(pads: Pads, params: Params, change: Change) -> Pads:
        if not params.same:
            return pads
        wanted = tuple(map(axis.ceil_div, params.sizes, params.strides))
        lists = {**_lists(params), "wanted": wanted, "total": tuple(map(sum, pads))}
        changed = change(lists)[name]
        if name == "wanted":
            return pads_for(params, changed)
        upper = params.auto_pad == "same_upper"
        return tuple(axis.split(total, larger_at_end=upper) for total in changed)

    return lambda change: after(lambda pads, params: wrong(pads, params, change))


def _clipped(change: Change) -> StepWrap:
    """Clip windows to inputs of other sizes."""

    def wrong(right: Callable[..., Gathered], data: Array, params: Params, w: Windows) -> Gathered:
        sizes = map(min, change(_lists(params))["sizes"], data.shape[2:])
        clipped = right(data, replace(params, sizes=tuple(sizes)), w)
        return replace(clipped, params=params)

    return instead(wrong)


def _laid_out(change: Change) -> StepWrap:
    """Divide by the cells of windows that other lists make."""

    def wrong(right: Callable[..., Divisor], params: Params, pads: Pads, w: Windows) -> Divisor:
        if not params.kernel:
            return right(params, pads, w)
        lists = change(_lists(params, pads))
        params, pads = _with(params, lists), _pads(lists)
        return right(params, pads, steps.slide(params, pads, tuple(map(len, w.start))))

    return instead(wrong)


_PADS = ("pads_begin", "pads_end")
_ATTRIBUTES = ("kernel", "strides", *_PADS)
_DILATED = (*_ATTRIBUTES, "dilations")
_PLACES = (
    _Place("", "resolve", _resolved, (*_DILATED, "sizes", "output")),
    _Place(
        ", for the padding of same_* alone",
        "pads",
        _before,
        ("kernel", "strides", "dilations", "sizes"),
    ),
    _Place("", "pads", _of_same("wanted"), ("wanted",)),
    _Place("", "pads", _of_same("total"), ("total",)),
    _Place(", that of same_* too", "pads", _padded, _PADS),
    _Place(", for the output size alone", "extent", _before, (*_DILATED, "sizes")),
    _Place("", "extent", _counted, ("extent",)),
    _Place(
        ", for the place of windows alone",
        "windows",
        _before,
        ("kernel", "strides", "dilations", "pads_begin", "sizes"),
    ),
    _Place(", where windows are clipped", "gather", _clipped, ("sizes",)),
    _Place(", for what counts in the divisor alone", "divide", _before, (*_PADS, "sizes")),
    _Place(", for the divisor alone", "divide", _laid_out, _DILATED),
)


def of_lists() -> Iterator[Slip]:
    """Yield slips in which a list holds other numbers, for every step or for one alone."""
    for place in _PLACES:
        for names, said, change in _changes(place.lists):
            needs = _having(*names) & (AVERAGES if place.step == "divide" else EVERY)
            yield Slip(f"{said}{place.words}", place.step, place.wrap(change), needs)
    lengths = product(("a", "a dilated"), _LENGTHS, _PLACES_OF_LENGTHS)
    for which, (words, length), place in lengths:
        said = f"{which} kernel were as long as {words}{place.words}"
        change = partial(_as_long_as, length, 1 if which == "a" else 2)
        yield Slip(said, place.step, place.wrap(change), DILATED)
    single = [(f"every {_NOUNS[name]}", (name,)) for name in (*_DILATED, "sizes", "output")]
    for (what, names), (words, of) in product((*single, ("every pad", _PADS)), _LIMITS):
        limited = _reads(dict.fromkeys(names, _each(of)))
        yield Slip(f"{what} were {words}", "resolve", _resolved(limited), _having(*names))


_LENGTHS: tuple[tuple[str, Callable[[int, int], int]], ...] = (
    ("kernel times dilation", lambda k, d: k * d),
    ("kernel times dilation plus 1", lambda k, d: k * d + 1),
    ("kernel and (kernel - 1) times dilation", lambda k, d: k + (k - 1) * d),
    ("(kernel - 1) times dilation", lambda k, d: (k - 1) * d),
    ("(kernel - 1) times dilation plus 2", lambda k, d: (k - 1) * d + 2),
    ("kernel and dilation less 1", lambda k, d: k + d - 1),
)
_PLACES_OF_LENGTHS = tuple(
    place for place in _PLACES if "dilations" in place.lists and place.step in {"pads", "extent"}
)


def _as_long_as(of: Callable[[int, int], int], least: int, lists: Lists) -> Lists:
    """Return lists with kernels of another length where the dilation is so much at least."""
    axes = [*zip(lists["kernel"], lists["dilations"], strict=True)]
    kernel = tuple(max(1, of(k, d)) if d >= least else k for k, d in axes)
    dilations = tuple(1 if d >= least else d for _, d in axes)
    return {**lists, "kernel": kernel, "dilations": dilations}


def _having(*names: str) -> Needs:
    """Return what operators need that have these lists."""
    if {"wanted", "total"} & {*names}:
        return AUTO_PADDED
    if "output" in names:
        return ADAPTIVE
    if "dilations" in names:
        return DILATED
    return WINDOWED if {*_ATTRIBUTES} & {*names} else EVERY


def _changes(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, Change]]:
    """Yield lists of those given, and what may be read in place of them, in words."""
    for name in names:
        for words, reading in _readings(name):
            yield (name,), f"every {_NOUNS[name]} were {words}", _reads({name: reading})
    for several, what, readings in _OF_SEVERAL:
        if {*several} <= {*names}:
            for words, reading in readings:
                yield several, f"{what} were {words}", _reads(dict.fromkeys(several, reading))
    for one, other in (_PADS, *combinations(("kernel", "strides", "dilations"), 2)):
        if {one, other} <= {*names}:
            said = f"{_NOUNS[one]} and {_NOUNS[other]} were exchanged"
            yield (one, other), said, _reads({one: _other(other), other: _other(one)})
    if {*_PADS} <= {*names}:
        for words, order in _ORDERS_OF_PADS:
            yield _PADS, f"the list of pads were {words}", _reordered(order)


def _reads(readings: Mapping[str, Reading]) -> Change:
    def change(lists: Lists) -> Lists:
        if not lists.keys() >= readings.keys():
            return lists
        changed = {
            name: tuple(max(_LEAST.get(name, 1), n) for n in reading(lists, name))
            for name, reading in readings.items()
        }
        return {**lists, **changed}

    return change


def _readings(name: str) -> Iterator[tuple[str, Reading]]:
    yield from _OF_AXES
    numbers = _OF_NUMBERS if name in _LEAST else _OF_NUMBERS[1:]  # without 0
    yield from numbers
    yield from _of_others(other for other in ("sizes", *_ATTRIBUTES) if other != name)
    if name in {"wanted", "total", "extent"}:
        yield from _FORMULAS
    if name == "extent":
        yield from _COUNTS
    yield from _on_one_axis((*numbers, *_OF_AXES))
    yield from _on_second_of_three(_OF_AXES)


def _on_one_axis(readings: Iterable[tuple[str, Reading]]) -> Iterator[tuple[str, Reading]]:
    for words, reading in readings:
        yield f"{words} on the first axis", _alone(reading, 0)
        yield f"{words} on the last axis", _alone(reading, -1)


def _on_second_of_three(readings: Iterable[tuple[str, Reading]]) -> Iterator[tuple[str, Reading]]:
    for words, reading in readings:
        yield f"{words} on the second of three axes", _alone(reading, 1, axes=3)


def _of_others(others: Iterable[str]) -> Iterator[tuple[str, Reading]]:
    """Yield what may be read in place of a list that other lists hold, or bound."""
    for other in others:
        yield f"the {_NOUNS[other]}", _other(other)
        yield f"at most the {_NOUNS[other]}", _both(other, min)
        yield f"at least the {_NOUNS[other]}", _both(other, max)
        for words, of in _LESS:
            yield f"at most {words} the {_NOUNS[other]}", _both(other, of)


def _other(other: str) -> Reading:
    return lambda lists, name: lists.get(other, lists[name])


def _both(other: str, of: Callable[[int, int], int]) -> Reading:
    return lambda lists, name: tuple(map(of, lists[name], lists.get(other, lists[name])))


def _alone(reading: Reading, place: int, axes: int | None = None) -> Reading:
    """Read on one axis alone, or so only where there are so many axes."""

    def of(lists: Lists, name: str) -> Numbers:
        numbers = list(lists[name])
        if len(numbers) == (axes or len(numbers)):
            numbers[place] = reading(lists, name)[place]
        return tuple(numbers)

    return of


def _each(of: Callable[[int], int]) -> Reading:
    return lambda lists, name: tuple(map(of, lists[name]))


def _whole(of: Callable[[Numbers], Numbers]) -> Reading:
    return lambda lists, name: of(lists[name])


_OF_AXES: tuple[tuple[str, Reading], ...] = (
    ("that of the first axis", _whole(lambda v: v[:1] * len(v))),
    ("that of the last axis", _whole(lambda v: v[-1:] * len(v))),
    ("that of the axis in reverse order", _whole(lambda v: v[::-1])),
    ("that of the next axis", _whole(lambda v: (*v[1:], v[-1]))),
    ("that of the axis before", _whole(lambda v: (v[0], *v[:-1]))),
    ("the largest", _whole(lambda v: (max(v),) * len(v))),
    ("the smallest", _whole(lambda v: (min(v),) * len(v))),
)
_NUMBERS: tuple[tuple[str, Callable[[int], int]], ...] = (
    ("0", lambda _: 0),
    ("1", lambda _: 1),
    ("one more", lambda n: n + 1),
    ("one less", lambda n: n - 1),
    ("twice as large", lambda n: 2 * n),
    ("half as large, rounded down", lambda n: n // 2),
    ("half as large, rounded up", lambda n: axis.ceil_div(n, 2)),
    ("rounded down to an even number", lambda n: n // 2 * 2),
    ("rounded up to an even number", lambda n: axis.ceil_div(n, 2) * 2),
)
_OF_NUMBERS: tuple[tuple[str, Reading], ...] = tuple((words, _each(of)) for words, of in _NUMBERS)


_LESS: tuple[tuple[str, Callable[[int, int], int]], ...] = (
    ("half", lambda n, other: min(n, other // 2)),
    ("one less than", lambda n, other: min(n, other - 1)),
)
_LIMITS: tuple[tuple[str, Callable[[int], int]], ...] = (
    *((f"at most {most}", lambda n, most=most: min(n, most)) for most in _BOUNDS),
    *((f"kept in {bits} bits", lambda n, b=bits: n % (1 << b)) for bits in (4, 7, 8, 15, 16)),
)


# Pads of both ends -------------------------------------------------------------------------------


def _of_both(of: Callable[[int, int], int]) -> Reading:
    return lambda lists, _: tuple(map(of, lists["pads_begin"], lists["pads_end"]))


_OF_BOTH_PADS: tuple[tuple[str, Reading], ...] = (
    ("the larger one", _of_both(max)),
    ("the smaller one", _of_both(min)),
    ("their sum", _of_both(lambda begin, end: begin + end)),
    ("half their sum, rounded down", _of_both(lambda begin, end: (begin + end) // 2)),
    ("half their sum, rounded up", _of_both(lambda begin, end: (begin + end + 1) // 2)),
)
_ORDERS_OF_PADS: tuple[tuple[str, Callable[[Numbers], Numbers]], ...] = (
    ("pairs of begin and end", lambda v: (*v[::2], *v[1::2])),
    ("pairs of begin and end, from the last axis on", lambda v: (*v[-2::-2], *v[::-2])),
    ("ends, then begins", lambda v: (*v[len(v) // 2 :], *v[: len(v) // 2])),
    ("in reverse order", lambda v: v[::-1]),
)


def _reordered(order: Callable[[Numbers], Numbers]) -> Change:
    """Read begins and ends, one after the other, in another order."""

    def change(lists: Lists) -> Lists:
        if not lists.keys() >= {*_PADS}:
            return lists
        numbers = order((*lists["pads_begin"], *lists["pads_end"]))
        half = len(numbers) // 2
        return {**lists, "pads_begin": numbers[:half], "pads_end": numbers[half:]}

    return change


_OF_SEVERAL: tuple[tuple[tuple[str, ...], str, tuple[tuple[str, Reading], ...]], ...] = (
    (
        _PADS,
        "every pad",
        (
            *_OF_AXES,
            *_on_second_of_three(_OF_AXES),
            *_OF_NUMBERS,
            *_on_one_axis((*_OF_NUMBERS, *_OF_AXES)),
            *_of_others(("kernel", "strides", "sizes")),
        ),
    ),
    (_PADS, "both pads of an axis", _OF_BOTH_PADS),
    (
        _ATTRIBUTES,
        "every number of an attribute",
        (*_OF_AXES, *_on_second_of_three(_OF_AXES), *_on_one_axis(_OF_AXES)),
    ),
)


# Numbers of windows ------------------------------------------------------------------------------


def _slack_over_stride(more: int, rounded: Callable[[int, int], int], plus: int) -> Reading:
    """Count windows by the formula of the documents with other terms."""

    def of(lists: Lists, name: str) -> Numbers:
        if "strides" not in lists:
            return lists[name]
        lengths = (lists[each] for each in ("sizes", *_PADS, "kernel", "strides"))
        return tuple(
            rounded(d + begin + end - k + more, s) + plus
            for d, begin, end, k, s in zip(*lengths, strict=True)
        )

    return of


_SIGNS = {-1: " less 1", 0: "", 1: " plus 1"}
_COUNTS: tuple[tuple[str, Reading], ...] = (
    *(
        (
            f"what a window can slide{_SIGNS[more]} over the stride, rounded {how}{_SIGNS[plus]}",
            _slack_over_stride(more, rounded, plus),
        )
        for more, plus in product((-1, 0, 1), (0, 1))
        for how, rounded in (
            ("down", lambda a, b: a // b),
            ("up", axis.ceil_div),
            ("to nearest", lambda a, b: (2 * a + b) // (2 * b)),
        )
    ),
)


# Formulas ----------------------------------------------------------------------------------------


def _formula(one: str, other: str, of: Callable[[int, int], int]) -> Reading:
    def reading(lists: Lists, name: str) -> Numbers:
        if not {one, other} <= lists.keys() | {""}:
            return lists[name]
        second = lists[other] if other else (1,) * len(lists[one])
        return tuple(of(a, max(1, b)) for a, b in zip(lists[one], second, strict=True))

    return reading


_FORMULAS: tuple[tuple[str, Reading], ...] = tuple(
    (f"the {_NOUNS[one]} {words} {f'the {_NOUNS[other]}' if other else 'one'}{rounded}", reading)
    for one, other in (*permutations(("sizes", "kernel", "strides"), 2), ("kernel", ""))
    for words, rounded, of in (
        ("less", "", lambda a, b: a - b),
        ("over", ", rounded down", lambda a, b: a // b),
        ("over", ", rounded up", axis.ceil_div),
        ("less its remainder by", "", lambda a, b: a - a % b),
    )
    if other or words == "less"
    for reading in [_formula(one, other, of)]
)


# Words -------------------------------------------------------------------------------------------


def of_exponents() -> Iterator[Slip]:
    """Yield slips in which the exponent of a norm is another one."""
    limits = ((f"at most {most}", lambda n, most=most: min(n, most)) for most in (2, 3, 4, 8))
    for words, of in (*_EXPONENTS, *limits):

        def change(params: Params, of: Callable[[int], int] = of) -> Params:
            return replace(params, exponent=max(1, of(params.exponent)))

        wrap = after(lambda params, _given, change=change: change(params))
        yield Slip(f"the exponent were {words}", "resolve", wrap, NORMS)


_EXPONENTS: tuple[tuple[str, Callable[[int], int]], ...] = (
    *((str(value), lambda _, value=value: value) for value in (1, 2, 3)),
    *((words, of) for words, of in _NUMBERS if words not in {"0", "1"}),
)


def of_words() -> Iterator[Slip]:
    """Yield slips in which a word means another one, for every step or for one alone."""
    for role, meanings in MEANINGS.items():
        for one, other in permutations(meanings, 2):
            for place, step in _STEPS_OF_WORDS.get(role, _EVERY_STEP):
                words = f"{_word(role, one)} were {_word(role, other)}{place}"
                yield Slip(words, step, _meaning(role, {one: other}), Needs(roles=(role,)))
        for one, other in combinations(meanings, 2):
            words = f"{_word(role, one)} and {_word(role, other)} were exchanged"
            exchanged = _meaning(role, {one: other, other: one})
            yield Slip(words, "resolve", exchanged, Needs(roles=(role,)))


_EVERY_STEP = (("", "resolve"),)
_STEPS_OF_WORDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "auto_pad": (*_EVERY_STEP, (", for the output size alone", "extent")),
}


def _word(role: str, meaning: Any) -> str:
    return f"{role}={str(meaning).lower() if isinstance(meaning, bool) else meaning}"


def _meaning(role: str, others: Mapping[Any, Any]) -> StepWrap:
    """Give a step other words in place of some."""

    def change(params: Params) -> Params:
        word = getattr(params, role)
        return replace(params, **{role: others[word]}) if word in others else params

    return before(lambda params, *given: (change(params), *given))
