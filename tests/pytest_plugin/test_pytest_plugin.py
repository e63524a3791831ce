"""The plugin of pytest, and the decorator for test files: both run by a pytest inside."""

import re
import subprocess
import sys

import pytest
from support.command_line import write_backends
from support.fakes import check, pool, ramp, vector
from support.paths import ROOT
from support.report_samples import write, write_cases

from conformance.record import jsonl

pytest_plugins = "pytester"

# By name alone, so that it makes no difference whether the entry point is installed.
PLUGIN = ("-p", "no:conformance", "-p", "conformance.pytest_plugin", "-p", "no:hypothesispytest")
BACKENDS = """
from conformance.operators import evaluate

def unsupported(operator, inputs, attributes):
    raise NotImplementedError("nothing yet")

def valid_unsupported(operator, inputs, attributes):
    right(operator, inputs, attributes)
    raise NotImplementedError("nothing yet")

def lost(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        open("lost", "w").close()
        os.abort()
    return right(operator, inputs, attributes)

if os.path.exists("lost"):
    del lost

controllers = right
if "PYTEST_XDIST_WORKER" in os.environ:
    del controllers

def refusing(operator, inputs, attributes):
    if inputs[0].size % 8 == 0:
        raise ValueError("eight cells")
    return right(operator, inputs, attributes)

def by_size(operator, inputs, attributes):
    chosen = {"same-output-size": "same-as-input"} if inputs[0].size == 7 else {}
    return evaluate(operator, inputs, attributes, chosen)

def by_size_until_crash(operator, inputs, attributes):
    if inputs[0].size == 9:
        os.abort()
    return by_size(operator, inputs, attributes)
"""
CASES = ["plain", "lower", "ceil", "empty-window", "stride-zero"]
LOWER = "conformance::AvgPool-1/lower"


@pytest.fixture
def suite(pytester):
    """Prepare a folder with five vectors and some backends; return what runs pytest there."""
    write_cases(pytester.path)
    write_backends(pytester.path, BACKENDS)

    def run(backend, *arguments, **options):
        path = options.pop("vectors", "AvgPool-1.h5")
        conformance = ("--conformance-backend", f"backends.py:{backend}")
        isolated = options.pop("isolated", False)
        if not isolated:
            conformance += ("--conformance-in-process",)
        return pytester.runpytest_inprocess(
            *PLUGIN, *conformance, "--conformance-vectors", path, *map(str, arguments), **options
        )

    return run


@pytest.fixture
def sizes(pytester):
    """Write three vectors that a disputed clause touches, and return the path."""
    same = pool(auto_pad="same_upper")
    made = [vector(ramp(1, 1, n), same, id=f"AvgPool-1/of{n}") for n in (5, 7, 9)]
    return write(pytester.path / "sizes.h5", made)


class TestItems:
    """A test for each vector, named by its id."""

    def test_every_vector_is_a_test(self, suite):
        """And the readings of all are one, the last."""
        result = suite("right", "-v")
        result.assert_outcomes(passed=6)
        found = [line.split()[0] for line in result.outlines if line.startswith("conformance::")]
        names = [*(f"AvgPool-1/{name}" for name in CASES), "readings"]
        assert found == [f"conformance::{name}" for name in names]

    def test_they_are_collected_without_a_backend_that_works(self, suite):
        """--collect-only starts nothing."""
        result = suite("nothing", "--collect-only", "-q")
        found = [line for line in result.outlines if "::" in line]
        assert found == [f"conformance::AvgPool-1/{name}" for name in CASES]

    def test_no_backend_is_started_where_no_vector_is_left(self, suite):
        """Nor has one to work then."""
        result = suite("nothing", "-k", "no_vector")
        result.assert_outcomes(deselected=5)
        assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED

    @pytest.mark.parametrize(
        ("argument", "passed"),
        [
            ("conformance::AvgPool-1/plain", 1),
            ("../conformance::AvgPool-1/plain", 1),
            ("conformance::readings", 6),
            ("conformance", 6),
        ],
    )
    def test_an_argument_names_one_or_all(self, suite, pytester, argument, passed):
        """Then no test file is looked at."""
        pytester.makepyfile(test_other="def test_other(): pass")
        suite("right", argument).assert_outcomes(passed=passed)

    def test_test_files_run_as_well(self, suite, pytester):
        """The vectors come last."""
        pytester.makepyfile(test_other="def test_other(): pass")
        result = suite("right", "-v")
        result.assert_outcomes(passed=7)
        result.stdout.fnmatch_lines(["test_other.py::test_other PASSED*", f"{LOWER} PASSED*"])

    def test_junit_has_the_ids(self, suite, pytester):
        """Under one class."""
        suite("upper", "--junitxml=out.xml")
        text = (pytester.path / "out.xml").read_text()
        assert text.count('classname="conformance"') == 6
        assert 'name="AvgPool-1/lower"' in text
        assert "mismatch: " in text


