"""Vector files: HDF5 columns, out and in (docs/format.md). Nothing else knows HDF5."""

from __future__ import annotations

from conformance.vectorfile.suite import VectorSet, open_suite, open_vectors, shipped_suite
from conformance.vectorfile.vector_file import VectorFile
from conformance.vectorfile.writer import VectorWriter

__all__ = ["VectorFile", "VectorSet", "VectorWriter", "open_suite", "open_vectors", "shipped_suite"]
