"""Badges: what they say, as a picture and for services."""

import json
from xml.etree import ElementTree as ET

import pytest
from support.arbitrary_reports import made, result

from conformance.api.releases import Release
from conformance.site import badge

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


@pytest.mark.parametrize(("report", "message", "color"), CASES)
def test_a_badge_says_the_verdict_with_its_denominator(report, message, color):
    """Services read it in their own schema."""
    said = json.loads(badge.endpoint(Release.of(report)))
    wanted = {"schemaVersion": 1, "label": "pooling", "message": message, "color": color}
    assert said == wanted


@pytest.mark.parametrize(("report", "message", "color"), CASES)
def test_the_picture_says_the_same(report, message, color):
    """It stands alone, and says in words what it shows."""
    picture = ET.fromstring(badge.svg(Release.of(report)))
    assert picture.attrib["aria-label"] == f"pooling: {message}"
    assert [text.text for text in picture.findall(".//{*}text")] == ["pooling", message]
    assert not any("href" in name for each in picture.iter() for name in each.attrib)
