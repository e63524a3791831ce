"""Models of users: their pooling layers as vectors (`generate --like`)."""

from __future__ import annotations

from conformance.cases.from_model.from_model import DistinctLayer, ModelVectors, generate_like

__all__ = ["DistinctLayer", "ModelVectors", "generate_like"]
