"""Makes vectors/SHA256SUMS, by which shipped files are known to be what was shipped.

To be run after vectors were made: `python docs/development/make_manifest.py`.
"""

from __future__ import annotations

from hashlib import sha256

from conformance.vectorfile import shipped_suite
from conformance.vectorfile.suite import MANIFEST


def manifest() -> str:
    """Return a line for each shipped file, as `sha256sum` writes them."""
    files = sorted(shipped_suite().glob("*.h5"))
    return "".join(f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


if __name__ == "__main__":
    (shipped_suite() / MANIFEST).write_text(manifest(), encoding="ascii")
