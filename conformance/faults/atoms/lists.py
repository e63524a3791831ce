"""Numbers of each spatial axis: what may be read in place of them, and in which step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from conformance.faults.atoms.cells import reading_other_cells
from conformance.faults.atoms.conditions import ALWAYS, Condition
from conformance.faults.atoms.words import taken_as
from conformance.faults.behaviour import (
    ADAPTIVE,
    APART,
    AUTO_PADDED,
    DILATED,
    EVERY,
    INCLUDING,
    PADDED,
    STRIDED,
    WINDOWED,
    Behaviour,
    Faults,
)
from conformance.faults.wraps import after, before, instead
from conformance.operators import pipeline as steps
from conformance.operators import windows as axis
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Extent, Gathered, Pads, Windows, pads_for
from conformance.vector import Array

Numbers = tuple[int, ...]
Lists = Mapping[str, Numbers]
"""Lists of one number per spatial axis, by name: those that a step is given or returns."""
Change = Callable[[Lists], Lists]

NOUNS = {
    "kernel": "kernel size",
    "strides": "stride",
    "dilations": "dilation",
    "pads_begin": "begin pad",
    "pads_end": "end pad",
    "pads": "pad",
    "sizes": "input size",
    "output": "output size asked for",
    "spans": "length of the dilated kernel",
    "slack": "room that a window can slide",
    "extent": "output size",
    "wanted": "number of windows that same_* pads for",
    "total": "padding of same_*",
}
PADS = ("pads_begin", "pads_end")
_OF_BOTH = {"pads": PADS}
_NEEDS = {
    "kernel": WINDOWED,
    "strides": STRIDED,
    "dilations": DILATED,
    "pads_begin": PADDED,
    "pads_end": PADDED,
    "output": ADAPTIVE,
}
_FIELDS = ("kernel", "strides", "dilations", *PADS, "sizes", "output")
"""The lists that are fields of the parameters."""
_LEAST = {"pads_begin": 0, "pads_end": 0, "total": 0}
"""The least number of a list; 1 for others."""


class Atom(NamedTuple):
    """What is read in place of a list: words that follow "were", and the other numbers.

    `of(lists, name)` returns them, given all lists and the name of the one that is misread; `reads`
    names the other lists that it looks at, `needs` is what else it takes to show.
    """

    words: str
    of: Callable[[Lists, str], Numbers]
    reads: tuple[str, ...] = ()
    needs: Needs = EVERY


# Atoms -------------------------------------------------------------------------------------------


def whole(words: str, of: Callable[[Numbers], Numbers]) -> Atom:
    """Read other entries of the same list."""
    return Atom(words, lambda lists, name: of(lists[name]))


def computed(words: str, of: Callable[..., int], *names: str) -> Atom:
    """Compute the number of an axis from those of some lists, "" for the list that is misread.

    The list is read as it is where one of these is missing.
    """

    def numbers(lists: Lists, name: str) -> Numbers:
        if not all((each or name) in lists for each in names):
            return lists[name]
        axes = zip(*(lists[each or name] for each in names), strict=True)
        return tuple(max(_LEAST.get(name, 1), of(*numbers)) for numbers in axes)

    return Atom(words, numbers, tuple(filter(None, names)))


def each(words: str, of: Callable[[int], int]) -> Atom:
    """Compute the number of an axis from itself."""
    return computed(words, of, "")


def same_as(other: str) -> Atom:
    """Read another list."""
    return computed(f"the {NOUNS[other]}", lambda number: number, other)


def at_most(other: str) -> Atom:
    """Clamp to the numbers of another list."""
    return computed(f"at most the {NOUNS[other]}", min, "", other)


def at_most_number(most: int) -> Atom:
    """Clamp to a number."""
    return each(f"at most {most}", lambda number: min(number, most))


def on_axis(place: int, atom: Atom, axes: int | None = None) -> Atom:
    """Read on one axis alone, or so only where there are so many axes."""

    def of(lists: Lists, name: str) -> Numbers:
        numbers = list(lists[name])
        if len(numbers) == (axes or len(numbers)):
            numbers[place] = atom.of(lists, name)[place]
        return tuple(numbers)

    if axes is None:
        where = "on the first axis" if place == 0 else "on the last axis"
    else:
        where = f"on the {('first', 'second', 'third')[place]} of three axes"
    return Atom(f"{atom.words} {where}", of, atom.reads, Needs(axes=axes or 0))


FIRST_FOR_ALL = whole("that of the first axis", lambda v: v[:1] * len(v))
LAST_FOR_ALL = whole("that of the last axis", lambda v: v[-1:] * len(v))
REVERSED = whole("that of the axis in reverse order", lambda v: v[::-1])
OF_NEXT = whole("that of the next axis", lambda v: (*v[1:], v[-1]))
OF_AXES = (
    FIRST_FOR_ALL,
    LAST_FOR_ALL,
    REVERSED,
    OF_NEXT,
    whole("that of the axis before", lambda v: (v[0], *v[:-1])),
    whole("the largest", lambda v: (max(v),) * len(v)),
    whole("the smallest", lambda v: (min(v),) * len(v)),
)
ZERO = each("0", lambda _: 0)
ONE = each("1", lambda _: 1)
ONE_MORE = each("one more", lambda n: n + 1)
ONE_LESS = each("one less", lambda n: n - 1)
DOUBLED = each("twice as large", lambda n: 2 * n)
OF_NUMBERS = (
    ZERO,
    ONE,
    ONE_MORE,
    ONE_LESS,
    DOUBLED,
    each("half as large, rounded down", lambda n: n // 2),
    each("half as large, rounded up", lambda n: axis.ceil_div(n, 2)),
    each("rounded down to an even number", lambda n: n // 2 * 2),
    each("rounded up to an even number", lambda n: axis.ceil_div(n, 2) * 2),
)
DOUBLED_IF_ABOVE_ONE = each("twice as large where it is above 1", lambda n: 2 * n if n > 1 else n)
LARGER_PAD = computed("the larger one", max, *PADS)
SMALLER_PAD = computed("the smaller one", min, *PADS)
MEAN_PAD = computed("half their sum, rounded down", lambda b, e: (b + e) // 2, *PADS)
OF_BOTH_PADS = (
    LARGER_PAD,
    SMALLER_PAD,
    computed("their sum", lambda b, e: b + e, *PADS),
    MEAN_PAD,
    computed("half their sum, rounded up", lambda b, e: (b + e + 1) // 2, *PADS),
)


class Length(NamedTuple):
    """How long a dilated kernel is taken to be: words, and from kernel and dilation its cells."""

    words: str
    of: Callable[[int, int], int]


TIMES_DILATION = Length("kernel times dilation", lambda k, d: k * d)
WITH_HOLES = Length("kernel and (kernel - 1) times dilation", lambda k, d: k + (k - 1) * d)
ONE_CELL_SHORT = Length("(kernel - 1) times dilation", lambda k, d: (k - 1) * d)
ADDED_ONCE = Length("kernel and dilation less 1", lambda k, d: k + d - 1)
LENGTHS = (
    TIMES_DILATION,
    Length("kernel times dilation plus 1", lambda k, d: k * d + 1),
    WITH_HOLES,
    ONE_CELL_SHORT,
    Length("(kernel - 1) times dilation plus 2", lambda k, d: (k - 1) * d + 2),
    ADDED_ONCE,
)


def as_long_as(length: Length, least: int = 1) -> dict[str, Atom]:
    """Read undilated kernels of another length where the dilation is so much at least."""
    return {
        "kernel": computed(
            length.words, lambda k, d: length.of(k, d) if d >= least else k, "", "dilations"
        ),
        "dilations": each("1", lambda d: 1 if d >= least else d),
    }


class Order(NamedTuple):
    """An order of begin pads, then end pads, which are read one after the other."""

    words: str
    of: Callable[[Numbers], Numbers]


BY_PAIRS = Order("pairs of begin and end", lambda v: (*v[::2], *v[1::2]))
BY_PAIRS_FROM_LAST = Order(
    "pairs of begin and end, from the last axis on", lambda v: (*v[-2::-2], *v[::-2])
)
BACKWARDS = Order("in reverse order", lambda v: v[::-1])
FIRST_ENTRY = Order("its first entry alone", lambda v: v[:1] * len(v))
ORDERS_OF_PADS = (
    BY_PAIRS,
    BY_PAIRS_FROM_LAST,
    Order("ends, then begins", lambda v: (*v[len(v) // 2 :], *v[: len(v) // 2])),
    BACKWARDS,
    FIRST_ENTRY,
    Order("its last entry alone", lambda v: v[-1:] * len(v)),
)


def reads(atoms: Mapping[str, Atom]) -> Change:
    """Return the change of lists that reads some of them as atoms say."""

    def change(lists: Lists) -> Lists:
        if not lists.keys() >= atoms.keys():
            return lists
        return {**lists, **{name: atom.of(lists, name) for name, atom in atoms.items()}}

    return change


def reordered(order: Order) -> Change:
    """Return the change of lists that reads the list of pads in another order."""

    def change(lists: Lists) -> Lists:
        if not lists.keys() >= {*PADS}:
            return lists
        numbers = order.of((*lists["pads_begin"], *lists["pads_end"]))
        half = len(numbers) // 2
        return {**lists, "pads_begin": numbers[:half], "pads_end": numbers[half:]}

    return change


# Places ------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A place where lists are read: words for it, a step, its replacement, and which lists.

    `needs` says which operators have that step.
    """

    words: str
    step: str
    wrap: Callable[[Change], StepWrap]
    lists: tuple[str, ...]
    needs: Needs = EVERY


