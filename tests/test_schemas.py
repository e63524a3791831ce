"""The JSON schemas in docs of the protocol and of files: what is written fits them."""

import json

import h5py
import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from support.exported import about, smoke_tier
from support.paths import DOCS, ROOT
from support.stored_outputs import as_file

from conformance.backends.answer import ARRAY, NO_ARRAY, RAISED, UNSUPPORTED, Answer, Returned
from conformance.backends.program import protocol
from conformance.export import export
from conformance.record.why import Raised

SCHEMAS = {
    name: json.loads((DOCS / name).read_text())
    for name in ("protocol.schema.json", "vectors.schema.json", "exchange.schema.json")
}
REGISTRY = Registry().with_resources(
    (name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)
CELLS = np.zeros((1, 1, 2, 2), np.float32)
KERNEL = {"kernel": [2, 2], "exclude_pad": True, "auto_pad": "valid"}
SMALL = Returned("float32", (1, 1), b"12345678")
LARGE = Returned("complex64", (1 << 20,), None)


def errors(name, kind, value):
    """Return what is wrong with a value of a kind."""
    schema = {"$ref": f"{name}.schema.json#{kind and '/$defs/'}{kind}"}
    validator = Draft202012Validator(schema, registry=REGISTRY)
    return [error.message for error in validator.iter_errors(value)]


@pytest.mark.parametrize("name", [*SCHEMAS])
def test_the_schema_is_sound(name):
    Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("hello", protocol.hello()),
        ("welcome", protocol.write_welcome("a")),
        ("welcome", protocol.write_welcome("a", {"AvgPool-1": ["*"]}, limited=True, engine="1")),
        ("refusal", protocol.write_refusal("no licence")),
        ("call", protocol.write_call(0, "AvgPool-1", [CELLS], KERNEL)),
        ("call", protocol.write_call(7, "AvgPool-1", [CELLS, CELLS], KERNEL, limit=4)),
        ("answer", protocol.write_answer(0, Answer(ARRAY, (SMALL,)))),
        ("answer", protocol.write_answer(0, Answer(ARRAY, (SMALL, LARGE)))),
        ("answer", protocol.write_answer(0, Answer(ARRAY, (LARGE,)))),
        *(
            ("answer", protocol.write_answer(0, Answer(kind, why=Raised(text="why"))))
            for kind in (RAISED, UNSUPPORTED, NO_ARRAY)
        ),
    ],
)
def test_a_message_fits_its_kind_and_no_other(kind, message):
    """So that a line can be told from its schema alone."""
    line = json.loads(message.partition(b"\n")[0])
    assert errors("protocol", "", line) == []
    kinds = ("hello", "welcome", "refusal", "call", "answer")
    assert [each for each in kinds if not errors("protocol", each, line)] == [kind]


@pytest.mark.parametrize(
    "changed",
    [
        {"call": -1},
        {"call": "0"},
        {"output": {"dtype": "float32"}},
        {"output": {"dtype": 32, "shape": []}},
        {"output": {"dtype": "float32", "shape": [-1]}},
        {"output": {"dtype": "float32", "shape": [1.5]}},
        {"error": "and an output"},
        {"output": None, "outputs": []},
        {"output": None},
    ],
)
def test_what_the_harness_refuses_is_refused(changed):
    """An answer is read as its schema says."""
    right = {"call": 0, "output": {"dtype": "float32", "shape": [1]}}
    answer = {key: value for key, value in (right | changed).items() if value is not None}
    assert errors("protocol", "answer", right) == []
    assert errors("protocol", "answer", answer)
    with pytest.raises(protocol.ProtocolError):
        protocol.read_answer(json.dumps(answer).encode(), 0, 99)


def test_the_texts_of_shipped_files_fit():
    """Every text of JSON of an operator with clauses and with invalid vectors."""
    path = ROOT / "vectors" / "AvgPool-1.h5"
    if not path.exists():
        pytest.skip("the shipped vectors are not there")
    with h5py.File(path) as file:
        content, offset = file["text/bytes"][:].tobytes(), file["text/offset"][:]
        texts = {
            kind: {content[offset[i] : offset[i + 1]] for i in set(file[column][:].tolist())}
            for kind, column in (
                ("attributes", "vectors/attributes"),
                ("tags", "vectors/tags"),
                ("clauses", "vectors/clauses"),
                ("readings", "outcomes/readings"),
            )
        }
        texts["header"] = {bytes(file.attrs["header"])}
    for kind, found in texts.items():
        values = {text: json.loads(text) for text in sorted(found)[:: 1 + len(found) // 200]}
        assert [text for text, value in values.items() if errors("vectors", kind, value)] == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("attributes", {"kernel": [[2], 2]}),
        ("attributes", ["kernel"]),
        ("tags", [1]),
        ("clauses", {"accumulator": "wider"}),
        ("readings", []),
        ("readings", {"accumulator": "wider"}),
        ("header", []),
    ],
)
def test_other_texts_are_refused(kind, value):
    """A list in a list, or a text in place of one."""
    assert errors("vectors", kind, value)


def test_what_is_exported_fits(tmp_path):
    """Vectors of every kind, with answers or without, and results with each key."""
    vectors = smoke_tier()[::40]
    for form in ("safetensors", "verdicts"):
        export(form, tmp_path / "v.safetensors", vectors)
        content = about(tmp_path / "v.safetensors")
        assert errors("exchange", "vectors", content) == []
        assert all(("answers" in case) == (form == "verdicts") for case in content["cases"])
    answers = {"a": CELLS, "b": ValueError("x"), "c": NotImplementedError("y")}
    as_file(tmp_path / "r", answers, ids=["a", "b", "c"])
    assert errors("exchange", "results", about(tmp_path / "r", "pooling-conformance results")) == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("vectors", {"version": 2, "cases": []}),
        ("accepted", {"kind": "values", "readings": [{}]}),
        ("accepted", {"kind": "raises", "readings": [{}], "outputs": [{"expected": "0"}]}),
        ("output", {"lower": "0", "upper": "1"}),
        ("output", {"expected": "0", "lower": "1"}),
        ("output", {"expected": "01"}),
        ("results", {"version": 1, "raised": ["a"]}),
        ("results", {"version": 1, "more": {}}),
    ],
)
def test_other_exchanged_texts_are_refused(kind, value):
    """Another version, a name of no tensor, half of the limits."""
    assert errors("exchange", kind, value)
