"""Results of a backend in both layouts, written as docs/results.md says."""

from urllib.parse import quote

import h5py
import numpy as np

from conformance import as_called
from conformance.api import check as api
from conformance.backends.results import path_of
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


def as_file(path, answers):
    """Write answers as an HDF5 file."""
    with h5py.File(path, "w") as file:
        file.attrs["format"] = np.bytes_("pooling-conformance results 1")
        for vector_id, answer in answers.items():
            name = quote(vector_id, safe="")
            if isinstance(answer, Exception):
                file[f"{status(answer)}/{name}"] = np.bytes_(text(answer).encode())
            else:
                for number, output in enumerate(outputs_of(answer)):
                    group = f"outputs.{number}" if number else "outputs"
                    file[f"{group}/{name}"] = stored(output)
    return path


def as_folder(path, answers):
    """Write answers as a folder."""
    path.mkdir()
    lines = []
    for vector_id, answer in answers.items():
        if isinstance(answer, Exception):
            lines.append(f"{status(answer)}\t{vector_id}\t{text(answer)}\n")
        else:
            folder = path / path_of(vector_id)
            folder.mkdir(parents=True)
            for number, output in enumerate(outputs_of(answer)):
                name = f"output.{number}.npy" if number else "output.npy"
                np.save(folder / name, stored(output))
    (path / "status.tsv").write_text("".join(lines), "utf-8")
    return path


LAYOUTS = {"file": as_file, "folder": as_folder}


def stored(output):
    """Return an output as it is stored: bfloat16 as its bits."""
    return output.view(np.uint16) if output.dtype.name == "bfloat16" else output


def status(error):
    return "unsupported" if isinstance(error, NotImplementedError) else "raised"


def text(error):
    return " ".join(f"{type(error).__name__}: {error}".split())


def looked_up(stored, vectors, **options):
    """Return the report of stored results."""
    return api.run(stored, vectors, api.Asked.of(Settings(**options)), name="stored")