def _lists(params: Params, pads: Pads | None = None, *_others: Any) -> dict[str, Numbers]:
    named = {name: getattr(params, name) for name in _FIELDS}
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

    def changed(extent: Extent, params: Params, pads: Pads) -> Extent:
        found = {"extent": extent}
        if params.kernel:
            found["slack"] = steps.rooms(params, pads)
        return change({**_lists(params, pads), **found})["extent"]

    return after(changed)


def _of_same(made: Callable[[Params, Lists], Pads]) -> Callable[[Change], StepWrap]:
    """Make the pads of same_* from changed lists."""

    def wrong(pads: Pads, params: Params, change: Change) -> Pads:
        if not params.same:
            return pads
        wanted = tuple(map(axis.ceil_div, params.sizes, params.strides))
        found = {"wanted": wanted, "total": tuple(map(sum, pads)), "spans": params.spans}
        return made(params, change({**_lists(params), **found}))

    return lambda change: after(lambda pads, params: wrong(pads, params, change))


def _split(params: Params, lists: Lists) -> Pads:
    upper = params.auto_pad == "same_upper"
    return tuple(axis.split(total, larger_at_end=upper) for total in lists["total"])


def _clipped(change: Change) -> StepWrap:
    """Clip windows to inputs of other sizes."""

    def wrong(right: Callable[..., Gathered], data: Array, params: Params, w: Windows) -> Gathered:
        sizes = change(_lists(params))["sizes"]
        clipped = reading_other_cells(lambda cells, _d, _p, j: [c for c in cells if c < sizes[j]])
        gathered: Gathered = clipped(right)(data, params, w)
        return gathered

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


