"""Attributes with few values: a word that is read as another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations, product
from typing import Any

from conformance.faults.atoms.atom import ANY_AXIS, Atom, OneAxis, Place
from conformance.faults.concerns import AUTO_PADDED, EVERY, INCLUDING, ROUNDED
from conformance.faults.fault import Fault
from conformance.faults.wraps import given
from conformance.operators.attributes import MEANINGS, Role
from conformance.operators.needs import Needs, has
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, resolve_pads
from conformance.operators.wraps import before, instead
from conformance.text import listed

Change = Callable[[Params], Params]
_NEEDS = {"auto_pad": AUTO_PADDED, "rounding": ROUNDED, "include_pad": INCLUDING}
_EVERYWHERE = Place("{}", EVERY, "resolve", given)
_IN_EXTENT = Place("{}, for the output size alone", EVERY, "extent", given)
_IN_DIVISOR = Place("{}, for the divisor alone", EVERY, "divide", given)


def _begun(
    change: Change, params: Params, _pads: Pads, extent: Extent
) -> tuple[Params, Pads, Extent]:
    """Begin windows after the padding of other parameters; there are as many as before."""
    return params, resolve_pads(change(params)), extent


_BEGUN = partial(before, _begun)
_IN_BEGINS = Place("{}, for where windows begin alone", EVERY, "windows", _BEGUN)
_PLACES = {
    "auto_pad": (_EVERYWHERE, _IN_EXTENT, _IN_BEGINS),
    "include_pad": (_EVERYWHERE, _IN_DIVISOR),
}


def _pads_of(some: Atom[Callable[[Params, int], bool]]) -> Place[Change]:
    """Give other parameters to what pads some axes."""

    def pads(change: Change, right: Callable[[Params], Any], params: Params) -> Any:
        both = enumerate(zip(right(params), right(change(params)), strict=True))
        return tuple(other if some.of(params, i) else own for i, (own, other) in both)

    return Place(f"{{}} on {some.words}", some.needs, "pads", partial(instead, pads))


def _one(axis: OneAxis) -> Atom[Callable[[Params, int], bool]]:
    return Atom(axis.words, lambda p, i: i == axis.among(len(p.sizes)), axis.needs)


_SOME_AXES: tuple[Atom[Callable[[Params, int], bool]], ...] = (
    *map(_one, ANY_AXIS),
    Atom("axes with a stride of 1", lambda p, i: p.strides[i] == 1),
    Atom("axes with a stride above 1", lambda p, i: p.strides[i] > 1),
    Atom("axes with a dilation above 1", lambda p, i: p.dilations[i] > 1, (has("dilations"),)),
    Atom("axes with an even kernel size", lambda p, i: p.kernel[i] % 2 == 0),
    Atom("axes with an odd kernel size", lambda p, i: p.kernel[i] % 2 == 1),
    Atom("axes of an even input size", lambda p, i: p.sizes[i] % 2 == 0),
    Atom("axes of an odd input size", lambda p, i: p.sizes[i] % 2 == 1),
)


def _word(meaning: Any) -> str:
    return str(meaning).lower() if isinstance(meaning, bool) else str(meaning)


def taken_as(nouns: Mapping[Any, str], others: Mapping[Any, str]) -> str:
    """Say what is taken as what: those that are taken as the same are named together."""
    together: dict[str, list[str]] = {}
    for name, other in others.items():
        together.setdefault(other, []).append(nouns[name])
    said = [f"{listed(those)} taken as {other}" for other, those in together.items()]
    return ", and ".join(said)


def needs_of(role: Role) -> Needs:
    """Return what an operator has whose attribute of a role makes a difference."""
    return _NEEDS.get(role, (has(role),))


def _read(role: Role, others: Mapping[Any, Any], params: Params) -> Params:
    word = getattr(params, role)
    return replace(params, **{role: others[word]}) if word in others else params


def _mean(role: Role, others: Mapping[Any, Any], place: Place[Change] = _EVERYWHERE) -> Fault:
    """Read some values of a role, the keys of `others`, as other ones."""
    words = {one: _word(other) for one, other in others.items()}
    said = taken_as({one: _word(one) for one in others}, words)
    return place.fault(Atom(f"{role}={said}", partial(_read, role, others), needs_of(role)))


def every() -> Iterator[Fault]:
    """Yield words that mean another one, for every step or for one alone."""
    for role, meanings in MEANINGS.items():
        if role in {"channels_last", "accumulator"}:
            continue  # no step reads these: faults of layouts are in the catalogue
        for one, other in permutations(meanings, 2):
            for place in _PLACES.get(role, (_EVERYWHERE,)):
                yield _mean(role, {one: other}, place)
        for other in meanings:
            rest = [each for each in meanings if each != other]
            for several in range(2, len(meanings)):
                for some in combinations(rest, several):
                    yield _mean(role, dict.fromkeys(some, other))
        for one, other in combinations(meanings, 2):
            yield _mean(role, {one: other, other: one})
    for (one, other), some in product(permutations(("same_upper", "same_lower")), _SOME_AXES):
        yield _mean("auto_pad", {one: other}, _pads_of(some))
    yield _mean("rounding", {"ceil": "floor", "floor": "ceil", "ceil_torch": "ceil"})
