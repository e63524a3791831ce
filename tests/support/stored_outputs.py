"""Results of a backend in a file, written as docs/results.md says."""

import json

import numpy as np
from safetensors.numpy import save_file

from conformance import as_called
from conformance.api import check as api
from conformance.settings import Settings
from conformance.vector import outputs_of


def answered(backend, vectors):
    """Return by id what a backend does for each vector: an array, several, or what it raises."""
    found = {}
    for each in vectors:
        case = each.case
        try:
            inputs, attributes = as_called(case)
            found[case.id] = backend(case.operator, [array.copy() for array in inputs], attributes)
        except Exception as error:  # noqa: BLE001 - whatever the backend raised
            found[case.id] = error
    return found


def as_file(path, answers, **about):
    """Write answers as a file; keywords are what it says besides."""
    tensors, refusals = {}, {"raised": {}, "unsupported": {}}
    for vector_id, answer in answers.items():
        if isinstance(answer, Exception):
            refusals[status(answer)][vector_id] = text(answer)
        else:
            for number, output in enumerate(outputs_of(answer)):
                name = f"{vector_id}:{number}" if number else vector_id
                tensors[name] = np.ascontiguousarray(output).reshape(output.shape)
    content = json.dumps({"version": 1, **refusals, **about})
    save_file(tensors, path, {"pooling-conformance results": content})
    return path


def status(error):
    return "unsupported" if isinstance(error, NotImplementedError) else "raised"


def text(error):
    return " ".join(f"{type(error).__name__}: {error}".split())


def looked_up(stored, vectors, **options):
    """Return the report of stored results."""
    return api.run(stored, vectors, api.CheckPlan.of(Settings(**options)), name="stored")
