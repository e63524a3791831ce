"""Reports as JSON lines: written, read, and refused where they are not sound."""

import json
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from support.arbitrary_reports import made, plain, real, reports, result
from support.effort import examples, one_in
from support.paths import DOCS
from support.rendered import report_as_markdown, report_in_terminal

from conformance.errors import ReportFileError, UsageError
from conformance.record import jsonl
from conformance.record.report import Diagnosis, Expectations, Repeatability, Worst
from conformance.record.why import Raised, Told
from conformance.report import junit

ACCURACY = {"dtype": "float32", "elements": 1, "worst_ulp": 0.5, "worst_of_bound": 0.5}
SCHEMA = json.loads((DOCS / "report.schema.json").read_text())


@pytest.fixture(scope="module")
def full():
    """Return a report with something in every field."""
    nan, inf = float("nan"), float("inf")
    worst = Worst((0, 1), nan, 1.5, inf, inf, 0.1, 1, 4, (0, 0), -inf, 0.5)
    wrong = result(
        "AvgPool-1/float32/a",
        "mismatch",
        worst=worst,
        printed="loud\n",
        expected="known",
        tags=("ceil",),
        clauses={"same-with-ceil": ("rounding-ignored", "rounding-applied"), "empty-dimension": ()},
    )
    excused = result("b", excused=({"a": "b"},), readings=({"a": "b"},), clauses={"a": ("b",)})
    met = Expectations("f", {"mismatch": 1}, (), (), (), ("a",))
    cause = Diagnosis(
        "1 is", ("f",), 1, 1, 1, 0, 2, "c", ("g",), ("https://h",), (wrong.id,), kind="fault"
    )
    base = real()
    together = made(*base.results, wrong, excused)
    return replace(
        base,
        vectors=together.vectors,
        results=together.results,
        diagnoses=(cause,),
        required={"overhang-divisor": "whole-kernel"},
        repeated=Repeatability(3, (wrong.id,), (wrong.id,)),
        expectations=met,
        notes=("a note",),
    )


@pytest.fixture
def saved(full, tmp_path):
    """Return the path of that report."""
    path = tmp_path / "report.json"
    jsonl.write(full, path)
    return path


def read(path, data):
    """Return the report that some bytes in a file are."""
    path.write_bytes(data)
    return jsonl.read(path)


def refused(path, data):
    """Return why some bytes in a file are no report, without the path."""
    with pytest.raises(ReportFileError) as caught:
        read(path, data)
    return str(caught.value).removeprefix(f"{path}: ")


class TestRoundTrip:
    """What was written is read."""

    @given(reports())
    @examples(0.5)
    def test_any_report_comes_back(self, tmp_path_factory, report):
        """Every field but the outputs, NaN and infinities too."""
        path = tmp_path_factory.mktemp("reports") / "report.json"
        jsonl.write(report, path)
        assert plain(jsonl.read(path)) == plain(report)

    @pytest.mark.parametrize(
        ("verdict", "why"),
        [
            ("error", Raised("ValueError", "pads")),
            ("conforms", Raised("ValueError", "pads")),
            ("crashed", Told("ValueError: pads")),
        ],
    )
    def test_words_of_an_earlier_version_are_a_fact(self, tmp_path, verdict, why):
        """It saved no fact beside them."""
        jsonl.write(made(result("a", verdict, detail="ValueError: pads")), tmp_path / "r")
        lines = [json.loads(line) for line in (tmp_path / "r").read_bytes().splitlines()]
        del lines[1]["why"]
        (found,) = read(tmp_path / "r", joined(lines)).results
        assert found.why == why

    def test_half_a_surrogate_pair_is_replaced(self, tmp_path):
        """It has no UTF-8 form, and a strict reader would refuse its escape."""
        jsonl.write(made(result("a\udce4")), tmp_path / "r")
        assert [each.id for each in jsonl.read(tmp_path / "r").results] == ["a?"]

    def test_lines_are_made_one_by_one(self):
        """The first ones are there before the last result is made."""

        def some():
            yield result("a")
            pytest.fail("the second result was made too early")

        found = jsonl.lines(replace(made(result("a")), results=some()))
        assert json.loads(next(found))["kind"] == "header"
        assert json.loads(next(found))["id"] == "a"