def _dilated(change: Change) -> StepWrap:
    """Give a step windows of other dilations, from the same first to the same last cell."""

    def other(one: Any, another: Any, windows: Windows) -> tuple[Any, ...]:
        if not windows.dilations:
            return one, another, windows
        params = one if isinstance(one, Params) else another
        changed = change({**_lists(params), "dilations": windows.dilations})["dilations"]
        return one, another, replace(windows, dilations=changed)

    return before(other)


_ATTRIBUTES = ("kernel", "strides", *PADS)
_DILATED = (*_ATTRIBUTES, "dilations")
EVERYWHERE = Place("", "resolve", _resolved, (*_DILATED, "sizes", "output"))
IN_PADS = Place(
    ", for the padding of same_* alone",
    "pads",
    _before,
    ("kernel", "strides", "dilations", "sizes"),
    AUTO_PADDED,
)
WANTED = Place(
    "",
    "pads",
    _of_same(lambda params, lists: pads_for(params, lists["wanted"])),
    ("wanted",),
    AUTO_PADDED,
)
TOTAL = Place("", "pads", _of_same(_split), ("total",), AUTO_PADDED)
OF_SAME = Place(
    ", those of same_*", "pads", _of_same(lambda _, lists: _pads(lists)), PADS, AUTO_PADDED
)
PADDED_WITH = Place(", that of same_* too", "pads", _padded, PADS)
IN_EXTENT = Place(", for the output size alone", "extent", _before, (*_DILATED, "sizes"), WINDOWED)
EXTENT = Place("", "extent", _counted, ("extent",), WINDOWED)
IN_WINDOWS = Place(
    ", for the place of windows alone",
    "windows",
    _before,
    ("kernel", "strides", "dilations", "pads_begin", "sizes"),
    WINDOWED,
)
CLIPPED = Place(", where windows are clipped", "gather", _clipped, ("sizes",))
IN_DIVISOR = Place(
    ", for what counts in the divisor alone", "divide", _before, (*PADS, "sizes"), INCLUDING
)
OF_DIVISOR = Place(", for the divisor alone", "divide", _laid_out, _DILATED, INCLUDING)
PLACES = (
    EVERYWHERE,
    IN_PADS,
    WANTED,
    TOTAL,
    PADDED_WITH,
    IN_EXTENT,
    EXTENT,
    IN_WINDOWS,
    CLIPPED,
    IN_DIVISOR,
    OF_DIVISOR,
)
CELLS_READ = Place(", for the cells that are read alone", "gather", _dilated, ("dilations",))
CELLS_COUNTED = Place(
    ", for the cells that count alone", "divide", _dilated, ("dilations",), INCLUDING
)


