"""Puts this folder on the import path: `oracle`, `cases` and others are shared by the tests."""

from __future__ import annotations

import os

from hypothesis import settings

# A shared machine makes single examples slow now and then; that is no finding.
settings.register_profile("unhurried", deadline=None)
# The same examples every time, and how to repeat the one that failed.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "unhurried")