class TestOutcomes:
    """What becomes of a verdict."""

    def test_a_failure_says_what_is_wrong_and_how_to_see_it(self, suite):
        """Without a traceback."""
        result = suite("upper")
        result.stdout.fnmatch_lines(
            [
                "_* conformance::AvgPool-1/lower _*",
                "mismatch: * elements differ",
                "  attributes  *kernel=[[]3,3[]] *auto_pad=same_lower*",
                "  data        float32 1x1x6x6, index",
                "  worst       * is *, expected *",
                "  error       *",
                "  likely      auto_pad=same_lower taken as same_upper",
                "# to reproduce",
                'backend = load_backend("backends.py:upper")',
            ]
        )
        result.stdout.no_fnmatch_line("*Traceback*")
        result.stdout.no_fnmatch_line("*conformance/*.py:*: *")

    def test_what_is_shown_runs(self, suite, pytester):
        """It is a script that prints the wrong value."""
        shown = suite("upper").outlines
        begin = shown.index("# to reproduce")
        end = next(i for i, line in enumerate(shown) if line.startswith("print(got"))
        script = "\n".join(shown[begin : end + 1])
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=pytester.path,
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT)},
        )
        assert " instead of " in done.stdout

    def test_unsupported_is_skipped_with_the_reason(self, suite):
        result = suite("partial", "-rs")
        result.assert_outcomes(passed=5, skipped=1)
        result.stdout.fnmatch_lines(["SKIPPED*unsupported: NotImplementedError: no ceil"])

    def test_a_vector_to_skip_is_not_called(self, suite, pytester):
        """The backend would crash, in the process of pytest."""
        (pytester.path / "skip").write_text("skip */ceil # 12: crashes\n")
        result = suite("lost", "--conformance-skip", "skip", "-rs")
        result.assert_outcomes(passed=5, skipped=1)
        result.stdout.fnmatch_lines(["SKIPPED*skipped: 12: crashes"])

    def test_a_session_in_which_all_is_skipped_fails(self, suite, pytester):
        (pytester.path / "skip").write_text("skip * # all\n")
        result = suite("right", "--conformance-skip", "skip")
        result.assert_outcomes(failed=1, skipped=5)
        result.stdout.fnmatch_lines(["nothing was run"])

    def test_a_pattern_to_skip_that_matches_nothing_is_wrong_usage(self, suite, pytester):
        (pytester.path / "skip").write_text("skip */cel # 12: crashes\n")
        result = suite("right", "--conformance-skip", "skip")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: skip: no vector matches */cel"])

    @pytest.mark.parametrize(
        ("line", "outcomes"),
        [
            ("cause same-lower-as-upper # 1", {"passed": 5, "xfailed": 1}),
            ("cause same-upper-as-lower # 1", {"passed": 5, "failed": 1}),
            ("mismatch? AvgPool-1/* # 1", {"passed": 5, "xfailed": 1}),
        ],
    )
    def test_failures_of_a_cause_and_patterns_that_allow_passes(
        self, suite, pytester, line, outcomes
    ):
        """As in check."""
        pytester.path.joinpath("expected.txt").write_text(line)
        done = suite("upper", "--conformance-expected-failures", "expected.txt")
        done.assert_outcomes(**outcomes)

    def test_accepting_what_is_invalid_fails_unless_it_is_allowed(self, suite):
        """Then it is skipped, with the reason."""
        failed = suite("general")
        failed.assert_outcomes(passed=5, failed=1)
        failed.stdout.fnmatch_lines(["accepted-invalid: accepted an invalid case: strides=*"])
        result = suite("general", "--conformance-allow-extensions", "-rs")
        result.assert_outcomes(passed=5, skipped=1)
        result.stdout.fnmatch_lines(["SKIPPED*extension: accepted an invalid case: strides=*"])

    def test_a_crash_fails_its_own_test_alone(self, suite):
        """By default the backend is called in a process of its own."""
        result = suite("crashing", isolated=True)
        result.assert_outcomes(failed=1, passed=5)
        result.stdout.fnmatch_lines(["crashed: signal SIGABRT*", "*backend call*", "here it comes"])

    def test_a_hang_ends_after_the_time_that_is_given(self, suite):
        """The others go on."""
        result = suite("hanging", "--conformance-timeout", "2", isolated=True)
        result.assert_outcomes(failed=1, passed=5)
        result.stdout.fnmatch_lines(["timed-out: no answer within 2 s"])

    def test_a_backend_that_is_lost_stops_the_session(self, suite):
        """It answered, crashed, and cannot be loaded again."""
        result = suite("lost", isolated=True)
        assert result.ret == pytest.ExitCode.INTERRUPTED
        result.assert_outcomes(failed=2, passed=2)
        result.stdout.fnmatch_lines(["backend 'backends.py:lost': * no 'lost'*"])


