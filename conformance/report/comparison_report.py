"""Several backends side by side: what conforms, which readings they follow, how close they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from conformance.api.compare import Comparison
from conformance.api.releases import Release
from conformance.dtypes import FLOATS, INTEGERS
from conformance.operators import CLAUSES
from conformance.record.report import FAILURES, ClauseReport, Diagnosis, Verdict
from conformance.report import document as doc
from conformance.report import phrases, shared_blocks
from conformance.report import values as words
from conformance.report.operator_rows import operator_rows, outcome
from conformance.report.reveal_report import summary

_TYPES = (*FLOATS, *INTEGERS)
_CAUSES = 3
_PLAIN = ("dtype", "operator")
"""What splits readings by values that speak for themselves."""


def describe(comparison: Comparison, *, command: str = "") -> doc.Document:
    """Return what a comparison says; `command` is what made it."""
    made: doc.Text = doc.FOOTER
    if command:
        check = doc.code("conformance check")
        made = ("Made by ", doc.code(command), "; ", check, " says more of one backend")
    return doc.Document(
        title="Pooling operators compared",
        sections=(
            doc.Section("", (doc.Paragraph(_heading(comparison)),), name="heading"),
            # What went wrong and why, then what was run, then what a reader may want to know.
            _summary(comparison),
            _failures(comparison),
            by_operator({release.backend: release for release in comparison.ran}),
            _types(comparison),
            _readings(comparison),
            _undefined(comparison),
            _accuracy(comparison),
            _arithmetic(comparison),
            shared_blocks.skipped(comparison.skips),
        ),
        footer=made,
    )


def _heading(comparison: Comparison) -> str:
    day = f", {comparison.started[:10]}" if comparison.started else ""
    return (
        f"{words.count(len(comparison.ran), 'backend')}, "
        f"{words.count(comparison.count, 'vector')} of tier {comparison.tier}, "
        f"{comparison.platform}{day}"
    )


def _summary(comparison: Comparison) -> doc.Section:
    """Return the verdicts on each backend, and why others were not run."""
    verdicts = _verdicts(comparison)
    columns: doc.Columns = (
        "backend",
        "version",
        *(shared_blocks.verdict_column(verdict, comparison.failing) for verdict in verdicts),
        doc.Column("per vector", short="per\nvector"),
    )
    rows: Iterable[doc.Row] = (
        (
            doc.Span(backend.backend, "strong"),
            backend.version,
            *(f"{backend.total[verdict]:,}" for verdict in verdicts),
            duration(backend.seconds_per_vector),
        )
        for backend in comparison.ran
    )
    missing = (
        doc.Paragraph(doc.Span(f"{backend.backend} not run: {backend.problem}", "warn"))
        for backend in comparison.missing
    )
    return doc.Section("", (doc.table(columns, rows), *missing), name="backends")


def _verdicts(comparison: Comparison) -> list[Verdict]:
    given: set[Verdict] = set().union(*(backend.total for backend in comparison.ran))
    return shared_blocks.verdicts({*given, "error"})


def duration(seconds: float) -> str:
    """Return a duration in three digits, `81.3 µs` or `2.1 ms`."""
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def by_operator(releases: Mapping[str, Release]) -> doc.Section:
    """Return what share of the vectors of each operator conforms, with its gradient's.

    The `releases` are by the name to show. An operator of which all that all of them did is to
    conform, or none of it is supported, folds.
    """
    rows: list[doc.Row] = []
    for row in operator_rows(_outcomes([*releases.values()])):
        shares = (
            share(release.of_operators(row.operators), release.failing)
            for release in releases.values()
        )
        rows.append((row.title, *shares))
    columns: doc.Columns = ("operator", *map(doc.Column, releases))
    return doc.Section(
        "By operator",
        (doc.table(columns, rows, name="by-operator", matrix=True),),
        name="operators",
        short="Operators",
        intro="Vectors that conform, of those that the backend supports.",
    )


def _outcomes(releases: Sequence[Release]) -> dict[str, tuple[str, ...] | None]:
    """Return by operator what happened to all its vectors in each backend, None if it varies."""
    known = {
        name: [outcome(release.of_operator(name)) for release in releases]
        for name in dict.fromkeys(name for release in releases for name in release.counts)
    }
    return {
        name: None if None in of_each else tuple(filter(None, of_each))
        for name, of_each in known.items()
    }


def _types(comparison: Comparison) -> doc.Section:
    """Return the same of each element type, without operators that `by_operator` may fold."""
    outcomes = _outcomes(comparison.ran)
    rows: Iterable[doc.Row] = (
        (
            doc.Span(operator, "strong"),
            dtype,
            *(share(b.of_type(operator, dtype), b.failing) for b in comparison.ran),
        )
        for operator, types in comparison.cells()
        if outcomes[operator] is None
        for dtype in sorted(types, key=_order)
    )
    columns: doc.Columns = (
        "operator",
        "type",
        *(doc.Column(backend.backend) for backend in comparison.ran),
    )
    return doc.Section(
        "By operator and element type",
        (doc.table(columns, rows, heads=2, matrix=True),),
        name="types",
        short="Element types",
        intro="Left out: operators and gradients of which each backend conforms in all vectors or "
        "supports none.",
        on="pages",
    )


def _order(dtype: str) -> int:
    """Return the place of an element type in the usual order; "" is of vectors without inputs."""
    return _TYPES.index(dtype) if dtype in _TYPES else len(_TYPES)


def share(counts: Mapping[Verdict, int], failing: Iterable[Verdict] = FAILURES) -> doc.Span:
    """Return how many vectors conform, of those that conform or fail."""
    conform = counts.get("conforms", 0)
    supported = conform + sum(counts.get(verdict, 0) for verdict in failing)
    if not supported:
        return doc.Span("-", "quiet")
    tone = shared_blocks.failing_tone(supported - conform, supported)
    return doc.Span(f"{conform:,}/{supported:,}", tone)


def _readings(comparison: Comparison) -> doc.Section:
    followed = [
        {clause.clause: reading(clause) for clause in backend.summary.readings}
        for backend in comparison.ran
    ]
    return doc.Section(
        "Readings followed",
        (_by_clause(comparison, followed),),
        name="readings",
        short="Readings",
        intro="What each backend does where the documents allow several answers (conformance "
        "clauses explains them). Empty: the clause applies to no vector that the backend "
        "supports. either: no vector tells the readings apart.",
    )


def reading(clause: ClauseReport) -> doc.Text:
    """Return which reading a backend follows, where there are several with what splits them."""
    match clause.status:
        case "inconsistent":
            said = phrases.contradictions(clause)
            return doc.Span(f"inconsistent: {said}" if said else "inconsistent", "bad")
        case "split":
            where: dict[str, list[str]] = {}
            for value, name in clause.values.items():
                if name != "either":
                    where.setdefault(name, []).append(value)
            by = "" if clause.by in _PLAIN else f"{clause.by}: "
            parts = (f"{name} ({by}{', '.join(values)})" for name, values in where.items())
            return "; ".join(parts)
        case "followed":
            return phrases.possible(clause)
    return clause.status


def _undefined(comparison: Comparison) -> doc.Section:
    did = [
        {clause.clause: phrases.behaviours(clause) for clause in backend.summary.undefined}
        for backend in comparison.ran
    ]
    return doc.Section(
        "Undefined behaviour",
        (_by_clause(comparison, did),),
        name="undefined",
        short="Undefined",
        intro="What each backend returns there, and in how many vectors. Anything but a crash "
        "conforms.",
    )


def _by_clause(comparison: Comparison, said: Sequence[Mapping[str, doc.Text]]) -> doc.Table:
    """Return a table with a row per clause, and a column per backend of what is `said` of it."""
    rows = (
        (name, *(clauses.get(name, "") for clauses in said))
        for name in CLAUSES
        if any(name in clauses for clauses in said)
    )
    columns = ("clause", *(backend.backend for backend in comparison.ran))
    return doc.table(columns, rows, matrix=True)


def _accuracy(comparison: Comparison) -> doc.Section:
    """Return how close the results of each backend are, one element type after another."""
    rows = (
        (
            doc.Span(dtype, "strong"),
            backend.backend,
            f"{measured.correctly_rounded:.1%}",
            f"{measured.worst_ulp:.3g}",
            f"{measured.worst_of_bound:.2f}",
        )
        for dtype in FLOATS
        for backend in comparison.ran
        for measured in backend.summary.accuracy
        if measured.dtype == dtype
    )
    columns = (
        "type",
        "backend",
        doc.Column("correctly rounded", short="correctly\nrounded"),
        doc.Column("worst ulp", short="worst\nulp"),
        doc.Column("worst / bound", short="worst /\nbound"),
    )
    return doc.Section(
        "Accuracy of results that conform",
        (doc.table(columns, rows, heads=2),),
        name="accuracy",
        short="Accuracy",
        intro="Of averages, norms and gradients: the share of elements that are correctly rounded, "
        "the worst error in ulp (where addends cancel, of their magnitudes), and the worst error "
        "as a share of the error allowed.",
    )


def _arithmetic(comparison: Comparison) -> doc.Section:
    """Return how each backend computes an average: with the same arithmetic, bits are the same."""
    ran = [backend.backend for backend in comparison.ran]
    averages = map(comparison.arithmetic.get, ran)
    said = [("", "", "", "", "") if a is None else (a.operator, *summary(a)) for a in averages]
    names = ("operator", "order of the sum", "sums", "division", "subnormals")
    rows = [(name, *of_each) for name, *of_each in zip(names, *said, strict=True) if any(of_each)]
    return doc.Section(
        "Arithmetic of an average in float32",
        (doc.table(("", *ran), rows, matrix=True),),
        name="arithmetic",
        short="Arithmetic",
        intro="How each backend computes it; conformance reveal says more, with evidence. Where "
        "all of it is the same, so are the bits.",
    )


def _failures(comparison: Comparison) -> doc.Section:
    items = doc.listing(
        _failures_of(backend, failures)
        for backend in comparison.ran
        if (failures := backend.failures_by_operator())
    )
    return doc.Section("Failures and their likely causes", (items,), "failures", "Failures")


def _failures_of(backend: Release, failures: Mapping[str, Counter[Verdict]]) -> doc.Item:
    causes = backend.summary.diagnoses
    items: list[doc.Text] = [_cause(cause) for cause in causes[:_CAUSES]]
    rest = causes[_CAUSES:]
    if rest:
        items.append(f"{words.count(len(rest), 'more cause')}: see conformance check")
    items += (
        doc.Span(f"{operator}: {words.tally(counts)}", "bad")
        for operator, counts in failures.items()
    )
    return doc.Item(doc.Span(backend.backend, "strong"), doc.listing(items).items)


def _cause(cause: Diagnosis) -> doc.Span:
    """Return a likely cause in a line, with what held-out cases said of it."""
    proof = "" if cause.proof is None else f" ({cause.proof})"
    return doc.Span(f"{cause.summary}{proof}.", "" if cause.is_known else "warn")
