"""Vectors with answers and verdicts: a checker made of docs/results.md alone comes to the same."""

import pytest
from support.exported import about, conforms, exported, smoke_tier
from support.fakes import vector

from conformance.export import export


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a file made of a part of the smoke tier."""
    path = tmp_path_factory.mktemp("verdicts") / "v.safetensors"
    export("verdicts", path, smoke_tier()[::5])
    return path


def test_the_comparison_of_the_page_comes_to_each_verdict(path):
    """For each answer to each vector, but for what lies between zero and a subnormal maximum."""
    cases, tensors = exported(path)
    wrong = [
        (case["id"], answer)
        for case in cases
        for answer in case["answers"]
        if conforms(case, answer["outputs"] and [tensors[n] for n in answer["outputs"]], tensors)
        != answer["conforms"]
    ]
    assert [name for name, answer in wrong if answer["conforms"] or "/subnormals" not in name] == []


def test_answers_differ_in_all_that_a_checker_must_tell_apart(path):
    """Masks, ties, limits, exceptions, element types; each answer is there once."""
    cases, tensors = exported(path)
    outputs = [o for c in cases for a in c["accepted"] for o in a.get("outputs", ())]
    keys = {key for output in outputs for key in output}
    assert keys == {"expected", "lower", "upper", "mask", "ties"}
    codes = {code for o in outputs if "mask" in o for code in tensors[o["mask"]].ravel().tolist()}
    assert {0, 1, 2} <= codes
    assert {a["kind"] for c in cases for a in c["accepted"]} == {"values", "raises", "anything"}
    assert {tensors[o["expected"]].dtype.name for o in outputs} >= {"bfloat16", "int64", "int8"}
    for case in cases:
        answers = [str(answer["outputs"]) for answer in case["answers"]]
        assert len(answers) == len(set(answers))
    verdicts = [answer["conforms"] for case in cases for answer in case["answers"]]
    assert 0.2 < sum(verdicts) / len(verdicts) < 0.8


def test_vectors_of_one_kind_are_one(tmp_path):
    """The first; all else is as in a file of vectors."""
    vectors = [vector(id="a"), vector(id="b")]
    assert export("verdicts", tmp_path / "v.safetensors", vectors).written == 1
    export("safetensors", tmp_path / "e.safetensors", vectors[:1])
    ((case,), (plain,)) = (
        about(tmp_path / name)["cases"] for name in ("v.safetensors", "e.safetensors")
    )
    assert {key: value for key, value in case.items() if key != "answers"} == plain
