"""Chunks that are not where a stranger's file says, and files that change while they are open."""

import os

import h5py
import pytest
from support.arbitrary_vectors import OPERATOR, small_vectors
from test_strangers import little_memory, put, refusal

from conformance.errors import VectorFileError
from conformance.vectorfile import VectorFile, VectorWriter, layout, vector_file, writer

NAME = "expected/float32/divisor"


@pytest.fixture
def path(tmp_path):
    """Return a sound file in the oldest form of HDF5, whose tables of chunks have no checksum.

    Chunks are stored as they are; one column has four.
    """
    path, new = tmp_path / "a.h5", tmp_path / "new.h5"
    with VectorWriter(new, OPERATOR, header={}) as file:
        for vector in small_vectors(3):
            file.add(vector)
    with h5py.File(new) as old, h5py.File(path, "w", libver="earliest") as file:
        for name in old:
            old.copy(name, file)
        for name, value in old.attrs.items():
            file.attrs.create(name, value, dtype=old.attrs.get_id(name).dtype)
        for name in sorted({*layout.REQUIRED, NAME}):
            chunks = (3,) if name == NAME else True
            put(file, name, file[name][...], chunks=chunks, shuffle=None, compression=None)
        assert file[NAME].id.get_num_chunks() == 4
    return path


@pytest.fixture
def large(monkeypatch):
    """Let files be read as large ones are, piece by piece."""
    monkeypatch.setattr(vector_file, "_DECODED_ONCE", -1)


def places(path):
    """Return offset and size of each chunk of the column."""
    with h5py.File(path) as file:
        chunks = [file[NAME].id.get_chunk_info(number) for number in range(4)]
        return [(chunk.byte_offset, chunk.size) for chunk in chunks]


def replace(path, old, new, *, within=None):
    """Replace bytes that occur once in a file, or near some place."""
    content = path.read_bytes()
    start, stop = within or (0, len(content))
    assert content.count(old, start, stop) == 1
    where = content.index(old, start, stop)
    path.write_bytes(content[:where] + new + content[where + len(old) :])


def bytes_of(number):
    return number.to_bytes(8, "little")


class TestPlaces:
    """What the table of chunks says."""

    @pytest.mark.parametrize(
        "offset", [10**6, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 17, 2**64 - 1]
    )
    @pytest.mark.usefixtures("large")
    def test_a_chunk_that_lies_outside_the_file_is_refused(self, path, offset):
        """Behind its end, or where no file has an end."""
        (first, _), *_ = places(path)
        replace(path, bytes_of(first), bytes_of(offset))
        refusal(path)

    @pytest.mark.usefixtures("large")
    def test_a_chunk_that_lies_half_outside_is_refused(self, path):
        """What is there is not taken for all of it."""
        (first, _), *_ = places(path)
        replace(path, bytes_of(first), bytes_of(path.stat().st_size - 8))
        assert f"{NAME}: a chunk has 8 bytes and not 12" in refusal(path)

    def test_chunks_that_overlap_hold_what_the_digest_does_not(self, path):
        """One place read twice is other content."""
        (first, _), (second, _), *_ = places(path)
        replace(path, bytes_of(second), bytes_of(first - 4))
        refusal(path)

    @pytest.mark.parametrize("size", [2**20, 2**31, 2**32 - 1])
    def test_a_chunk_of_another_size_is_refused(self, path, size):
        """Before anything of that size is allocated."""
        (first, stored), *_ = places(path)
        content = path.read_bytes()
        entry = content.index(bytes_of(first))
        # The key before the address in the table: size and filters, then the place in the column.
        key = entry - 8 - 8 - 8
        replace(
            path,
            stored.to_bytes(4, "little"),
            size.to_bytes(4, "little"),
            within=(key, key + 4),
        )
        refusal(path)

    def test_a_file_of_many_chunks_that_take_no_room_is_refused(self, path):
        """Chunks that were allocated and never written: a sparse file, as large as it likes."""
        early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        early.set_chunk((1,))
        early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((10**7,))
        with h5py.File(path, "r+", libver="latest") as file:
            del file["text/bytes"]
            h5py.h5d.create(file["text"].id, b"bytes", h5py.h5t.STD_U8LE, space, early)
        assert path.stat().st_size > 10**7
        assert "more than 131072 chunks, with those of text/bytes" in refusal(path)

    def test_the_writer_stops_before_the_reader_does(self, tmp_path, monkeypatch):
        """A file that could not be read is not written."""
        monkeypatch.setattr(writer, "_ROOM", 100)
        with VectorWriter(tmp_path / "a.h5", OPERATOR, header={}) as file:
            first, *_, last = small_vectors(2)
            file.add(first)
            with pytest.raises(ValueError, match="the file is full: write another one"):
                file.add(last)
        assert writer._ROOM < layout.MAX_CHUNKS * writer._CHUNK


@pytest.mark.usefixtures("large")
class TestChange:
    """A file that is open, and that somebody writes to."""

    @pytest.fixture
    def file(self, path):
        """Open a large file."""
        with VectorFile(path) as file:
            file.check()
            yield file

    def reads(self, file):
        """Read all there is in every way; return the errors, each of one line."""
        errors = []
        with little_memory():
            for read in (
                lambda: list(file),
                lambda: list(file.batches(max_bytes=1)),
                lambda: file.ids,
                lambda: file.tiers,
            ):
                with pytest.raises(VectorFileError) as caught:
                    read()
                errors.append(str(caught.value))
        assert all(each.startswith(f"{file.path}: ") and "\n" not in each for each in errors)
        return errors

    @pytest.mark.parametrize("name", ["input_arrays/shape", "vectors/first_input", "vectors/id"])
    def test_a_number_that_changes_leads_nowhere(self, path, file, name):
        """It was checked when the file was opened, and is not believed again."""
        with h5py.File(path) as other:
            chunk = other[name].id.get_chunk_info(0)
        with path.open("r+b") as stream:
            stream.seek(chunk.byte_offset)
            stream.write(b"\xff" * chunk.size)
        with pytest.raises(VectorFileError, match=f"{name}: the file was changed while it was"):
            list(file)

    @pytest.mark.parametrize("keep", [0, 1000])
    def test_a_file_that_is_cut_off(self, path, file, keep):
        """Nothing is read for what is not there."""
        os.truncate(path, keep)
        self.reads(file)

    def test_a_file_that_is_written_over_with_zeros(self, path, file):
        """It keeps its length."""
        path.write_bytes(bytes(path.stat().st_size))
        self.reads(file)

    def test_a_file_in_its_place_is_another_one(self, path, file):
        """What is renamed to its name is not what was checked, though it is as sound."""
        other = path.with_name("other")
        with VectorWriter(other, OPERATOR, header={}) as new:
            for vector in small_vectors(4)[1:]:
                new.add(vector)
        other.replace(path)
        assert any("the file was changed while it was open" in each for each in self.reads(file))


def test_a_file_that_changes_before_its_digest_is_checked_is_refused(path, monkeypatch):
    """The numbers that were checked are those that the digest is of."""
    check = vector_file.check_index

    (first, _), *_ = places(path)

    def change_after(columns, **options):
        ends = check(columns, **options)
        with path.open("r+b") as stream:
            stream.seek(first)
            stream.write(b"\x07")
        return ends

    monkeypatch.setattr(vector_file, "_DECODED_ONCE", -1)
    monkeypatch.setattr(vector_file, "check_index", change_after)
    assert "the file was changed" in refusal(path)
