"""What every rendering of a comparison says in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.check.report import VERDICTS, ClauseReport, Verdict
from conformance.compare.comparison import Compared, Comparison
from conformance.dtypes import FLOATS, INTEGERS
from conformance.report import values as words

_ALWAYS: tuple[Verdict, ...] = ("conforms", "mismatch", "error", "unsupported")
_TYPES = (*FLOATS, *INTEGERS)
CAUSES_SHOWN = 3
_PLAIN = ("dtype", "operator")
"""What splits readings by values that speak for themselves."""


def heading(comparison: Comparison) -> str:
    """Return what was compared, in one line."""
    return (
        f"{words.count(len(comparison.ran), 'backend')}, "
        f"{words.count(comparison.count, 'vector')} of tier {comparison.tier}, "
        f"{comparison.platform}"
    )


def verdicts(comparison: Comparison) -> tuple[Verdict, ...]:
    """Return the verdicts worth a column: the usual ones and those that were given."""
    given = set().union(*(each.total for each in comparison.ran))
    return tuple(verdict for verdict in VERDICTS if verdict in _ALWAYS or verdict in given)


def duration(seconds: float) -> str:
    """Return a duration in three digits, `81.3 µs` or `2.1 ms`."""
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


@dataclass(frozen=True, slots=True)
class Share:
    """Vectors that conform, of those that the backend supports."""

    conforms: int
    supported: int

    def __str__(self) -> str:
        return f"{self.conforms:,}/{self.supported:,}" if self.supported else "-"

    @property
    def whole(self) -> bool:
        """Whether all that are supported conform."""
        return self.conforms == self.supported


def share(counts: Mapping[Verdict, int]) -> Share:
    """Return the share that conforms."""
    return Share(counts.get("conforms", 0), sum(counts.values()) - counts.get("unsupported", 0))


def types_of(types: list[str]) -> list[str]:
    """Return element types in the usual order; "" is that of vectors without inputs."""
    return sorted(types, key=lambda name: _TYPES.index(name) if name in _TYPES else len(_TYPES))


def followed(clause: ClauseReport) -> dict[str, str]:
    """Return which readings a backend follows, and where; "" is everywhere."""
    match clause.status:
        case "split":
            where: dict[str, list[str]] = {}
            for value, name in clause.values.items():
                where.setdefault(name, []).append(value)
            by = "" if clause.by in _PLAIN else f"{clause.by}: "
            return {name: f"{by}{', '.join(values)}" for name, values in where.items()}
        case "followed":
            return {clause.followed or "": ""}
    return {clause.status: ""}


def reading(clause: ClauseReport | None) -> str:
    """Return the same as text for one cell; "" where no vector is touched."""
    if clause is None:
        return ""
    parts = [
        f"{name} ({where})" if where else name
        for name, where in followed(clause).items()
        if name != "either" or not where
    ]
    return "; ".join(parts)


def behaviour(counts: Mapping[str, int]) -> list[str]:
    """Return what a backend did where nothing is defined, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [f"{name} {number:,}" for name, number in ordered]


def failures(backend: Compared) -> list[str]:
    """Return what went wrong, an item for each operator."""
    return [
        f"{operator}: " + ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
        for operator, counts in backend.failures().items()
    ]


def causes(backend: Compared) -> list[str]:
    """Return the likely causes that explain most failures, one sentence each."""
    shown = [f"{cause.summary}." for cause in backend.causes[:CAUSES_SHOWN]]
    rest = len(backend.causes) - len(shown)
    return [*shown, *([f"{words.count(rest, 'more cause')}: conformance check"] if rest else [])]