class TestReadings:
    """The last test, which judges the vectors of the session together."""

    def test_a_session_that_computed_nothing_fails_the_last_test(self, suite):
        """Skipped tests are no pass, nor are they with the refusal of what is invalid."""
        for backend in ("unsupported", "valid_unsupported"):
            result = suite(backend)
            assert result.parseoutcomes()["failed"] == 1
            result.stdout.fnmatch_lines(["nothing was *"])

    @pytest.mark.parametrize(
        ("option", "said"),
        [
            (
                ("--conformance-min-supported", "90%"),
                "minimum supported 90%: 4 of 5 vectors supported*needed",
            ),
            (("--conformance-strict-unsupported",), "everything is supported: 1 vector unsupp*"),
            (("--conformance-baseline", "base.jsonl"), "AvgPool-1/ceil lost support"),
        ],
    )
    def test_lost_support_fails_the_last_test(self, suite, pytester, option, said):
        """Each test of a vector passes or is skipped."""
        jsonl.write(check("backends.py:right", pytester.path / "AvgPool-1.h5"), "base.jsonl")
        done = suite("partial", *option)
        done.assert_outcomes(passed=4, skipped=1, failed=1)
        done.stdout.fnmatch_lines([f"*{said}*"])

    def test_readings_that_no_attribute_separates_fail_the_last_test(self, suite, pytester, sizes):
        """Each vector alone conforms."""
        result = suite("by_size", vectors=sizes)
        result.assert_outcomes(failed=1, passed=3)
        said = "same-output-size is INCONSISTENT: divided 2, same-as-input 1, of 3 vectors"
        result.stdout.fnmatch_lines(["_* conformance::readings _*", said])
        expected = pytester.path / "expected"
        expected.write_text("inconsistent same-output-size # 3: known\n")
        known = ("--conformance-expected-failures", expected)
        suite("by_size", *known, vectors=sizes).assert_outcomes(xfailed=1, passed=3)
        suite("by_size", *known, "--runxfail", vectors=sizes).assert_outcomes(failed=1, passed=3)
        result = suite("right", *known, vectors=sizes)
        result.assert_outcomes(failed=1, passed=3)
        result.stdout.fnmatch_lines(["same-output-size passed unexpectedly: *3: known"])

    def test_an_exception_that_no_reading_followed_excuses_fails_the_last_test(
        self, suite, pytester
    ):
        """Alone it may be excused, so a line that announces it is not wrong before the end."""
        excused = pool(auto_pad="same_upper", kernel=[1], strides=[2])
        made = [
            vector(ramp(1, 1, 8), excused, id="AvgPool-1/excused"),
            vector(ramp(1, 1, 5), pool(auto_pad="same_upper"), id="AvgPool-1/telling"),
        ]
        path = write(pytester.path / "excused.h5", made)
        result = suite("refusing", vectors=path)
        result.assert_outcomes(failed=1, passed=2)
        said = "AvgPool-1/excused raised what only another reading excuses: ValueError: eight*"
        result.stdout.fnmatch_lines(["_* conformance::readings _*", said])
        expected = pytester.path / "expected"
        expected.write_text("error */excused # 3: known\n")
        known = ("--conformance-expected-failures", expected)
        suite("refusing", *known, vectors=path).assert_outcomes(passed=3)
        suite("right", *known, vectors=path).assert_outcomes(failed=1, passed=2)

    def test_a_part_of_the_vectors_is_not_said_to_be_consistent(self, suite, sizes):
        """It does not show that the whole is."""
        suite("by_size", "-k", "of5 or of9", vectors=sizes).assert_outcomes(passed=2, deselected=1)

    def test_lf_runs_all_vectors_again(self, suite, sizes):
        """Where their readings alone have failed, until they pass."""
        for backend, failed, passed in (("by_size", 1, 3), ("by_size", 1, 3), ("right", 0, 4)):
            result = suite(backend, "--lf", vectors=sizes)
            result.assert_outcomes(failed=failed, passed=passed)

    def test_many_errors_are_shown_in_part(self, suite, pytester):
        """The first ten, and how many there are."""
        excused = pool(auto_pad="same_upper", kernel=[1], strides=[2])
        made = [vector(ramp(n, 1, 8), excused, id=f"AvgPool-1/of{n}") for n in range(1, 14)]
        made += [vector(ramp(1, 1, 5), pool(auto_pad="same_upper"), id="AvgPool-1/telling")]
        result = suite("refusing", vectors=write(pytester.path / "many.h5", made))
        result.assert_outcomes(failed=1, passed=14)
        above, _, _ = "\n".join(result.outlines).partition("short test summary")
        assert above.count("raised what only another") == 10
        result.stdout.fnmatch_lines(["and 3 more such vectors"])


