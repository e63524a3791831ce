"""Numbers, shapes and readings as short text for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.operators import OPERATORS
from conformance.vector import Combination


def short(value: Any) -> str:
    """Return an element in few characters: three digits, whole numbers below 1e5 as they are."""
    if isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", "f") in "iu":
        return str(int(value))
    number = float(value)
    if number.is_integer() and abs(number) < 1e5:
        return f"{number:.0f}"  # keeps the sign of zero
    mantissa, e, exponent = f"{number:.3g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def shape(extents: Sequence[int]) -> str:
    """Return a shape as `1x3x8x8`."""
    return "x".join(map(str, extents)) or "scalar"


def count(number: int, noun: str) -> str:
    """Return `1 vector` or `1,234 vectors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def tally(counts: Mapping[Any, int]) -> str:
    """Return numbers of things that are not none, as `3 mismatch, 1,204 error`."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)


def provenance(operator: str, stored: str, source: str) -> str:
    """Return where expected values of a vector come from, given what is stored of it and cited.

    They are printed only where the document prints values: some examples print attributes alone.
    """
    if stored != "printed" or operator not in OPERATORS:
        return stored
    example = OPERATORS[operator].example(source)
    return "printed" if example is not None and example.numbers else "computed"


def size(nbytes: int) -> str:
    """Return a number of bytes as `4.1 MB`."""
    if nbytes < 1000:
        return f"{nbytes} B"
    number, units = float(nbytes), iter(("kB", "MB", "GB", "TB"))
    unit = ""
    while number >= 1000:
        number, unit = number / 1000, next(units, "TB")
    return f"{number:.1f} {unit}"


def combinations(chosen: Iterable[Combination], clauses: Mapping[str, Sequence[str]]) -> str:
    """Say which combinations of readings these are, leaving out clauses that do not matter.

    `clauses` are those that apply to the vector, with their readings.
    """
    listed = [dict(combination) for combination in chosen]
    names = list(dict.fromkeys(name for combination in listed for name in combination))
    used = {name: list(dict.fromkeys(c[name] for c in listed if name in c)) for name in names}
    product = 1
    for readings in used.values():
        product *= len(readings)
    free = {name for name in names if set(used[name]) == set(clauses.get(name, ()))}
    if product == len(listed):
        bound = [f"{name}={'|'.join(used[name])}" for name in names if name not in free]
        return ", ".join(bound) or "every reading"
    return " or ".join(", ".join(f"{k}={v}" for k, v in c.items()) for c in listed)
