"""Tasks on the workers of a cluster: each has its result, whoever dies."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest
from support.clusters import two_workers

from conformance import cluster as module
from conformance import generate
from conformance.cluster import connected
from conformance.errors import ConformanceError, UsageError


@pytest.fixture(scope="module")
def address():
    with two_workers() as found:
        yield found


@pytest.fixture(scope="module")
def cluster(address):
    with connected(address) as found:
        yield found


def square(number):
    return number * number


def raises(number):
    raise UsageError(f"not {number}")


def dies_once(folder, number, contents):
    """Kill this process the first time that number 3 is asked for."""
    mark = Path(folder, "died")
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number, contents


def dies(number):
    os.kill(os.getpid(), signal.SIGKILL)


def read(number, contents):
    with module.written(contents) as paths:
        return [path.read_bytes() for path in paths], [str(path) for path in paths]


def by_value(function):
    """Return a function as workers can have it, which cannot import this module."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return function


def test_every_task_comes_with_its_result(cluster):
    """In whatever order they are finished, also if two are equal."""
    found = cluster.completed(by_value(square), [*range(20), 3])
    assert sorted(found) == sorted([*((n, n * n) for n in range(20)), (3, 9)])


def test_there_are_as_many_threads_as_tasks_at_a_time(cluster):
    assert cluster.threads == 2


def test_an_exception_of_a_task_passes(cluster):
    """It is raised here."""
    with pytest.raises(UsageError, match="not 5"):
        list(cluster.completed(by_value(raises), [5]))


def test_files_go_with_tasks(cluster, tmp_path):
    """They are there in the order in which they are given, and gone when the task is done."""
    for name, content in (("b", b"one"), ("a", b"")):
        (tmp_path / name).write_bytes(content)
    shared = cluster.shared([tmp_path / "b", tmp_path / "a"])
    for _, (contents, paths) in cluster.completed(by_value(read), range(4), shared):
        assert contents == [b"one", b""]
        assert not any(Path(path).exists() for path in paths)


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    """Its tasks are done by another, with the files that it had."""
    (tmp_path / "file").write_bytes(b"content")
    shared = cluster.shared([tmp_path / "file"])
    task = partial(by_value(dies_once), str(tmp_path))
    found = [result for _, result in cluster.completed(task, range(8), shared)]
    assert sorted(found) == [(n, [b"content"]) for n in range(8)]


@pytest.mark.slow("a killed worker loses nothing: it is started again three times")
def test_a_task_that_kills_every_worker_ends(cluster):
    """It is said, and not tried for ever."""
    with pytest.raises(ConformanceError, match="died again and again with one task"):
        list(cluster.completed(by_value(dies), [1]))


def test_generated_files_are_those_of_one_process(address, tmp_path):
    """Byte for byte."""
    options = {"operators": ["MaxPool-1", "AdaptiveAvgPool-8"], "tier": "smoke", "strength": 1}
    here = generate(tmp_path / "here", **options)
    there = generate(tmp_path / "there", **options, cluster=address)
    assert [path.read_bytes() for path in there] == [path.read_bytes() for path in here]


def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch):
    """Nothing waits for it long."""
    monkeypatch.setattr(module, "_SECONDS", 0.2)
    with (
        pytest.raises(UsageError, match="9: no scheduler answers there"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


def test_what_is_no_address_is_one_line():
    with pytest.raises(UsageError, match="cluster zzz: no scheduler"), connected("zzz"):
        pass


def test_a_cluster_without_workers_is_one_line(monkeypatch):
    """It says how to start one."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(module, "_SECONDS_OF_WORKERS", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(UsageError, match="has no worker: start one, dask worker tcp://"),
        connected(empty.scheduler_address),
    ):
        pass


def test_a_package_that_is_missing_is_one_line(monkeypatch):
    """It says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="pip install distributed"), connected("tcp://a:1"):
        pass
