"""A gradient follows the readings of its forward operator: windows, divisors, sums and ties."""

from dataclasses import replace

import numpy as np
import pytest
from support.fakes import check, pool, ramp, ran

from conformance.api.merge import merge
from conformance.dtypes import dtype_of
from conformance.operators import (
    CLAUSES,
    OPERATORS,
    concerned,
    disputed_of,
    evaluate,
    vector_of,
)
from conformance.record.jsonl import read, write
from conformance.report import phrases
from conformance.vector import BACKWARD, Case, forward_name

SAME = {"auto_pad": "same_upper"}
CEIL = {"rounding_type": "ceil"}
CASES = {
    "same-output-size": ("AvgPool-1", (5,), pool(**SAME)),
    "same-never-crops": ("AvgPool-1", (8,), pool(kernel=[1], strides=[4], **SAME)),
    "same-with-ceil": ("AvgPool-1", (6,), pool(kernel=[1], strides=[3], **SAME, **CEIL)),
    "ceil-window-past-input": ("AvgPool-1", (4,), pool(strides=[1], pads_end=[3], **CEIL)),
    "ceil-torch-start": (
        "AvgPool-14",
        (2,),
        pool(kernel=[1], pads_end=[2], rounding_type="ceil_torch", exclude_pad=True),
    ),
    "valid-rounds": ("AvgPool-1", (5,), pool(auto_pad="valid", **CEIL)),
    "overhang-divisor": (
        "AvgPool-1",
        (5,),
        pool(kernel=[3], pads_begin=[1], exclude_pad=False, **CEIL),
    ),
    "webnn-output-sizes-clear-padding": (
        "WebNN-averagePool2d",
        (7, 7),
        {
            "windowDimensions": [2, 2],
            "strides": [4, 4],
            "padding": [1, 1, 1, 1],
            "outputSizes": [2, 2],
        },
    ),
    "pads-with-auto-pad": (
        "ONNX-AveragePool-22",
        (3,),
        {"kernel_shape": [2], "auto_pad": "VALID", "pads": [1, 1]},
    ),
    "lp-overhang": (
        "PyTorch-lp_pool1d",
        (6,),
        {"norm_type": 2, "kernel_size": 3, "stride": 2, "ceil_mode": True},
    ),
}
"""A case that each clause of an operator and its gradient has: operator, sizes, attributes."""
OTHERS = [(name, r.name) for name in CASES for r in CLAUSES[name].readings if r.replaces]
TIES = pool("MaxPool-8", kernel=[4], strides=[4])


def of_both(operator, data, attributes):
    """Return vectors of an operator and its gradient: gradients of each shape it may have."""
    name = f"{operator}/{data.dtype}-{data.shape[-1]}"
    made = [vector_of(Case(name, operator, attributes, (data,)))]
    shapes = {
        outcome.outputs[0].values.shape: outcome.outputs[0].values
        for outcome in made[0].outcomes
        if outcome.kind == "values"
    }
    for number, values in enumerate(shapes.values()):
        gradient = np.arange(1, values.size + 1).reshape(values.shape).astype(data.dtype)
        inputs = (gradient, data)
        case = Case(
            f"{operator}{BACKWARD}/{data.dtype}-{number}", operator + BACKWARD, attributes, inputs
        )
        made.append(vector_of(case))
    return made


def following(forward, gradient):
    """Return a backend of some readings in operators, and of others in gradients."""

    def backend(operator, inputs, attributes):
        readings = forward if forward_name(operator) == operator else gradient
        return evaluate(operator, inputs, attributes, readings)

    return backend


def clause(report, name):
    (found,) = [each for each in report.readings if each.clause == name]
    return found


def test_every_clause_of_an_operator_and_its_gradient_has_a_case():
    """A new one is tested here, too."""
    assert set(CASES) == {
        name
        for name, each in CLAUSES.items()
        if each.of_forward == name and any(of.endswith(BACKWARD) for of in concerned(each))
    }


@pytest.mark.parametrize(("name", "reading"), OTHERS)
def test_a_gradient_of_other_windows_or_divisors_does_not_conform(name, reading):
    """Whichever of the two follows the other reading."""
    operator, sizes, attributes = CASES[name]
    vectors = of_both(operator, ramp(1, 1, *sizes), attributes)
    for readings in (({}, {name: reading}), ({name: reading}, {})):
        assert not ran(following(*readings), *vectors).ok


