"""Hypothesis strategies of reports that need no meaning, small real reports, and comparison."""

from collections import Counter
from dataclasses import replace
from operator import attrgetter

import numpy as np
from hypothesis import strategies as st
from msgspec import structs
from support.fakes import check
from support.report_samples import cases

from conformance.backends import load_backend
from conformance.dtypes import FLOATS, INTEGERS, OF_ML_DTYPES, dtype_of, float_format
from conformance.operators import OPERATORS, vector_of
from conformance.record.jsonl import told
from conformance.record.report import (
    FAILURES,
    NOTHING_RUN,
    RETURNED,
    VERDICTS,
    Accuracy,
    Bias,
    ClauseReport,
    Diagnosis,
    Expectations,
    Floor,
    Proof,
    Repeatability,
    Report,
    Result,
    SkippedVector,
    Skips,
    SlowVector,
    Support,
    UndefinedReport,
    VariationReport,
    VectorsUsed,
    Worst,
    WrongCalls,
)
from conformance.record.why import (
    AcceptedInvalid,
    BrokeProtocol,
    Differing,
    Exited,
    NoLonger,
    NotArrays,
    NotCalled,
    NotRequired,
    NotStored,
    OnlyUnder,
    OtherReading,
    Raised,
    TimedOut,
    Told,
    WrongCount,
    WrongElements,
    WrongShape,
    WrongType,
)

texts = st.one_of(
    st.sampled_from(
        ["", "a|b", "`x`", "</td><img src=x>", "\x00\x1b[2J", "]]>", "a\nb\r\nc", "\\|"]
    ),
    st.text(max_size=12),
)
_counts = st.integers(0, 10**9)
_numbers = st.floats()
_words = st.text("abcxyz-0189", min_size=1, max_size=8)
_mapping = st.dictionaries(_words, texts, max_size=2)
_scalars = st.one_of(st.integers(-(2**70), 2**70), st.booleans(), texts, st.none())
_tuples = st.lists(texts, max_size=3).map(tuple)
_DIGESTS = st.from_regex("[0-9a-f]{12}", fullmatch=True)


def _some(names):
    """Draw some of the names that a report has."""
    return st.lists(st.sampled_from(names), unique=True).map(tuple) if names else st.just(())


def _few(things, *key):
    """Draw up to two of some things, of which no two have the same in all attributes `key`."""
    return st.lists(things, max_size=2, unique_by=attrgetter(*key)).map(tuple)


def _elements(dtype):
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return st.integers(int(info.min), int(info.max))
    if dtype in OF_ML_DTYPES:
        infinity = [float("inf")] if float_format(dtype).has_infinity else []
        return st.sampled_from([0.0, -0.0, 1.5, -3.0, float("nan"), *infinity])
    return st.floats(width=8 * dtype_of(dtype).itemsize)


@st.composite
def _worst(draw, dtype):
    elements, index = _elements(dtype), st.lists(st.integers(0, 9), max_size=4).map(tuple)
    wrong = draw(st.integers(1, 10**9))
    return Worst(
        index=draw(index),
        got=draw(elements),
        expected=draw(elements),
        error=draw(_numbers),
        ulp=draw(_numbers),
        bound=draw(_numbers),
        wrong=wrong,
        total=wrong + draw(_counts),
        first_index=draw(index),
        first_got=draw(elements),
        first_expected=draw(elements),
    )


def _facts():
    """Return a strategy of facts of all types."""
    names, counts = st.lists(texts, max_size=2).map(tuple), st.integers(0, 10**9)
    shapes = st.lists(st.integers(0, 99), max_size=3).map(tuple)
    only = st.builds(OnlyUnder, texts, names)
    readings = st.builds(OtherReading, texts, names, texts)
    return st.one_of(
        st.builds(Raised, texts, texts, st.lists(only, max_size=2).map(tuple)),
        st.builds(NotCalled, texts, texts),
        st.builds(Exited, st.integers(-64, 255), texts),
        st.builds(BrokeProtocol, texts),
        st.builds(TimedOut, st.floats(0.5, 1e6)),
        st.builds(NotStored),
        st.builds(NotArrays, texts),
        st.builds(WrongCount, counts, counts),
        st.builds(WrongShape, shapes, st.lists(shapes, max_size=2).map(tuple), texts),
        st.builds(WrongType, texts, names, texts),
        st.builds(WrongElements, st.lists(_differing(), max_size=2).map(tuple)),
        st.builds(AcceptedInvalid, texts),
        st.builds(NotRequired, st.lists(readings, max_size=2).map(tuple)),
        st.builds(NoLonger),
        st.builds(Told, texts),
    )


