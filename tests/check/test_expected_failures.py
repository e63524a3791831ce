"""Files of expected failures: what they may say, and what a run makes of them."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase

import pytest
from fakes import altered, following, pool, ramp, ran, right, vector
from hypothesis import given
from hypothesis import strategies as st

from conformance.check.expected import WORDS, ExpectedFailures
from conformance.check.report import FAILURES, ClauseReport, Report, Result
from conformance.errors import UsageError

FORM = "a line is VERDICT PATTERN # REASON"
ALL_WORDS = "mismatch, error, crashed, timed-out, inconsistent"
SAME = pool(auto_pad="same_upper")


def parsed(text):
    """Return what a file called "f" says."""
    return ExpectedFailures.parse(text, path="f")


def refused(text):
    """Return the message that refuses a file called "f"."""
    with pytest.raises(UsageError) as caught:
        parsed(text)
    return str(caught.value)


def report(verdicts, readings=(), **others):
    """Return a report of vectors with some verdicts, by id."""
    results = [Result(name, "AvgPool-1", verdict, {}, "", ()) for name, verdict in verdicts.items()]
    counts = Counter(verdicts.values())
    readings = tuple(ClauseReport(*each) for each in readings)
    return Report("b", (), results, counts, {"AvgPool-1": counts}, readings, **others)


def applied(text, verdicts, *not_run, readings=(), **others):
    """Return a report of some verdicts with what a file expects of it."""
    found = report(verdicts, readings, not_run=len(not_run), **others)
    return parsed(text).applied(found, [*verdicts, *not_run])


class TestRead:
    """What a file may say."""

    def test_a_line_is_a_verdict_a_pattern_and_a_reason(self):
        """Blank lines and comments are skipped, spaces do not matter."""
        text = "# ours\n\n  mismatch\tAvgPool-1/*#1 #  12:  odd # really\ninconsistent a#b # no\r\n"
        text = text.replace("a#b", "overhang-divisor")
        found = [(e.line, e.word, e.pattern, e.reason) for e in parsed(text).entries]
        assert found == [
            (3, "mismatch", "AvgPool-1/*#1", "12: odd # really"),
            (4, "inconsistent", "overhang-divisor", "no"),
        ]

    @pytest.mark.parametrize("word", WORDS)
    def test_every_verdict_that_is_a_failure_is_a_word(self, word):
        """And inconsistent is one, for clauses."""
        pattern = "overhang-divisor" if word == "inconsistent" else "a"
        assert parsed(f"{word} {pattern} # why").entries[0].word == word

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("mismatch a", f"f:2: 'a' has no reason; {FORM}"),
            ("mismatch a #  ", f"f:2: 'a' has no reason; {FORM}"),
            ("mismatch # a", f"f:2: mismatch of what? {FORM}"),
            ("mismatch", f"f:2: mismatch of what? {FORM}"),
            (
                "mismatch a b # c",
                f"f:2: 'b # c' is no reason, which begins with #; {FORM}",
            ),
            (
                "mismtch a # b",
                f"f:2: no verdict 'mismtch' (did you mean mismatch?); {FORM}, with {ALL_WORDS}",
            ),
            (
                "mismatch x # once\nmismatch x # twice",
                "f:3: mismatch 'x' is already on line 2",
            ),
        ],
    )
    def test_a_wrong_line_is_named(self, line, said):
        """The message has the path, the number of the line, and what would do."""
        assert refused(f"# first\n{line}\n") == said

    @pytest.mark.parametrize("clause", ["overhang-divisors", "all-padding-average"])
    def test_only_a_disputed_clause_can_be_inconsistent(self, clause):
        """One that does not exist, or has one reading, is refused."""
        said = refused(f"inconsistent {clause} # why")
        assert said.startswith(f"f:1: no disputed clause {clause!r}")
        assert "; there are same-output-size, " in said

    def test_the_first_wrong_line_is_named_and_the_others_counted(self):
        """One line says it all."""
        said = refused("a\n" * 3)
        assert said.startswith("f:1: ")
        assert said.endswith(" (and 2 more wrong lines)")

    def test_a_file_without_lines_expects_nothing(self):
        """As does one of comments alone."""
        assert parsed("").entries == parsed("# nothing yet\n").entries == ()

    def test_the_message_of_a_long_line_is_short(self):
        """A binary file without zeros may be one long line."""
        assert len(refused("x" * 100_000)) < 300

    def test_a_mark_of_byte_order_is_skipped(self, tmp_path):
        """Some editors write it."""
        path = tmp_path / "f"
        path.write_bytes(b"\xef\xbb\xbfmismatch a # b\r\n")
        assert ExpectedFailures.read(path).entries[0].reason == "b"

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"mismatch a # b\n\0", "f:2: not text in UTF-8"),
            (b"\nmismatch \xff", "f:2: not text in UTF-8"),
            (b"#" * ((1 << 24) + 1), "f: more than 16 MiB: no expected-failure file"),
        ],
    )
    def test_what_is_no_text_is_refused(self, tmp_path, data, said):
        """A binary or huge file is one clear line."""
        path = tmp_path / "f"
        path.write_bytes(data)
        with pytest.raises(UsageError) as caught:
            ExpectedFailures.read(path)
        assert str(caught.value) == f"{tmp_path}/{said}"

    @pytest.mark.parametrize("name", ["nothing", "."])
    def test_a_file_that_cannot_be_read_is_named(self, tmp_path, name):
        """One that is not there, or is a directory."""
        with pytest.raises(UsageError, match=r": (No such file|Is a directory)"):
            ExpectedFailures.read(tmp_path / name)

    @given(
        st.lists(st.sampled_from(["mismatch a*b # c", "error é # d", "# e", ""])).map("\n".join),
        st.binary(max_size=3),
        st.integers(0, 40),
        st.integers(0, 4),
    )
    def test_a_broken_file_is_read_or_refused(self, tmp_path_factory, text, bytes_, at, gone):
        """Bytes cut out and put in make no other exception."""
        path = tmp_path_factory.getbasetemp() / "broken"
        data = text.encode()
        path.write_bytes(data[:at] + bytes_ + data[at + gone :])
        try:
            found = ExpectedFailures.read(path).entries
        except UsageError as error:
            assert "\n" not in str(error)  # noqa: PT017 - it may also be right
        else:
            assert all(each.word in WORDS and each.pattern and each.reason for each in found)


class TestPatterns:
    """Which ids a pattern matches."""

    @given(
        st.text("ab*?[]!-\U0010ffff", min_size=1, max_size=5),
        st.lists(st.text("ab*[]!-\U0010ffff", min_size=1, max_size=5), max_size=8),
    )
    def test_a_star_is_any_text_and_a_question_mark_any_character(self, pattern, ids):
        """Brackets are what they are; without * and ? it is the whole id."""
        reasons, unmatched = parsed(f"mismatch {pattern} # r").reasons(ids)
        escaped = "".join("[[]" if c == "[" else c for c in pattern)
        expected = {each for each in ids if fnmatchcase(each, escaped)}
        assert reasons == {each: {"mismatch": "r"} for each in expected}
        assert unmatched == (() if expected else (pattern,))


class TestApplied:
    """What a run makes of a file."""

    def test_an_expected_failure_is_no_problem(self):
        """It is counted, and the result has the reason."""
        found = applied("mismatch a # 12: known", {"a": "mismatch", "b": "conforms"})
        assert (found.ok, found.expectations.met) == (True, {"mismatch": 1})
        assert [each.expected for each in found.results] == ["12: known", ""]
        assert found.counts["mismatch"] == 1

    @pytest.mark.parametrize("verdict", FAILURES)
    def test_every_failure_can_be_expected(self, verdict):
        """By its own verdict."""
        assert applied(f"{verdict} a # why", {"a": verdict, "b": "conforms"}).ok

    def test_another_failure_than_the_expected_one_is_a_failure(self):
        """A crash is not the mismatch that is known."""
        found = applied("mismatch a # why", {"a": "crashed", "b": "conforms"})
        assert found.problems == ("1 crashed",)
        assert found.results[0].expected == ""

    def test_either_of_two_verdicts_can_be_expected(self):
        """Lines with other verdicts are other lines."""
        text = "mismatch a* # m\nerror a* # e"
        found = applied(text, {"a1": "error", "a2": "mismatch", "b": "conforms"})
        assert [each.expected for each in found.results] == ["e", "m", ""]
        assert found.ok

    def test_the_first_line_that_matches_gives_the_reason(self):
        """Patterns may overlap."""
        found = applied("error a* # one\nerror *a # two", {"a": "error", "b": "conforms"})
        assert found.results[0].expected == "one"

    @pytest.mark.parametrize("word", FAILURES)
    def test_a_vector_that_conforms_passes_unexpectedly(self, word):
        """Whatever was expected of it, the run is not ok; it is named once."""
        found = applied(f"{word} a # why\n{word} ? # too", {"a": "conforms"})
        assert found.expectations.passed == ("a",)
        assert found.problems == ("1 passed unexpectedly",)

    def test_unsupported_is_neither_a_failure_nor_a_pass(self):
        """The line stays right."""
        found = applied("mismatch a # why", {"a": "unsupported", "b": "conforms"})
        assert found.ok
        assert (found.expectations.met, found.expectations.passed) == ({}, ())

    def test_a_line_that_matches_nothing_is_a_problem(self):
        """It may be misspelt, or the vector be gone."""
        found = applied("mismatch x # why", {"b": "conforms"})
        assert found.expectations.unmatched == ("x",)
        assert found.problems == ("1 expected but of no vector",)

    def test_a_vector_that_was_not_run_is_fine(self):
        """It is another tier's, or another shard's."""
        assert applied("mismatch a # why", {"b": "conforms"}, "a").ok

    def test_an_expected_inconsistent_clause_is_no_problem(self):
        """A line names the clause."""
        text = "inconsistent overhang-divisor # why"
        readings = [("overhang-divisor", "inconsistent")]
        found = applied(text, {"a": "conforms"}, readings=readings)
        assert found.ok
        assert found.expectations.inconsistent == ("overhang-divisor",)

    @pytest.mark.parametrize("status", ["followed", "either", "split"])
    def test_a_clause_that_is_consistent_after_all_passes_unexpectedly(self, status):
        """Its name follows the word."""
        text = "inconsistent overhang-divisor # why"
        found = applied(text, {"a": "conforms"}, readings=[("overhang-divisor", status)])
        assert found.expectations.passed == ("inconsistent overhang-divisor",)

    def test_a_clause_that_nothing_touches_says_nothing(self):
        """Neither inconsistent nor not."""
        assert applied("inconsistent overhang-divisor # why", {"a": "conforms"}).ok

    def test_a_clause_cannot_pass_unless_every_vector_was_run(self):
        """A smaller tier, or a shard, may just not show that it is inconsistent."""
        text = "inconsistent overhang-divisor # why"
        readings = [("overhang-divisor", "followed")]
        assert applied(text, {"a": "conforms"}, "b", readings=readings).ok
        stopped = applied(text, {"a": "conforms"}, readings=readings, complete=False)
        assert stopped.expectations.passed == ()

    def test_results_are_a_sequence_as_before(self):
        """By index, by slice and one after the other they are the same."""
        found = applied("error a # r", {"a": "error", "b": "conforms", "c": "error"}).results
        assert [each.id for each in found] == [each.id for each in found[:]] == ["a", "b", "c"]
        assert [found[0].expected, found[-1].expected, found[0:1][0].expected] == ["r", "", "r"]
        assert (len(found), repr(found)) == (3, "<3 results, 1 failures of them expected>")

    def test_a_faulty_backend_passes_with_the_file_and_not_without(self):
        """The file is about a real run here."""
        backend = altered(lambda output: output + 1)
        found = ran(backend, vector(id="one"), vector(ramp(1, 1, 4), id="two"))
        expected = parsed("mismatch o* # 1: adds one\nmismatch two # 1: adds one")
        assert (found.ok, expected.applied(found, ["one", "two"]).ok) == (False, True)
        assert not expected.applied(ran(right, vector(id="one")), ["one", "two"]).ok

    def test_an_inconsistent_backend_passes_with_the_file(self):
        """Readings that differ with the size of the data."""
        other = following(same_output_size="same-as-input")

        def backend(operator, inputs, attributes):
            chosen = other if inputs[0].size == 7 else right
            return chosen(operator, inputs, attributes)

        sizes = {f"of{size}": size for size in (5, 7, 9)}
        vectors = [vector(ramp(1, 1, size), SAME, id=name) for name, size in sizes.items()]
        found = ran(backend, *vectors)
        expected = parsed("inconsistent same-output-size # 2: by size")
        assert (found.ok, expected.applied(found, sizes).ok) == (False, True)
