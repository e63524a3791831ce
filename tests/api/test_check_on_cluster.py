"""A check on a cluster: the report is that of one machine."""

from dataclasses import replace

import pytest
from support.arbitrary_reports import comparable
from support.clusters import two_workers
from support.fakes import vector
from support.paths import EXAMPLES

from conformance import Interrupted, UsageError, check, load_backend
from conformance.vectorfile.suite import shipped_suite

FILE = shipped_suite() / "AvgPool-1.h5"
FAULTY = f"{EXAMPLES / 'backend_faulty.py'}:backend"


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as address:
        yield address


def of_run(report):
    """Return what reports of one run have in common, however held-out cases were searched."""
    searches = tuple(replace(each, proof=None) for each in report.diagnoses)
    results = tuple(report.results)
    return comparable(report, slowest=(), diagnoses=searches, results=results)


@pytest.mark.parametrize(
    "backend",
    [pytest.param("numpy", marks=pytest.mark.slow("a faulty one shows more")), FAULTY],
)
def test_the_report_is_that_of_one_machine(cluster, backend):
    """Results in their order, counts, readings, accuracy, and the causes that are confirmed."""
    options = {"tier": "smoke", "operators": ["MaxPool-1"], "isolate": True}
    here, there = check(backend, **options), check(backend, **options, cluster=cluster)
    assert of_run(there) == of_run(here)
    assert there.ok is (backend == "numpy")
    proven = [cause.proof is not None for cause in here.diagnoses]
    assert [cause.proof is not None for cause in there.diagnoses] == proven


def test_a_callable_is_sent(cluster):
    """By value, where the workers have no module of its name."""
    right, shift = load_backend("numpy"), 1

    def backend(operator, inputs, attributes):
        return right(operator, inputs, attributes) + (inputs[0].ndim == 3) * shift

    options = {"tier": "smoke", "diagnose": "none", "name": "mine"}
    here, there = check(backend, FILE, **options), check(backend, FILE, **options, cluster=cluster)
    assert here.counts["mismatch"] > 0
    assert of_run(there) == of_run(here)


_VERSIONED = """
engine_version = "7.1"

def backend(operator, inputs, attributes):
    raise NotImplementedError
"""


def test_the_engine_is_the_one_that_the_workers_have(cluster, tmp_path):
    """What their worker says when it starts."""
    path = tmp_path / "mine.py"
    path.write_text(_VERSIONED)
    report = check(f"{path}:backend", FILE, tier="smoke", cluster=cluster)
    assert report.versions["engine"] == "7.1"


_KILLING = """
import os, signal
from pathlib import Path
from conformance import load_backend

right = load_backend("numpy")

def backend(operator, inputs, attributes):
    mark = Path({mark!r})
    if not mark.exists():
        mark.touch()
        os.kill(os.getppid(), signal.SIGKILL)
    return right(operator, inputs, attributes)
"""


@pytest.mark.slow("test_cluster.py kills a worker of plain tasks")
def test_a_shard_of_a_lost_worker_is_run_again(cluster, tmp_path):
    """The run is whole, and its report that of one machine."""
    mark, path = tmp_path / "mark", tmp_path / "killing.py"
    path.write_text(_KILLING.format(mark=str(mark)))
    there = check(f"{path}:backend", FILE, tier="smoke", name="numpy", cluster=cluster)
    assert mark.exists()
    here = check(f"{path}:backend", FILE, tier="smoke", name="numpy")
    assert of_run(there) == of_run(here)


def test_files_of_the_run_are_read_here_and_judged_as_a_whole(cluster, tmp_path):
    """Known failures, vectors to skip, floors: none is on a disk of the workers."""
    known, skip = tmp_path / "known", tmp_path / "skip"
    known.write_text("mismatch *same_lower* # 1: known\n")
    skip.write_text("skip AvgPool-1/bfloat16/* # 2: hangs\n")
    options = {"expected_failures": known, "skip": skip, "min_supported": "40%", "tier": "smoke"}
    here = check(FAULTY, FILE, **options)
    there = check(FAULTY, FILE, **options, cluster=cluster)
    assert here.expectations.met
    assert of_run(there) == of_run(here)


def test_progress_counts_vectors(cluster):
    """Up to all of them."""
    told = []
    check("numpy", FILE, tier="smoke", cluster=cluster, progress=lambda *count: told.append(count))
    (total,) = {total for _, total in told}
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (total, total)


def test_an_interrupt_leaves_the_report_of_the_shards_that_were_done(cluster):
    """It is incomplete, and says so."""

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        check("numpy", FILE, tier="smoke", cluster=cluster, progress=interrupt)
    report = caught.value.report
    assert (report.ok, report.complete, report.stopped) == (False, False, "interrupted")
    assert report.results
    assert report.not_run > 0


def test_a_backend_that_no_worker_can_load_is_one_line(cluster):
    """As on one machine."""
    with pytest.raises(UsageError, match="no module 'no_such_module'"):
        check("no_such_module:backend", FILE, tier="smoke", cluster=cluster)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_failures": 3}, "leave out shard and max_failures"),
        ({"shard": "1/2"}, "leave out shard and max_failures"),
        ({"backend": "results:here"}, "stored results are looked up here"),
        ({"vectors": [vector()]}, "give a vector file"),
    ],
)
def test_what_it_cannot_do_is_refused(options, message):
    """One line says what it is for, before anything is connected."""
    given = {"backend": "numpy", "vectors": FILE, "tier": "smoke"} | options
    with pytest.raises(UsageError, match=message):
        check(**given, cluster="tcp://127.0.0.1:9")
