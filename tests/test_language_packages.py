"""The packages for C, Rust and npm: made by one command, they pass tests of their own."""

import json
import re
import runpy
import shutil
import subprocess
import tomllib

import pytest
from support.c_examples import compiled, printed
from support.cargo import cargo
from support.paths import ROOT

import conformance

SOURCES = ROOT / "packages"
# All that an answer can be: refused, undefined, overflowing, tied, of few and many bits.
OPERATORS = (
    *("AvgPool-1", "MaxPool-8", "TOSA-MAX_POOL2D", "WebNN-maxPool2d"),
    *("ONNX-GlobalAveragePool-22", "ONNX-LpPool-22"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of the packages, with vectors of some operators."""
    folder = tmp_path_factory.mktemp("packages")
    runpy.run_path(str(SOURCES / "make.py"))["make"](folder, OPERATORS)
    return folder


def npm(package, *words):
    """Return what npm prints of a package."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    done = subprocess.run(["npm", *words], cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_every_answer_gets_its_verdict_in_c(made):
    folder = made / "c" / "test"
    program = compiled(folder / "verdicts.c", "libcjson", folder / "verdicts", "-std=c99")
    said = printed(program, folder / "verdicts.safetensors")
    answers, others = map(int, re.findall(r"\d+", said.splitlines()[-1]))
    assert answers > 1000
    assert others == 0, said


KERNEL = """
int my_max_pool(const Case *call, Tensor *output) {
    *output = call->inputs[0];
    return number_attribute(call, "nothing", 2) != 2;
}
"""


def test_the_program_of_the_readme_for_c_compiles_and_runs(made):
    """To its end: its operator is not among these vectors."""
    page = (SOURCES / "c" / "README.md").read_text()
    shown = re.search(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    source = made / "c" / "readme.c"
    source.write_text(shown + KERNEL)
    program = compiled(source, "libcjson", made / "c" / "readme", "-std=c99")
    done = subprocess.run([program], cwd=made / "c", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_npm_test_passes(made):
    """Every answer gets its verdict, and what the README shows runs."""
    assert "every answer gets its verdict" in npm(made / "npm", "test")


def test_cargo_test_passes(made):
    """Every answer gets its verdict, and what the README shows runs."""
    said = cargo("test", made / "rust", made.parent / "cargo")
    assert "5 passed" in said
    assert "1 passed" in said


def test_the_npm_package_has_what_it_needs_and_no_tests(made):
    """Vectors and licence, too, which are not among the sources."""
    (packed,) = json.loads(npm(made / "npm", "pack", "--dry-run", "--json"))
    assert sorted(file["path"] for file in packed["files"]) == [
        *("LICENSE", "README.md", "index.d.ts", "index.js", "package.json"),
        "smoke.safetensors.gz",
    ]


def test_versions_are_that_of_the_suite():
    """Of the crate and of the npm package."""
    crate = tomllib.loads((SOURCES / "rust" / "Cargo.toml").read_text())["package"]
    package = json.loads((SOURCES / "npm" / "package.json").read_text())
    assert crate["version"] == package["version"] == conformance.__version__
    assert crate["name"] == package["name"] == "pooling-conformance"
