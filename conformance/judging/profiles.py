"""Named sets of pins: the readings that a family of engines follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.errors import UsageError
from conformance.operators import disputed_clauses
from conformance.operators.registry import check_readings

_ENGINES = {"openvino": "OpenVINO", "onnx": "ONNX Runtime", "torch": "PyTorch"}


class _Profiles(Mapping[str, dict[str, str]]):
    """Profiles by name; the clauses of all operators are asked for when one is looked at."""

    def __getitem__(self, name: str) -> dict[str, str]:
        engine = _ENGINES[name]
        return {
            clause.name: reading.name
            for clause in disputed_clauses().values()
            for reading in clause.readings
            if engine in reading.followed_by
        }

    def __iter__(self) -> Iterator[str]:
        return iter(_ENGINES)

    def __len__(self) -> int:
        return len(_ENGINES)


PROFILES: Mapping[str, dict[str, str]] = _Profiles()
"""Clause to reading, where the engine is known to follow one."""


def pins_of(profile: str | None, require: Mapping[str, str] | None) -> dict[str, str]:
    """Return the pins of a profile, with those of `require` on top.

    Raises UsageError, saying what there is, for an unknown profile, clause or reading.
    """
    if profile is not None and profile not in PROFILES:
        raise UsageError(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    pins = (PROFILES[profile] if profile else {}) | dict(require or {})
    check_readings(pins)
    return pins
