"""Named sets of pins: the readings that a family of engines follows."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.check.combinations import check_pins
from conformance.errors import UsageError
from conformance.operators.disputed import DISPUTED

_ENGINES = {"openvino": "OpenVINO", "onnx": "ONNX Runtime", "torch": "PyTorch"}


def _followed_by(engine: str) -> dict[str, str]:
    return {
        clause.name: reading.name
        for clause in DISPUTED
        for reading in clause.readings
        if engine in reading.followed_by
    }


PROFILES: dict[str, dict[str, str]] = {
    name: _followed_by(engine) for name, engine in _ENGINES.items()
}
"""Clause to reading, where the engine is known to follow one."""


def pins_of(profile: str | None, require: Mapping[str, str] | None) -> dict[str, str]:
    """Return the pins of a profile, with those of `require` on top.

    Raises UsageError, saying what there is, for an unknown profile, clause or reading.
    """
    if profile is not None and profile not in PROFILES:
        raise UsageError(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    pins = (PROFILES[profile] if profile else {}) | dict(require or {})
    check_pins(pins)
    return pins
