"""The example programs: they keep the protocol, conform, and stand what a harness might send."""

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from support.paths import EXAMPLES, ROOT

from conformance.api.check import CheckPlan, run
from conformance.backends.program.external import External
from conformance.backends.program.isolated import Isolated
from conformance.backends.program.probe import probe
from conformance.settings import Settings

HELLO = b'{"protocol": "pooling-conformance", "version": 1}\n'
CALL = {
    "call": 0,
    "operator": "AvgPool-1",
    "attributes": {
        "kernel": [2, 2],
        "strides": [1, 1],
        "pads_begin": [0, 0],
        "pads_end": [0, 0],
        "exclude_pad": True,
    },
    "inputs": [{"dtype": "float32", "shape": [1, 1, 2, 2]}],
}
CELLS = bytes.fromhex("0000803f 00000040 00004040 00008040")
OPERATORS = ("AvgPool-1", "MaxPool-1")
# Vectors of the smoke tier in the element types that each supports.
SUPPORTED = {
    "c": {"float32"},
    "javascript": {"float32", "float64"},
    "python": {"float32", "float64"},
    "rust": {"float32"},
}
NEEDED = {"javascript": "node", "rust": "rustc"}


def compiled(target, *flags):
    """Compile the C example as its first lines say, with every warning an error."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    source = EXAMPLES / "exec_backend.c"
    stated = re.search(r"cc (.*) examples/exec_backend.c -o exec_backend (.*)", source.read_text())
    words = [compiler, *stated[1].split(), "-Werror", *flags, source, "-o", target]
    return subprocess.run([*words, *stated[2].split()], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Return the command of each example; the C one stops at undefined behaviour if it can."""
    folder = tmp_path_factory.mktemp("compiled")
    plain, strict, rust = folder / "plain", folder / "strict", folder / "rust"
    done = compiled(plain)
    assert (done.returncode, done.stderr) == (0, "")
    checks = compiled(strict, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    if shutil.which("rustc"):
        words = ["rustc", "-O", "-D", "warnings", EXAMPLES / "exec_backend.rs", "-o", rust]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    return {
        "c": shlex.quote(str(plain if checks.returncode else strict)),
        "javascript": shlex.join(["node", str(EXAMPLES / "javascript" / "exec_backend.mjs")]),
        "python": shlex.join([sys.executable, str(EXAMPLES / "exec_backend.py")]),
        "rust": shlex.quote(str(rust)),
    }


@pytest.fixture(params=[*SUPPORTED])
def language(request):
    """Return which example to look at."""
    needed = NEEDED.get(request.param)
    if needed and shutil.which(needed) is None:
        pytest.skip(f"there is no {needed}")
    return request.param


@pytest.fixture
def command(language, commands):
    return commands[language]


def conversation(command, sent):
    """Send bytes, close the input and return what became of the program."""
    return subprocess.run(
        shlex.split(command), input=sent, capture_output=True, timeout=60, check=False
    )


def test_it_conforms_on_all_it_supports(command, language):
    """Every vector of the smoke tier of its operators and types conforms."""
    if not list((ROOT / "vectors").glob("*.h5")):
        pytest.skip("the shipped vectors are not there")
    with Isolated(External(command).launch, timeout=60) as runner:
        plan = CheckPlan.of(Settings(operators=OPERATORS, tier="smoke"))
        report = run(runner, plan=plan, name="example")
    assert report.ok, report.problems
    ran = [each for each in report.results if each.verdict != "unsupported"]
    assert {each.verdict for each in ran} == {"conforms"}
    for operator in OPERATORS:
        of_operator = [each for each in report.results if each.operator == operator]
        expected = {each.id for each in of_operator if each.dtype in SUPPORTED[language]}
        assert expected <= {each.id for each in ran}
        assert expected


def test_it_keeps_the_protocol(command):
    """All that the probe can test holds."""
    findings = list(probe(External(command).launch.command, timeout=60))
    assert [each for each in findings if each.state == "broken"] == []
    assert {each.rule for each in findings if each.state != "ok"} == {"unknown-operator"}


def test_the_conversation_of_the_page_takes_place(command):
    """Byte by byte as docs/protocol.md shows it, but for the name of the program."""
    page = (ROOT / "docs" / "protocol.md").read_text()
    shown = re.search(r"## Byte by byte.*?```text\n(.*?)```", page, re.DOTALL)[1]
    sides = {">": b"", "<": b""}
    for line in re.sub(r"\n {3}", " ", shown).splitlines():
        side, said = line[0], line[2:]
        if said.startswith("{"):
            sides[side] += said.removesuffix("\\n").encode() + b"\n"
        elif not said.startswith("("):
            sides[side] += bytes.fromhex(said)
    done = conversation(command, sides[">"])
    assert done.returncode == 0
    (_, answer, cells), (_, expected, expected_cells) = (
        said.split(b"\n", 2) for said in (done.stdout, sides["<"])
    )
    assert (json.loads(answer), cells) == (json.loads(expected), expected_cells)


def test_an_operator_it_does_not_know_is_unsupported(command):
    """The bytes of all inputs are read first, so that the next call is heard."""
    inputs = [*CALL["inputs"], {"dtype": "bfloat16", "shape": [3]}]
    unknown = json.dumps(CALL | {"operator": "SumPool-99", "inputs": inputs}).encode()
    known = json.dumps(CALL | {"call": 1}).encode()
    sent = HELLO + unknown + b"\n" + CELLS + b"123456" + known + b"\n" + CELLS
    _, first, second = conversation(command, sent).stdout.split(b"\n", 2)
    assert list(json.loads(first)) == ["call", "unsupported"]
    assert second.endswith(bytes.fromhex("00002040"))


@pytest.mark.parametrize(
    "changed",
    [
        {"kernel": [2**62, 1]},
        {"kernel": [10**30, 1]},
        {"kernel": [2.0, 2]},
        {"kernel": [True, 2]},
        {"kernel": "2, 2"},
        {"kernel": [[2], 2]},
        {"kernel": [2, 2, 2, 2, 2]},
        {"strides": [-1, 1]},
        {"strides": None},
        {"pads_end": [2**40, 2**40]},
        {"pads_end": [2**29, 2**29]},
        {"pads_begin": [-(2**63), 0]},
        {"exclude_pad": 1},
        {"exclude_pad": "true"},
        {"auto_pad": "same"},
        {"auto_pad": 7},
        {"rounding_type": "ceiling"},
        {"rounding_type": ["ceil"]},
        {"dilations": [1, 1]},
    ],
)
def test_invalid_and_absurd_attributes_are_errors(command, changed):
    """One answer each, no output, and the program goes on."""
    attributes = CALL["attributes"] | changed
    calls = [CALL | {"attributes": attributes}, CALL | {"call": 1}]
    sent = b"".join(json.dumps(call).encode() + b"\n" + CELLS for call in calls)
    done = conversation(command, HELLO + sent)
    _, first, second = done.stdout.split(b"\n", 2)
    assert list(json.loads(first)) == ["call", "error"]
    assert second.endswith(bytes.fromhex("00002040"))
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"protocol": "other", "version": 1}\n',
        b'{"protocol": 7}\n',
        b"GET / HTTP/1.1\r\n",
        b"\xff\xfe\n",
        b'"' + b"x" * (1 << 20) + b'"\n',
        b"[" * 1000 + b"\n",
        HELLO + b"{}\n",
        HELLO + b'{"call": 0}\n',
        HELLO + b'{"call": 0, "operator": "AvgPool-1", "inputs": 7}\n',
        HELLO + b'{"call": 0, "operator": "AvgPool-1", "inputs": [{}]}\n',
        HELLO + b'{"call": 0, "operator": "A", "inputs": [{"dtype": "x", "shape": [1]}]}\n',
        HELLO + b'{"call": 0, "operator": "A\\',
        HELLO + b'{"call": 0, "operator": "A\\\n',
        HELLO + b'{"call": 0 "operator": "A"}\n',
        HELLO + b'{"call": 0,, "operator": "A"}\n',
        HELLO + b'{"call": 0} trailing\n',
        HELLO + b'{"call": [1, {"a": "}"',
    ],
)
@pytest.mark.parametrize("compiled_language", ["c", "rust"])
def test_a_line_that_no_harness_writes_is_no_crash_of_memory(commands, compiled_language, line):
    """The compiled examples say in one line what they stumbled over, and exit with status 2."""
    if compiled_language == "rust" and shutil.which("rustc") is None:
        pytest.skip("there is no rustc")
    done = conversation(commands[compiled_language], line)
    assert done.returncode == 2
    assert re.fullmatch(rb"exec_backend: [^\n]*\n", done.stderr)
