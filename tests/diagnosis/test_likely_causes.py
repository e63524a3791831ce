"""Diagnosis: the planted cause is named first, and nothing is named that was not seen."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import check, pool, ramp, right, vector
from support.fault_probes import light_probes
from support.samples import Everything

import conformance
from conformance.backends.runner import InProcess
from conformance.cases.perturb import Feature
from conformance.diagnosis import likely_causes, limits
from conformance.diagnosis.candidates import Candidates
from conformance.diagnosis.claim import planted
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.experiments import Experiments
from conformance.diagnosis.features import apart, condition, features, spread
from conformance.diagnosis.laboratory import Laboratory, samples_from
from conformance.diagnosis.likely_causes import diagnose
from conformance.diagnosis.observed import traits
from conformance.diagnosis.of_report import explained
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.search import Fit
from conformance.dtypes import name_of
from conformance.faults import CATALOGUE, fault_named, faulty
from conformance.operators import evaluate, vector_of
from conformance.vector import Case, Vector


def causes_of(backend, vectors=None):
    """Check a backend and return the diagnoses of its report."""
    vectors = light_probes() if vectors is None else vectors
    return explained(check(backend, vectors), vectors).diagnoses


@pytest.mark.slow("test_experiments has faults that are confirmed, too")
@pytest.mark.parametrize(
    "fault",
    one_in(60, [fault for fault in CATALOGUE if fault.operators][3::23]),
    ids=lambda fault: fault.name,
)
def test_a_planted_fault_comes_first(fault):
    """The fault a backend has is named first, and explains every mismatch bit for bit.

    An exception in place of an output has no bits.
    """
    if fault.remembers:
        pytest.skip("what it does depends on earlier calls")
    causes = causes_of(faulty(fault), light_probes(*fault.operators[:3]))
    if not causes:
        pytest.skip("shows in larger vectors alone")
    first = causes[0]
    assert fault.name in (*first.faults, *first.alternatives)
    assert (first.explained, first.exact) == (first.total, first.total)
    assert first.contradicted == 0
    (named,) = first.faults
    assert first.threads == fault_named(named).threads
    which = "the one failure is"
    if first.total > 1:
        which = f"{first.total:,} of {first.total:,} failures are"
    # Exceptions have no bits.
    how = r"reproduced( bit for bit)? by"
    assert re.fullmatch(f"{which} {how}: {re.escape(fault_named(named).summary)}", first.summary)


def test_a_fault_of_gradients_is_the_cause_of_theirs_alone():
    """The averages of its backend are right; of two windows that share a cell, one counts."""
    attributes, data = pool(strides=[1]), [ramp(1, 1, size) for size in (5, 6, 7, 8)]
    gradients = [(cells[..., 1:] * cells[..., 1:], cells) for cells in data]
    vectors = [
        vector_of(Case(f"{name}-{n}", name, attributes, inputs))
        for name, cases in (("AvgPool-1", zip(data)), ("AvgPool-1-backward", gradients))
        for n, inputs in enumerate(cases)
    ]
    (cause,) = causes_of(faulty(fault_named("gradient-last-window-wins")), vectors)
    assert "gradient-last-window-wins" in (*cause.faults, *cause.alternatives)
    assert (cause.explained, cause.exact, cause.total) == (4, 4, 4)


def test_a_reading_that_is_not_the_required_one_is_no_fault():
    """What conforms but for a pinned reading is not diagnosed."""
    vectors = light_probes("AvgPool-1")
    report = check(right, vectors, require={"same-output-size": "same-as-input"})
    assert report.counts["mismatch"] > 0
    assert explained(report, vectors).diagnoses == ()


def test_rounding_of_the_engine_does_not_hide_a_fault():
    """A fault is found in a backend that rounds differently from the reference."""
    fault = faulty(fault_named("exclude-pad-ignored"))

    def backend(operator, inputs, attributes):
        result = fault(operator, inputs, attributes)
        finite = result.dtype == np.float32 and np.isfinite(result).all()
        return np.nextafter(result, np.float32(0)) if finite else result

    first = causes_of(backend, light_probes("AvgPool-1"))[0]
    assert first.faults == ("exclude-pad-ignored",)
    assert 0 < first.exact < first.explained
    assert first.explained >= 0.95 * first.total
    assert "the others but for rounding" in first.summary


def test_the_readings_a_backend_follows_are_taken_into_account():
    """A fault is found in a backend that follows other readings than the default."""
    readings = {"same-output-size": "same-as-input", "overhang-divisor": "whole-kernel"}
    first = causes_of(faulty(fault_named("not-divided"), readings), light_probes("AvgPool-1"))[0]
    assert first.faults == ("not-divided",)
    assert first.explained == first.total


@pytest.mark.slow("the next one has two of them")
def test_an_unknown_cause_is_said_to_be_unknown():
    """Where no fault explains mismatches, none is named, and what they share is told."""

    def backend(operator, inputs, attributes):
        result = evaluate(operator, inputs, attributes)
        return result * 3 + 7 if attributes.get("auto_pad") == "same_lower" else result

    vectors = [v for v in light_probes("AvgPool-1")[::4] if v.case.pattern != "zeros"]
    only = causes_of(backend, vectors)[-1]
    assert only.faults == ()
    assert only.condition == "the padding mode is same_lower"
    assert re.fullmatch(
        f"{only.total} of {only.total} failures are of unknown cause, where the padding mode "
        r"is same_lower; about [89]\d% of the elements are wrong, in no place common to all",
        only.summary,
    )


def test_failures_that_look_different_are_unknown_apart():
    """Exceptions and wrong values of unknown cause are two entries, each with what it shares."""
    of: dict[str, list[Vector]] = {"same_lower": [], "same_upper": [], "valid": []}
    for probe in light_probes("AvgPool-1"):
        if probe.values:
            of.setdefault(probe.case.attributes.get("auto_pad", ""), []).append(probe)
    with np.errstate(over="ignore"):
        wrong = [(v, (v.values[0].outputs[0].values * 3 + 7,)) for v in of["same_lower"]]
    raised = [(probe, None) for probe in of["same_upper"][:4]]
    failing = samples_from(wrong + raised)
    values, exceptions = diagnose(failing, of["valid"], {}, Candidates(left_out=Everything()))
    assert "the padding mode is same_lower" in values.condition
    assert "auto_pad=same_lower" not in exceptions.condition
    assert "an exception was raised" in exceptions.summary
    assert (values.explained, exceptions.explained) == (len(wrong), len(raised))


@pytest.mark.slow("others set apart what is of unknown cause")
def test_most_failures_of_unknown_cause_are_set_apart_from_the_others():
    """Where all share nothing, what most of them share is told, and of the others what they do."""
    probes = light_probes("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
    probes = [v for v in probes if v.values and v.case.pattern != "zeros"]
    of_type = [v for v in probes if name_of(v.case.inputs[0].dtype) == "float64"][::40]
    other = next(v for v in probes[::-1] if name_of(v.case.inputs[0].dtype) == "float16")
    wrong = [
        (v, tuple(np.full_like(o.values, 77) for o in v.values[0].outputs))
        for v in (*of_type, other)
    ]
    known = [v for v in probes if v not in {*of_type, other}]
    most, one = diagnose(samples_from(wrong), known, {}, Candidates(()))
    assert (most.explained, one.explained) == (len(of_type), 1)
    assert "the type is float64" in most.condition
    assert one.condition
    assert "float64" not in one.condition


def test_two_independent_faults_are_two_diagnoses():
    """Two faults that never meet are named apart, each with its share."""
    averages = faulty(fault_named("not-divided"))
    maxima = faulty(fault_named("maximum-from-zero"))

    def backend(operator, inputs, attributes):
        return (maxima if operator == "MaxPool-1" else averages)(operator, inputs, attributes)

    found = causes_of(backend, [*light_probes("AvgPool-1")[::4], *light_probes("MaxPool-1")[::4]])
    assert [diagnosis.faults for diagnosis in found] == [("not-divided",), ("maximum-from-zero",)]


def test_progress_counts_the_mismatches_looked_at():
    """Progress never passes its total and is told before the first search."""
    told = []
    wrong = vector(ramp(1, 1, 4))
    diagnose(
        samples_from([(wrong, (np.zeros((1, 1, 2), np.float32),))]),
        [],
        {},
        progress=lambda _, done, total: told.append((done, total)),
    )
    assert told[0] == (0, 1)
    assert all(done <= total for done, total in told)


def test_a_condition_holds_for_all_and_excludes_the_others():
    """The fewest features that these share and the others do not all have are named."""
    these = [frozenset("abx"), frozenset("aby")]
    others = [frozenset("a"), frozenset("b"), frozenset("xy")]
    assert condition(these, others) == ("a", "b")


def test_no_condition_where_nothing_tells_apart():
    """Features that the others share too are no condition."""
    assert condition([frozenset("a")], [frozenset("ab")]) == ()


def test_what_sets_most_apart_is_found_though_a_few_are_explained_by_chance():
    """One of five has another type; none of the others has both that and padding."""
    some = [{"float64", "padded"}] * 4 + [{"float32", "padded"}]
    assert apart(some, [{"float32"}, {"float32", "padded"}]) == (("float64",), [0, 1, 2, 3])
    words, kept = apart(some, [{"float64"}, {"float32", "padded"}])
    assert ({*words}, kept) == ({"float64", "padded"}, [0, 1, 2, 3])
    assert apart(some, [{"float64", "padded", "float32"}]) == ((), [])


def test_a_single_vector_that_conforms_takes_no_condition_away_from_many_failures():
    """A backend may do as a fault says but in a corner; of a few failures, it is another one."""
    some = [{"strided"}] * (limits.PER_MET + 1)
    others = [{"strided", "one window"}, *[{"one window"}] * 9]
    assert apart(some, others)[0] == ("strided",)
    assert apart(some[1:], others)[0] == ()


def test_features_tell_what_attributes_are_about():
    """They say which attributes are left out, and how numbers of one axis compare."""
    found = features(vector(ramp(1, 1, 6), pool(strides=[3], pads_begin=[1])))
    assert {
        "the padding mode is left out",
        "the stride is above the kernel on some axis",
        "the begin padding does not equal the end padding on some axis",
        "padding does not count",
    } <= found.keys()
    assert "the number of batches is at least 2" not in found


def test_a_spread_has_every_kind_before_a_second_of_one():
    """A sample holds vectors of as many kinds as possible."""
    same = [vector(ramp(1, 1, 6 + i), id=f"same{i}") for i in range(5)]
    other = vector(ramp(2, 1, 6), id="other")
    chosen = spread([*same, other], 2, lambda each: each)
    assert {each.case.id for each in chosen} == {"same0", "other"}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "an exception was raised"),
        (np.zeros((1, 1, 3), np.float32), "every value is 0"),
        (np.full((1, 1, 3), np.nan, np.float32), "the result holds NaN"),
        (np.zeros((1, 1, 2), np.float32), "the result is too small"),
        (np.zeros((1, 3), np.float32), "the result has 2 dimensions"),
        (np.zeros((1, 1, 3), np.float64), "the result is of type float64"),
        (np.array([[[1, 2, 3]]], np.float32), "every value is an integer"),
    ],
)
def test_traits_say_what_is_odd_about_an_output(output, words):
    """What an output has and no expected one has is told in words."""
    assert words in traits(Sample(vector(), None if output is None else (output,), failed=True))


def test_a_cause_that_explains_only_what_another_does_is_folded_into_it():
    """Each cause that is left has failures of its own."""
    found = causes_of(faulty(fault_named("not-divided")), light_probes("AvgPool-1")[::4])
    explained = [{*cause.vectors} for cause in found]
    assert all(one - set().union(*explained[:n]) for n, one in enumerate(explained))
    large, small = fit("not-divided", 1, 2), fit("strides-ignored", 2)
    assert likely_causes._folded([small, large]) == [large]


def fit(names, *numbers):
    """Return faults, joined by +, that explain failures by their numbers."""
    faults = [fault_named(name) for name in names.split("+")]
    return Fit(planted(*faults), dict.fromkeys(numbers), frozenset())


def test_two_causes_at_once_explain_what_neither_does_alone():
    """A failure in which both show needs both; the others keep their own cause."""
    one, other = fit("not-divided", 1, 2), fit("strides-ignored", 3)
    both = fit("not-divided+strides-ignored", 1, 2, 3, 4)
    assert likely_causes._folded([both, one, other]) == [one, both, other]
    assert [*both.explained] == [4]


@pytest.mark.slow("a quarter of a minute of work in vain")
def test_no_work_for_what_has_no_name_takes_a_named_cause_away(monkeypatch):
    """What is most often wrong is garbage, which no fault explains however many are tried."""
    monkeypatch.setattr(limits, "STEPS_OF_SEARCH", 40_000)
    lower, ceil = map(faulty, map(fault_named, ("same-lower-as-upper", "ceil-ignored")))

    def backend(operator, inputs, attributes):
        if attributes.get("auto_pad") == "same_lower":
            return lower(operator, inputs, attributes)
        if attributes.get("rounding_type") == "ceil":
            return ceil(operator, inputs, attributes)
        result = right(operator, inputs, attributes)
        return np.random.default_rng(result.size).permutation(result.ravel()).reshape(result.shape)

    causes = causes_of(backend, light_probes("AvgPool-1"))
    assert {"same-lower-as-upper", "ceil-ignored"} <= {name for c in causes for name in c.faults}


@pytest.mark.slow("half a minute: all that refuses calls is tried")
def test_what_refuses_calls_is_told_from_windows_that_do_not_fit():
    """Whatever moves windows far enough raises an exception; so does what some condition says."""
    without_pads = faulty(fault_named("extent-without-pads"))

    def backend(operator, inputs, attributes):
        if inputs[0].ndim > 5:
            raise RuntimeError
        return without_pads(operator, inputs, attributes)

    first, second = conformance.check(
        backend, operators=["ONNX-MaxPool-22"], diagnose="seen"
    ).diagnoses
    assert first.faults == ("extent-without-pads",)
    assert (second.kind, second.condition) == ("unknown", "the number of spatial axes is 4")


def test_a_cause_found_late_explains_what_meets_its_condition(monkeypatch):
    """A fault that reproduces all failures, of which a condition says that some are its own."""
    fault = fault_named("strides-ignored")
    of_float64 = Condition(Feature("dtype"), "is", frozenset({"float64"}))
    claim = replace(planted(fault), places=((of_float64,),))

    class Late(Experiments):
        """Finds it after all that was supposed."""

        def on_faults(self, fits):
            return [None] * len(fits)

        def on_rules(self):
            trial = self._known.trial(claim)
            trial.predicted = [*filter(trial.explains, self._known.failing)]
            return [trial]

    monkeypatch.setattr(likely_causes, "Experiments", Late)
    laboratory = Laboratory(InProcess(faulty(fault)), lambda _: {})
    failing = [s for s in laboratory.ask(light_probes("AvgPool-1")[::9]) if s.failed]
    cause, *_ = diagnose(failing, [], {}, laboratory=laboratory)
    types = {s.vector.case.id: s.vector.case.data.dtype.name for s in failing}
    assert len({*types.values()}) > 1
    assert {types[name] for name in cause.vectors} == {"float64"}
    assert cause.explained == [*types.values()].count("float64")
