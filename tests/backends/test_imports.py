"""Imports of the backends point one way: from the text that names one down to bytes and engines."""

import ast
from pathlib import Path

import pytest

from conformance import backends

ROOT = Path(backends.__file__).parent
ABOVE = {"", "builtin", "choose_runner", "named_backend", "worker"}
"""Modules of the package, "" for the package itself, that those in its folders do not import."""


@pytest.mark.parametrize("folder", ["engines", "program", "results"])
def test_a_folder_imports_nothing_of_what_chooses_a_backend(folder):
    """So no import goes up again, and there is no circle."""
    files = sorted((ROOT / folder).glob("*.py"))
    assert len(files) > 2
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                package, _, name = node.module.removeprefix("conformance.").partition(".")
                assert package != "backends" or name not in ABOVE, f"{file}: {node.module}"
