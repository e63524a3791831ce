"""Verdicts on stored results: those of the backend itself, and none that a file could forge."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from msgspec.structs import asdict
from support.effort import examples
from support.exported import smoke_tier
from support.fakes import check, following, pool, ramp, right, vector
from support.stored_outputs import answered, as_file, looked_up

from conformance.backends.answer import RAISED
from conformance.backends.results.stored_results import StoredResults
from conformance.errors import ResultFileError, UsageError

PADDED = pool(pads_begin=[2], pads_end=[2])
VECTORS = [
    vector(id="plain"),
    vector(ramp(1, 1, 6, dtype="bfloat16"), id="half"),
    vector(attributes=PADDED, id="padding alone"),
    vector(attributes=pool(strides=[0]), id="invalid"),
    vector(ramp(1, 0, 6), id="empty"),
]


def mixed(operator, inputs, attributes):
    """Compute as asked for, but same_lower as same_upper, and not over three axes."""
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    if inputs[0].ndim == 5:
        raise NotImplementedError("three axes")
    return following(nan_in_maximum="ignored")(operator, inputs, attributes)


@pytest.fixture(scope="module")
def smoke():
    """Return the vectors of the smoke tier, what a backend does for them, and its report."""
    vectors = smoke_tier()[::8]
    return vectors, answered(mixed, vectors), check(mixed, vectors)


@pytest.fixture
def store(tmp_path):
    """Return what writes answers and opens them."""
    return lambda answers: StoredResults(as_file(tmp_path / "r.safetensors", answers))


def test_a_report_is_that_of_the_backend_itself(store, smoke):
    """Verdicts, worst elements, readings and what was done where nothing is defined."""
    vectors, answers, direct = smoke
    with store(answers) as stored:
        report = looked_up(stored, vectors)
    assert [plain(each) for each in report.results] == [plain(each) for each in direct.results]
    assert report.readings == direct.readings
    assert report.undefined == direct.undefined
    assert report.accuracy == direct.accuracy
    assert report.counts.keys() == {"conforms", "mismatch", "unsupported"}


def plain(result):
    """Return a result with its outputs as bytes, so that NaN equals NaN."""
    content = asdict(result)
    outputs = result.output if isinstance(result.output, tuple) else (result.output,)
    content["output"] = [None if output is None else output.tobytes() for output in outputs]
    return repr(content)


def test_what_is_missing_never_conforms(store):
    """Neither where an exception would be right, nor where anything would."""
    with store({"other": np.ones(1)}) as stored:
        report = looked_up(stored, VECTORS)
    assert [(each.verdict, each.detail) for each in report.results] == [
        ("mismatch", "no output stored")
    ] * len(VECTORS)
    assert report.undefined == ()


def test_an_output_of_another_shape_or_type_is_a_mismatch(store):
    """As if the backend had returned it."""
    with store({"plain": ramp(1, 1, 4), "half": ramp(1, 1, 3)}) as stored:
        report = looked_up(stored, VECTORS[:2])
    assert [each.detail for each in report.results] == [
        "shape (1, 1, 4) instead of (1, 1, 3)",
        "dtype float32 instead of bfloat16",
    ]


ANSWERS = answered(right, VECTORS)
PLACE = st.integers(0, 1 << 16)  # modulo the length of the file
DAMAGES = st.lists(
    st.tuples(st.just("flip"), PLACE, st.integers(0, 7))
    | st.tuples(st.just("cut"), PLACE)
    | st.tuples(st.just("write"), PLACE, st.binary(min_size=1, max_size=12)),
    min_size=1,
    max_size=3,
)
UNHURRIED = examples(1, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a file with sound results."""
    return as_file(tmp_path_factory.mktemp("whole") / "r.safetensors", ANSWERS)


def damaged(content, damage):
    """Return bytes with some damage."""
    kind, place, *how = damage
    content = bytearray(content or b"\0")
    place %= len(content)
    if kind == "flip":
        content[place] ^= 1 << how[0]
    elif kind == "cut":
        del content[place:]
    else:
        content[place : place + len(how[0])] = how[0]
    return bytes(content)


class TestDamage:
    """Results after an accident: one clear error, or verdicts that what is left deserves."""

    def _judged_fairly(self, path):
        """Open and judge; what conforms must be what the backend answered, or close to it."""
        try:
            with StoredResults(path) as stored:
                report = looked_up(stored, VECTORS)
                found = {v.case.id: stored.find(v.case.id) for v in VECTORS}
        except ResultFileError:
            return
        for result in report.results:
            answer, got = ANSWERS[result.id], found[result.id]
            if result.verdict == "conforms" and result.id in {"plain", "half"}:
                (got,) = got.outputs
                assert (got.dtype, got.shape) == (answer.dtype.name, answer.shape)
                values = np.frombuffer(got.data, answer.dtype).astype(float)
                np.testing.assert_allclose(values, answer.astype(float).ravel(), rtol=0.02)
            elif result.id == "invalid":
                assert (result.verdict == "conforms") == (got.kind == RAISED)

    @UNHURRIED
    @given(damages=DAMAGES)
    def test_any_byte_of_a_file(self, whole, damages):
        """Of the header, too."""
        path = whole.with_name("spoilt")
        path.write_bytes(reduce(damaged, damages, whole.read_bytes()))
        self._judged_fairly(path)


def test_what_was_not_asked_for_is_not_run(tmp_path, smoke):
    """A part of the vectors is checked by itself: the ids say what the backend was asked for."""
    vectors, answers, _ = smoke
    some = [vector.case.id for vector in vectors][::3]
    for name, there in (("whole", some), ("cut", some[:-1])):
        path = as_file(tmp_path / name, {each: answers[each] for each in there}, ids=some)
        with StoredResults(path) as stored:
            report = looked_up(stored, vectors)
        assert [result.id for result in report.results] == some
        assert report.not_run == len(vectors) - len(some)
        assert report.tier == "smoke"
        missing = {each.id for each in report.results if each.detail == "no output stored"}
        assert missing == set(some) - set(there)


def test_an_operator_that_was_not_exported_is_not_part_of_the_report(tmp_path):
    """And nothing is said of all operators."""
    others = [vector(ramp(1, 1, 4), pool("MaxPool-1"), operator="MaxPool-1")]
    path = as_file(tmp_path / "r", answered(right, VECTORS), ids=[v.case.id for v in VECTORS])
    with StoredResults(path) as stored:
        report = looked_up(stored, [*VECTORS, *others])
    assert {used.operator for used in report.vectors} == {v.case.operator for v in VECTORS}
    assert (report.not_run, report.is_whole) == (0, False)


@pytest.mark.parametrize("ids", [[], ["another"]])
def test_ids_of_other_vectors_are_one_line(tmp_path, ids):
    """Nothing would be checked."""
    path = as_file(tmp_path / "r", answered(right, VECTORS), ids=ids)
    with (
        StoredResults(path) as stored,
        pytest.raises(UsageError, match="none of the vectors to check is among its ids"),
    ):
        looked_up(stored, VECTORS)
