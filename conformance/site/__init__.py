"""A static site from saved reports: which release of which engine is right, at a glance.

Its pages are documents like every report, rendered as HTML with links among them.
"""

from __future__ import annotations

from conformance.site.addresses import INDEX
from conformance.site.folder import Written, write

__all__ = ["INDEX", "Written", "write"]
