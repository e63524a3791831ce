"""The example programs that run exported vectors: their results come back, and conform."""

import re
import shutil
import subprocess
import sys

import pytest
from support.c_examples import compiled, printed
from support.cargo import cargo
from support.paths import EXAMPLES, ROOT
from support.stored_outputs import looked_up

from conformance.backends.results.stored_results import StoredResults
from conformance.export import export
from conformance.vectorfile import open_suite

OPERATORS = ("AdaptiveAvgPool-8", "MaxPool-1")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Return a file of exported vectors: of the operator that examples compute, and of another."""
    path = tmp_path_factory.mktemp("exported") / "v.safetensors"
    export("safetensors", path, operators=OPERATORS, tier="smoke")
    return path


def python(_folder):
    return [sys.executable, EXAMPLES / "run_exported.py"]


def javascript(_folder):
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    return ["node", EXAMPLES / "javascript" / "run_exported.mjs"]


def c(folder):
    """Compile as the first lines of the example say, with every warning an error."""
    source = EXAMPLES / "run_exported.c"
    stated = re.search(r"cc (.*?) examples/run_exported.c", source.read_text())[1].split()
    return [compiled(source, "libcjson", folder / "run_exported", *stated)]


def rust(folder):
    """Compile beside the crate that it uses."""
    for name in ("examples/rust", "packages/rust"):
        shutil.copytree(ROOT / name, folder / name)
    target = folder.parent / "cargo"
    cargo("build", folder / "examples" / "rust", target)
    return [target / "debug" / "run_exported"]


@pytest.mark.parametrize(
    "language",
    [
        python,
        javascript,
        c,
        pytest.param(rust, marks=pytest.mark.slow("its crate has tests of its own")),
    ],
    ids=lambda each: each.__name__,
)
def test_what_an_example_computes_conforms(language, vectors, tmp_path):
    """It runs every vector of float32, and says of the others that it does not support them."""
    path = tmp_path / "r.safetensors"
    said = printed(*language(tmp_path), vectors, path)
    with open_suite(None, OPERATORS) as files, StoredResults(path) as stored:
        report = looked_up(stored, files, tier="smoke")
    assert report.ok, report.problems
    assert report.counts.keys() == {"conforms", "unsupported"}
    assert all(
        each.verdict == "conforms"
        for each in report.results
        if each.operator == "AdaptiveAvgPool-8" and each.dtype == "float32"
    )
    numbers = [int(number) for number in re.findall(r"\d+", said)]
    assert re.fullmatch(r"\d+ outputs, \d+ raised, \d+ unsupported\n", said)
    assert sum(numbers) == len(report.results)
    assert numbers[0] > 20


@pytest.mark.parametrize("content", [b"", b"1234567", b"\xff" * 9, b"\x02" + bytes(7) + b"{}"])
def test_the_c_example_refuses_what_is_no_export(content, tmp_path):
    """It looks before it reads."""
    (program,) = c(tmp_path)
    assert refused(program, content, tmp_path)


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        (b'"shape":[', b'"shape":[9,'),
        (b'"shape":[', b'"shape":[-1,'),
        (b'offsets":[', b'offsets":[9'),
    ],
)
def test_the_c_example_reads_no_tensor_past_its_bytes(part, instead, vectors, tmp_path):
    """Neither the shape nor the offsets of a tensor are taken on their word."""
    (program,) = c(tmp_path)
    content = vectors.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].replace(b": ", b":").replace(part, instead)
    content = len(header).to_bytes(8, "little") + header + content[8 + length :]
    assert refused(program, content, tmp_path)


def refused(program, content, folder):
    """Say whether the example ends with one line and status 2."""
    (folder / "v").write_bytes(content)
    command = [program, folder / "v", folder / "r"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode == 2 and ended.stderr.count("\n") == 1
