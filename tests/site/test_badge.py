"""Badges: what they say, as a picture and for services."""

import json
from xml.etree import ElementTree as ET

import pytest
from support.arbitrary_reports import made, result

from conformance.record import jsonl
from conformance.site import badge
from conformance.site.releases import SavedRelease

RIGHT, WRONG = result("a"), result("b", "mismatch", detail="1 of 2 elements differ")
EXTENDED = result("d", "accepted-invalid", detail="accepted")
CASES = [
    (made(RIGHT), "conforms", "brightgreen"),
    (made(RIGHT, WRONG, result("c", "unsupported")), "1 of 2 fail", "red"),
    (made(RIGHT, WRONG, stopped="stopped"), "incomplete", "orange"),
    (made(result("c", "unsupported")), "does not conform", "red"),
    (made(*(result(f"r{n}") for n in range(100)), WRONG), "1 of 101 fail", "orange"),
    (made(RIGHT, WRONG, EXTENDED, allow_extensions=True), "1 of 2 fail", "red"),
]


@pytest.fixture
def saved(tmp_path):
    """Return what makes a release of a report."""

    def save(report):
        jsonl.write(report, tmp_path / "r.jsonl")
        return SavedRelease.read(tmp_path / "r.jsonl")

    return save


@pytest.mark.parametrize(("report", "message", "color"), CASES)
def test_a_badge_says_the_verdict_with_its_denominator(saved, report, message, color):
    """Services read it in their own schema."""
    said = json.loads(badge.endpoint(saved(report)))
    wanted = {"schemaVersion": 1, "label": "pooling", "message": message, "color": color}
    assert said == wanted


@pytest.mark.parametrize(("report", "message", "color"), CASES)
def test_the_picture_says_the_same(saved, report, message, color):
    """It stands alone, and says in words what it shows."""
    picture = ET.fromstring(badge.svg(saved(report)))
    assert picture.attrib["aria-label"] == f"pooling: {message}"
    assert [text.text for text in picture.findall(".//{*}text")] == ["pooling", message]
    assert not any("href" in name for each in picture.iter() for name in each.attrib)
