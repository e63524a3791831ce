"""Files of expected failures: what they may say, and what a run makes of them."""

import os
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arbitrary_reports import made, result
from support.fakes import check, pool, ramp, right, vector

from conformance.api import check as api
from conformance.api.expected_failures import SKIP, WORDS, ExpectedFailures
from conformance.api.merge import merge
from conformance.errors import UsageError
from conformance.faults.catalogue import CATALOGUE
from conformance.record.report import FAILURES, Announced, ClauseReport
from conformance.report import phrases

FORM = "a line is VERDICT PATTERN # REASON"
ALL_WORDS = ", ".join(WORDS)


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
    readings = tuple(ClauseReport(*each) for each in readings)
    results = (result(name, verdict) for name, verdict in verdicts.items())
    return made(*results, readings=readings, **others)


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
        names = {"inconsistent": "overhang-divisor", "cause": "same-lower-as-upper"}
        pattern = names.get(word, "a")
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

    @pytest.mark.parametrize("word", [word for word in WORDS if word != SKIP])
    def test_a_question_mark_behind_the_word_allows_what_passes(self, word):
        names = {"inconsistent": "overhang-divisor", "cause": "same-lower-as-upper"}
        (entry,) = parsed(f"{word}? {names.get(word, 'a')} # why").entries
        assert (entry.word, entry.may_pass) == (word, True)

    @pytest.mark.parametrize(
        ("cause", "said"),
        [
            ("same-lower-as-uper", "'same-lower-as-uper' (did you mean same-lower-as-upper?)"),
            ("same-lower-as-upper+x", "no cause 'x'; see conformance faults"),
            (next(f.name for f in CATALOGUE if f.remembers), "depends on earlier calls"),
        ],
    )
    def test_a_cause_is_a_fault_of_the_catalogue(self, cause, said):
        """Or several; one that no single answer shows is refused."""
        assert said in refused(f"cause {cause} # why")

    @pytest.mark.parametrize("clause", ["overhang-divisors", "all-padding-average"])
    def test_only_a_disputed_clause_can_be_inconsistent(self, clause):
        """One that does not exist, or has one reading, is refused."""
        said = refused(f"inconsistent {clause} # why")
        assert said.startswith(f"f:1: no disputed clause {clause!r}")
        assert said.endswith(": see conformance clauses")

    def test_the_first_wrong_line_is_named_and_the_others_counted(self):
        said = refused("a\n" * 3)
        assert said.startswith("f:1: ")
        assert said.endswith(" (and 2 more wrong lines)")

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

    @pytest.mark.parametrize("name", ["nothing", ".", "pipe"])
    def test_a_file_that_cannot_be_read_is_named(self, tmp_path, name):
        """One that is not there, a directory, or a pipe, which is not waited for."""
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UsageError, match=r": (No such file|not a regular file)"):
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
        announced, unmatched = parsed(f"mismatch {pattern} # r").announced(ids)
        escaped = "".join("[[]" if c == "[" else c for c in pattern)
        expected = {each for each in ids if fnmatchcase(each, escaped)}
        assert announced == {each: {"mismatch": Announced("r")} for each in expected}
        assert unmatched == (() if expected else (pattern,))


class TestApplied:
    """What a run makes of a file."""

    def test_an_expected_failure_is_no_problem(self):
        """It is counted, and the result has the reason."""
        found = applied("mismatch a # 12: known", {"a": "mismatch", "b": "conforms"})
        assert (found.ok, found.expectations.met) == (True, {"mismatch": 1})
        assert [each.expected for each in found.results] == ["12: known", ""]
        assert found.counts["mismatch"] == 1

    def test_another_failure_than_the_expected_one_is_a_failure(self):
        """A crash is not the mismatch that is known."""
        found = applied("mismatch a # why", {"a": "crashed", "b": "conforms"})
        assert found.problems == ("1 crashed",)
        assert found.results[0].expected == ""

    @pytest.mark.parametrize("word", FAILURES)
    def test_a_vector_that_conforms_passes_unexpectedly(self, word):
        """Whatever was expected of it, the run is not ok; it is named once."""
        found = applied(f"{word} a # why\n{word} ? # too", {"a": "conforms"})
        assert found.expectations.passed == ("a",)
        assert found.problems == ("1 passed unexpectedly",)

    def test_a_line_that_matches_nothing_is_a_problem(self):
        """It may be misspelt, or the vector be gone."""
        found = applied("mismatch x # why", {"b": "conforms"})
        assert found.expectations.unmatched == ("x",)
        assert found.problems == ("1 expected but of no vector",)

    @pytest.mark.parametrize("pattern", ["MaxPool-8/gone", "*gone", "M*"])
    def test_a_line_about_operators_that_were_not_asked_for_is_not_stale(self, pattern):
        """It may match a vector that nobody looked at."""
        found = applied(f"mismatch {pattern} # why", {"b": "conforms"}, operators=("AvgPool-1",))
        assert found.ok
        assert not applied(f"mismatch {pattern} # why", {"b": "conforms"}).ok

    def test_a_cause_cannot_pass_where_some_operators_were_asked_for(self):
        text = "cause same-lower-as-upper # why\ninconsistent overhang-divisor # why"
        readings = [("overhang-divisor", "followed")]
        asked = {"operators": ("AvgPool-1",), "readings": readings}
        assert applied(text, {"b": "conforms"}, **asked).ok

    def test_an_expected_inconsistent_clause_is_no_problem(self):
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

    def test_a_clause_cannot_pass_unless_every_vector_was_run(self):
        """A smaller tier, or a shard, may just not show that it is inconsistent."""
        text = "inconsistent overhang-divisor # why"
        readings = [("overhang-divisor", "followed")]
        assert applied(text, {"a": "conforms"}, "b", readings=readings).ok
        stopped = applied(text, {"a": "conforms"}, readings=readings, stopped="stopped")
        assert stopped.expectations.passed == ()

    def test_a_line_that_says_so_allows_what_conforms(self):
        """A wildcard may cover more than what fails; one that covers nothing is still wrong."""
        verdicts = {"a1": "mismatch", "a2": "conforms"}
        assert applied("mismatch a* # why", verdicts).problems == ("1 passed unexpectedly",)
        assert applied("mismatch? a* # why", verdicts).ok
        assert not applied("mismatch? x* # why", verdicts).ok

    def test_a_stricter_line_for_the_same_vector_holds(self):
        text = "mismatch? a* # one\ncrashed a2 # two"
        found = applied(text, {"a1": "mismatch", "a2": "conforms"})
        assert found.expectations.passed == ("a2",)


