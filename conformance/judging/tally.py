"""What a run comes to, and the report that is made of it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import Any

from conformance.batch import Ints
from conformance.judging.readings import place_of
from conformance.judging.sums import Sums
from conformance.judging.whole_run import judged_together
from conformance.record.report import (
    LONG_RUN,
    Repeatability,
    Report,
    Result,
    SlowVector,
    VariationReport,
    VectorsUsed,
    added_up,
)
from conformance.vectorfile.sources import Selected, Source
from conformance.vectorfile.suite import joint_digest
from conformance.version import __version__

INTERRUPTED = "interrupted"
_PACKAGES = ("numpy", "ml_dtypes", "h5py")


@dataclass(slots=True, eq=False)
class Tally:
    """What a run comes to so far: a result for each vector that was run, and what adds up.

    `results` are by the number of their vector in its source. `seconds` were spent in the backend;
    the `slowest` vectors took most of them. `stopped` says why not every vector was run, "" if it
    was, `INTERRUPTED` where the user stopped it.
    """

    results: dict[Source, dict[int, Result]] = field(default_factory=dict)
    sums: list[Sums] = field(default_factory=list)
    repeated: Repeatability = field(default_factory=lambda: Repeatability(0))
    varied: tuple[VariationReport, ...] = ()
    seconds: float = 0.0
    slowest: tuple[SlowVector, ...] = ()
    engine: str = ""
    stopped: str = ""

    def __len__(self) -> int:
        return sum(map(len, self.results.values()))

    def add(self, source: Source, numbers: Ints, results: Sequence[Result], sums: Sums) -> None:
        """Add the results of vectors of a source."""
        self.results.setdefault(source, {}).update(zip(numbers.tolist(), results, strict=True))
        self.sums.append(sums)

    def report(
        self, sources: Iterable[Source], required: Mapping[str, str], **about: Any
    ) -> Report:
        """Return the report of the run of some sources, each in the order of its vectors.

        `required` are the readings that were, by clause; `about` are further fields that no verdict
        tells.
        """
        of_source = (self.results.get(source, {}) for source in sources)
        in_order = [of[number] for of in of_source for number in sorted(of)]
        results, readings = judged_together(in_order, required)
        return report_of(
            self.sums,
            results=results,
            readings=readings,
            required=required,
            diagnoses=(),
            expectations=None,
            repeated=self.repeated,
            variations=self.varied,
            stopped=self.stopped,
            backend_seconds=self.seconds,
            slowest=self.slowest if self.seconds >= LONG_RUN else (),
            versions=package_versions() | ({"engine": self.engine} if self.engine else {}),
            **about,
        )


def report_of(
    parts: Sequence[Sums | Report],
    *,
    repeated: Repeatability,
    variations: Sequence[VariationReport],
    **about: Any,
) -> Report:
    """Return the report of a run, in which what is known of its parts is added up.

    `about` are the fields that are not sums.
    """
    undefined = added_up(chain.from_iterable(part.undefined for part in parts), "clause")
    accuracy = added_up(chain.from_iterable(part.accuracy for part in parts), "dtype")
    bias = added_up(chain.from_iterable(part.bias for part in parts), "operator", "dtype")
    outputs = chain.from_iterable(part.outputs for part in parts)
    return Report(
        undefined=tuple(
            replace(clause, counts=dict(sorted(clause.counts.items(), key=_commonest_first)))
            for clause in sorted(undefined, key=lambda clause: place_of(clause.clause))
        ),
        bias=tuple(sorted(bias, key=lambda each: (each.operator, each.dtype))),
        accuracy=tuple(of_type for of_type in accuracy if of_type.elements),
        outputs=added_up(outputs, "operator", "output"),
        repeated=repeated if repeated.sampled else None,
        variations=added_up(variations, "variation"),
        **about,
    )


def _commonest_first(behaviour: tuple[str, int]) -> tuple[int, str]:
    name, count = behaviour
    return -count, name  # whatever the order of shards


@cache
def package_versions() -> dict[str, str]:
    """Return the versions of this package, of Python and of the packages that values pass."""
    versions = {"conformance": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # a source tree on the path, say
            continue
    return versions


def vectors_used(selections: Sequence[Selected]) -> tuple[VectorsUsed, ...]:
    """Return what the report says of the sources: those of one operator are one."""
    by_operator: dict[str, list[Selected]] = {}
    for selection in selections:
        by_operator.setdefault(selection.source.operator, []).append(selection)
    return tuple(
        VectorsUsed(
            operator=operator,
            path=os.path.commonpath([part.source.path for part in group]),
            digest=joint_digest([part.source.digest for part in group]),
            selected=sum(len(part.numbers) for part in group),
            total=sum(len(part.source) for part in group),
        )
        for operator, group in by_operator.items()
    )
