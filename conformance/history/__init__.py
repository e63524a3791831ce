"""Released versions of an engine, each checked in an environment of its own.

`history` runs them and keeps their reports; the values it returns say in which release each group
of failures came or went.
"""

from __future__ import annotations

from conformance.history.api import Checked, history
from conformance.history.findings import Change, FailureHistory, History
from conformance.history.versions import newest

__all__ = ["Change", "Checked", "FailureHistory", "History", "history", "newest"]
