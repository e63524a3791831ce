"""The look at a program's manners: every rule is found broken where it is, and only there."""

import re
import shlex
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.effort import one_in
from support.fake_program import FAULTS
from support.paths import DOCS
from support.programs import FAKE, command, words
from support.random_cases import EVERY

from conformance.backends.program.probe import RULES, _invalid, _plain, probe
from conformance.cli import main
from conformance.errors import InvalidCase, UsageError
from conformance.operators import OPERATORS

PAGE = DOCS / "protocol.md"

# The first rule that each fault breaks, and what is said of it.
GALLERY = {
    "no-hello": ("handshake", "nothing came for 0.5 seconds"),
    "wrong-version": ("handshake", "version 2 of the protocol; this is 1"),
    "echoed-version": ("other-version", "offered version 2: version 2 of the protocol; this is 1"),
    "greets-a-person": ("handshake", "Loading weights..."),
    "hello-is-a-list": ("handshake", "the first line must be"),
    "hello-has-no-version": ("handshake", "the first line must be"),
    "hello-is-cut-off": ("handshake", "exit status 0 after '{\"vers' without a line feed"),
    "hello-never-ends": ("handshake", "a line of more than 1048576 bytes: 'xxx"),
    "supports-is-a-list": ("handshake", '"supports" must be an object'),
    "hangs-before-hello": ("handshake", "nothing came for 0.5 seconds"),
    "dies-before-hello": ("handshake", "exit status 3; standard error ends with 'no licence'"),
    "endless-stdout": ("handshake", "a line of more than 1048576 bytes: 'and on"),
    "garbage": ("answers", "Segmentation fault (core dumped)"),
    "prints": ("answers", "debug: kernel 2x2"),
    "prints-afterwards": ("answers", "for the next call: not an answer but 'done'"),
    "cut-off-line": ("answers", "exit status 0 after"),
    "endless-line": ("answers", 'a line of more than 1048576 bytes: \'{"call": "xxx'),
    "wrong-number": ("answers", '"call" is'),
    "text-number": ("answers", '"call" is'),
    "no-number": ("answers", '"call" is'),
    "cut-off-bytes": ("answers", "exit status 0 after 3 of 4 bytes"),
    "too-few-bytes": ("answers", "nothing came for 2 seconds after 3 of 4 bytes"),
    "too-many-bytes": ("answers", "for the next call: not an answer but"),
    "answers-twice": ("answers", 'for the next call: "call" is'),
    "negative-shape": ("answers", "[1, 1, -1, 1]"),
    "fractional-shape": ("answers", "[1, 1, 1.0, 1]"),
    "true-shape": ("answers", "an output of shape"),
    "text-shape": ("answers", "1, 1, 1, 1"),
    "huge-shape": ("answers", "[4611686018427387904, 4611686018427387904]"),
    "terabyte-shape": ("answers", "[1024, 1073741824]"),
    "empty-huge-shape": ("element-types", "shape [0, 4611686018427387904]"),
    "too-large-in-full": ("element-types", "shape [1024, 1024]"),
    "deep-shape": ("answers", "an output of shape"),
    "unknown-dtype": ("answers", "float128"),
    "dtype-is-a-number": ("answers", '"dtype", a string'),
    "output-and-error": ("answers", 'one of "output", "error", "unsupported"'),
    "neither": ("answers", 'one of "output", "error", "unsupported"'),
    "error-is-a-number": ("answers", '"error" must be a string'),
    "deeply-nested": ("answers", "[[[["),
    "not-utf-8": ("answers", "not an answer but"),
    "nan": ("answers", "NaN"),
    "duplicate-keys": ("answers", '"call": 99, "call": 0'),
    "huge-number": ("answers", "999999"),
    "killed": ("answers", "signal SIGSEGV (11)"),
    "exits": ("answers", "exit status 0"),
    "exits-3": ("answers", "exit status 3; standard error ends with 'out of memory'"),
    "closes-stdout": ("answers", "it closed its standard input or output"),
    "hangs": ("answers", "nothing came for 2 seconds"),
    "hangs-in-bytes": ("answers", "nothing came for 2 seconds after 2 of 4 bytes"),
    "hangs-in-line": ("answers", "nothing came for 2 seconds after"),
    "stays": ("end-of-input", "runs on 2 seconds after its input has ended"),
    "ignores-signals": ("end-of-input", "runs on 2 seconds after its input has ended"),
    "says-goodbye": ("end-of-input", "after its input had ended it wrote 'bye'"),
    "crashes-at-end": ("end-of-input", "signal SIGABRT (6)"),
    "leaves-a-child": ("end-of-input", "a process that it started keeps its standard output open"),
    "answers-early": ("whole-call", "before the last byte of the input it wrote"),
    "answers-by-itself": ("answers", 'for the next call: "call" is'),
    "endless-stderr": ("standard-error", "bytes; the last line is"),
    "refuses-unknown-keys": ("unknown-keys", "exit status 1; standard error ends with"),
    "refuses-unknown-operators": ("unknown-operator", "SumPool-99: error"),
    "accepts-anything": ("invalid-attributes", "AvgPool-1 with kernel [0, 0]: an output"),
    "dies-of-errors": ("invalid-attributes", "exit status 1"),
    "no-empty-input": ("empty-input", "standard error ends with 'empty input'"),
    "reads-at-most-64-KiB": ("large-input", "standard error ends with 'input too large'"),
    "reads-lines-with-read": ("answers", "exit status 1"),
    "only-one": ("at-once", "beside another: exit status 1"),
    "does-nothing-yet": ("result", "unsupported, 'not yet'"),
    "wrong-values": ("result", "is [3.5] of shape [1, 1, 1, 1], not [2.5]"),
}