@pytest.mark.parametrize(("name", "reading"), OTHERS)
def test_a_gradient_of_the_same_windows_and_divisors_conforms(name, reading):
    """An operator and its gradient follow one reading, whichever it is."""
    operator, sizes, attributes = CASES[name]
    report = ran(
        following({name: reading}, {name: reading}),
        *of_both(operator, ramp(1, 1, *sizes), attributes),
    )
    assert report.ok
    assert not clause(report, name).contradicting


OF_OTHER_SHAPE = [
    ("same-output-size", "same-as-input"),
    ("same-with-ceil", "rounding-applied"),
    ("valid-rounds", "ignored"),
]


@pytest.mark.parametrize(("name", "reading"), OF_OTHER_SHAPE)
def test_a_gradient_that_refuses_its_operators_output_does_not_conform(name, reading):
    """To raise for the shape that its own operator returns is to follow another reading."""
    operator, sizes, attributes = CASES[name]
    forward, gradient, *_ = of_both(operator, ramp(1, 1, *sizes), attributes)
    backend = following({}, {name: reading})
    assert ran(backend, gradient).ok
    report = ran(backend, forward, gradient)
    assert not report.ok
    assert report.counts["error"] == 1


def test_a_gradient_may_refuse_pads_that_its_operator_takes():
    """No clause about windows says so, and each kernel has its own checks."""
    attributes = pool(kernel=[1], strides=[1], pads_begin=[1], exclude_pad=True)
    forward, gradient, *_ = of_both("AvgPool-1", ramp(1, 1, 3), attributes)

    def backend(operator, inputs, given):
        if operator.endswith(BACKWARD):
            raise ValueError("pads must be smaller than the kernel")
        return evaluate(operator, inputs, given)

    assert ran(backend, forward, gradient).ok


def overhang(*dtypes, operator="AvgPool-1"):
    """Return vectors of an operator and its gradient whose divisor is disputed."""
    _, sizes, attributes = CASES["overhang-divisor"]
    return [
        each
        for name in dtypes
        for each in of_both(operator, ramp(1, 1, *sizes, dtype=name), attributes)
    ]


def by_type(forward, gradient):
    """Return a backend that counts the whole kernel in some types, in other ones in gradients."""

    def backend(operator, inputs, attributes):
        whole = forward if forward_name(operator) == operator else gradient
        reading = "whole-kernel" if inputs[0].dtype in map(dtype_of, whole) else "padded-extent"
        return evaluate(operator, inputs, attributes, {"overhang-divisor": reading})

    return backend


class TestDivisors:
    """The divisor of an overhanging window, in an operator and its gradient."""

    backend = staticmethod(following({}, {"overhang-divisor": "whole-kernel"}))

    def test_the_report_names_both_readings(self):
        """The clause is inconsistent, whatever separates the two."""
        report = ran(self.backend, *overhang("float32"))
        found = clause(report, "overhang-divisor")
        assert report.problems == ("inconsistent readings of overhang-divisor",)
        assert (found.status, found.followed, found.by, found.values) == (
            "inconsistent",
            None,
            None,
            {},
        )
        assert found.contradicting == {
            "AvgPool-1": "padded-extent",
            "AvgPool-1-backward": "whole-kernel",
        }
        assert phrases.followed(found)[0] == (
            "INCONSISTENT: AvgPool-1 follows padded-extent, AvgPool-1-backward follows whole-kernel"
        )

    def test_shards_and_saved_reports_say_the_same(self, tmp_path):
        """Where no shard shows both."""
        vectors = overhang("float32")
        whole = ran(self.backend, *vectors)
        shards = {}
        for number, each in enumerate(vectors, 1):
            shard = ran(self.backend, each)
            assert shard.ok
            shards[f"{number}"] = replace(
                shard, vectors=whole.vectors, shard=f"{number}/2", not_run=1
            )
        assert merge(shards).readings == whole.readings
        write(whole, tmp_path / "whole.json")
        assert read(tmp_path / "whole.json").readings == whole.readings

    def test_a_required_reading_is_required_of_both(self):
        """The gradient that follows another is a mismatch, and the clause is consistent."""
        report = ran(
            self.backend, *overhang("float32"), require={"overhang-divisor": "padded-extent"}
        )
        assert report.counts == {"conforms": 1, "mismatch": 1}
        assert clause(report, "overhang-divisor").followed == "padded-extent"

    def test_what_was_not_computed_says_nothing(self):
        """A backend without the gradient, and one without the operator."""

        def without(wanted):
            def backend(operator, *case):
                if (forward_name(operator) == operator) is not wanted:
                    raise NotImplementedError
                return self.backend(operator, *case)

            return backend

        assert all(ran(without(wanted), *overhang("float32")).ok for wanted in (True, False))

    def test_other_operators_may_follow_another_reading(self):
        """A split by operator, with the gradient on the side of its operator."""

        def backend(operator, inputs, attributes):
            is_newer = forward_name(operator) == "AvgPool-14"
            reading = "whole-kernel" if is_newer else "padded-extent"
            return evaluate(operator, inputs, attributes, {"overhang-divisor": reading})

        report = ran(backend, *overhang("float32"), *overhang("float32", operator="AvgPool-14"))
        found = clause(report, "overhang-divisor")
        assert report.ok
        assert (found.status, found.by) == ("split", "operator")
        assert found.values == {
            "AvgPool-1": "padded-extent",
            "AvgPool-1-backward": "padded-extent",
            "AvgPool-14": "whole-kernel",
            "AvgPool-14-backward": "whole-kernel",
        }

    def test_element_types_may_not_follow_other_readings_in_gradients(self):
        """The operator and its gradient are split by type, each the other way round."""
        report = ran(by_type(["float64"], ["float32"]), *overhang("float32", "float64"))
        found = clause(report, "overhang-divisor")
        assert (report.ok, found.status) == (False, "inconsistent")
        assert set(found.contradicting.values()) == {"padded-extent", "whole-kernel"}


