"""The public names are functions and classes, whatever was imported before."""

import pydoc
import subprocess
import sys
from importlib.util import find_spec

import pytest

import conformance
from conformance.record.jsonl import write


@pytest.mark.parametrize("name", conformance.__all__)
def test_every_public_name_resolves(name):
    """Each name of __all__ is there and is no module."""
    assert callable(getattr(conformance, name))


@pytest.mark.parametrize("name", conformance.__all__)
def test_no_module_has_a_public_name(name):
    """Importing it would put the module in the place of the function."""
    assert find_spec(f"conformance.{name}") is None


def test_read_report_reads_what_check_wrote(tmp_path):
    """It is the inverse of --json; a file that is none is a ReportFileError."""
    report = conformance.check("numpy", operators="MaxPool-1", tier="smoke")
    write(report, tmp_path / "report.jsonl")
    assert conformance.read_report(tmp_path / "report.jsonl").counts == report.counts
    with pytest.raises(conformance.ReportFileError):
        conformance.read_report(__file__)


@pytest.mark.parametrize("name", [name for name in conformance.__all__ if name[0].islower()])
def test_the_help_of_a_function_fits_the_screen(name):
    """No default is as long as a catalogue."""
    assert len(pydoc.render_doc(f"conformance.{name}")) < 3000


def test_an_unknown_name_is_an_attribute_error():
    """The message names the package and the name."""
    with pytest.raises(AttributeError, match=r"conformance.*nothing"):
        _ = conformance.nothing


def test_importing_the_package_loads_no_heavy_module():
    """`import conformance` is quick: numpy and h5py wait until they are needed."""
    code = "import sys, conformance; print([m for m in ('numpy', 'h5py') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