@pytest.fixture
def quick(monkeypatch):
    """Make the probe ask for less, so that a whole gallery takes seconds."""
    monkeypatch.setattr("conformance.backends.program.probe._PAUSE", 0.01)
    monkeypatch.setattr("conformance.backends.program.probe._LARGE", 1 << 17)


def seconds(said):
    """Return how long a program may take: not long where it is known to hang."""
    found = re.search(r"([\d.]+) seconds", said)
    return float(found[1]) if found else 30.0


def pooling(folder, operator, kernel, value):
    """Return the command of the fake program with another operator."""
    text = FAKE.read_text()
    for before, after in (
        ('OPERATORS = ("AvgPool-1", "nGraph-AvgPool")', f'OPERATORS = ("{operator}",)'),
        ('attributes.get("kernel", attributes.get("window_shape"))', f'attributes.get("{kernel}")'),
        ("sum(cells[i : i + plane]) / plane", value),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    program = folder / "program.py"
    program.write_text(text)
    return sys.executable, str(program)


def test_a_right_program_keeps_every_rule():
    """Each rule has one finding, in the order of the page."""
    findings = list(probe(words(), timeout=30))
    assert [each.rule for each in findings] == list(RULES)
    assert [each for each in findings if each.state != "ok"] == []


def test_the_gallery_has_every_fault():
    """A fault that is added to the program must be looked for."""
    assert set(GALLERY) == set(FAULTS) - {""}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("fault", one_in(2, GALLERY))
def test_a_broken_rule_is_named(fault, monkeypatch):
    """The first rule that is broken is the right one, and what was seen is said on one line."""
    rule, said = GALLERY[fault]
    monkeypatch.setattr(
        "conformance.backends.program.probe._EARLY", 30.0 if rule == "whole-call" else 0.01
    )
    findings = probe(words(fault, always=True), timeout=seconds(said))
    found = next(finding for finding in findings if finding.state == "broken")
    findings.close()
    assert found.rule == rule
    assert said in found.seen
    assert found.seen.isprintable()


def test_without_a_handshake_nothing_else_is_tested():
    """What was written in place of it is shown, and named as what it is."""
    states = {f.rule: f for f in probe(words("greets-a-person"), timeout=30)}
    assert states.pop("handshake").state == "broken"
    assert states.pop("only-messages").state == "broken"
    assert {finding.state for finding in states.values()} == {"not tested"}


def test_one_broken_rule_does_not_break_the_others():
    """After each a fresh program is started."""
    broken = {f.rule for f in probe(words("dies-of-errors"), timeout=30) if f.state == "broken"}
    assert broken == {"invalid-attributes"}


def test_a_program_that_supports_nothing_computes_nothing(tmp_path):
    """That is no backend."""
    program = tmp_path / "program.sh"
    program.write_text(
        'read line; echo \'{"version": 1, "name": "none", "supports": {}}\'; read line'
    )
    findings = {f.rule: f for f in probe(("sh", str(program)), timeout=30)}
    assert findings["answers"].seen == "`supports` names nothing that it could be asked for"
    assert findings["result"].state == "not tested"
    assert findings["end-of-input"].seen == "exit status 1"  # read says that it read nothing


def test_a_program_that_does_nothing_yet_can_be_probed():
    """The first step of a new one: `unsupported` breaks no rule, and gives no result."""
    findings = {f.rule: f.state for f in probe(words("does-nothing-yet"), timeout=30)}
    assert {rule for rule, state in findings.items() if state == "broken"} == {"result"}
    untested = {rule for rule, state in findings.items() if state == "not tested"}
    assert untested == {"element-types", "invalid-attributes"}


def test_a_program_for_an_operator_from_outside_can_be_probed(minimum_pool, tmp_path):
    """What it is asked, what must be refused and what is right follow from the operator."""
    program = pooling(tmp_path, minimum_pool.name, "window", "min(cells[i : i + plane])")
    findings = {f.rule: f for f in probe(program, timeout=30)}
    assert {f.state for f in findings.values()} == {"ok"}
    assert findings["result"].seen == "MinimumPool-1 of 1, 2, 3, 4 in float32 is [1.0]"
    assert findings["invalid-attributes"].seen == (
        "MinimumPool-1 with window [0, 0]: error; MinimumPool-1 with window [2]: error; "
        "MinimumPool-1 with no window: error"
    )
    assert "int32" in findings["element-types"].seen


def test_the_result_of_a_norm_is_no_average(tmp_path):
    """What is right follows from the operator; the last bit of a root does not matter."""
    norm = "sum(x * x for x in cells[i : i + plane]) ** 0.5"
    program = pooling(tmp_path, "ONNX-LpPool-22", "kernel_shape", norm)
    findings = {f.rule: f for f in probe(program, timeout=30)}
    assert findings["element-types"].state == "ok"
    assert findings["result"].seen.startswith("ONNX-LpPool-22 of 1, 2, 3, 4 in float32 is [5.477")


@pytest.mark.parametrize("name", [name for name in EVERY if OPERATORS[name].rank is None])
@pytest.mark.parametrize("axes", [(1, 1), (1, None), (3, 4)])
def test_what_is_asked_is_valid_over_the_axes_that_an_operator_has(name, axes, monkeypatch):
    """And what must be refused is not."""
    operator = replace(OPERATORS[name], axes=axes)
    monkeypatch.setattr("conformance.backends.program.probe.OPERATORS", {name: operator})
    sample = _plain(name, "float32")
    params = operator.validate(sample.inputs, sample.attributes)
    assert operator.pipeline.plan(params).extent == (1,) * len(params.sizes)
    invalid = _invalid(sample)
    assert invalid or not (operator.has_windows or operator.is_adaptive)
    for case in invalid:
        with pytest.raises(InvalidCase):
            operator.validate(case.inputs, case.attributes)


def test_a_refusal_to_work_is_shown_in_the_programs_words(tmp_path):
    """No device, no licence: the handshake says so."""
    program = tmp_path / "program.sh"
    program.write_text('read line; echo \'{"version": 1, "refused": "no device"}\'; read line')
    found = next(probe(("sh", str(program)), timeout=30))
    assert (found.state, found.seen) == ("broken", "it refused to work: no device")


def test_a_program_that_does_not_exist_is_wrong_usage():
    """There is no finding about a program that is not there."""
    with pytest.raises(UsageError, match="cannot start 'no-such-program'"):
        next(probe(("no-such-program",)))


def test_the_page_lists_the_rules():
    """docs/protocol.md has the table that the probe works through."""
    table = re.findall(r"^\| `?([\w-]+)`? \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert [row for row in table if row[0] in RULES] == list(RULES.items())


@pytest.mark.parametrize(
    ("script", "state", "seen"),
    [
        ('echo \'{"version": 1, "name": "x"}\'', "ok", "it answers version 2 with its own"),
        (
            'echo \'{"version": 1, "refused": "too new"}\'',
            "ok",
            "it refuses to work with version 2",
        ),
        ("exit 2", "ok", "exit status 2 for version 2"),
        ("kill -SEGV $$", "broken", "offered version 2: signal SIGSEGV (11)"),
        (
            "printf what; exit 2",
            "broken",
            "offered version 2: exit status 2 after 'what' without a line feed",
        ),
        ("echo what", "broken", "offered version 2: the first line must be"),
        (
            "exec >&-; sleep 600",
            "broken",
            "offered version 2: it closed its standard input or output",
        ),
    ],
)
def test_offered_another_version_a_program_answers_with_its_own_or_exits(script, state, seen):
    """A crash, or words that are no message, break the rule."""
    usual = 'echo \'{"version": 1, "name": "x", "supports": {}}\'; read line'
    script = f"read line; case $line in *2}}) {script};; *) {usual};; esac"
    findings = {finding.rule: finding for finding in probe(("sh", "-c", script), timeout=30)}
    assert findings["other-version"].state == state
    assert findings["other-version"].seen.startswith(seen)


class TestCommand:
    def run(self, *arguments):
        """Run it in this process."""
        return CliRunner().invoke(main, ["probe", *arguments])

    def test_a_right_program_exits_0(self):
        """A line for each rule, the result last, then the verdict."""
        got = self.run(command())
        lines = got.stdout.splitlines()
        assert got.exit_code == 0, got.output
        assert [line for line in lines if line.startswith("ok ")][-1].split()[1] == "result"
        assert lines[-1] == "KEEPS THE PROTOCOL: 16 rules tested"
        assert max(map(len, lines)) <= 80

    def test_exec_before_the_command_is_no_part_of_it(self):
        """What is given to check can be given here."""
        assert self.run(f"exec:{command()}").exit_code == 0

    def test_a_broken_rule_exits_1_and_says_what_the_rule_is(self):
        """What was seen, and below it the rule."""
        got = self.run(shlex.join(words("refuses-unknown-operators")))
        assert got.exit_code == 1
        text = " ".join(got.stdout.split())
        assert "BROKEN unknown-operator SumPool-99: error" in text
        assert f"rule: {RULES['unknown-operator']}" in text
        assert got.stdout.splitlines()[-1] == (
            "DOES NOT KEEP THE PROTOCOL: 1 of 16 rules broken; see docs/protocol.md"
        )

    def test_a_wrong_result_is_told_from_a_broken_protocol(self):
        """The program is heard well; what it says is wrong."""
        got = self.run(shlex.join(words("wrong-values")))
        assert got.exit_code == 1
        assert got.stdout.splitlines()[-1] == (
            "KEEPS THE PROTOCOL: 16 rules tested; the result is not right: see conformance check"
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["no-such-program"], "exec:no-such-program: no such program on the PATH"),
            ([""], "exec:: name a program"),
            (["'"], "exec:': No closing quotation"),
            (["cat", "--timeout", "0"], "0.0 is not in the range x>0"),
        ],
    )
    def test_wrong_usage_exits_2_with_one_line(self, arguments, message):
        got = self.run(*arguments)
        assert (got.exit_code, got.stdout) == (2, "")
        assert message in got.stderr
        assert got.stderr.count("\n") == 1
