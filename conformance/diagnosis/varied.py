"""Failures in some variations of a call alone: what these variations have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.backends.variations import AGAIN, VARIATIONS
from conformance.record.report import Report, Result, VariationReport
from conformance.record.words import how_called
from conformance.text import listed

_CAUSES: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (words, frozenset(names.split()))
    for words, names in (
        (
            "offsets and strides of inputs are ignored",
            "offset unaligned slice channels-last fortran negative-strides broadcast",
        ),
        ("strides of inputs are ignored", "slice channels-last fortran negative-strides broadcast"),
        ("offsets of inputs are ignored", "offset unaligned slice negative-strides"),
        ("calls from several threads disturb each other", "threads-2 threads-8"),
        ("results are kept by the addresses of inputs", "rewritten"),
        ("state that calls with other shapes leave", "after-other-shapes"),
        ("state that the same call leaves", "twice"),
    )
)
"""What is wrong, and the variations in which that shows: in each of them, and in no others."""


@dataclass(frozen=True, slots=True)
class VariedFinding:
    """Failures that come in some variations of the call and not in a plain call.

    `words` say what they have in common, and in how many calls it showed; `vectors` are their ids.
    """

    words: str
    vectors: tuple[str, ...]


def is_varied(result: Result) -> bool:
    """Say whether a result is of another call than a plain one."""
    return bool(result.variations) and result.variations[0] != AGAIN.name


def findings_of(report: Report) -> list[VariedFinding]:
    """Return what failures in variations of the call have in common, the most frequent first.

    Failures that were expected are left out.
    """
    failed = [r for r in report.results if is_varied(r) and not r.expected]
    called = {each.variation: each for each in report.variations}
    findings = []
    for words, names in _causes({name for r in failed for name in r.variations}, called):
        ids = tuple(result.id for result in failed if names.intersection(result.variations))
        failed = [result for result in failed if not names.intersection(result.variations)]
        shown = listed([_shown(called[name]) for name in VARIATIONS if name in names])
        if ids:
            said = f"{words}: wrong {shown}, and right in plain calls"
            findings.append(VariedFinding(said, ids))
    return sorted(findings, key=lambda finding: -len(finding.vectors))


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


def _shown(varied: VariationReport) -> str:
    number, called = len(varied.failing), varied.called
    return f"when called {how_called(varied.variation)} ({number:,} of {called:,})"
