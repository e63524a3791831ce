"""Failures in some variations of a call alone: what these variations have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.backends.variations import AGAIN, VARIATIONS
from conformance.record.report import (
    Diagnosis,
    Report,
    Result,
    VariationReport,
    WrongCalls,
    told_apart,
)

_STRIDED = frozenset({"slice", "channels-last", "fortran", "negative-strides", "broadcast"})
_THREADS = "calls from several threads disturb each other"
_CAUSES: tuple[tuple[str, frozenset[str]], ...] = (
    (
        "offsets and strides of inputs are ignored",
        frozenset({"offset", "unaligned"}) | _STRIDED,
    ),
    ("strides of inputs are ignored", _STRIDED),
    (
        "offsets of inputs are ignored",
        frozenset({"offset", "unaligned", "slice", "negative-strides"}),
    ),
    (_THREADS, frozenset({"threads-2", "threads-8"})),
    (_THREADS, frozenset({"threads-8"})),  # a race need not show in both
    (_THREADS, frozenset({"threads-2"})),
    ("results are kept by the addresses of inputs", frozenset({"rewritten"})),
    ("state that calls with other shapes leave", frozenset({"after-other-shapes"})),
    ("state that the same call leaves", frozenset({"twice"})),
    ("data without a batch", frozenset({"unbatched"})),
)
"""What is wrong, and the variations in which that shows, in each of them; the first that fits."""


def is_varied(result: Result) -> bool:
    """Say whether a result is of another call than a plain one."""
    return bool(result.variations) and result.variations[0] != AGAIN.name


def findings_of(report: Report) -> list[Diagnosis]:
    """Return what failures in variations of the call have in common.

    They come in some variations and not in a plain call. Those expected are left out.
    """
    failed = [r for r in report.results if is_varied(r) and not r.expected]
    called = {each.variation: each for each in report.variations}
    findings = []
    for behaviour, names in _causes({name for r in failed for name in r.variations}, called):
        ids = tuple(result.id for result in failed if names.intersection(result.variations))
        failed = [result for result in failed if not names.intersection(result.variations)]
        varied = [called[name] for name in VARIATIONS if name in names]
        wrong = tuple(WrongCalls(v.variation, len(v.failing), v.called) for v in varied)
        if ids:
            findings.append(told_apart("variation", behaviour, ids, calls=wrong))
    return findings


def _causes(
    failing: set[str], called: Mapping[str, VariationReport]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what fits the failing variations, and then the others, each for itself."""
    left = failing & called.keys()
    for words, names in _CAUSES:
        shows = names & called.keys()
        if shows and shows <= left:
            yield words, shows
            left -= shows
    for name in VARIATIONS:
        if name in left:
            yield "another way to call changes the result", frozenset({name})
