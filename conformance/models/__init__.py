"""Models of users: their pooling layers as vectors (`generate --like`)."""

from __future__ import annotations

from conformance.models.like import Found, Likeness, generate_like

__all__ = ["Found", "Likeness", "generate_like"]
