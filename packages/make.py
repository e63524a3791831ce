"""Makes the packages for C, Rust and npm, ready to test and to publish: `python packages/make.py`.

They are written to build/packages: the sources beside this file, the licence, the smoke tier, and
the verdicts that their tests compare with, which are not published.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from conformance.export import export

SOURCES = Path(__file__).parent
TESTS = {"c": "test", "rust": "tests", "npm": "test"}
"""The packages, and the folder of the tests of each."""
SUFFIXES = {"c": ".safetensors"}
"""The end of the names of files that are not compressed."""
BUILT = shutil.ignore_patterns("target", "Cargo.lock", "node_modules", "*.gz")


def make(folder: Path, operators: Sequence[str] | None = None) -> None:
    """Write the packages into a folder, in place of those there; None are all operators."""
    for name in TESTS:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(SOURCES / name, folder / name, ignore=BUILT)
        shutil.copy(SOURCES.parent / "LICENSE", folder / name)
    for name, tests in TESTS.items():
        end = SUFFIXES.get(name, ".safetensors.gz")
        files = {"safetensors": f"smoke{end}", "verdicts": f"{tests}/verdicts{end}"}
        for form, path in files.items():
            export(form, folder / name / path, operators=operators, tier="smoke")


if __name__ == "__main__":
    target = SOURCES.parent / "build" / "packages"
    make(target)
    print(f"{target}: {' and '.join(TESTS)}")
