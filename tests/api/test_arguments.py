"""What is run: files, operators, tiers, selections; what is refused; what is left of a stop."""

from functools import partial

import pytest
from support.fakes import check, pool, ramp, right, vector

import conformance
from conformance.api.check import Interrupted
from conformance.errors import UsageError
from conformance.record.report import VectorsUsed
from conformance.vectorfile import VectorWriter, open_vectors

OPERATORS = ("AvgPool-1", "MaxPool-1")
TIERS = ("smoke", "standard", "exhaustive")


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """Return a directory with a file for each of two operators, one vector in each tier."""
    directory = tmp_path_factory.mktemp("suite")
    for operator in OPERATORS:
        with VectorWriter(directory / f"{operator}.h5", operator, header={}) as writer:
            for tier in TIERS:
                writer.add(vector(id=f"{operator}/{tier}[0]", operator=operator, tier=tier))
    return directory


def ids(report):
    return [result.id for result in report.results]


class TestVectors:
    def test_a_directory(self, suite):
        """Every file of a directory is run, and the report has path, digest and counts of each."""
        report = check(right, suite)
        with open_vectors(suite) as files:
            digests = [file.digest for file in files]
        assert report.vectors == tuple(
            VectorsUsed(operator, str(suite / f"{operator}.h5"), digest, 2, 3)
            for operator, digest in zip(OPERATORS, digests, strict=True)
        )
        assert report.counts_by_operator == {operator: {"conforms": 2} for operator in OPERATORS}
        assert (report.ok, report.not_run, report.complete) == (True, 2, True)

    def test_open_files_stay_open(self, suite):
        """What the caller opened, the caller closes."""
        with open_vectors(suite) as files:
            both = ids(check(right, files)), ids(check(right, files[1]))
            again = ids(check(right, files))
        assert (both[0], both[1]) == (again, again[2:])

    def test_results_do_not_need_the_file(self, suite):
        """Results can be read after the files are closed, in any order, as often as wanted."""
        results = check(right, suite).results
        assert [r.id for r in results[::-1]] == [r.id for r in reversed(results)]
        assert results[-1].attributes == pool("MaxPool-1")
        assert (len(results), results[1].id) == (4, "AvgPool-1/standard[0]")
        with pytest.raises(IndexError):
            results[4]


