"""Backends that are wrong somewhere, for workers to load: `path/to/fuzzed.py:name`."""

import os
import threading
from pathlib import Path

from conformance.faults import fault_named, faulty

HERE = Path(__file__)
right = faulty()
wrong = faulty(fault_named("last-channel-unwritten"))


def crashes(operator, inputs, attributes):
    """Die where strides are above 3 and padding is valid."""
    if max(attributes["strides"]) > 3 and attributes.get("auto_pad") == "valid":
        os._exit(7)
    return right(operator, inputs, attributes)


def gone(operator, inputs, attributes):
    """Answer for few channels; otherwise die and leave nothing to start again."""
    if inputs[0].shape[1] > 8:
        Path(os.environ["FUZZED"]).unlink()
        os._exit(7)
    return right(operator, inputs, attributes)


def hangs(operator, inputs, attributes):
    """Wait for ever for data of two or more batches."""
    if inputs[0].shape[0] > 1:
        threading.Event().wait()
    return right(operator, inputs, attributes)


def refusing(operator, _inputs, _attributes):
    """Support nothing."""
    raise NotImplementedError(operator)
