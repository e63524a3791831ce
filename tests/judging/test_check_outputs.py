"""Operators with several outputs: each is compared, and those left out are counted."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from support.fakes import check, check_varied, only, vector
from support.fakes import right as average
from support.two_outputs import both, first_only, minimum_case, minimum_vectors, miscounting

from conformance.api.check import run
from conformance.backends.program import Launch, python_worker
from conformance.backends.program.isolated import Isolated
from conformance.operators import vector_of
from conformance.record.report import OutputReport
from conformance.vector import Expected, Values

pytestmark = pytest.mark.usefixtures("minimum_pool")


@pytest.fixture
def vectors(minimum_pool):
    """Return small vectors of MinimumPool-1."""
    return minimum_vectors()


def verdicts(report):
    """Return verdicts and details by the last part of the id."""
    return {each.id.rpartition("/")[2]: (each.verdict, each.detail) for each in report.results}


def outcome_of(shape):
    """Return an outcome of zeros in both outputs."""
    size = int(np.prod(shape))
    rest = np.zeros(size, np.int32), np.ones(size, np.int32), np.zeros(size)
    return Values(tuple(Expected(np.zeros(shape, kind), *rest) for kind in ("f4", "i8")))


def changing(change):
    """Return a backend whose two right outputs are changed."""
    return lambda *case: change(*both(*case))


class TestVerdicts:
    """An answer conforms if all the outputs that it has fit one outcome."""

    def test_right_outputs_conform(self, vectors):
        """Also where a clause is disputed, an element undefined, or the case invalid."""
        report = check(both, vectors)
        assert report.ok
        assert report.outputs == (
            OutputReport("MinimumPool-1", "minimum", 4, 4),
            OutputReport("MinimumPool-1", "cells", 4, 4),
        )

    def test_a_wrong_element_of_a_further_output_is_a_mismatch(self, vectors):
        """The detail and the worst element name the output; it is compared exactly."""
        report = check(miscounting, vectors)
        assert report.counts == {"mismatch": 4, "conforms": 1}
        plain, _, empty, *_ = report.results
        assert plain.detail == "cells: 1 of 4 elements differ"
        worst = plain.worst
        assert (worst.output, worst.number, worst.dtype) == ("cells", 1, "int64")
        assert (worst.index, worst.got, worst.expected) == ((0, 0, 1, 1), 5, 4)
        assert worst.bound == 0
        # No count is undefined, though the minimum of no cells is.
        assert empty.detail == "cells: 1 of 20 elements differ"

    def test_what_is_undefined_in_one_output_is_defined_in_the_other(self, vectors):
        """Any minimum of a window without cells conforms, and no other count than zero."""
        empty = vectors[2]
        assert only(changing(lambda low, cells: (np.where(cells, low, 7), cells)), empty).computed
        wrong = only(changing(lambda low, cells: (low, np.maximum(cells, 1))), empty)
        assert wrong.detail == "cells: 4 of 20 elements differ"

    @pytest.mark.parametrize(
        ("change", "detail"),
        [
            (lambda low, cells: (low, cells[..., 1:]), "cells: shape (1, 1, 2, 1) instead of"),
            (lambda low, cells: (low, cells.astype("int32")), "cells: dtype int32 instead of"),
            (lambda low, cells: (low[..., 1:], cells), "minimum: shape (1, 1, 2, 1) instead of"),
            (lambda low, cells: (cells, low), "minimum: dtype int64 instead of float32"),
            (lambda low, cells: (low, cells, low), "returned 3 arrays instead of 2"),
            (lambda low, cells: (), "returned an empty tuple instead of numpy.ndarray"),
            (lambda low, cells: (low, 4), "returned a tuple with int at 1 instead of"),
            (lambda low, cells: [low, cells], "returned list instead of numpy.ndarray"),
        ],
    )
    def test_what_does_not_fit_is_said_in_one_line(self, vectors, change, detail):
        """Shape, type and number of the outputs."""
        result = only(changing(change), vectors[0])
        assert result.verdict == "mismatch"
        assert result.detail.startswith(detail)

    def test_outputs_of_two_readings_do_not_fit_together(self, vectors):
        """Each output may have a shape that some reading asks for, and both those of none."""
        small, large = (outcome_of(shape) for shape in ((1, 1, 2), (1, 1, 3)))
        readings = ({"nan-in-minimum": "propagates"},), ({"nan-in-minimum": "ignored"},)
        outcomes = replace(small, readings=readings[0]), replace(large, readings=readings[1])
        either = replace(vectors[1], outcomes=outcomes)
        (low, cells), (_, others) = ([e.values for e in o.outputs] for o in outcomes)
        assert only(lambda *_: (low, cells), either).computed
        mixed = only(lambda *_: (low, others), either)
        assert mixed.detail == "cells: shape (1, 1, 3) instead of (1, 1, 2)"

    def test_one_array_in_a_tuple_is_one_output(self):
        """Of an operator with one output as well; two are too many there."""
        assert only(lambda *case: (average(*case),), vector()).computed
        result = only(lambda *case: (average(*case),) * 2, vector())
        assert result.detail == "returned 2 arrays instead of 1"

    def test_elements_are_looked_at_up_to_a_limit_for_all_outputs(self, vectors):
        """Giants are judged by their shape, whichever output they are."""
        giant = np.zeros((1, 1, 1 << 20), np.int64)
        result = only(changing(lambda low, cells: (low, giant)), vectors[0])
        assert result.detail == f"cells: shape {giant.shape} instead of (1, 1, 2, 2)"
        assert result.output is None


class TestFirstOutputAlone:
    """An engine that has only the first output returns it, and the report says so."""

    def test_it_conforms_and_is_counted(self, vectors):
        """The invalid case is no vector of which an output was to be computed."""
        report = check(first_only, vectors)
        assert report.ok
        assert report.outputs[1] == OutputReport("MinimumPool-1", "cells", 0, 4)


class TestRepeatability:
    """A second call has to give all outputs again."""

    def test_a_further_output_that_varies_is_found(self, vectors):
        """The first output is the same each time."""
        calls = []

        def varying(*case):
            low, cells = both(*case)
            calls.append(1)
            return low, cells if len(calls) < len(vectors) else cells + 1

        report = check_varied(varying, vectors)
        assert set(report.repeated.failing) == {each.case.id for each in vectors[:-1]}


PROGRAM = """
import json, struct, sys
receive, send = sys.stdin.buffer, sys.stdout.buffer
receive.readline()
send.write(b'{"version": 1, "name": "echo"}\\n')
send.flush()
while line := receive.readline():
    call = json.loads(line)
    shape = call["inputs"][0]["shape"]
    count = shape[0] * shape[1] * shape[2]
    data = receive.read(4 * count)
    ones = struct.pack(f"<{count}q", *[int(sys.argv[1])] * count)
    outputs = [{"dtype": "float32", "shape": shape}, {"dtype": "int64", "shape": shape}]
    if sys.argv[2] == "both":
        message, data = {"outputs": outputs}, data + ones
    else:
        message = {"output": outputs[0]}
    send.write(json.dumps({"call": call["call"], **message}).encode() + b"\\n" + data)
    send.flush()
