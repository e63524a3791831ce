"""Generation: the same arguments give the same files, whole or not at all."""

import pytest

from conformance import UsageError, VectorFileError, generate, open_vectors
from conformance.cases.sweep import exhaustive
from conformance.operators import operators_named

SOME = ("AdaptiveAvgPool-8", "ONNX-GlobalLpPool-22")


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """Return a folder with the smoke tier of some operators."""
    folder = tmp_path_factory.mktemp("smoke")
    generate(folder, operators=SOME, tier="smoke", strength=1)
    return folder


def digests(folder):
    with open_vectors(folder) as vectors:
        return {file.operator: file.digest for file in vectors.files}


@pytest.mark.slow("README's first command generates all, and then has them checked")
def test_all_operators_are_the_default(tmp_path):
    """The folder holds a file named after each."""
    generate(tmp_path, tier="smoke", strength=1)
    assert {path.stem for path in tmp_path.iterdir()} == set(operators_named(None))


def test_another_seed_gives_other_content(smoke, tmp_path):
    """The seed changes the data."""
    generate(tmp_path, operators=["AdaptiveAvgPool-8"], tier="smoke", strength=1, seed=1)
    operator = "AdaptiveAvgPool-8"
    assert digests(tmp_path)[operator] != digests(smoke)[operator]


def test_only_the_operators_asked_for_are_written(tmp_path):
    """`operators` restricts what is generated."""
    paths = generate(tmp_path, operators=["TOSA-MAX_POOL2D"], tier="smoke", strength=1)
    assert [path.name for path in paths] == ["TOSA-MAX_POOL2D.h5"]
    assert [path.name for path in tmp_path.iterdir()] == ["TOSA-MAX_POOL2D.h5"]


def test_the_header_says_how_the_file_was_made(smoke):
    """Tier, strength, seed and package version are in the header."""
    with open_vectors(smoke) as vectors:
        header = vectors.files[0].header
    assert (header["tier"], header["strength"], header["seed"]) == ("smoke", 1, 0)


def test_the_header_of_the_standard_tier_says_what_is_covered(tmp_path):
    """Each covering array is named with its strength and covers all that is feasible."""
    generate(tmp_path, operators=["WebNN-maxPool2d"], strength=1)
    with open_vectors(tmp_path) as vectors:
        coverage = vectors.files[0].header["coverage"]
    assert {name: array["strength"] for name, array in coverage.items()} == {
        "all factors": 1,
        "geometry": 1,
    }
    assert all(array["covered"] == array["feasible"] > 0 for array in coverage.values())


