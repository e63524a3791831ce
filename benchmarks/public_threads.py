"""Whether the suite catches what public threads say of wrong pools, and names its cause.

    python -m benchmarks.public_threads [--thread onnx/onnx] [--all]

The backends of `thread_backends.py` are checked as a user does: a text that names the backend, the
operators concerned, the smoke tier and the standard one, with causes that fresh calls confirm. A
row says how many vectors fail of how many, and the first cause of most of them, or all with --all.
Whether a cause is right is for a reader: it is beside what is wrong.
"""

from __future__ import annotations

import argparse

from benchmarks.thread_backends import REPLAYS, Replay
from conformance.api.check import check
from conformance.record.report import Diagnosis, Report

_MODULE = "benchmarks.thread_backends"


def checked(replay: Replay, tier: str) -> Report:
    """Check a backend as a user does."""
    named = f"{_MODULE}:{replay.backend.__name__}"
    return check(named, operators=replay.operators, tier=tier, isolate=True)


def said(cause: Diagnosis, failing: int) -> str:
    """Say how much a cause explains, how sure it is, and what it is."""
    if not cause.is_known:
        return f"{cause.explained} of {failing} unknown"
    sure = "confirmed" if cause.is_confirmed else "not confirmed"
    where = f", where {cause.condition}" if cause.condition else ""
    return f"{cause.explained} of {failing} {sure}: {cause.behaviour or cause.summary}{where}"


def main() -> None:
    """Check the backends and print a row for each tier."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--thread", default="", help="those that hold this text")
    parser.add_argument("--all", action="store_true", help="all causes, not the first")
    options = parser.parse_args()
    for replay in REPLAYS:
        if options.thread not in replay.thread:
            continue
        print(f"{replay.thread} | {replay.kind} | {', '.join(replay.operators)} | {replay.said}")
        for tier in ("smoke", "standard"):
            report = checked(replay, tier)
            failing = sum(result.verdict in report.failing for result in report.results)
            print(f"  {tier}: {failing} of {len(report.results)}", flush=True)
            for cause in report.diagnoses[: None if options.all else 1]:
                print(f"    {said(cause, failing)}", flush=True)


if __name__ == "__main__":
    main()
