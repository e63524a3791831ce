"""The readers in examples/ and docs/format.md: other people's programs read our files."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from support.arbitrary_vectors import OPERATOR, small_vectors
from support.c_examples import compiled, printed
from support.paths import EXAMPLES, ROOT

from conformance.vector import Raises
from conformance.vectorfile import VectorWriter, layout


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a file whose second vector has no values."""
    path = tmp_path_factory.mktemp("examples") / "AvgPool-1.h5"
    one, other, last = small_vectors(3)
    with VectorWriter(path, OPERATOR, header={}) as file:
        for vector in (one, replace(other, outcomes=(Raises(),)), last):
            file.add(vector)
    return path


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return the C example, compiled."""
    program = tmp_path_factory.mktemp("c") / "read_vectors"
    return compiled(EXAMPLES / "read_vectors.c", "hdf5", program, "-std=c99")


EXPECTED = [
    "AvgPool-1/case/000 expects 0.5 first\n",
    "AvgPool-1/case/001 expects no values\n",
    "AvgPool-1/case/002 expects 2.5 first\n",
]


def test_the_c_example_reads_a_file(path, reader):
    """It compiles without a warning, and prints id and value of each vector."""
    assert [printed(reader, path, number) for number in range(3)] == EXPECTED


def test_the_c_example_refuses_a_number_out_of_range(path, reader):
    """A reader looks before it indexes."""
    assert subprocess.run([reader, path, "3"], check=False).returncode == 3


def test_the_h5py_example_reads_a_file(path):
    """It prints id and value of each vector without this package."""
    script = EXAMPLES / "read_vectors.py"
    assert [printed(sys.executable, "-I", script, path, n) for n in range(3)] == EXPECTED


@pytest.mark.parametrize("name", ["read_vectors.c", "read_vectors.py"])
def test_the_examples_know_every_element_type(name):
    """The codes in the examples are those of the format."""
    types = re.findall(r'"(\w*(?:float|int)\d\w*)"', (EXAMPLES / name).read_text())
    assert tuple(types) == layout.ELEMENT_TYPES


def test_the_description_names_every_column_and_limit():
    """docs/format.md is complete: each column, type code and limit is in it."""
    text = (ROOT / "docs" / "format.md").read_text()
    columns = {path.rpartition("/")[2] for path in layout.REQUIRED}
    limits = {"MAX_ROWS", "MAX_TEXT", "MAX_HEADER", "MAX_EXTENT", "MAX_VECTOR"}
    numbers = {f"{getattr(layout, limit):,}" for limit in limits}
    codes = {f"{code} {name}" for code, name in enumerate(layout.ELEMENT_TYPES)}
    wanted = {f"`{column}`" for column in columns} | numbers | codes
    assert {each for each in wanted if each not in text} == set()
