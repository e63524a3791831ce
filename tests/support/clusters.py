"""A Dask cluster of two processes on this machine."""

from contextlib import contextmanager

import pytest


@contextmanager
def two_workers():
    """Yield the address of a scheduler with two worker processes; skip where Dask is missing."""
    distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    # Port 0: any free one. Without an address it takes 8787, which another test's may have.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address
