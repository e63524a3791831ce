"""Chooses random draws for the suite by what they catch: `python -m benchmarks.choose_draws`.

Of each operator, every fault that atoms enumerate is planted alone. Those that the other vectors
catch in fewer than three shapes are planted in the draws, one after the other, and draws are chosen
that catch most of what is missing for their size. Writes their numbers into the list that the
sweep reads. The vectors are those of the shipped suite, but for draws that were chosen before.
With --missed, the draws that were chosen stay, and some are added for what no vector catches.
With --crossed, no fault is planted: draws are added in which levels meet that meet in no vector.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, combinations, filterfalse
from time import perf_counter

import numpy as np
import numpy.typing as npt

from conformance import as_called
from conformance.api.enumerated_strength import SHAPES, Catching, drawn, shape_of
from conformance.api.strength import cells_of
from conformance.cases.perturb import Feature
from conformance.cases.sweep import random_draws
from conformance.cases.sweep.sweep_model import case_of
from conformance.diagnosis.elements import ALL_AXES, Layout
from conformance.operators import OPERATORS, operators_named
from conformance.operators.attributes import MEANINGS, SCALARS, ZERO_POINTS
from conformance.vector import Case, Vector
from conformance.vectorfile.sources import chosen, opened, vectors_in

SPARE = 4
"""Draws that catch a fault beyond these, to choose from."""
SMALL = 6000
"""Cells of vectors that are called before others: most faults show in some of these."""
MOST_OF_SMOKE, LARGEST_OF_SMOKE = 8, 1500
"""Draws of an operator in the smoke tier, and cells of each, at most."""
LARGEST_OF_CROSSED = 800
"""Cells of draws that are chosen for levels, at most."""
FEW = ("exponent", "index_axis")
"""Numbers of which there are few: each counts."""
BLOCKS, MOST_ALIKE = (16, 8, 4, 1), 4
"""Channels that are computed at once; numbers of all axes that are told apart, at most."""
Level = tuple[str, object]
Bits = npt.NDArray[np.uint8]
OVERHEAD = 300
"""Cells that a vector costs whatever its size, about."""


def suite(operator: str) -> list[Vector]:
    """Return the vectors of the suite: smoke first, small ones, in no order."""
    with opened(None, [operator]) as sources:
        (selection,) = chosen(sources, [operator], None, "standard")
        vectors = [*vectors_in(selection.source, selection.numbers)]
    order = random_draws.Draws("order")
    key = {vector.case.id: order.below(1 << 30) for vector in vectors}
    return sorted(
        vectors,
        key=lambda v: (v.case.tier != "smoke", max(SMALL, cells_of(v)), key[v.case.id]),
    )


def is_drawn(vector: Vector) -> bool:
    """Say whether a vector of the suite is a random draw."""
    return random_draws.TAG in vector.case.tags


def is_found(case: Case) -> bool:
    """Say whether a call tells of which case it is: results that are stored are found by that."""
    inputs, attributes = as_called(case)
    try:
        own, taken = OPERATORS[case.operator].convention_of(attributes).taken(inputs, attributes)
    except (IndexError, KeyError, TypeError, ValueError):
        return False
    return case_of(case.operator, taken, own, pattern="").id[-8:] == case.id[-8:]


def choose(operator: str, *, draws: int) -> tuple[list[str], str]:
    """Return the numbers of the draws that are chosen of an operator, and what to say of them."""
    start = perf_counter()
    catching = Catching.of(operator)
    every = len(catching.shapes)
    by_smoke: set[str] = set()
    for vector in filterfalse(is_drawn, suite(operator)):
        caught = catching.caught(vector, SHAPES)
        if vector.case.tier == "smoke":
            by_smoke |= caught
    before = {name: len(shapes) for name, shapes in catching.shapes.items()}
    catches, sizes = _by_draws(catching, draws, SHAPES + SPARE)
    wanted = {
        name: min(SHAPES, len(catching.shapes[name])) - count
        for name, count in before.items()
        if count < min(SHAPES, len(catching.shapes[name]))
    }
    numbers = _fewest(catches, sizes, wanted)
    after = {name: len(shapes) for name, shapes in catching.shapes.items()}
    shown = {name for name, count in after.items() if count}
    smoke = _smoke(operator, numbers, shown - by_smoke)
    told = (
        f"{operator}: {every} faults; {_told(before)}; with {len(numbers)} draws {_told(after)}; "
        f"smoke {_share(by_smoke, shown)}, with {len(smoke)} draws "
        f"{_share(by_smoke.union(*smoke.values()), shown)}; {perf_counter() - start:.0f} s"
    )
    marks = dict.fromkeys(smoke, random_draws.SMOKE)
    return [f"{number}{marks.get(number, '')}" for number in numbers], told


def _by_draws(
    catching: Catching, draws: int, enough: int
) -> tuple[dict[int, set[str]], dict[int, tuple[object, int]]]:
    """Return what draws catch by their numbers, each fault in so many shapes; and their sizes."""
    catches: dict[int, set[str]] = {}
    sizes: dict[int, tuple[object, int]] = {}
    for number, vector in drawn(catching.operator, range(draws)):
        if not catching.planted:
            break
        if is_found(vector.case) and (caught := catching.caught(vector, enough)):
            catches[number] = caught
            sizes[number] = shape_of(vector), cells_of(vector)
    return catches, sizes


def _share(some: set[str], every: set[str]) -> str:
    return f"{100 * len(some & every) / len(every):.1f} %"


def _smoke(operator: str, numbers: Sequence[int], wanted: set[str]) -> dict[int, set[str]]:
    """Return the few draws, of those chosen, that catch most of the faults that smoke misses."""
    catching = Catching.of(operator)
    catching.planted = {name: catching.planted[name] for name in wanted}
    left = {
        number: catching.caught(vector, len(numbers) + 1)
        for number, vector in drawn(operator, numbers)
        if cells_of(vector) <= LARGEST_OF_SMOKE
    }
    taken: dict[int, set[str]] = {}
    while left and len(taken) < MOST_OF_SMOKE:
        best = max(left, key=lambda number: len(left[number]))
        if not left[best]:
            break
        taken[best] = left.pop(best)
        left = {number: names - taken[best] for number, names in left.items()}
    return taken


def missed(operator: str, *, draws: int) -> list[int]:
    """Return draws more that catch what no vector of the suite does."""
    catching = Catching.of(operator)
    for vector in suite(operator):
        catching.caught(vector)
    left = catching.only(name for name, shapes in catching.shapes.items() if not shapes)
    catches, sizes = _by_draws(left, draws, SPARE)
    return _fewest(catches, sizes, dict.fromkeys(chain(*catches.values()), 1))


def crossed(operator: str, *, draws: int, room: int) -> list[int]:
    """Return draws more in which three levels meet that meet in no vector of the suite.

    A kernel of an engine is chosen by several things at once, and what is wrong with it shows only
    where these meet. Draws with most that is new for their size come first, while there is room.
    """
    first = random_draws.BLOCKED.start
    candidates = {
        number: vector
        for number, vector in drawn(operator, [*range(draws), *range(first, first + draws)])
        if "invalid" not in vector.case.tags
        and cells_of(vector) <= LARGEST_OF_CROSSED
        and is_found(vector.case)
    }
    of_suite, of_draws = (
        [levels(vector) for vector in vectors] for vectors in (suite(operator), candidates.values())
    )
    every = dict.fromkeys(chain.from_iterable((*of_suite, *of_draws)))
    column = {level: i for i, level in enumerate(every)}

    def met(of_vector: Sequence[Level]) -> Bits:
        """Return a bit for every three levels: whether a vector has them."""
        has = np.zeros([len(column)] * 3, np.bool_)
        places = sorted(column[level] for level in of_vector)
        has[*np.reshape([*combinations(places, 3)], (-1, 3)).astype(np.intp).T] = True
        return np.packbits(has)

    known = np.bitwise_or.reduce([*map(met, of_suite)])
    new = np.array([*map(met, of_draws)])
    sizes = np.array([OVERHEAD + cells_of(vector) for vector in candidates.values()])
    numbers: list[int] = []
    while True:
        new &= ~known
        worth = np.bitwise_count(new).sum(axis=1) / sizes
        best = int(worth.argmax())
        room -= sizes[best]
        if room < 0 or not worth[best]:
            return numbers
        numbers.append([*candidates][best])
        known = new[best].copy()


def levels(vector: Vector) -> list[Level]:
    """Return what a vector has of each thing that kernels are chosen by, in few levels."""
    layout = Layout(vector, {})
    data, params, operator = layout.data, layout.params, layout.operator
    if params is None:
        return []
    found: dict[str, object] = {role: getattr(params, role) for role in operator.of_roles(MEANINGS)}
    for role in operator.of_roles(SCALARS):
        said = getattr(params, role)
        if role in ZERO_POINTS:
            found[role] = np.sign(said)
        else:
            found[role] = said if role in FEW else said is None
    for name, numbers in layout.numbers.items():
        found[name] = min(numbers[0], MOST_ALIKE) if len({*numbers}) == 1 else "differ"
    window = tuple(found[role] for role in ("kernel", "strides", "pads_begin") if role in found)
    if {*window} <= {0, 1, 2, 3}:  # as kernels of its own have
        found["window"] = window
    if layout.extent:
        found["width"] = layout.extent[-1].bit_length()
        found["overhang"] = any(layout.value(Feature("most_overhang", ALL_AXES)) or ())
        found["divides"] = all(layout.value(Feature("output_divides_size", ALL_AXES)) or ())
    found |= {
        "dtype": data.dtype,
        "axes": layout.axes,
        "batch": min(data.shape[0], 2),
        "channels": next(block for block in BLOCKS if data.shape[1] % block == 0),
        "one channel": data.shape[1] == 1,
        "given output": any(params.fixed_output),
        "NaN": layout.value(Feature("nan_in_data", 0)),
        "infinity": layout.value(Feature("infinity_in_data", 0)),
        "negative": bool((layout.wide_data < 0).all()),
    }
    return [*found.items()]


def _told(counts: dict[str, int]) -> str:
    enough = sum(count >= SHAPES for count in counts.values())
    none = sum(not count for count in counts.values())
    return f"{enough} by {SHAPES} shapes, {len(counts) - enough - none} by fewer, {none} by none"


def _fewest(
    catches: dict[int, set[str]], sizes: dict[int, tuple[object, int]], wanted: dict[str, int]
) -> list[int]:
    """Return few draws that catch each fault in as many other shapes as are wanted."""
    left = dict(wanted)
    seen: dict[str, set[object]] = defaultdict(set)
    rest = {number: names & left.keys() for number, names in catches.items()}
    numbers = []
    while rest:
        worth = {
            number: len(names) / (OVERHEAD + sizes[number][1]) for number, names in rest.items()
        }
        best = max(worth, key=lambda number: (worth[number], -number))
        if not rest[best]:
            break
        numbers.append(best)
        shape = sizes[best][0]
        for name in rest.pop(best):
            seen[name].add(shape)
            left[name] -= 1
            if not left[name]:
                del left[name]
        for number, names in rest.items():
            rest[number] = {
                name for name in names if name in left and sizes[number][0] not in seen[name]
            }
    return sorted(numbers)


def main() -> None:
    """Choose, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    added = parser.add_mutually_exclusive_group()
    added.add_argument(
        "--crossed",
        type=int,
        metavar="CELLS",
        help="add draws of so many cells for threes of levels",
    )
    added.add_argument(
        "--missed", action="store_true", help="add draws for what no vector of the suite catches"
    )
    options = parser.parse_args()
    named = operators_named(options.operators or None)
    names = [name for name in named if OPERATORS[name].newest is OPERATORS[name]]
    list_of = {name: list(numbers) for name, numbers in random_draws.CHOSEN.items()}
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.crossed or options.missed:
            more_of = partial(missed, draws=options.draws)
            if options.crossed:
                more_of = partial(crossed, draws=options.draws, room=options.crossed)
            for name, more in zip(names, pool.map(more_of, names), strict=True):
                print(f"{name}: {len(more)} more", flush=True)
                numbers = list_of.get(name, [])
                known = {*map(random_draws.number_of, numbers)}
                list_of[name] = [*numbers, *(str(n) for n in more if n not in known)]
                _write(list_of)
            return
        every = pool.map(partial(choose, draws=options.draws), names)
        for name, (numbers, told) in zip(names, every, strict=True):
            print(told, flush=True)
            list_of[name] = numbers
            _write(list_of)


def _write(chosen_of: dict[str, list[str]]) -> None:
    """Write the list, the numbers of each operator in their order."""
    lines = (
        " ".join((name, *sorted(chosen_of[name], key=random_draws.number_of)))
        for name in OPERATORS
        if chosen_of.get(name)
    )
    random_draws.LIST.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
