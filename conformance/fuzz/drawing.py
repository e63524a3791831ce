"""Cases drawn in groups, with what is right for them: here, or ahead in other processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import cache
from random import Random
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from conformance.cases.strategies import cases, invalid_cases
from conformance.executors import Processes
from conformance.files import Closable
from conformance.operators import operator_named, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.settings import check_jobs
from conformance.vector import Case, Vector

GROUP = 8
"""Cases that are drawn together."""
_USUAL, _BROKEN = 18, 4  # cases that break a rule for so many usual ones, and for one large
_LARGE = 1 << 17  # elements: positions that need more than 16 bits
_AHEAD = 16  # groups of each process that may wait: a failure takes its time


class Seeded(HypothesisProvider):
    """Draws from a seed alone.

    Hypothesis mixes in constants of whatever sources are loaded, those of a backend too.
    """

    def _maybe_draw_constant(self, *_wanted: Any, **_options: Any) -> None:
        return None


AVAILABLE_PROVIDERS["conformance"] = f"{__name__}.{Seeded.__name__}"
_OPTIONS = settings(
    backend="conformance",
    deadline=None,
    database=None,
    verbosity=Verbosity.quiet,
    suppress_health_check=list(HealthCheck),
)


class Place(NamedTuple):
    """Where a group of cases lies among all that can be drawn: the same there each time."""

    seed: int
    operator: str
    number: int


class Prepared(NamedTuple):
    """A case and the vector made of it; None if the error bound says nothing of it."""

    case: Case
    vector: Vector | None


def prepared(case: Case) -> Prepared:
    """Return a case with its vector."""
    vector = vector_of(case)
    judgeable = is_judgeable(operator_named(case.operator), vector)
    return Prepared(case, vector if judgeable else None)


def first_failing(place: Place, fails: Callable[[Case], bool], *phases: Phase) -> Case | None:
    """Return the first case of a group that fails, shrunk if there is a phase for that."""
    # The first example is always the simplest, nothing.
    options = settings(_OPTIONS, max_examples=1 + GROUP, phases=phases)
    random = Random("/".join(map(str, place)))  # noqa: S311 - no secrets
    strategy = _strategy(place.operator)
    try:
        return find(
            strategy, lambda case: case is not None and fails(case), settings=options, random=random
        )
    except NoSuchExample:
        return None


def group_at(place: Place) -> list[Case]:
    """Return the cases of a group."""
    drawn: list[Case] = []

    def collect(case: Case) -> bool:
        drawn.append(case)
        return False

    first_failing(place, collect, Phase.generate)
    return drawn


def prepared_at(place: Place) -> list[Prepared]:
    """Return the cases of a group with their vectors."""
    return [prepared(case) for case in group_at(place)]


class Drawing(Closable):
    """Draws groups one after the other; ahead, in processes, if there are several `jobs`.

    A context manager. Raises UsageError for a number of jobs that cannot be.
    """

    def __init__(self, jobs: int) -> None:
        check_jobs(jobs)
        self._jobs = jobs
        self._processes = Processes(jobs) if jobs > 1 else None

    def close(self) -> None:
        """End the processes."""
        if self._processes is not None:
            self._processes.close()

    def all_prepared(self, places: Iterable[Place]) -> Iterator[list[Prepared]]:
        """Yield the groups at places, in their order; raises what `Processes` does."""
        if self._processes is None:
            yield from map(prepared_at, places)
            return
        waiting: deque[Future[list[Prepared]]] = deque()
        try:
            for place in places:
                waiting.append(self._processes.submit(prepared_at, place))
                if len(waiting) > _AHEAD * self._jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@cache
def _strategy(operator: str) -> st.SearchStrategy[Case | None]:
    """Return valid cases, and a few that are large or break a rule; the simplest is nothing."""
    usual = cases(operator)
    large = cases(operator, max_elements=_LARGE, mixes=["integers"])  # for their positions
    kinds = [st.none(), *[usual] * _USUAL, large, *[invalid_cases(operator)] * _BROKEN]
    return st.sampled_from(range(len(kinds))).flatmap(kinds.__getitem__)