def _differing():
    return st.builds(Differing, st.integers(0, 10**9), st.integers(0, 10**9), texts)


@st.composite
def results(draw):
    """Draw a result; only failures are expected."""
    dtype = draw(st.sampled_from(["", *FLOATS, *INTEGERS]))
    verdict = draw(st.sampled_from(VERDICTS))
    why = draw(st.none() | _facts())
    return Result(
        id=draw(texts),
        operator=draw(st.sampled_from([*OPERATORS, "x|y"])),
        verdict=verdict,
        attributes=draw(
            st.dictionaries(_words, _scalars | st.lists(_scalars, max_size=3), max_size=3)
        ),
        dtype=dtype,
        shapes=tuple(
            draw(st.lists(st.lists(st.integers(0, 99), max_size=4).map(tuple), max_size=2))
        ),
        why=why,
        # what has a wrong element has a fact that says so
        worst=draw(st.none() | _worst(dtype)) if why and dtype and verdict in RETURNED else None,
        tier=draw(texts),
        pattern=draw(texts),
        source=draw(texts),
        provenance=draw(texts),
        tags=draw(_tuples),
        readings=tuple(draw(st.lists(_mapping, max_size=2 * (verdict == "conforms")))),
        clauses=draw(st.dictionaries(_words, _tuples, max_size=2)),
        printed=draw(texts),
        expected=draw(texts) if verdict in FAILURES else "",
        excused=tuple(draw(st.lists(_mapping, max_size=1))),
        answer=draw(st.just("") | _DIGESTS) if verdict == "mismatch" else "",
    )


@st.composite
def _clauses(draw, conforming):
    touched = draw(st.integers(0, conforming))
    return ClauseReport(
        clause=draw(texts),
        status=draw(st.sampled_from(["followed", "either", "split", "inconsistent"])),
        followed=draw(st.none() | texts),
        by=draw(st.none() | texts),
        values=draw(_mapping),
        counts=draw(st.dictionaries(_words, st.integers(0, touched), max_size=1)),
        touched=touched,
        possible=tuple(draw(st.lists(texts, max_size=2))),
    )


@st.composite
def _diagnoses(draw, ids):
    exact, explained, total = sorted(draw(_counts) for _ in range(3))
    contradicted, conforming = sorted(draw(_counts) for _ in range(2))
    return Diagnosis(
        summary=draw(texts),
        faults=draw(_tuples),
        explained=explained,
        exact=exact,
        total=total,
        contradicted=contradicted,
        conforming=conforming,
        condition=draw(texts),
        alternatives=draw(_tuples),
        threads=draw(_tuples),
        vectors=draw(_some(ids)),
        kind=draw(st.sampled_from(["fault", "rule", "state", "variation", "reading", "unknown"])),
        proof=draw(st.none() | st.builds(Proof, _counts, _counts, st.none() | _counts, texts)),
        smallest=draw(texts),
        behaviour=draw(texts),
        raised=draw(st.booleans()),
        calls=tuple(draw(st.lists(st.builds(WrongCalls, texts, _counts, _counts), max_size=2))),
        observed=draw(_tuples),
    )


