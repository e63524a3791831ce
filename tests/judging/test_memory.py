"""What a run keeps of vectors: nothing that a file does not hold anyway."""

import gc
from collections import Counter
from weakref import ref

from conformance import check, load_backend
from conformance.api.check import run
from conformance.backends.runner import InProcess
from conformance.vectorfile import VectorFile, shipped_suite
from conformance.vectorfile.hdf5_columns import ColumnFile

PATH = shipped_suite() / "MaxPool-1.h5"
CHEAP = shipped_suite() / "ONNX-GlobalMaxPool-22-backward.h5"
SMALL = shipped_suite() / "ONNX-GlobalMaxPool-22.h5"


def nothing(operator, inputs, attributes):
    raise NotImplementedError


def test_results_keep_no_arrays(monkeypatch):
    """Those of all vectors would not fit."""
    read = []
    batch_of = VectorFile._batch

    def recorded(file, numbers):
        batch = batch_of(file, numbers)
        read.append(ref(batch.outcome_vector))
        return batch

    monkeypatch.setattr(VectorFile, "_batch", recorded)
    with VectorFile(CHEAP) as file:
        report = check(nothing, file, diagnose=False)
        gc.collect()
        assert read
        assert not any(of_batch() is not None for of_batch in read)
        assert [each.id for each in report.results] == file.ids


def test_an_open_file_keeps_no_decoded_chunks():
    """They are read again for the next batch: hundreds of files may be open."""
    with VectorFile(PATH) as file:
        for _ in file.batches():
            assert not file.columns._kept


def test_a_file_is_decoded_to_check_it_to_order_it_and_to_run_it(monkeypatch):
    """Neither results nor vectors that are called again take another time.

    Cheap vectors are run before costly ones: what holds some of both is decoded for each.
    """
    decoded = Counter()
    decode = ColumnFile._decode

    def counted(file, column, number):
        decoded[column.path, number] += 1
        return decode(file, column, number)

    monkeypatch.setattr(ColumnFile, "_decode", counted)
    with VectorFile(SMALL) as file:
        file.check()
        assert set(decoded.values()) == {1}
        report = run(InProcess(load_backend("numpy")), file, name="numpy")
    assert report.repeated.sampled
    arrays = {number for (path, _), number in decoded.items() if path.startswith("inputs/")}
    assert arrays == {3, 4}
