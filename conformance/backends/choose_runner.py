"""Which runner calls a backend: this process, processes of their own, or a look-up of results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from conformance.backends.answer import Backend
from conformance.backends.named_backend import NamedBackend
from conformance.backends.program.external import External
from conformance.backends.program.isolated import Isolated
from conformance.backends.program.launch import python_worker
from conformance.backends.python_callable import check_signature
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import InProcess, Runner
from conformance.errors import UsageError
from conformance.process import Launch


@contextmanager
def runner_of(
    backend: Backend | NamedBackend,
    timeout: float | None,
    memory: int | None,
    jobs: int,
    *,
    apart: bool,
) -> Iterator[Runner]:
    """Yield what calls a backend, a callable or what a text names.

    Stored results are looked up. Programs always run in processes of their own, and a backend of
    Python does if `apart` says so: in `jobs` processes, each with `memory` bytes of address space,
    and `timeout` seconds for each call; None is no limit. Raises UsageError for what is no
    backend.
    """
    named = backend if isinstance(backend, NamedBackend) else None
    if callable(backend) and not isinstance(backend, External | StoredResults):
        check_signature(backend, "the backend")
    if named is not None and (named.kind in {"exec", "results"} or not apart):
        backend = named.load()
    if isinstance(backend, External) or (apart and not isinstance(backend, StoredResults)):
        with Isolated(launch_of(backend), timeout=timeout, memory=memory, jobs=jobs) as workers:
            yield workers
    elif isinstance(backend, StoredResults):
        with nullcontext() if named is None else backend:
            yield backend
    elif callable(backend):
        yield InProcess(backend, "" if named is None else named.engine_version)
    else:
        raise UsageError(f"the backend is {type(backend).__name__}, not callable")


def launch_of(backend: Backend | NamedBackend) -> Launch:
    """Return how to start a backend in a process of its own.

    Raises UsageError for what is no backend, for stored results and for a callable that cannot be
    sent to another process.
    """
    if isinstance(backend, NamedBackend):
        return backend.launch
    if isinstance(backend, StoredResults):
        raise UsageError("stored results are looked up, and no process computes them")
    return backend.launch if isinstance(backend, External) else python_worker(backend)