# Wrong behaviours --------------------------------------------------------------------------------


def read(
    place: Place = EVERYWHERE,
    *,
    where: Condition = ALWAYS,
    needs: Needs = EVERY,
    **atoms: Atom,
) -> Behaviour:
    """Read lists, given by name, as atoms say; `pads` is short for those at both ends.

    What it needs follows from the lists, the place and the condition; `needs` is what else.
    """
    return read_lists(atoms, place, where=where, needs=needs)


def read_lists(
    atoms: Mapping[str, Atom],
    place: Place = EVERYWHERE,
    *,
    where: Condition = ALWAYS,
    needs: Needs = EVERY,
) -> Behaviour:
    """Read lists as `read` does."""
    nouns = {name: NOUNS[name] for name in atoms}
    said = taken_as(nouns, {name: atom.words for name, atom in atoms.items()})
    changed = {each: atom for name, atom in atoms.items() for each in _OF_BOTH.get(name, (name,))}
    for name, atom in changed.items():
        needs &= atom.needs
        if place is not OF_SAME and name in PADS and {*PADS} <= {name, *atom.reads}:
            needs &= APART
    for name in (*changed, *(name for atom in atoms.values() for name in atom.reads)):
        if place is not OF_SAME or name not in PADS:  # which are not those of attributes there
            needs &= _NEEDS.get(name, EVERY)
    return _behaviour(f"every {said}", place, reads(changed), needs, where)


def read_in_order(order: Order, *, needs: Needs = EVERY) -> Behaviour:
    """Read the list of begin pads, then end pads, in another order."""
    said = f"the list of pads taken as {order.words}"
    return _behaviour(said, EVERYWHERE, reordered(order), needs & PADDED, ALWAYS)


def _behaviour(
    said: str, place: Place, change: Change, needs: Needs, where: Condition
) -> Behaviour:
    return Behaviour(
        f"{said}{place.words}{where.words}",
        needs & place.needs & where.needs,
        {place.step: where.only(place.wrap(change))},
    )


MIX_UPS = {"first-for-all": FIRST_FOR_ALL, "last-for-all": LAST_FOR_ALL, "reversed": REVERSED}
"""Axes that are mixed up, by what the names of faults end in."""
_OF_THREE = {
    "second-for-first": on_axis(0, OF_NEXT, axes=3),
    "third-for-second": on_axis(1, OF_NEXT, axes=3),
}


def mixed_up(lists: str, place: Place = EVERYWHERE, name: str = "") -> Faults:
    """Return a fault for each way to mix up the axes of a list: NAME-first-for-all and so on."""
    mix_ups = MIX_UPS | _OF_THREE if place is EVERYWHERE else MIX_UPS
    return {
        f"{name or lists}-{mix_up}": read_lists({lists: atom}, place)
        for mix_up, atom in mix_ups.items()
    }