@st.composite
def reports(draw, max_size=4):
    """Draw a report whose vectors are those of its results; everything else may be anything."""
    found = tuple(draw(st.lists(results(), max_size=max_size, unique_by=lambda each: each.id)))
    by_operator = Counter(each.operator for each in found)
    conforming = sum(each.verdict == "conforms" for each in found)
    ids = [each.id for each in found]
    met = Counter(each.verdict for each in found if each.expected)
    expectations = st.builds(
        Expectations,
        texts,
        st.just(dict(met)),
        st.just(()),
        _tuples,
        _tuples,
        _tuples,
        changed=_some(ids),
    )
    accuracy = st.builds(Accuracy, texts, _counts, st.floats(0, 1), _numbers, _numbers)
    undefined = st.builds(
        UndefinedReport, texts, st.dictionaries(_words, st.integers(0, len(ids)), max_size=1)
    )
    floors = st.builds(Floor, st.sampled_from([0.5, 99.9, 4000.0]), st.booleans(), _tuples)
    support = st.builds(
        Support,
        st.lists(floors, max_size=2).map(tuple),
        st.booleans(),
        texts,
        st.just(2 * 10**9),
        _counts,
        _some([each.id for each in found if each.verdict == "unsupported"]),
    )
    vectors = tuple(
        VectorsUsed(name, draw(texts), draw(texts), count, count + draw(_counts))
        for name, count in by_operator.items()
    )
    not_run = sum(used.total for used in vectors) - len(ids) + draw(_counts)
    skipped = st.builds(SkippedVector, texts, st.sampled_from([*OPERATORS]), texts)
    most = min(2, not_run)
    skipped = st.lists(skipped, max_size=most, unique_by=attrgetter("id")).map(tuple)
    stopped = draw(texts)
    repeated = draw(_some(ids))
    variations = st.builds(
        VariationReport, texts, st.just(3 * 10**9), _some(ids), _counts, _counts, texts
    )
    bias = st.builds(
        Bias,
        texts,
        st.sampled_from([*FLOATS]),
        _counts,
        st.floats(-1e6, 1e6),
        st.floats(-1e6, 1e6),
        *[_counts] * 4,
    )
    return Report(
        backend=draw(texts),
        vectors=vectors,
        results=found,
        readings=draw(_few(_clauses(conforming), "clause")),
        undefined=draw(_few(undefined, "clause")),
        accuracy=draw(_few(accuracy, "dtype")),
        diagnoses=tuple(draw(st.lists(_diagnoses(ids), max_size=2))),
        required=draw(_mapping),
        tier=draw(texts),
        not_run=not_run,
        stopped=stopped,
        shard=draw(texts),
        repeated=draw(
            st.none()
            | st.builds(
                Repeatability, st.integers(len(ids), 10**9), st.just(repeated), _some(repeated)
            )
        ),
        expectations=draw(expectations if met else st.none() | expectations),
        started=draw(texts),
        seconds=draw(st.floats(0, 1e6)),
        backend_seconds=draw(st.floats(0, 1e6)),
        versions=draw(_mapping),
        notes=draw(_tuples),
        support=draw(st.none() | support),
        variations=draw(_few(variations, "variation")),
        bias=draw(_few(bias, "operator", "dtype")),
        skips=draw(st.none() | st.builds(Skips, texts, skipped, _tuples)),
        slowest=tuple(SlowVector(name, draw(st.floats(0, 1e6))) for name in draw(_some(ids))),
    )


def plain(report):
    """Return a report, without what a file does not keep, as a text that compares bit by bit."""
    kept = [structs.replace(result, output=None) for result in report.results]
    return repr(replace(report, results=tuple(kept)))


def comparable(report, **others):
    """Return what reports of one run have in common, times, second calls and `others` apart."""
    apart = {"seconds": 0, "backend_seconds": 0, "started": "", "repeated": None, "variations": ()}
    return plain(replace(report, **apart, **others))


reference = load_backend("numpy")


def upper(operator, inputs, attributes):
    """Treat same_lower as same_upper."""
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    return reference(operator, inputs, attributes)


def real(backend=upper, **options):
    """Return the report of a backend over five vectors."""
    return check(backend, [vector_of(case) for case in cases()], name="upper", **options)


def made(*found, **others):
    """Return a report of some results, which are all of their vectors."""
    by_operator = Counter(each.operator for each in found)
    used = tuple(VectorsUsed(name, "", "", n, n) for name, n in by_operator.items())
    known = {"backend": "b", "tier": "standard", "vectors": used, "results": found}
    return replace(NOTHING_RUN, **known | others)


def result(name, verdict="conforms", operator="AvgPool-1", *, detail="", **others):
    """Return a result of a plain case; a `detail` is in words."""
    others.setdefault("why", told(verdict, detail, others.get("worst")))
    known = {"attributes": {"kernel": [2, 2]}, "dtype": "float32", "shapes": ((1, 1, 4, 4),)}
    known |= dict.fromkeys(("pattern", "source", "printed", "expected"), "")
    known |= dict.fromkeys(("tags", "readings", "excused"), ())
    known |= {"tier": "standard", "provenance": "computed", "clauses": {}, "worst": None}
    return Result(name, operator, verdict, **known | others)