def test_progress_is_reported(tmp_path):
    """The callback hears of covering arrays and vectors."""
    heard = []
    generate(
        tmp_path,
        operators=["WebNN-maxPool2d"],
        tier="smoke",
        strength=1,
        progress=lambda what, done, total: heard.append(what),
    )
    parts = ("all factors", "geometry", "vectors")
    assert {f"WebNN-maxPool2d: {part}" for part in parts} == set(heard)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"operators": ["AvgPool-2"]}, "AvgPool-2.*AvgPool-1"),
        ({"tier": "huge"}, "huge.*smoke, standard, exhaustive"),
        ({"strength": 0}, "0: must be 1 to 4"),
        ({"strength": 9}, "9: must be 1 to 4"),
        ({"seed": -1}, "-1: must be 0 or more"),
    ],
)
def test_wrong_arguments_say_what_is_allowed(tmp_path, arguments, said):
    """Each wrong argument gives one line with the value and what is allowed; nothing is written."""
    with pytest.raises(UsageError, match=said):
        generate(tmp_path, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    """A file in the way of the folder gives one clear line."""
    (tmp_path / "taken").write_text("")
    with pytest.raises((UsageError, VectorFileError), match="taken"):
        generate(tmp_path / "taken", tier="smoke", strength=1)


def test_an_interrupted_generation_leaves_no_file(tmp_path):
    """An exception on the way leaves neither a file nor a temporary one."""

    def stop(what, done, total):
        if what.endswith("vectors"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path, operators=["WebNN-maxPool2d"], tier="smoke", strength=1, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_generation_that_fails_leaves_no_folder(tmp_path):
    """Neither the one it was to fill nor those above it that were not there."""
    with pytest.raises(UsageError, match="no scheduler"):
        generate(tmp_path / "new" / "vectors", tier="smoke", cluster="nowhere")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_stays(tmp_path):
    """Also where it is empty."""
    (tmp_path / "vectors").mkdir()
    with pytest.raises(UsageError, match="no scheduler"):
        generate(tmp_path / "vectors", tier="smoke", cluster="nowhere")
    assert [each.name for each in tmp_path.iterdir()] == ["vectors"]


def test_files_that_were_finished_stay(tmp_path):
    """A later generation goes on from them, with `resume`."""

    def stop(what, done, total):
        if what.startswith("nGraph"):
            raise KeyboardInterrupt

    operators = ["AdaptiveAvgPool-8", "nGraph-AvgPool"]
    folder = tmp_path / "vectors"
    with pytest.raises(KeyboardInterrupt):
        generate(folder, operators=operators, tier="smoke", strength=1, progress=stop)
    assert [each.name for each in folder.iterdir()] == ["AdaptiveAvgPool-8.h5"]


@pytest.mark.slow("the cluster's test makes the same files elsewhere")
def test_several_processes_make_the_same_files(smoke, tmp_path):
    """Same names, same digests."""
    generate(tmp_path, operators=SOME, tier="smoke", strength=1, jobs=2)
    assert digests_of_files(tmp_path) == digests_of_files(smoke)


def digests_of_files(folder):
    """Return the digest of each file: there may be several of an operator."""
    with open_vectors(folder) as vectors:
        return {file.path.name: file.digest for file in vectors}


@pytest.fixture(scope="module")
def small():
    """Make the product small: two parts of a few cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhaustive, "_LONG", range(1, 5))
        patch.setattr(exhaustive, "_LONG_STEP", 2)
        yield


_EXHAUSTIVE = {"operators": ["ONNX-GlobalMaxPool-22"], "tier": "exhaustive", "strength": 1}


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    """Return a folder with an exhaustive tier, made in one go."""
    folder = tmp_path_factory.mktemp("whole")
    generate(folder, **_EXHAUSTIVE)
    return folder


@pytest.mark.usefixtures("small")
class TestResume:
    """`generate(resume=True)`."""

    def test_the_product_is_in_files_of_its_own(self, whole):
        """Beside the file of the smaller tiers, which is that of the standard tier."""
        assert sorted(path.name for path in whole.iterdir()) == [
            "ONNX-GlobalMaxPool-22.exhaustive-1-of-2.h5",
            "ONNX-GlobalMaxPool-22.exhaustive-2-of-2.h5",
            "ONNX-GlobalMaxPool-22.h5",
        ]
        with open_vectors(whole) as vectors:
            tiers = [set(file.tiers) for file in vectors]
        assert tiers == [{"exhaustive"}, {"exhaustive"}, {"smoke", "standard"}]

    def test_what_is_finished_is_kept(self, whole):
        """A second run writes nothing."""
        before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
        generate(whole, **_EXHAUSTIVE, resume=True)
        assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before

    def test_what_is_missing_or_broken_is_made(self, whole, tmp_path):
        """And nothing else: the result is that of one go."""
        for path in whole.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        kept = tmp_path / "ONNX-GlobalMaxPool-22.exhaustive-1-of-2.h5"
        before = kept.stat().st_mtime_ns
        (tmp_path / "ONNX-GlobalMaxPool-22.h5").unlink()
        broken = tmp_path / "ONNX-GlobalMaxPool-22.exhaustive-2-of-2.h5"
        broken.write_bytes(broken.read_bytes()[:-100])
        generate(tmp_path, **_EXHAUSTIVE, resume=True)
        assert (digests_of_files(tmp_path), kept.stat().st_mtime_ns) == (
            digests_of_files(whole),
            before,
        )

    def test_files_of_other_arguments_are_made_anew(self, whole, tmp_path):
        """Another seed makes other files."""
        for path in whole.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        generate(tmp_path, **_EXHAUSTIVE, seed=1, resume=True)
        assert not set(digests_of_files(tmp_path).items()) & set(digests_of_files(whole).items())
