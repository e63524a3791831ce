"""Which of many releases have to be run to place each change of what fails."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from conformance.api.releases import Release

Observe = Callable[[str], Release]


def observed(versions: Sequence[str], observe: Observe) -> list[Release]:
    """Return every release."""
    return [observe(version) for version in versions]


def bisected(versions: Sequence[str], observe: Observe) -> list[Release]:
    """Return the first and the last release, and of those between what places each change.

    Where the same vectors fail in two releases, those between them are left out: a change that
    went again between them is not seen. What cannot be run is passed over.
    """
    releases: dict[int, Release] = {}

    def runs(number: int) -> bool:
        if number not in releases:
            releases[number] = observe(versions[number])
        return not releases[number].problem

    everything = range(len(versions))
    low, high = next(filter(runs, everything), None), next(filter(runs, reversed(everything)), None)
    intervals = deque([] if low is None or high is None else [(low, high)])
    while intervals:
        low, high = intervals.popleft()  # the widest first: a run that is stopped tells most
        if releases[low].failures == releases[high].failures:
            continue
        between = sorted(range(low + 1, high), key=lambda n: abs(2 * n - low - high))
        middle = next(filter(runs, between), None)
        if middle is not None:
            intervals += [(low, middle), (middle, high)]
    return [releases[number] for number in sorted(releases)]
