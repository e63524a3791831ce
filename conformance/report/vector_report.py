"""One vector: what it is, its windows drawn, and which answers conform."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from conformance.dtypes import name_of
from conformance.errors import InvalidCase, UsageError
from conformance.operators import (
    CLAUSES,
    CallConvention,
    Operator,
    contradicts_document,
    operator_named,
)
from conformance.operators.attributes import complete
from conformance.record.words import attribute_in_words
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.text_drawing import blocks
from conformance.report.vector_drawing import draw, scene_of
from conformance.vector import Anything, Array, Outcome, Raises, Values, Vector


def describe(
    vector: Vector,
    *,
    plane: Sequence[int] = (),
    output: Sequence[int] = (),
    readings: Mapping[str, str] | None = None,
    width: int = 80,
) -> doc.Document:
    """Return what a vector is, with a drawing of one plane about `width` wide.

    `plane` is the batch and channel, then positions on the spatial axes before the last two;
    `output` the spatial position of the output element whose window is outlined; both have
    sensible defaults. `readings` choose among the outcomes. Raises UsageError for a position or a
    reading that the vector does not have, VectorFileError for one that contradicts itself. The
    vector is one that verify.misshapen finds sound.
    """
    operator = operator_named(vector.case.operator)
    chosen = _outcome_under(vector, readings or {})
    picture: Iterable[doc.Block]
    if isinstance(chosen, Values):
        asked = (readings or {}).items()
        combination = next(c for c in chosen.readings if asked <= c.items())
        scene = scene_of(vector, operator, chosen, combination)
        picture = blocks(draw(scene, plane, output), width)
    else:
        lead, why = no_windows(vector, operator)
        picture = [doc.Paragraph((doc.Span(f"{lead} ", "strong"), why))]
    clauses = {} if isinstance(vector.outcomes[0], Anything) else vector.clauses
    rows = tuple((name, " or ".join(names) or "undefined") for name, names in clauses.items())
    return doc.Document(
        "Vector",
        (
            doc.Section("", tuple(_heading(vector, operator)), name="vector"),
            doc.Section("", tuple(picture), name="windows"),
            doc.Section("Clauses that apply", (doc.Facts(rows),), name="clauses"),
            _answers(vector, chosen),
        ),
    )


def _heading(vector: Vector, operator: Operator) -> Iterator[doc.Block]:
    """Yield id, operator, data, attributes (defaults too), origin and tags."""
    case = vector.case
    yield doc.Paragraph(doc.Span(case.id, "strong", code=True), copied=True)
    inputs = [f"{name_of(a.dtype)} {words.shape(a.shape)}" for a in case.inputs]
    if operator.is_gradient:
        inputs[0] = f"gradient {words.shape(case.inputs[0].shape)}"
    if operator.scatters:
        inputs[-1] = f"indices {name_of(case.inputs[-1].dtype)}"
    if operator.is_adaptive and len(case.own_inputs) > 1:
        inputs[-1] = f"output size {words.shape(case.own_inputs[1].ravel().tolist())}"
    convention = operator.convention_of(case.attributes)
    handed_over = "" if convention.is_plain else f"handed over {_convention(convention)}"
    pattern = f"pattern {case.pattern}" if case.pattern else ""
    facts = [*inputs, handed_over, pattern, f"tier {case.tier}"]
    yield doc.Paragraph(f"{case.operator}: " + " · ".join(filter(None, facts)))
    if operator.attributes:
        yield doc.Paragraph(tuple(_attributes(vector, operator)))
    origin = " · ".join(filter(None, [_origin(vector, operator), case.source]))
    yield doc.Paragraph(doc.Span(origin, "quiet"))
    if case.tags:
        yield doc.Paragraph(doc.Span(f"tags {', '.join(case.tags)}", "quiet"))


def _convention(convention: CallConvention) -> str:
    """Say how a call is handed over."""
    if convention.size_input:
        return f"with {convention.size_input} as an input"
    return "with channels last" if convention.channels_last else "in another form"


def _origin(vector: Vector, operator: Operator) -> str:
    """Say where expected values come from: what is called printed was held against the document."""
    example = operator.example(vector.case.source)
    if vector.case.provenance == "derived":
        return "expected values derived from the document by hand"
    if vector.case.provenance == "computed" or example is None or contradicts_document(vector):
        return "expected values computed by the reference"
    if not example.numbers:
        what = "attributes and output shape" if example.outputs else "attributes"
        return f"{what} printed in the document, expected values computed by the reference"
    every = sum(expected.values.size for expected in vector.values[0].outputs)
    if example.numbers == every:
        return "expected values printed in the document"
    share = f"{example.numbers} of {words.count(every, 'expected value')}"
    return f"{share} printed in the document, the others computed by the reference"


def _attributes(vector: Vector, operator: Operator) -> Iterator[doc.Span]:
    given = dict(vector.case.attributes)
    try:
        attributes = complete(operator.attributes, given, vector.case.data.shape[2:])
    except InvalidCase:
        attributes = {}
    for name, value in given.items():
        yield doc.Span(f"{attribute_in_words(name, value)}  ")
    for name in [name for name in attributes if name not in given]:
        yield doc.Span(f"{attribute_in_words(name, attributes[name])}  ", "quiet")


def _outcome_under(vector: Vector, readings: Mapping[str, str]) -> Outcome:
    for clause, reading in readings.items():
        disputed = {name: names for name, names in vector.clauses.items() if names}
        if reading not in disputed.get(clause, ()):
            there = [attribute_in_words(c, r) for c, names in disputed.items() for r in names]
            raise UsageError(
                f"no reading {clause}={reading} applies to {vector.case.id}; "
                f"there are {', '.join(there) or 'none'}"
            )
    for outcome in vector.outcomes:
        if any(readings.items() <= combination.items() for combination in outcome.readings):
            return outcome
    raise UsageError(f"no outcome of {vector.case.id} has all these readings together")


def no_windows(vector: Vector, operator: Operator) -> tuple[str, str]:
    """Say what the right answer to a case without windows is, and why."""
    if isinstance(vector.outcomes[0], Anything):
        clause = next(iter(vector.clauses), "")
        why = f": {CLAUSES[clause].says}" if clause in CLAUSES else ""
        return "Anything but a crash conforms.", f"Undefined as a whole ({clause}){why}."
    try:
        operator.validate(vector.case.inputs, vector.case.attributes)
    except InvalidCase as error:
        return "An exception is the right answer.", str(error)
    return "An exception is the right answer.", "these attributes"


def _answers(vector: Vector, drawn: Outcome) -> doc.Section | None:
    """List the answers, those with equal values as one, since arithmetic changes only the bound.

    `drawn` is the outcome to mark.
    """
    if len(vector.outcomes) == 1:
        return None
    alike: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in vector.outcomes:
        key = (outcome.kind, *((a.shape, a.tobytes()) for a in _values(outcome)))
        alike.setdefault(key, []).append(outcome)
    rows = []
    for outcomes in alike.values():
        readings = [combination for outcome in outcomes for combination in outcome.readings]
        answer = _answer(outcomes[0], vector.outcomes[0])
        where = words.combinations(readings, vector.clauses)
        mark = "▸" if drawn in outcomes and isinstance(drawn, Values) else ""
        rows.append((mark, answer, where))
    shown = doc.table(("", "answer", "under"), rows, title="Answers that conform")
    return doc.Section("", (shown,), name="answers")


def _values(outcome: Outcome) -> list[Array]:
    if not isinstance(outcome, Values):
        return []
    return [expected.values for expected in outcome.outputs]


def _answer(outcome: Outcome, first: Outcome) -> str:
    """Say what an answer is, and in how many values it differs from the first one."""
    if not isinstance(outcome, Values):
        return "an exception" if isinstance(outcome, Raises) else "anything"
    text = " and ".join(dict.fromkeys(words.shape(values.shape) for values in _values(outcome)))
    pairs = list(zip(_values(outcome), _values(first), strict=False))
    if first is outcome or not pairs or any(one.shape != other.shape for one, other in pairs):
        return text
    differing = sum(_differing(one, other) for one, other in pairs)
    return f"{text}, {words.count(differing, 'value')} differ"


def _differing(one: Array, other: Array) -> int:
    with np.errstate(invalid="ignore"):  # bfloat16 warns of some NaNs
        same = one == other
        if one.dtype.kind not in "iu":
            same |= np.isnan(one) & np.isnan(other)
    return int(np.count_nonzero(~same))