class TestSelection:
    """Which vectors are run."""

    @pytest.mark.parametrize(("tier", "count"), [("smoke", 1), ("standard", 2), ("exhaustive", 3)])
    def test_a_tier_includes_the_smaller_ones(self, suite, tier, count):
        """Vectors of larger tiers are counted as not run."""
        report = check(right, suite, tier=tier)
        assert (len(report.results), report.not_run) == (2 * count, 6 - 2 * count)

    @pytest.mark.parametrize("operators", ["MaxPool-1", ["MaxPool-1"]])
    def test_operators(self, suite, operators):
        """Only the operators asked for are run; the others count as not run."""
        report = check(right, suite, operators=operators)
        assert (ids(report), report.not_run) == (
            ["MaxPool-1/smoke[0]", "MaxPool-1/standard[0]"],
            4,
        )

    @pytest.mark.parametrize(
        ("select", "found"),
        [
            ("MaxPool-1/smoke[0]", ["MaxPool-1/smoke[0]"]),
            ("l-1/sm", ["AvgPool-1/smoke[0]", "MaxPool-1/smoke[0]"]),
            ("*smoke[0]", ["AvgPool-1/smoke[0]", "MaxPool-1/smoke[0]"]),
            ("Max*smoke???", ["MaxPool-1/smoke[0]"]),
            (["Max*", "Avg*smoke*"], [
                "AvgPool-1/smoke[0]", "MaxPool-1/smoke[0]", "MaxPool-1/standard[0]"]),
            (lambda vector_id: "std" in vector_id or "Avg" in vector_id,
                ["AvgPool-1/smoke[0]", "AvgPool-1/standard[0]"]),
        ],
    )  # fmt: skip
    def test_select(self, suite, select, found):
        """Part of an id, a glob over all of it, several of them, or a function choose vectors."""
        assert ids(check(right, suite, select=select)) == found

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"select": "nothing"}, "select 'nothing' matches no vector of tier standard"),
            ({"select": ["Max*", "smoke*"]}, "select 'smoke*' matches no vector of tier standard"),
            ({"select": "exhaustive"}, "select 'exhaustive' matches no vector of tier standard"),
            ({"select": []}, "select is empty"),
            ({"operators": []}, "operators is empty"),
            ({"operators": ["AvgPool"]}, "unknown operator 'AvgPool' (did you mean AvgPool-1"),
            (
                {"operators": ["nGraph-AvgPool"]},
                "no vectors of nGraph-AvgPool; there are vectors of AvgPool-1, MaxPool-1",
            ),
            ({"tier": "huge"}, "no tier 'huge'; there are smoke, standard, exhaustive"),
            ({"shard": "0/2"}, "shard '0/2' is not i/n, the i-th of n parts: 1/4 for example"),
            ({"shard": "3/2"}, "shard '3/2' is not i/n"),
            ({"shard": "1/0"}, "shard '1/0' is not i/n"),
            ({"shard": "a/b"}, "shard 'a/b' is not i/n"),
            ({"shard": f"1/{'9' * 5000}"}, "shard '1/999"),
            ({"shard": "half"}, "shard 'half' is not i/n"),
            ({"max_failures": 0}, "max_failures is 0; it must be at least 1"),
        ],
    )
    def test_what_is_not_there_is_refused(self, suite, options, message):
        """An argument that is wrong or matches nothing is refused by name."""
        with pytest.raises(UsageError) as error:
            check(right, suite, **options)
        assert str(error.value).startswith(message)

    def test_a_backend_that_cannot_be_called(self, suite):
        with pytest.raises(UsageError, match="the backend is int, not callable"):
            conformance.check(7, suite)

    @pytest.mark.parametrize("isolate", [False, True])
    def test_a_backend_that_takes_other_arguments_is_not_called(self, suite, isolate):
        """Each call would raise, which is right where a case is invalid."""
        said = r"the backend cannot be called with \(operator, inputs, attributes\): too many"
        with pytest.raises(UsageError, match=said):
            conformance.check(lambda _operator, _inputs: 0, suite, isolate=isolate)

    def test_a_backend_whose_every_call_raises_that_it_takes_others_is_refused(self, suite):
        """A wrapper takes anything, and what it calls does not."""

        def two(operator, inputs):
            return inputs[0]

        def call(backend, *case):
            return backend(*case)

        with pytest.raises(UsageError, match=r"every call raised: .*two\(\) takes 2 positional"):
            check(partial(call, two), suite)

    def test_a_backend_that_raises_otherwise_is_run(self, suite):
        """Another TypeError, or one of some calls, is a verdict on these."""

        def one(*case):
            raise TypeError("unsupported operand")

        def nothing():
            return 0

        def some(operator, *case):
            return right(operator, *case) if operator == "MaxPool-1" else nothing(*case)

        assert check(one, suite).counts == {"error": 4}
        assert check(some, suite).counts == {"error": 2, "conforms": 2}


class TestStopping:
    """Ctrl-C."""

    def stopped(self, calls):
        """Run seven vectors; Ctrl-C arrives in a call."""
        turns = iter(range(1, 99))

        def backend(*case):
            if next(turns) == calls:
                raise KeyboardInterrupt
            return right(*case)

        vectors = [vector(ramp(1, 1, 4), id=str(i), operator=OPERATORS[i > 3]) for i in range(7)]
        with pytest.raises(KeyboardInterrupt) as error:
            check(backend, vectors)
        assert type(error.value) is Interrupted
        return error.value.report

    @pytest.mark.parametrize("calls", [1, 3, 5, 7])
    def test_what_was_done_is_reported(self, calls):
        """The interrupt passes through, and carries the report on what was done."""
        report = self.stopped(calls)
        assert ids(report) == [str(i) for i in range(calls - 1)]
        assert {result.verdict for result in report.results} <= {"conforms"}
        assert (report.complete, report.not_run) == (False, 7 - (calls - 1))

    def test_it_is_not_ok(self):
        """A run that was stopped is never ok."""
        report = self.stopped(5)
        assert (report.ok, report.problems) == (
            False,
            ("incomplete: interrupted",),
        )


def test_progress():
    """`progress` is told how far the run is; at the end, that it is done."""
    told = []
    vectors = [vector(id=str(i)) for i in range(5)]
    check(right, vectors, progress=lambda *counts: told.append(counts))
    assert told == sorted(told)
    assert {total for _, total in told} == {5}
    assert told[-1] == (5, 5)


def test_the_name_of_a_backend():
    """The report calls a backend by the name given, or by where it is defined."""

    class Callable:
        """A backend with no name of its own."""

        def __call__(self, *case):
            return right(*case)

    assert check(right, [vector()], name="numpy").backend == "numpy"
    assert check(right, [vector()]).backend == "support.fakes:following.<locals>.backend"
    assert check(Callable(), [vector()]).backend.endswith("Callable")
