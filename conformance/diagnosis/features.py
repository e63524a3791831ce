"""What is said of vectors in words, what some vectors share, and diverse samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, zip_longest
from typing import TypeVar

from conformance.cases.perturb import Feature
from conformance.cases.sweep.levels import types
from conformance.diagnosis import limits
from conformance.diagnosis.conditions import Condition, condition_written
from conformance.diagnosis.elements import KINDS, Layout
from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.vector import Case, Vector

T = TypeVar("T")
K = TypeVar("K")

_AS_IT_IS = (
    *("operator", "dtype", "rank", "auto_pad", "rounding", "include_pad", "given_pads"),
    *("exponent", "index_type", "storage_order", "channels_last", "activation", "accumulator"),
    *("invalid_part", "invalid_how"),
)
"""Features of which it is said what they are."""
_GIVEN_OR_NOT = tuple(name for name in KINDS if name.startswith("no_"))
_SAID = (
    *("kernels_differ=yes", "strides_differ=yes", "one_row=yes", "one_column=yes"),
    *("nan_in_data=yes", "infinity_in_data=yes"),
    *(f"{name}={said}" for said in ("yes", "no") for name in _GIVEN_OR_NOT),
    *("batch=1", "channels=1", "batch>=2"),
    *(f"channels>={least}" for least in (2, 5, 9, 17, 33)),
    *("strides.some>=2", "dilations.some>=2"),
    *("strides_above_kernel.some=yes", "kernel_above_size.some=yes"),
    *("pads_begin_equal_pads_end.some=no", "kernel.some%2=0", "kernel.some>=8"),
    *("kernel.every=1", "strides.every=1", "dilations.every=1"),
    "auto_pad=same_lower,same_upper",
)
_CONDITIONS = tuple(map(condition_written, _SAID))
_OF_GIVEN_OUTPUTS = tuple(
    map(condition_written, ("output_above_size.some=yes", "output_divides_size.some=no"))
)


@lru_cache(maxsize=2048)  # a search asks for those of the vectors of one operator again and again
def features(vector: Vector) -> Mapping[str, Condition]:
    """Return the conditions that hold for a vector, by the words that complete "where ..."."""
    layout, said = Layout(vector, {}), []
    for name in _AS_IT_IS:
        value = layout.value(Feature(name, 0))
        if value is not None:
            known = frozenset({value}) if isinstance(value, str) else value
            said.append(Condition(Feature(name), "is", known))
    dtype = name_of(vector.case.data.dtype)
    others = (other for other in types(layout.operator) if other != dtype)
    said += [Condition(Feature("dtype"), "is not", frozenset({other})) for other in others]
    adaptive = _OF_GIVEN_OUTPUTS if layout.operator.is_adaptive else ()
    said += [c for c in (*_CONDITIONS, *adaptive) if c.holds(layout.value(c.feature)).any()]
    return {condition.words: condition for condition in said}


def condition(
    mismatching: Sequence[Collection[str]], others: Sequence[Collection[str]]
) -> tuple[str, ...]:
    """Return up to three features that all `mismatching` vectors and few `others` have, in words.

    Each sequence holds the features of one vector per entry. There are no words if no shared
    feature tells the two apart.
    """
    left = list(others)
    if not mismatching:
        return ()
    shared = sorted(set(mismatching[0]).intersection(*mismatching[1:]))
    chosen: list[str] = []
    while left and shared and len(chosen) < limits.SHARED_FEATURES:
        # The rarest among the others first; by name where equal.
        best = min(shared, key=lambda feature: sum(feature in other for other in left))
        remaining = [other for other in left if best in other]
        # A feature that most others have too tells nothing.
        if 3 * len(remaining) > 2 * len(left):
            break
        chosen.append(best)
        left = remaining
    return tuple(chosen)


def apart(
    some: Sequence[Collection[str]], others: Sequence[Collection[str]]
) -> tuple[tuple[str, ...], list[int]]:
    """Return one or two features that hardly any other has together, and which of `some` have.

    These are as many as can be, and fewer features are better; no features if there are none such.
    """
    counts, beside = Counter(chain(*some)), Counter(chain(*others))
    single = [(word,) for word in sorted(counts)]

    def telling(word: str) -> float:
        return beside[word] / max(1, len(others)) - counts[word] / len(some)

    often = sorted(sorted(counts), key=telling)[: limits.PAIRED_FEATURES]
    best: tuple[tuple[str, ...], list[int]] = (), []
    most = 0
    for words in (*single, *combinations(often, 2)):
        if most >= min(counts[word] for word in words):
            continue
        kept = [i for i, each in enumerate(some) if all(word in each for word in words)]
        met = sum(all(word in other for word in words) for other in others)
        told = len(kept) - limits.PER_MET * met
        if told > most:
            best, most = (words, kept), told
    return best


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return items by a key, in the order of the first of each group."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def thinned(items: Sequence[T], most: int) -> Sequence[T]:
    """Return at most `most` of some items, evenly spaced, the first among them."""
    return items[:: -(-len(items) // most) or 1]


def spread(items: Sequence[T], most: int, vector: Callable[[T], Vector]) -> list[T]:
    """Return at most `most` items whose vectors have as many different sets of features as can be.

    Of vectors with the same features, the lighter come first. Heavy ones are left out where there
    are enough others.
    """
    vectors = [vector(item) for item in items]
    by_weight = sorted((weight(each), i) for i, each in enumerate(vectors))
    light = sum(vector_weight <= limits.LIGHT for vector_weight, _ in by_weight)
    numbers = [i for _, i in by_weight[: max(light, most // 4)]]
    by_features = grouped(numbers, lambda i: frozenset(features(vectors[i])))
    groups = [[items[i] for i in by_features[key]] for key in sorted(by_features, key=sorted)]
    if len(groups) >= most:
        step = len(groups) / most
        return [groups[int(i * step)][0] for i in range(most)]
    round_robin = chain.from_iterable(zip_longest(*groups))
    return [item for item in round_robin if item is not None][:most]


def weight(vector: Vector) -> int:
    """Return about how much work a vector is for a naive backend: its cells, and k^2 per axis."""
    return cells(vector) + sum(k * k for k in _kernel(vector.case))


def size(vector: Vector) -> int:
    """Return about how much work a vector is for a planted fault: its cells, and k per axis."""
    return cells(vector) + sum(map(abs, _kernel(vector.case)))


def cells(vector: Vector) -> int:
    """Return how many cells the inputs of a vector have."""
    return sum(array.size for array in vector.case.inputs)


def cells_read(case: Case) -> int:
    """Return about how many cells windows read one after the other, along the longest kernel."""
    return sum(array.size for array in case.inputs) * max(map(abs, _kernel(case)), default=1)


def _kernel(case: Case) -> list[int]:
    """Return the numbers of a kernel; the case of an invalid call may have anything for one."""
    attribute = operator_named(case.operator).attribute("kernel")
    kernel = case.attributes.get(attribute.key) if attribute is not None else None
    return [k for k in kernel if isinstance(k, int)] if isinstance(kernel, list) else []