"""


class TestOtherProcesses:
    """What crosses a pipe is judged as what does not."""

    @pytest.mark.parametrize("backend", [both, first_only, miscounting])
    def test_a_worker_answers_as_the_backend_does(self, vectors, backend):
        """Verdicts and details are those of a run in this process."""
        # The operator is not installed in the worker.
        answers = {str(each.case.attributes): returned(backend, each) for each in vectors[1:3]}
        here = check(backend, vectors[1:3])
        with Isolated(python_worker(lambda _op, _, attributes: answers[str(attributes)])) as apart:
            there = run(apart, vectors[1:3], name="apart")
        assert verdicts(there) == verdicts(here)
        assert there.outputs == here.outputs

    @pytest.mark.parametrize(
        ("words", "detail", "computed"),
        [
            (("1", "both"), "", 1),
            (("2", "both"), "cells: 6 of 6 elements differ", 1),
            (("1", "first"), "", 0),
        ],
    )
    def test_a_program_answers_with_both_or_with_the_first(self, tmp_path, words, detail, computed):
        """Windows of one cell: the minimum is the data, and each count one."""
        data = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
        case = vector_of(minimum_case("ones", {"window": [1]}, data))
        script = tmp_path / "program.py"
        script.write_text(PROGRAM)
        with Isolated(Launch((sys.executable, str(script), *words))) as runner:
            report = run(runner, [case], name="program")
        (result,) = report.results
        assert result.detail == detail
        assert report.outputs[1].computed == computed


def returned(backend, each):
    """Return what a backend returns for a vector."""
    case = each.case
    return backend(case.operator, case.inputs, case.attributes)