class TestFormat:
    """What other programs rely on."""

    def test_every_line_fits_the_schema(self, saved):
        """The schema is sound, and a header, results and a footer are valid."""
        Draft202012Validator.check_schema(SCHEMA)
        validator = Draft202012Validator(closed(SCHEMA))
        for line in saved.read_bytes().splitlines():
            assert [e.message for e in validator.iter_errors(json.loads(line))] == []

    @given(reports(max_size=2))
    @examples(0.2)
    def test_lines_of_any_report_fit_the_schema(self, report):
        """Whatever the values."""
        validator = Draft202012Validator(closed(SCHEMA))
        for line in jsonl.lines(report):
            assert [e.message for e in validator.iter_errors(json.loads(line))] == []

    def test_the_schema_refuses_other_lines(self):
        validator = Draft202012Validator(SCHEMA)
        line = json.loads(next(jsonl.lines(made(result("a")))))
        assert validator.is_valid(line)
        for name, value in {"kind": "footer", "version": 2, "vectors": {}, "tier": 1}.items():
            assert not validator.is_valid(line | {name: value})

    def test_the_schema_requires_the_fields_that_are_always_there(self):
        """Absent may be those of several outputs, floors and facts, and what older files lack."""
        optional = {
            name: definition["properties"].keys() - definition["required"]
            for name, definition in SCHEMA["$defs"].items()
        }
        assert {name: names for name, names in optional.items() if names} == {
            "Header": {"allow_extensions", "operators"},
            "Result": {"undefined_only", "variations", "only_again", "answer", "why"},
            "Worst": {"output", "number", "dtype"},
            "Footer": {"outputs", "bias", "support", "variations", "slowest", "skips"},
            "Differing": {"output"},
            "Exited": {"unfinished"},
            "Raised": {"type", "text", "only_under"},
            "WrongShape": {"output"},
            "WrongType": {"output"},
        }

    def test_numbers_are_strict_json(self, saved):
        """No NaN, no Infinity: these are texts."""

        def refuse(name):
            raise AssertionError(name)

        lines = [
            json.loads(line, parse_constant=refuse) for line in saved.read_bytes().splitlines()
        ]
        worst = lines[6]["worst"]
        assert (worst["got"], worst["error"], worst["first_got"]) == ("nan", "inf", "-inf")

    def test_unknown_fields_are_ignored(self, saved, full):
        """A later version may add some."""
        lines = [json.loads(line) | {"later": [1]} for line in saved.read_bytes().splitlines()]
        assert plain(read(saved, joined(lines))) == plain(full)


def closed(schema):
    """Return a schema that refuses fields it does not name."""
    found = deepcopy(schema)
    for each in found["$defs"].values():
        _close(each)
    return found


def _close(node):
    if isinstance(node, dict):
        if "properties" in node:
            node["additionalProperties"] = False
        for child in node.values():
            _close(child)
    elif isinstance(node, list):
        for child in node:
            _close(child)


