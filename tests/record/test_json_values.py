"""Dataclasses as JSON."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from conformance.record.json_values import json_bytes, json_line, json_values


@dataclass
class Holder:
    """A value of any kind."""

    value: Any


def test_numbers_that_are_not_finite_are_texts():
    """However deep they are."""
    holder = Holder({"a": (float("nan"), [Holder(float("inf"))]), "b": -float("inf")})
    assert json_values(holder) == {"value": {"a": ["nan", [{"value": "inf"}]], "b": "-inf"}}
    assert json_line(Holder(float("nan"))) == b'{"value":"nan"}\n'


def test_values_of_numpy_are_plain_numbers():
    """Attributes may hold them."""
    holder = Holder([np.float32(1.5), np.int64(3), np.array([1, 2]), np.float64("nan")])
    assert json_values(holder) == {"value": [1.5, 3, [1, 2], "nan"]}


def test_a_read_only_mapping_is_an_object():
    """Its keys are texts."""
    assert json_values(Holder(MappingProxyType({1: "a"}))) == {"value": {"1": "a"}}


def test_large_integers_keep_every_digit():
    """They are not limited to 64 bits."""
    assert json_line(Holder(2**70)) == b'{"value":1180591620717411303424}\n'


def test_indented_json_has_a_line_per_value():
    """Texts are UTF-8; half a surrogate pair has no such form."""
    assert json_bytes({"é": "\udce4"}, indent=1) == '{\n "é": "?"\n}\n'.encode()