SAMES = [
    vector(ramp(1, 1, n), pool(auto_pad=auto_pad), id=f"{auto_pad}/{n}")
    for auto_pad in ("same_lower", "same_upper")
    for n in (5, 7, 9)
]


def upper(operator, inputs, attributes):
    """Treat same_lower as same_upper, and add one on nine cells."""
    averages = right(operator, inputs, attributes | {"auto_pad": "same_upper"})
    return averages + (inputs[0].size == 9)


class TestCauses:
    """Lines that expect what a fault of the catalogue explains."""

    def expecting(self, tmp_path, text, backend=upper, vectors=SAMES, **options):
        """Return the report of a run under a file."""
        path = tmp_path / "expected"
        path.write_text(text)
        return check(backend, vectors, expected_failures=path, **options)

    def test_what_the_cause_explains_is_expected_and_nothing_else(self, tmp_path):
        """One line for all of it; the reason says so."""
        found = self.expecting(tmp_path, "cause same-lower-as-upper # 1234")
        assert found.problems == ("2 mismatch",)
        assert found.expectations.causes == {"same-lower-as-upper": 2}
        reasons = [each.expected for each in found.results if each.expected]
        assert reasons == ["cause same-lower-as-upper: 1234"] * 2

    def test_another_cause_expects_none_of_it(self, tmp_path):
        """And passes unexpectedly."""
        found = self.expecting(tmp_path, "cause same-upper-as-lower # 1", vectors=SAMES[:2])
        assert found.problems == ("2 mismatch", "1 passed unexpectedly")

    @pytest.mark.parametrize(("mark", "ok"), [("", False), ("?", True)])
    def test_a_cause_that_was_mended_passes_unexpectedly(self, tmp_path, mark, ok):
        """Unless the line allows it."""
        found = self.expecting(tmp_path, f"cause{mark} same-lower-as-upper # 1", right)
        assert found.ok is ok
        assert found.expectations.passed == (() if ok else ("cause same-lower-as-upper",))

    def test_a_part_of_the_vectors_does_not_show_that_it_was_mended(self, tmp_path):
        """They may not have it; the report says what a run of all may find."""
        text = "cause same-lower-as-upper # 1"
        part = self.expecting(tmp_path, text, right, select="same_upper")
        assert part.ok
        assert phrases.idle_causes(part).startswith("nothing failed here by cause same-lower-as-up")
        whole = self.expecting(tmp_path, text, right)
        assert phrases.idle_causes(whole) == ""

    def test_shards_know_what_the_whole_run_knows(self, tmp_path):
        """The cause is counted over all of them."""
        text = "cause same-lower-as-upper # 1"
        vectors = [each for each in SAMES if "9" not in each.case.id]
        shards = {
            f"{n}/4": self.expecting(tmp_path, text, vectors=vectors, shard=f"{n}/4")
            for n in (1, 2, 3, 4)
        }
        assert merge(shards).ok
        assert merge(shards).expectations.causes == {"same-lower-as-upper": 2}
        mended = {
            f"{n}/2": self.expecting(tmp_path, text, right, vectors=vectors, shard=f"{n}/2")
            for n in (1, 2)
        }
        assert merge(mended).expectations.passed == ("cause same-lower-as-upper",)

    def test_shards_of_other_content_are_not_of_one_run(self, tmp_path):
        """The file of one shard may excuse what that of another does not."""
        texts = {"1/2": "cause same-lower-as-upper # 1", "2/2": "mismatch? * # 1"}
        shards = {shard: self.expecting(tmp_path, texts[shard], shard=shard) for shard in texts}
        with pytest.raises(UsageError, match="not of one run: expected failures: a file with"):
            merge(shards)

    def test_no_likely_cause_is_searched_for_what_is_known(self, tmp_path):
        """The failures left are those to look at."""
        path = tmp_path / "expected"
        path.write_text("cause same-lower-as-upper # 1")
        found = api.check(upper, SAMES, expected_failures=path, diagnose="seen")
        assert not any("same-lower-as-upper" in each.faults for each in found.diagnoses)


