"""Numbers of each spatial axis: what may be read in place of them, and in which step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, permutations, product
from typing import Any, NamedTuple

import numpy as np

from conformance.faults.atoms.atom import (
    ANY_AXIS,
    ENDS,
    FIRST_OF_THREE,
    SECOND_OF_THREE,
    Atom,
    OneAxis,
    Place,
)
from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.words import taken_as
from conformance.faults.concerns import (
    ADAPTIVE,
    APART,
    AUTO_PADDED,
    DILATED,
    EVERY,
    PADDED,
    SIZED,
    STRIDED,
    WINDOWED,
)
from conformance.faults.fault import Fault
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.needs import AVERAGES, Needs, all_of
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Gathered, Pads, Windows, pads_for
from conformance.operators.wraps import after, before, instead
from conformance.vector import Array

Numbers = tuple[int, ...]
Lists = Mapping[str, Numbers]
"""Lists of one number per spatial axis, by name: those that a step is given or returns."""
Change = Callable[[Lists], Lists]


class List(NamedTuple):
    """What is known of a list: a noun for its numbers, who has it, and the least that they are."""

    noun: str
    needs: Needs = EVERY
    least: int = 1


PADS = ("pads_begin", "pads_end")
LISTS = {
    "kernel": List("kernel size", WINDOWED),
    "strides": List("stride", STRIDED),
    "dilations": List("dilation", DILATED),
    "pads_begin": List("begin pad", PADDED, 0),
    "pads_end": List("end pad", PADDED, 0),
    "sizes": List("input size"),
    "output": List("output size asked for", ADAPTIVE),
    "fixed_output": List("output size that is given", SIZED, 0),
    # Short for the pads at both ends
    "pads": List("pad", PADDED, 0),
    # Those that are found
    "spans": List("length of the dilated kernel", WINDOWED),
    "slack": List("room that a window can slide", WINDOWED),
    "extent": List("output size"),
    "wanted": List("number of windows that same_* pads for"),
    "total": List("padding of same_*", least=0),
    # One number, whatever the axes
    "exponent": List("exponent"),
}
_FIELDS = ("kernel", "strides", "dilations", *PADS, "sizes", "output", "fixed_output")
"""The lists that are fields of the parameters."""


class Misreading(NamedTuple):
    """What is read in place of a list: words that follow "taken as", and the other numbers.

    `of(lists, name)` returns them, given all lists and the name of the one that is misread; `reads`
    names the other lists that it looks at, `needs` is what else it takes to show.
    """

    words: str
    of: Callable[[Lists, str], Numbers]
    reads: tuple[str, ...] = ()
    needs: Needs = EVERY


# What may be read in place of a list --------------------------------------------------------------


def whole(words: str, of: Callable[[Numbers], Numbers]) -> Misreading:
    """Read other entries of the same list."""
    return Misreading(words, lambda lists, name: of(lists[name]))


def computed(words: str, of: Callable[..., int], *names: str) -> Misreading:
    """Compute the number of an axis from those of some lists, "" for the list that is misread.

    The list is read as it is where one of these is missing.
    """

    def numbers(lists: Lists, name: str) -> Numbers:
        if not all((each or name) in lists for each in names):
            return lists[name]
        axes = zip(*(lists[each or name] for each in names), strict=True)
        return tuple(max(LISTS[name].least, of(*numbers)) for numbers in axes)

    return Misreading(words, numbers, tuple(filter(None, names)))


def each(words: str, of: Callable[[int], int]) -> Misreading:
    """Compute the number of an axis from itself."""
    return computed(words, of, "")


def number(value: int) -> Misreading:
    """Read a number, whatever is given."""
    return each(str(value), lambda _: value)


def at_most_number(most: int) -> Misreading:
    """Clamp to a number."""
    return each(f"at most {most}", lambda number: min(number, most))


def _in_bits(bits: int) -> Misreading:
    return each(f"kept in {bits} bits", lambda number: number % (1 << bits))


def same_as(other: str) -> Misreading:
    """Read another list."""
    return computed(f"the {LISTS[other].noun}", lambda number: number, other)


def _on_axis(axis: OneAxis, atom: Misreading) -> Misreading:
    """Read on one axis alone."""

    def of(lists: Lists, name: str) -> Numbers:
        return axis.put(lists[name], atom.of(lists, name))

    return Misreading(f"{atom.words} on {axis.words}", of, atom.reads, axis.needs)


def _on_one_axis(
    atoms: Iterable[Misreading], axes: Iterable[OneAxis] = ENDS
) -> Iterator[Misreading]:
    return (_on_axis(axis, atom) for atom, axis in product(atoms, axes))


_OF_NEXT = whole("that of the next axis", lambda v: (*v[1:], v[-1]))
_OF_AXES = (
    whole("that of the first axis", lambda v: v[:1] * len(v)),
    whole("that of the last axis", lambda v: v[-1:] * len(v)),
    whole("that of the axis in reverse order", lambda v: v[::-1]),
    _OF_NEXT,
    whole("that of the axis before", lambda v: (v[0], *v[:-1])),
    whole("the largest", lambda v: (max(v),) * len(v)),
    whole("the smallest", lambda v: (min(v),) * len(v)),
)
_OF_THREE_AXES = (_on_axis(FIRST_OF_THREE, _OF_NEXT), *_on_one_axis(_OF_AXES, [SECOND_OF_THREE]))
ZERO, _ONE = number(0), number(1)
OF_NUMBERS = (
    ZERO,
    _ONE,
    each("one more", lambda n: n + 1),
    each("one less", lambda n: n - 1),
    each("twice as large", lambda n: 2 * n),
    each("half as large, rounded down", lambda n: n // 2),
    each("half as large, rounded up", lambda n: axis.ceil_div(n, 2)),
    each("rounded down to an even number", lambda n: n // 2 * 2),
    each("rounded up to an even number", lambda n: axis.ceil_div(n, 2) * 2),
)
_OTHER_END = Misreading(
    "that at the other end", lambda lists, name: lists[PADS[name == "pads_begin"]], PADS
)
LARGER_PAD = computed("the larger one", max, *PADS)
_OF_BOTH_PADS = (
    LARGER_PAD,
    computed("the smaller one", min, *PADS),
    computed("their sum", lambda b, e: b + e, *PADS),
    computed("half their sum, rounded down", lambda b, e: (b + e) // 2, *PADS),
    computed("half their sum, rounded up", lambda b, e: (b + e + 1) // 2, *PADS),
)
_BOUNDS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024)
_LIMITS = (*map(at_most_number, _BOUNDS), *map(_in_bits, (4, 7, 8, 15, 16)))


def _of_others(others: Iterable[str]) -> Iterator[Misreading]:
    """Yield what may be read in place of a list that other lists hold, or bound."""
    for other in others:
        noun = LISTS[other].noun
        yield same_as(other)
        yield computed(f"at most the {noun}", min, "", other)
        yield computed(f"at least the {noun}", max, "", other)
        yield computed(f"at most half the {noun}", lambda n, o: min(n, o // 2), "", other)
        yield computed(f"at most one less than the {noun}", lambda n, o: min(n, o - 1), "", other)


# How long a dilated kernel is taken to be
_LENGTHS: tuple[Atom[Callable[[int, int], int]], ...] = (
    Atom("kernel times dilation", lambda k, d: k * d),
    Atom("kernel times dilation plus 1", lambda k, d: k * d + 1),
    Atom("kernel and (kernel - 1) times dilation", lambda k, d: k + (k - 1) * d),
    Atom("(kernel - 1) times dilation", lambda k, d: (k - 1) * d),
    Atom("(kernel - 1) times dilation plus 2", lambda k, d: (k - 1) * d + 2),
    Atom("kernel and dilation less 1", lambda k, d: k + d - 1),
)


def _as_long_as(length: Atom[Callable[[int, int], int]], least: int) -> dict[str, Misreading]:
    """Read undilated kernels of another length where the dilation is so much at least."""
    words = f"{length.words}{' where that is above 1' if least > 1 else ''}"
    kernel = computed(words, lambda k, d: length.of(k, d) if d >= least else k, "", "dilations")
    return {"kernel": kernel, "dilations": _ONE}


_ORDERS_OF_PADS: tuple[Atom[Callable[[Numbers], Numbers]], ...] = (
    Atom("pairs of begin and end", lambda v: (*v[::2], *v[1::2])),
    Atom("pairs of begin and end, from the last axis on", lambda v: (*v[-2::-2], *v[::-2])),
    Atom("ends, then begins", lambda v: (*v[len(v) // 2 :], *v[: len(v) // 2])),
    Atom("in reverse order", lambda v: v[::-1]),
    Atom("its first entry alone", lambda v: v[:1] * len(v)),
    Atom("its last entry alone", lambda v: v[-1:] * len(v)),
)
"""Orders of begin pads, then end pads, which are read one after the other."""

# Numbers of windows
_COUNTS = tuple(
    computed(
        f"what a window can slide{of_slack} over the stride, rounded {how}{of_count}",
        lambda d, begin, end, k, s, more=more, plus=plus, rounded=rounded: (
            rounded(d + begin + end - k + more, s) + plus
        ),
        *("sizes", *PADS, "kernel", "strides"),
    )
    for more, of_slack in ((-1, " less 1"), (0, ""), (1, " plus 1"))
    for plus, of_count in ((0, ""), (1, " plus 1"))
    for how, rounded in (
        ("down", lambda a, b: a // b),
        ("up", axis.ceil_div),
        ("to nearest", lambda a, b: (2 * a + b) // (2 * b)),
    )
)
_FORMULAS = tuple(
    computed(
        f"the {LISTS[one].noun} {words} {f'the {LISTS[other].noun}' if other else 'one'}{rounded}",
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


# Changes of lists --------------------------------------------------------------------------------


def _read(atoms: Mapping[str, Misreading], lists: Lists) -> Lists:
    """Read some lists as atoms say."""
    if not lists.keys() >= atoms.keys():
        return lists
    return {**lists, **{name: atom.of(lists, name) for name, atom in atoms.items()}}


def _reordered(order: Callable[[Numbers], Numbers], lists: Lists) -> Lists:
    """Read the list of pads in another order."""
    if not lists.keys() >= {*PADS}:
        return lists
    numbers = order((*lists["pads_begin"], *lists["pads_end"]))
    half = len(numbers) // 2
    return {**lists, "pads_begin": numbers[:half], "pads_end": numbers[half:]}


# Places ------------------------------------------------------------------------------------------


def _lists(params: Params, pads: Pads | None = None, *_others: Any) -> dict[str, Numbers]:
    named = {name: getattr(params, name) for name in _FIELDS}
    if not any(params.fixed_output):
        del named["fixed_output"]  # it is inferred
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


def _given(change: Change, params: Params, *others: Any) -> tuple[Any, ...]:
    """Give a step other lists."""
    lists = change(_lists(params, *others))
    others = (_pads(lists), *others[1:]) if others and others[0] else others
    return (_with(params, lists), *others)


def _resolved(change: Change, params: Params, _given: Params) -> Params:
    """Change the lists for every step."""
    return _with(params, change(_lists(params)))


def _padded(change: Change, pads: Pads, params: Params) -> Pads:
    """Change the pads that are found, those of same_* too."""
    return _pads(change(_lists(params, pads)))


def _counted(change: Change, extent: Extent, params: Params, pads: Pads) -> Extent:
    """Change the output size that is found."""
    found = {"extent": extent}
    if params.kernel:
        found["slack"] = steps.slacks(params, pads)
    return change({**_lists(params, pads), **found})["extent"]


def _of_same(
    made: Callable[[Params, Lists], Pads], change: Change, pads: Pads, params: Params
) -> Pads:
    """Make the pads of same_* from changed lists."""
    if not params.same:
        return pads
    found = {
        "wanted": steps.same_extent(params),
        "total": tuple(map(sum, pads)),
        "spans": params.spans,
    }
    return made(params, change({**_lists(params), **found}))


def _begun(change: Change, params: Params, pads: Pads, extent: Extent) -> tuple[Any, ...]:
    """Begin windows of the right number after padding of same_* that is made from changed lists."""
    if params.same:
        pads = pads_for(_with(params, change(_lists(params))), steps.same_extent(params))
    return params, pads, extent


def _for_wanted(params: Params, lists: Lists) -> Pads:
    return pads_for(params, lists["wanted"])


def _as_found(_params: Params, lists: Lists) -> Pads:
    return _pads(lists)


def _split(params: Params, lists: Lists) -> Pads:
    upper = params.auto_pad == "same_upper"
    return tuple(axis.split(total, larger_at_end=upper) for total in lists["total"])


def _clipped(
    change: Change, right: Callable[..., Gathered], data: Array, params: Params, windows: Windows
) -> Gathered:
    """Clip windows to inputs of other sizes."""
    sizes = change(_lists(params))["sizes"]
    clipped = reading_other_cells(lambda cells, _d, _p, j: [c for c in cells if c < sizes[j]])
    gathered: Gathered = clipped(right)(data, params, windows)
    return gathered


def _slid(
    change: Change, params: Params, pads: Pads, windows: Windows
) -> tuple[Params, Pads, Windows]:
    """Return other lists as parameters and pads, and as many windows as they make."""
    lists = change(_lists(params, pads))
    params, pads = _with(params, lists), _pads(lists)
    return params, pads, steps.slide(params, pads, tuple(map(len, windows.start)))


def _laid_out(
    change: Change, right: Callable[..., Divisor], params: Params, pads: Pads, windows: Windows
) -> Divisor:
    """Divide by the cells of windows that other lists make."""
    if not params.kernel:
        return right(params, pads, windows)
    return right(*_slid(change, params, pads, windows))


def _read_there(
    change: Change, data: Array, params: Params, windows: Windows
) -> tuple[Array, Params, Windows]:
    """Read the cells of windows that other lists make; those without a cell still have none."""
    if params.kernel:
        *_, laid = _slid(change, params, steps.resolve_pads(params), windows)
        axes = zip(laid.start, laid.stop, windows.inside(params.sizes), strict=True)
        stop = tuple(np.where(count > 0, end, begin) for begin, end, count in axes)
        windows = replace(laid, stop=stop)
    return data, params, windows


def _dilated(change: Change, one: Any, another: Any, windows: Windows) -> tuple[Any, ...]:
    """Give a step windows of other dilations, from the same first to the same last cell."""
    if not windows.dilations:
        return one, another, windows
    params = one if isinstance(one, Params) else another
    changed = change({**_lists(params), "dilations": windows.dilations})["dilations"]
    return one, another, replace(windows, dilations=changed)


_ATTRIBUTES = ("kernel", "strides", *PADS)
_DILATED = (*_ATTRIBUTES, "dilations")
_GIVEN = partial(before, _given)
_DILATIONS = partial(before, _dilated)
EVERYWHERE = Place("{}", EVERY, "resolve", partial(after, _resolved))
_IN_PADS = Place("{}, for the padding of same_* alone", AUTO_PADDED, "pads", _GIVEN)
_BEGUN = partial(before, _begun)
_IN_BEGIN = Place("{}, for where windows of same_* begin alone", AUTO_PADDED, "windows", _BEGUN)
TOTAL = Place("{}", AUTO_PADDED, "pads", partial(after, _of_same, _split))
OF_SAME = Place("{}, those of same_*", AUTO_PADDED, "pads", partial(after, _of_same, _as_found))
IN_EXTENT = Place("{}, for the output size alone", WINDOWED, "extent", _GIVEN)
EXTENT = Place("{}", EVERY, "extent", partial(after, _counted))
IN_WINDOWS = Place("{}, for the place of windows alone", EVERY, "windows", _GIVEN)
_IN_DIVISOR = Place("{}, for what counts in the divisor alone", AVERAGES, "divide", _GIVEN)
# Where nothing is divided, windows in another place are all that this is.
_READ_THERE = Place(
    "{}, for where cells are read alone", AVERAGES, "gather", partial(before, _read_there)
)
_CELLS_READ = Place("{}, for the cells that are read alone", EVERY, "gather", _DILATIONS)
_CELLS_COUNTED = Place("{}, for the cells that count alone", AVERAGES, "divide", _DILATIONS)
_PLACES: Mapping[Place[Change], tuple[str, ...]] = {
    EVERYWHERE: (*_DILATED, "sizes", "output", "fixed_output"),
    _IN_PADS: ("kernel", "strides", "dilations", "sizes"),
    _IN_BEGIN: ("kernel", "strides", "dilations", "sizes"),
    Place("{}", AUTO_PADDED, "pads", partial(after, _of_same, _for_wanted)): ("wanted",),
    TOTAL: ("total",),
    Place("{}, that of same_* too", EVERY, "pads", partial(after, _padded)): PADS,
    IN_EXTENT: (*_DILATED, "sizes"),
    EXTENT: ("extent",),
    IN_WINDOWS: ("kernel", "strides", "dilations", "pads_begin", "sizes"),
    Place("{}, where windows are clipped", EVERY, "gather", partial(instead, _clipped)): ("sizes",),
    _IN_DIVISOR: (*PADS, "sizes"),
    Place("{}, for the divisor alone", AVERAGES, "divide", partial(instead, _laid_out)): _DILATED,
    _READ_THERE: ("kernel", "strides", "dilations", "pads_begin"),
}
"""Where lists may be misread, and which."""

# Faults ------------------------------------------------------------------------------------------


def read(place: Place[Change] = EVERYWHERE, **atoms: Misreading) -> Fault:
    """Read lists, given by name, as atoms say; `pads` is short for those at both ends.

    What it needs follows from the lists and the place.
    """
    nouns = {name: LISTS[name].noun for name in atoms}
    said = taken_as(nouns, {name: atom.words for name, atom in atoms.items()})
    changed = {each: atom for name, atom in atoms.items() for each in _each_of(name)}
    needs = EVERY
    for name, atom in changed.items():
        needs = all_of(needs, atom.needs)
        if place is EVERYWHERE and name in PADS and {*PADS} <= {name, *atom.reads}:
            needs = all_of(needs, APART)
        for read in (name, *atom.reads):
            # Those that are found need not be those of attributes.
            found = read in PADS and place is not EVERYWHERE
            needs = all_of(needs, WINDOWED if found else LISTS[read].needs)
    return place.fault(Atom(f"every {said}", partial(_read, changed), needs))


def _each_of(name: str) -> tuple[str, ...]:
    return PADS if name == "pads" else (name,)


def every() -> Iterator[Fault]:
    """Yield lists that hold other numbers, for every step or for one alone."""
    for place, lists in _PLACES.items():
        yield from _of_place(place, lists)
    for least, length, place in product((1, 2), _LENGTHS, (_IN_PADS, IN_EXTENT)):
        yield read(place, **_as_long_as(length, least))
    for name, atom in product((*_DILATED, "sizes", "output", "pads"), _LIMITS):
        yield read(EVERYWHERE, **{name: atom})
    for place in (_CELLS_READ, _CELLS_COUNTED):
        for atom in (_ONE, *_OF_AXES[:3], *_on_one_axis([_ONE])):
            yield read(place, dilations=atom)


def _of_place(place: Place[Change], lists: tuple[str, ...]) -> Iterator[Fault]:
    # Where pads are found, those that are given are ignored.
    others = _NO_PADS if place.needs == AUTO_PADDED else ("sizes", *_ATTRIBUTES)
    for name in lists:
        for atom in _atoms(name, others):
            yield read(place, **{name: atom})
    for names, atoms in _OF_SEVERAL:
        if set(chain(*map(_each_of, names))) <= {*lists}:
            for atom in atoms:
                yield read(place, **dict.fromkeys(names, atom))
    for one, other in combinations(("kernel", "strides", "dilations"), 2):
        if {one, other} <= {*lists}:
            yield read(place, **{one: same_as(other), other: same_as(one)})
    if {*PADS} <= {*lists}:
        needs = PADDED if place is EVERYWHERE else WINDOWED
        for order in _ORDERS_OF_PADS:
            said = f"the list of pads taken as {order.words}"
            yield place.fault(Atom(said, partial(_reordered, order.of), needs))


def _atoms(name: str, others: tuple[str, ...]) -> Iterator[Misreading]:
    """Yield what may be read in place of a list."""
    yield from _OF_AXES
    numbers = [atom for atom in OF_NUMBERS if LISTS[name].least == 0 or atom != ZERO]
    yield from numbers
    yield from _of_others(other for other in others if other != name)
    if name in {"wanted", "total", "extent"}:
        yield from _FORMULAS
    if name == "extent":
        yield from _COUNTS
    yield from _on_one_axis((*numbers, *_OF_AXES))
    yield from _OF_THREE_AXES


_NO_PADS = ("sizes", "kernel", "strides")
_OF_PADS = (
    *_OF_AXES,
    *_OF_THREE_AXES,
    *OF_NUMBERS,
    _OTHER_END,
    *_on_one_axis((*OF_NUMBERS, *_OF_AXES)),
    *_on_one_axis([_OTHER_END], ANY_AXIS),
    *_of_others(_NO_PADS),
    *_OF_BOTH_PADS,
    computed("half of the kernel size, rounded down", lambda k: k // 2, "kernel"),
)
_OF_SEVERAL = (
    (("pads",), _OF_PADS),
    (("kernel", "strides"), _OF_AXES),
    (("kernel", "strides", "pads"), (*_OF_AXES, *_OF_THREE_AXES, *_on_one_axis(_OF_AXES))),
)
"""Lists that are misread in the same way, and how."""
