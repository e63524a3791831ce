"""Shipped files are known by their bytes: what was checked when they were made is believed."""

import shutil
from runpy import run_path

import h5py
import numpy as np
import pytest
from support.paths import ROOT

from conformance import generate, open_vectors
from conformance.batch import vector_at
from conformance.errors import VectorFileError
from conformance.vectorfile import VectorFile, shipped_suite, suite
from conformance.vectorfile.hdf5_columns import ColumnFile

NAME = "AdaptiveMaxPool-8-backward"


def copied(folder):
    """Return a folder with one shipped file and the manifest."""
    for name in (f"{NAME}.h5", suite.MANIFEST):
        shutil.copy(shipped_suite() / name, folder / name)
    return folder


def test_the_manifest_lists_every_file_as_it_is():
    """After vectors were made again, `python docs/development/make.py` makes it again."""
    made = run_path(str(ROOT / "docs" / "development" / "make_manifest.py"))["manifest"]()
    assert (shipped_suite() / suite.MANIFEST).read_text() == made


def test_a_packed_file_holds_the_same_in_fewer_bytes(tmp_path):
    """`python docs/development/make_packed.py` deflates chunks anew, and changes nothing else."""
    (path,) = generate(tmp_path, operators=["ORT-QLinearGlobalAveragePool-1"], tier="smoke")
    content = run_path(str(ROOT / "docs" / "development" / "make_packed.py"))["packed"](path)
    assert len(content) < path.stat().st_size
    (packed := tmp_path / "packed.h5").write_bytes(content)
    with VectorFile(path) as before, VectorFile(packed) as after:
        after.check()
        assert after.digest == before.digest
        assert after.header == before.header


def test_the_content_of_an_unchanged_file_is_not_checked_again(monkeypatch):
    """Its digest was that of its content when it was made."""
    monkeypatch.setattr(ColumnFile, "digest", lambda _: pytest.fail("it was computed"))
    with open_vectors(operators=NAME) as files:
        assert len(files[0].ids) == len(files[0])


def test_a_shipped_file_that_was_changed_is_checked(tmp_path, monkeypatch):
    """As anybody's, whatever the manifest says."""
    folder = copied(tmp_path)
    monkeypatch.setattr(suite, "shipped_suite", lambda: folder)
    path = folder / f"{NAME}.h5"
    with h5py.File(path) as file:
        chunk = file["text/bytes"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset + chunk.size // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(VectorFileError):
        open_vectors()


@pytest.mark.parametrize("text", ["", "no digests\n", "\xe9"])
def test_without_a_manifest_all_files_are_checked(tmp_path, monkeypatch, text):
    """One that cannot be read lists nothing."""
    folder = copied(tmp_path)
    (folder / suite.MANIFEST).write_text(text, "latin-1")
    monkeypatch.setattr(suite, "shipped_suite", lambda: folder)
    looked_at = []
    digest = ColumnFile.digest
    monkeypatch.setattr(ColumnFile, "digest", lambda self: looked_at.append(self) or digest(self))
    with open_vectors() as files:
        assert len(looked_at) == len(files) == 1


def test_vectors_that_lie_far_apart_are_read_alone():
    """They are the same as those of a file that was read whole, and what lies between is not."""
    numbers = np.array([0, 1, 5, 1700, 1701, 4300])
    path = shipped_suite() / "MaxPool-1.h5"
    with VectorFile(path, unchanged=True) as file, VectorFile(path) as whole:
        (some,) = file.batches(numbers, max_bytes=1 << 26)
        for place, number in enumerate(numbers.tolist()):
            one, other = vector_at(some, place), whole.vector(number)
            assert one.case.id == other.case.id
            assert one.case.data.tobytes() == other.case.data.tobytes()
            assert [o.values.tobytes() for v in one.values for o in v.outputs] == [
                o.values.tobytes() for v in other.values for o in v.outputs
            ]
        column = file.columns._columns["expected/float32/magnitude"]
        assert 0 < len(column.hashes) < column.length // column.chunk