class TestAnswers:
    """Lines that expect one answer, and no other wrong one."""

    VECTORS = (vector(ramp(1, 1, 8), id="wrong"), vector(id="right"))

    def wrong(self, value):
        """Return a backend that answers the first vector with the same value everywhere."""

        def backend(operator, inputs, attributes):
            averages = right(operator, inputs, attributes)
            return np.full_like(averages, value) if inputs[0].size == 8 else averages

        return backend

    def answer(self, value):
        """Return the digest of this answer."""
        return check(self.wrong(value), self.VECTORS).results[0].answer

    def expecting(self, tmp_path, text, value):
        """Return the report of a run with a value under a file."""
        path = tmp_path / "expected"
        path.write_text(text)
        return check(self.wrong(value), self.VECTORS, expected_failures=path)

    def test_the_answer_that_is_announced_is_expected(self, tmp_path):
        text = f"mismatch wrong answer={self.answer(7)} # 12"
        found = self.expecting(tmp_path, text, 7)
        assert (found.ok, found.expectations.changed) == (True, ())
        assert found.results[0].expected == "12"

    def test_another_wrong_answer_is_a_new_failure(self, tmp_path):
        """The report says that it was announced otherwise; shards say so, too."""
        text = f"mismatch wrong answer={self.answer(7)} # 12"
        found = self.expecting(tmp_path, text, 8)
        assert found.problems == ("1 mismatch", "1 announced with another answer")
        assert found.expectations.changed == ("wrong",)
        assert merge({"all": replace(found, shard="1/1")}).problems == found.problems
        (said,) = phrases.unmet(found.expectations)
        assert "announced with another answer" in said.text

    def test_a_cause_expects_what_it_explains_whatever_a_line_announces(self, tmp_path):
        text = (
            "mismatch wrong answer=0123456789ab # 12\ncause rule:values::the%20constant%208.0 # 13"
        )
        assert self.expecting(tmp_path, text, 8).ok
        assert self.expecting(tmp_path, text, 7).expectations.changed == ("wrong",)

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("mismatch a answer=x", "'a' has no reason"),
            ("error a answer=0123456789ab # b", "is no reason"),
            ("mismatch a answer= 12 # b", "'12 # b' is no reason"),
        ],
    )
    def test_an_answer_is_that_of_a_mismatch_and_comes_with_a_reason(self, line, said):
        assert said in refused(line)

    def test_a_limit_of_failures_counts_another_answer(self, tmp_path):
        """It is a new failure like others."""
        path = tmp_path / "expected"
        path.write_text(f"mismatch wrong answer={self.answer(7)} # 12")
        many = [*self.VECTORS, *(vector(id=f"right{number}") for number in range(300))]
        asked = {"expected_failures": path, "max_failures": 1}
        assert check(self.wrong(7), many, **asked).complete
        assert not check(self.wrong(8), many, **asked).complete


class TestNothingRight:
    """A run in which nothing is right conforms for nobody."""

    def test_that_an_invalid_case_is_refused_is_not_enough(self, tmp_path):
        """Every backend that raises always does that."""
        path = tmp_path / "expected"
        path.write_text("error case # why")
        vectors = (vector(), vector(attributes=pool(kernel=[0]), id="invalid"))

        def raising(*_):
            raise ValueError("no")

        found = check(raising, vectors, expected_failures=path)
        assert found.problems == ("nothing that was computed conforms",)


def test_huge_files_take_no_time():
    """Lines that are wrong, patterns of wildcards, and patterns longer than any id."""
    wrong = "\n".join(f"mismach{number} a # b" for number in range(100_000))
    assert "(and at least 999 more wrong lines)" in refused(wrong)
    assert "no verdict" in refused("x" * 1_000_000)
    ids = [f"AvgPool-1/{'a' * 80}{number}" for number in range(2000)]
    stars = f"mismatch {'*a' * 40}*!* # b\nmismatch {'*a' * 100_000} # b\nmismatch *a*a?9 # b"
    assert [len(matched) for _, matched in parsed(stars).matching(ids)] == [0, 0, 10]