def joined(lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


class TestFiles:
    """Complete or absent."""

    def test_a_failed_write_leaves_the_old_file(self, tmp_path):
        """And nothing beside it."""
        path = tmp_path / "r"
        path.write_text("old")
        with pytest.raises(TypeError):
            jsonl.write(replace(made(result("a")), results=3), path)
        assert path.read_text() == "old"
        assert [each.name for each in tmp_path.iterdir()] == ["r"]

    def test_a_path_that_cannot_be_written_is_wrong_usage(self, tmp_path, full):
        with pytest.raises(UsageError, match=r"nowhere/r: cannot be written: No such file"):
            jsonl.write(full, tmp_path / "nowhere" / "r")

    def test_a_link_stays_a_link(self, tmp_path, full):
        """What it leads to is written."""
        (tmp_path / "link").symlink_to(tmp_path / "r")
        jsonl.write(full, tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "r").is_file()

    def test_a_missing_file_is_wrong_usage(self, tmp_path):
        """It is not a broken one."""
        with pytest.raises(UsageError, match="r: no such file"):
            jsonl.read(tmp_path / "r")


class TestBroken:
    """Files that are not whole, or not reports."""

    def test_a_file_without_its_footer_is_incomplete(self, saved):
        """It is not a shorter run, wherever it was cut."""
        data = saved.read_bytes()
        lines = data.splitlines(keepends=True)
        head = b"".join(lines[:4])
        assert refused(saved, head) == "incomplete: it ends after 3 results"
        assert refused(saved, head + lines[4][:40]) == "incomplete: it ends after 3 results"
        assert refused(saved, b"".join(lines[:2])) == "incomplete: it ends after 1 result"
        assert refused(saved, data[:-20]).startswith("incomplete")

    @pytest.mark.parametrize(
        ("data", "why"),
        [
            (b"", "the file is empty"),
            (b"\x89HDF\r\n", "not a report that --json wrote"),
            (b"[" * 100_000, "not a report that --json wrote"),
            (b"{}\n", "not a report that --json wrote"),
            (b"[]\n", "not a report that --json wrote"),
            (b'{"kind":"header","schema":"x"}', "not a report that --json wrote"),
        ],
    )
    def test_other_files_are_refused(self, tmp_path, data, why):
        """With one line that says what they are not."""
        assert refused(tmp_path / "r", data) == why

    def test_a_later_version_is_refused(self, saved):
        header, *lines = map(json.loads, saved.read_bytes().splitlines())
        why = "a report of version 2; this program reads 1"
        assert refused(saved, joined([header | {"version": 2}, *lines])) == why

    @pytest.mark.parametrize(
        ("line", "change", "why"),
        [
            (1, {"verdict": "fine"}, "line 2: verdict: Invalid enum value 'fine'"),
            (1, {"dtype": "float8"}, "line 2: dtype is 'float8', not a known element type"),
            (1, {"shapes": [[-1]]}, "line 2: shapes[0][0]: Expected `int` >= 0"),
            (1, {"kind": "row"}, "line 2: kind: Invalid value 'row'"),
            (1, {"verdict": "error"}, "line 9: counts contradicts the rest of the report"),
            (-1, {"ok": True}, "line 9: ok contradicts the rest of the report"),
            (-1, {"counts": {"conforms": 3}}, "line 9: counts contradicts the rest of the report"),
            (-1, {"stopped": "why"}, "line 9: complete contradicts the rest of the report"),
            (-1, {"accuracy": [ACCURACY | {"correctly_rounded": 1.5}]}, "line 9: accuracy[0].corr"),
            (-1, {"seconds": "long"}, "line 9: seconds: Expected `float`, got `str`"),
            (1, {"output": []}, "line 2: output: Expected `null`, got `array`"),
        ],
    )
    def test_a_wrong_field_is_named(self, saved, line, change, why):
        lines = [json.loads(each) for each in saved.read_bytes().splitlines()]
        lines[line] |= change
        assert refused(saved, joined(lines)).startswith(why)

    @pytest.mark.parametrize(("line", "name"), [(0, "tier"), (1, "worst"), (-1, "repeated")])
    def test_a_missing_field_is_named(self, saved, line, name):
        """In every kind of line."""
        lines = [json.loads(each) for each in saved.read_bytes().splitlines()]
        del lines[line][name]
        number = line % len(lines) + 1
        why = f"line {number}: Object missing required field `{name}`"
        assert refused(saved, joined(lines)) == why

    @pytest.mark.parametrize(
        ("value", "why"),
        [
            ({"a": 1}, "attribute 'kernel' is an object"),
            ([[[[[[[[[1]]]]]]]]], "attribute 'kernel' is nested too deeply"),
        ],
    )
    def test_an_attribute_is_a_scalar_or_lists_of_them(self, saved, value, why):
        """At most eight lists within each other."""
        lines = [json.loads(each) for each in saved.read_bytes().splitlines()]
        lines[1]["attributes"] = {"kernel": value}
        assert refused(saved, joined(lines)) == f"line 2: {why}"

    def test_a_line_without_end_is_refused(self, saved, monkeypatch):
        """It is not read as a whole."""
        monkeypatch.setattr(jsonl, "_LONGEST", 5000)
        data = saved.read_bytes().replace(b'"detail":"', b'"detail":"' + b"x" * 6000, 1)
        assert refused(saved, data) == "line 2: longer than 5,000 bytes"

    def test_nothing_may_follow(self, saved):
        """Two reports in a file are none."""
        assert "nothing may follow" in refused(saved, 2 * saved.read_bytes())

    def test_an_element_has_to_be_one_of_its_type(self, tmp_path):
        """1e300 is no float16: nothing could print it."""
        worst = Worst((0,), 1e300, 1.0, 1.0, 1.0, 1.0, 1, 1, (0,), 1e300, 1.0)
        jsonl.write(made(result("a", "mismatch", dtype="float16", worst=worst)), tmp_path / "r")
        with pytest.raises(ReportFileError, match=r"got is 1e\+300, not an element of float16"):
            jsonl.read(tmp_path / "r")


class TestStrangers:
    """Whatever a file holds: a report that can be shown, or one line."""

    def survives(self, path, data):
        """Read some bytes, and render what is read; return whether they are a report."""
        path.write_bytes(data)
        try:
            report = jsonl.read(path)
        except ReportFileError as error:
            one_line(error)
            return False
        report_in_terminal(report)
        report_as_markdown(report)
        junit.render(report)
        return True

    @pytest.mark.parametrize("files", one_in(2, [500, 3000]))
    def test_random_damage(self, saved, files):
        """Files with bytes cut off, changed, repeated or swapped."""
        data, random, path = saved.read_bytes(), Random(0), saved
        sound = 0
        for _ in range(files):
            broken = bytearray(data)
            kind = random.randrange(4)
            at = random.randrange(len(broken))
            if kind == 0:
                del broken[at:]
            elif kind == 1:
                for _ in range(random.randrange(1, 4)):
                    broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
            elif kind == 2:
                broken[at:at] = broken[at : at + random.randrange(1, 200)]
            else:
                del broken[at : at + random.randrange(1, 200)]
            sound += self.survives(path, bytes(broken))
        assert 0 < sound < files / 2

    @pytest.mark.parametrize(
        "number", [0, 6, pytest.param(-1, marks=pytest.mark.slow("other lines"))]
    )
    def test_wrong_values_everywhere(self, saved, number):
        """In each place of each kind of line."""
        lines = [json.loads(each) for each in saved.read_bytes().splitlines()]
        deep = "[" * 300 + "]" * 300
        values = ["null", "true", "-1", "1e999", "9" * 400, '"x"', '""', "[]", "{}", "[[]]", deep]
        mark = "\u2603"
        for place in places(lines[number]):
            changed = [*lines]
            changed[number] = with_value(lines[number], place, mark)
            text = joined(changed).decode()
            for value in values:
                self.survives(saved, text.replace(json.dumps(mark), value).encode())

    def test_digits_without_end(self, saved):
        """Python refuses to read them; so does the report."""
        text = saved.read_text().replace('"touched":', f'"touched":{"9" * 5000}', 1)
        assert not self.survives(saved, text.encode())


def one_line(error):
    assert "\n" not in str(error)


def places(node, here=()):
    """Yield the path to every value in a value, but one item of each list."""
    if here:
        yield here
    if isinstance(node, dict):
        for name, child in node.items():
            yield from places(child, (*here, name))
    elif isinstance(node, list) and node:
        yield from places(node[0], (*here, 0))


def with_value(node, place, value):
    """Return a copy of a value with another one in some place."""
    if not place:
        return value
    copy = node.copy()
    copy[place[0]] = with_value(node[place[0]], place[1:], value)
    return copy