class TestDistributed:
    """The same with pytest-xdist, whose workers run the tests."""

    @pytest.fixture
    def distributed(self, suite, pytester, monkeypatch):
        """Return what runs pytest with workers, which call the backend themselves."""
        pytest.importorskip("xdist")
        # The environment says that we are a worker ourselves.
        for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
            monkeypatch.delenv(name, raising=False)

        def run(backend, vectors, *arguments, workers=1):
            command = (sys.executable, "-m", "pytest", *PLUGIN, "-n", str(workers), *arguments)
            given = ("--conformance-backend", f"backends.py:{backend}", "--conformance-in-process")
            return pytester.run(*command, *given, "--conformance-vectors", str(vectors))

        return run

    @pytest.mark.slow("a worker that crashes takes no reading with it: two share the vectors")
    @pytest.mark.parametrize("dist", ["worksteal", "load", "loadscope"])
    def test_inconsistent_readings_fail(self, distributed, sizes, dist):
        """Whoever ran which vector."""
        result = distributed("by_size", sizes, "--dist", dist, workers=2)
        result.assert_outcomes(failed=1, passed=3)
        said = "same-output-size is INCONSISTENT: divided 2, same-as-input 1, of 3 vectors"
        result.stdout.fnmatch_lines(["_* conformance::readings _*", said])
        assert result.ret == pytest.ExitCode.TESTS_FAILED

    def test_a_worker_that_crashes_takes_no_reading_with_it(self, distributed, sizes):
        """What it reported before counts."""
        result = distributed("by_size_until_crash", sizes)
        result.assert_outcomes(failed=2, passed=2)
        said = "same-output-size is INCONSISTENT: divided 1, same-as-input 1, of 2 vectors"
        result.stdout.fnmatch_lines([said])

    def test_a_backend_that_cannot_be_loaded(self, distributed, sizes):
        """Is wrong usage, in one line."""
        result = distributed("nothing", sizes)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: backend 'backends.py:nothing': * no 'nothing'*"])


class TestExpected:
    """Failures that a file announces."""

    @pytest.fixture
    def expecting(self, suite, pytester):
        """Return what runs pytest with a file of some text."""

        def run(backend, text, *arguments):
            (pytester.path / "expected").write_text(text)
            return suite(backend, "--conformance-expected-failures", "expected", *arguments)

        return run

    def test_an_expected_failure_xfails(self, expecting):
        result = expecting("upper", "mismatch */lower # 7: known\n", "-rx")
        result.assert_outcomes(xfailed=1, passed=5)
        result.stdout.fnmatch_lines([f"XFAIL {LOWER} - mismatch: 7: known"])

    def test_another_failure_is_a_failure(self, expecting):
        """A mismatch is not the crash that is known."""
        expecting("upper", "crashed */lower # 7\n").assert_outcomes(failed=1, passed=5)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("mismatch */lowr # 7\n", "expected: no vector matches */lowr"),
            ("mismatch */lower\n", "expected:1: '*/lower' has no reason*"),
        ],
    )
    def test_a_wrong_file_is_wrong_usage(self, expecting, text, said):
        result = expecting("upper", text)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {said}"])


