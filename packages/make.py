"""Makes the packages for Rust and npm, ready to test and to publish: `python packages/make.py`.

They are written to build/packages: the sources beside this file, the licence, the smoke tier, and
the verdicts that their tests compare with, which are not published.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from conformance.export import export

SOURCES = Path(__file__).parent
TESTS = {"rust": "tests", "npm": "test"}
"""The packages, and the folder of the tests of each."""
BUILT = shutil.ignore_patterns("target", "Cargo.lock", "node_modules", "*.gz")


def make(folder: Path, operators: Sequence[str] | None = None) -> None:
    """Write the packages into a folder, in place of those there; None are all operators."""
    for name in TESTS:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(SOURCES / name, folder / name, ignore=BUILT)
        shutil.copy(SOURCES.parent / "LICENSE", folder / name)
    files = {
        "safetensors": [folder / name / "smoke.safetensors.gz" for name in TESTS],
        "verdicts": [folder / name / TESTS[name] / "verdicts.safetensors.gz" for name in TESTS],
    }
    for form, (path, *copies) in files.items():
        export(form, path, operators=operators, tier="smoke")
        for copy in copies:
            shutil.copy(path, copy)


if __name__ == "__main__":
    target = SOURCES.parent / "build" / "packages"
    make(target)
    print(f"{target}: {' and '.join(TESTS)}")
