"""A Dask cluster that runs already: tasks for its workers, and files that go with them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from conformance.errors import ConformanceError, UsageError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_SECONDS = 10
"""How long a scheduler may take to answer."""
_SECONDS_OF_WORKERS = 60
"""How long a first worker may take to come."""


class Cluster:
    """The workers of a cluster, with so many `threads` in all, each for one task at a time."""

    def __init__(self, client: Any, threads: int) -> None:
        self._client = client
        self.threads = threads

    def shared(self, paths: Sequence[Path]) -> list[Any]:
        """Return the contents of files, to be given to tasks: each worker is sent them once."""
        from dask import config  # noqa: PLC0415 - an extra

        # Not scattered: data that a task returns is made again when the worker that has it dies.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            return [self._client.submit(bytes, path.read_bytes(), pure=False) for path in paths]

    def completed(
        self, function: Callable[..., _Result], tasks: Sequence[_Task], *shared: Any
    ) -> Iterator[tuple[_Task, _Result]]:
        """Yield each task with the result of a function of it and of what is `shared`, as it comes.

        The tasks of a worker that dies are run again by others. Raises what the function raises,
        and ConformanceError if a task kills its workers again and again.
        """
        from distributed import KilledWorker, as_completed  # noqa: PLC0415 - an extra

        running = {self._client.submit(function, task, *shared, pure=False): task for task in tasks}
        try:
            for future in as_completed(list(running), loop=self._client.loop):
                yield running.pop(future), future.result()
        except KilledWorker as error:
            raise ConformanceError(
                f"workers of the cluster died again and again with one task: {error}"
            ) from None
        finally:
            self._client.cancel(list(running))


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to the scheduler at an address, tcp://HOST:PORT; UsageError if that cannot be."""
    try:
        from distributed import Client, comm  # noqa: PLC0415 - an extra
        from distributed.utils import LoopRunner  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            "a cluster needs the package distributed: pip install distributed"
        ) from None
    try:
        # Asked without a Client first: one that does not start is closed when it is collected, and
        # waits for itself for ever where the thread that happens to collect it is its own.
        LoopRunner().run_sync(comm.connect, address, timeout=_SECONDS).abort()
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"cluster {address}: no scheduler answers there ({type(error).__name__})"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_SECONDS_OF_WORKERS)
        except TimeoutError:
            raise UsageError(
                f"cluster {address} has no worker: start one, dask worker {address}"
            ) from None
        yield Cluster(client, sum(client.nthreads().values()))


@contextmanager
def written(contents: Sequence[bytes]) -> Iterator[list[Path]]:
    """Yield paths of files with some contents, for the length of a task: called on a worker."""
    from distributed import get_worker  # noqa: PLC0415 - an extra

    # Dask removes the folder of a worker that was killed.
    with tempfile.TemporaryDirectory(dir=get_worker().local_directory) as folder:
        paths = [Path(folder, str(number)) for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        yield paths
