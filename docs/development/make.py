"""Makes all pages and numbers that this package alone can make: `python docs/development/make.py`.

To be run at the top of the repository after vectors, clauses or reports have changed. Pages
of engines have makers of their own, which need the engines.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

MAKERS = ("packed", "manifest", "clauses", "large", "schema", "numbers", "samples")

if __name__ == "__main__":
    for maker in MAKERS:
        run_path(str(Path(__file__).with_name(f"make_{maker}.py")), run_name="__main__")