def ties(*dtypes, operator="MaxPool-8"):
    """Return vectors of a maximum and its gradient with ties, two windows of each."""
    made = []
    for name in dtypes:
        data = np.array([[[3, 1, 3, 0, 5, 5, 2, 5]]], dtype_of(name))
        made += of_both(operator, data, TIES)
    return made


class TestTies:
    """The cell that is chosen is the one that gets the gradient."""

    @pytest.mark.parametrize("index", ["first", "last"])
    @pytest.mark.parametrize("gradient", ["first", "last", "all", "shared"])
    def test_an_index_and_a_gradient(self, index, gradient):
        """All cells, or shares of them, are about no cell that is chosen."""
        backend = following({"index-of-ties": index}, {"gradient-of-ties": gradient})
        report = ran(backend, *ties("float32"))
        contradict = {index, gradient} == {"first", "last"}
        assert report.ok is not contradict
        if contradict:
            found = clause(report, "gradient-of-ties")
            assert (clause(report, "index-of-ties").status, found.status) == (
                "followed",
                "inconsistent",
            )
            assert phrases.followed(found)[0] == (
                f"INCONSISTENT: MaxPool-8 follows index-of-ties={index}, "
                f"MaxPool-8-backward follows {gradient}"
            )

    @pytest.mark.parametrize("gradient", ["first", "last"])
    def test_an_index_of_no_rule_is_compared_with_nothing(self, gradient):
        """The first of one tie and the last of another."""

        def backend(operator, inputs, attributes):
            readings = {"index-of-ties": "first", "gradient-of-ties": gradient}
            answer = evaluate(operator, inputs, attributes, readings)
            if operator == "MaxPool-8":
                answer[1][0, 0, 1] = 7
            return answer

        report = ran(backend, *ties("float32"))
        assert report.ok
        assert clause(report, "index-of-ties").followed == "some"

    def test_element_types_may_choose_other_cells(self):
        """As long as the gradient of each goes where its index says."""

        def backend(operator, inputs, attributes):
            rule = "last" if inputs[0].dtype == np.float64 else "first"
            readings = {"index-of-ties": rule, "gradient-of-ties": rule}
            return evaluate(operator, inputs, attributes, readings)

        report = ran(backend, *ties("float32", "float64"))
        assert report.ok
        assert clause(report, "gradient-of-ties").by == "dtype"


@pytest.mark.parametrize("seed", range(3))
def test_one_reading_of_each_clause_conforms(seed):
    """Drawn at random, the same of all operators and their gradients."""
    rng = np.random.default_rng(seed)
    operators = [OPERATORS[name] for name in ("AvgPool-14", "MaxPool-8", "ONNX-AveragePool-22")]
    operators += [OPERATORS[each.name + BACKWARD] for each in operators]
    clauses = {each.name: each for operator in operators for each in disputed_of(operator)}
    readings = {
        name: rng.choice([reading.name for reading in each.readings if not reading.any_tie])
        for name, each in clauses.items()
        if any(reading.replaces for reading in each.readings)
    }
    readings["gradient-of-ties"] = readings["index-of-ties"]
    report = check(
        following(readings, readings),
        operators=[operator.name for operator in operators],
        tier="smoke",
        variations=[],
    )
    assert report.ok, (readings, report.problems)
