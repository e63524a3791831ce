"""What a run keeps of vectors: nothing that a file does not hold anyway."""

from collections import Counter

import pytest

from conformance import check, load_backend
from conformance.api.check import run
from conformance.backends.runner import InProcess
from conformance.judging.tally import explanations
from conformance.vectorfile import VectorFile, shipped_suite
from conformance.vectorfile.hdf5_columns import ColumnFile

PATH = shipped_suite() / "MaxPool-1.h5"
CHEAP = shipped_suite() / "ONNX-GlobalMaxPool-22-backward.h5"
SMALL = shipped_suite() / "ONNX-GlobalMaxPool-22.h5"


def nothing(operator, inputs, attributes):
    raise NotImplementedError


@pytest.mark.parametrize("in_memory", [True, False])
def test_only_vectors_of_a_file_in_memory_are_kept(in_memory):
    """A million vectors would not fit; what is asked for later is read again."""
    options = {} if in_memory else {"resident": 0}
    with VectorFile(CHEAP, **options) as file:
        report = check(nothing, file, diagnose=False)
        assert bool(file.resident) == in_memory
        assert [batch.whole is not None for batch in report.results.parts] == [in_memory]
        assert [each.id for each in report.results] == file.ids


def test_where_the_vectors_are_does_not_change_a_report():
    """Not the results, and not the readings, which look at vectors again."""
    with VectorFile(PATH) as near, VectorFile(PATH, resident=0) as far:
        reports = [check("numpy", file, diagnose=False) for file in (near, far)]
        one, other = ([(r.id, r.verdict, r.readings) for r in each.results] for each in reports)
    assert one == other
    assert reports[0].readings == reports[1].readings


def test_an_open_file_keeps_no_decoded_chunks():
    """They are read again for the next batch: hundreds of files may be open."""
    with VectorFile(PATH, resident=0) as file:
        for _ in file.batches():
            assert not any(column.kept for column in file._columns._columns.values())


def test_a_file_is_decoded_to_check_it_to_order_it_and_to_run_it(monkeypatch):
    """Vectors that are called again, and the types that need a reading, take no fourth time.

    Cheap vectors are run before costly ones: what holds some of both is decoded for each.
    """
    decoded = Counter()
    decode = ColumnFile._decode

    def counted(file, column, number):
        decoded[column.path, number] += 1
        return decode(file, column, number)

    monkeypatch.setattr(ColumnFile, "_decode", counted)
    with VectorFile(SMALL, resident=0) as file:
        assert set(decoded.values()) == {1}
        report = run(InProcess(load_backend("numpy")), file, name="numpy")
        assert dict(explanations(report.results))
    assert report.repeated.sampled
    arrays = {number for (path, _), number in decoded.items() if path.startswith("inputs/")}
    assert arrays == {3, 4}