class TestUsage:
    """What is wrong is one line, before anything is run."""

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--conformance-tier", "huge"], "no tier 'huge'; there are *"),
            (["--conformance-operator", "MaxPool-1"], "no vectors of MaxPool-1; *"),
            (["--conformance-require", "a"], "'a' is not CLAUSE=READING"),
            (["--conformance-require", "a=b"], "no disputed clause 'a': *"),
            (["--conformance-profile", "a"], "no profile 'a'; *"),
            (["conformance::a"], "no test conformance::a: *"),
            (["--conformance-timeout", "9"], "--conformance-timeout is for workers: *"),
        ],
    )
    def test_an_option_that_is_wrong(self, suite, arguments, said):
        """The message is that of `conformance check`."""
        result = suite("right", *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {said}"])

    def test_options_need_a_backend(self, pytester):
        """Alone they would do nothing."""
        result = pytester.runpytest_inprocess(*PLUGIN, "--conformance-tier", "smoke")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: --conformance-tier needs --conformance-backend"])

    def test_without_an_option_the_plugin_imports_nothing_heavy(self, pytester):
        """It is imported in every project of whoever has the package installed."""
        path = pytester.makepyfile(
            test_it="""
            import sys
            def test_it():
                assert not {"numpy", "h5py", "conformance.vector"} & set(sys.modules)
            """
        )
        result = pytester.runpytest_subprocess(
            *PLUGIN, "-p", "no:hypothesispytest", "-p", "no:anyio", str(path)
        )
        result.assert_outcomes(passed=1)


class TestDecorator:
    """Vectors as tests in a test file."""

    @pytest.fixture
    def tested(self, suite, pytester):
        """Return what runs a test file in which `vectors` and `backends` are imported."""

        def run(text, *arguments):
            head = "import backends, pytest\nfrom conformance.testing import vectors\n"
            path = pytester.path / "test_kernel.py"
            path.write_text(head + text)
            return pytester.runpytest_inprocess("-p", "no:conformance", str(path), *arguments)

        return run

    def test_a_test_runs_once_for_each_vector(self, tested):
        """Its name has the id."""
        result = tested(
            "@vectors('AvgPool-1', path='AvgPool-1.h5')\n"
            "def test_kernel(vector):\n    vector.check(backends.right)\n",
            "-v",
        )
        result.assert_outcomes(passed=5)
        for name in CASES:
            result.stdout.fnmatch_lines([f"*::test_kernel[[]AvgPool-1/{name}[]] PASSED*"])

    def test_a_failure_is_an_assertion_with_the_text(self, tested):
        """The only code shown is the test's own."""
        result = tested(
            "@vectors(path='AvgPool-1.h5', select='lower')\n"
            "def test_kernel(vector):\n    vector.check(backends.upper)\n"
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                ">*vector.check(backends.upper)",
                "E*DoesNotConform: mismatch: * elements differ",
                "E         attributes  *auto_pad=same_lower*",
                "E         likely      auto_pad=same_lower taken as same_upper",
            ]
        )
        assert [line for line in result.outlines if "testing.py" in line] == []

    def test_an_exception_is_shown_where_it_was_raised(self, tested):
        """With the lines of the backend, and no others."""
        result = tested(
            "def deeper():\n    raise RuntimeError('out of luck')\n"
            "def backend(*case):\n    deeper()\n"
            "@vectors(path='AvgPool-1.h5', select='plain')\n"
            "def test_kernel(vector):\n    vector.check(backend)\n"
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [">*deeper()", ">*raise RuntimeError('out of luck')", "E*DoesNotConform: error: Run*"]
        )
        places = {line.split(":")[0] for line in result.outlines if re.match(r"\S+\.py:\d", line)}
        assert places == {"test_kernel.py"}

    def test_unsupported_is_skipped_and_what_is_expected_xfails(self, tested, pytester):
        """As with the options of pytest."""
        (pytester.path / "expected").write_text("mismatch */lower # 7: known\n")
        result = tested(
            "@vectors(path='AvgPool-1.h5', expected_failures='expected')\n"
            "def test_kernel(vector):\n"
            "    if 'ceil' in vector.id:\n"
            "        vector.check(backends.partial)\n"
            "    else:\n"
            "        vector.check(backends.upper)\n"
        )
        result.assert_outcomes(passed=3, skipped=1, xfailed=1)

    @pytest.mark.parametrize(("what", "outcome"), [("skip", "skipped"), ("fail", "failed")])
    def test_a_backend_may_end_the_test_itself(self, tested, what, outcome):
        """An invalid vector, whose right answer is an exception, does not pass for it."""
        result = tested(
            f"def backend(*case):\n    pytest.{what}('no device')\n"
            "@vectors(path='AvgPool-1.h5', select='stride-zero')\n"
            "def test_kernel(vector):\n    vector.check(backend)\n"
        )
        result.assert_outcomes(**{outcome: 1})

    def test_a_reading_can_be_required(self, tested):
        """The wrong one fails."""
        text = (
            "@vectors(path='AvgPool-1.h5', select='ceil', require={{'overhang-divisor': '{}'}})\n"
            "def test_kernel(vector):\n    vector.check(backends.right)\n"
        )
        tested(text.format("padded-extent")).assert_outcomes(passed=1)
        tested(text.format("whole-kernel")).assert_outcomes(failed=1)
