"""Vector files with the pooling layers of models, and what is next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.cases.from_model.concrete import concrete
from conformance.cases.from_model.layer import Model, NotExpressible, Skipped
from conformance.cases.from_model.networks import NAME, networks
from conformance.cases.from_model.onnx_model import read_onnx
from conformance.cases.from_model.openvino_ir import read_ir
from conformance.cases.from_model.perturbations import cases
from conformance.cases.sweep.sweep_model import CaseSpec, build
from conformance.errors import UsageError
from conformance.files import folder_for, open_regular, size_of
from conformance.operators import OPERATORS, operator_named, operators_named, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.process import ProcessFailed, call_separately
from conformance.progress import Progress
from conformance.vector import TIERS, Tier
from conformance.vectorfile import VectorWriter
from conformance.version import __version__

_MOST_LAYERS = 1000
_ONNX = b"\x08"  # the tag of ir_version, the first field of every ONNX model
_NAMES = 20
_SECONDS = 5
_BYTES_PER_SECOND = 20 << 20
"""How long reading a model may take, and how much of it is read in a second at least."""
_MEMORY, _COPIES = 2 << 30, 8
"""Bytes that reading a model may take, and copies of it that inferring shapes may make."""


@dataclass(frozen=True, slots=True)
class DistinctLayer:
    """The first of some layers that are equal but for their names, and their number, `count`.

    `model` is the name of the model, or where the layer is described. `spec` is the layer without
    data; `chosen` says that the model leaves some extents open.
    """

    model: str
    name: str
    spec: CaseSpec
    chosen: bool
    count: int = 1


@dataclass(frozen=True, slots=True)
class ModelVectors:
    """The vector files made of models; `layers` have vectors, `skipped` have none, with reasons.

    A skipped layer comes with the name of its model. `meaningless` counts the cases that were left
    out because their error bound admits any value.
    """

    paths: list[Path]
    layers: list[DistinctLayer]
    skipped: list[tuple[str, Skipped]]
    meaningless: int


def generate_like(
    directory: str | Path,
    models: Sequence[str | Path],
    *,
    operators: Sequence[str] | None = None,
    tier: Tier = "standard",
    seed: int = 0,
    progress: Progress | None = None,
) -> ModelVectors:
    """Write vector files with the pooling layers of models, one file per operator.

    `models` are OpenVINO IR or ONNX files, or "networks", the collection of layers of well-known
    networks. Tier smoke holds vectors of exactly the layers' attributes and spatial extents, the
    larger ones also vectors with each attribute one level away. Raises UsageError for a file that
    is no model or has no layer to make vectors of.
    """
    asked = operators_named(operators or None, list(OPERATORS))
    if tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; there are {', '.join(TIERS)}")
    if not models:
        raise UsageError("no models to be like")
    of_networks = operators_named(operators or None)
    read = [_read(path, of_networks) for path in models]
    layers, skipped = _distinct(read)
    names = [o for o in asked if any(layer.spec.operator == o for layer in layers)]
    if not names:
        raise UsageError(_nothing(read, skipped, operators))
    meaningless, paths = 0, []
    with folder_for(directory) as folder:
        for name in names:
            header = {
                "package": __version__,
                "tier": tier,
                "seed": seed,
                "like": [model.name for model in read[:_NAMES]],
            }
            of_operator = [layer for layer in layers if layer.spec.operator == name]
            path = folder / f"{name}.h5"
            with VectorWriter(path, name, header=header) as writer:
                meaningless += _write(writer, of_operator, tier, seed, progress)
            paths.append(path)
    with_vectors = [layer for layer in layers if layer.spec.operator in names]
    skipped += [
        (
            layer.model,
            Skipped(layer.name, layer.spec.operator, "not an operator that was asked for"),
        )
        for layer in layers
        if layer.spec.operator not in names
    ]
    return ModelVectors(paths, with_vectors, skipped, meaningless)


def _read(model: str | Path, operators: Sequence[str]) -> Model:
    """Return the pooling layers of a file or, as those of some operators, of the collection."""
    if str(model) == NAME:
        return networks(operators)
    return _read_within_limits(Path(model))


def _read_within_limits(path: Path) -> Model:
    """Return the pooling layers of a model, read by a process of its own: it may be a stranger's.

    Raises UsageError, naming the file, also where reading it crashes or takes too long.
    """
    nbytes = size_of(path)
    try:
        return call_separately(
            read_model,
            path,
            seconds=_SECONDS + nbytes / _BYTES_PER_SECOND,
            memory=_MEMORY + _COPIES * nbytes,
        )
    except ProcessFailed as failure:
        raise UsageError(f"{path}: no model that can be read: reading it {failure}") from None


def read_model(path: str | Path) -> Model:
    """Return the pooling layers of an OpenVINO IR, a page of `<layer>` elements, or an ONNX model.

    Raises UsageError, naming the file, if it is none of them or cannot be read.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise UsageError(f"{path}: a directory; give the model's .xml or .onnx file")
        with open_regular(path) as stream:
            first = stream.read(1)
        is_onnx = path.suffix.lower() == ".onnx" or first == _ONNX
        return read_onnx(path) if is_onnx else read_ir(path)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give the model's .xml or .onnx file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _distinct(models: Sequence[Model]) -> tuple[list[DistinctLayer], list[tuple[str, Skipped]]]:
    """Return the different layers of models, and those that have no vectors."""
    first: dict[str, DistinctLayer] = {}
    skipped = [(model.name, layer) for model in models for layer in model.skipped]
    for model in models:
        for layer in model.layers:
            try:
                spec = concrete(layer)
            except NotExpressible as error:
                skipped.append((model.name, Skipped(layer.name, layer.operator, str(error))))
                continue
            distinct = DistinctLayer(layer.source or model.name, layer.name, spec, layer.is_open)
            attributes = {name: str(value) for name, value in spec.attributes.items()}
            key = repr(replace(spec, attributes=dict(sorted(attributes.items()))))
            if key in first:
                distinct = replace(first[key], count=first[key].count + 1)
            first[key] = distinct
    if len(first) > _MOST_LAYERS:
        raise UsageError(
            f"{len(first):,} different pooling layers; at most {_MOST_LAYERS:,} will do"
        )
    return list(first.values()), skipped


def _nothing(
    models: Sequence[Model],
    skipped: Sequence[tuple[str, Skipped]],
    operators: Sequence[str] | None,
) -> str:
    where = ", ".join(model.name for model in models[:_NAMES])
    if skipped:
        reasons = "; ".join(f"{layer.kind} {layer.name!r}: {layer.why}" for _, layer in skipped)
        return f"{where}: no layer to make vectors of; {reasons}"
    of = f" of {', '.join(operators)}" if operators else ""
    return f"{where}: no pooling layers{of}"


def _write(
    writer: VectorWriter,
    layers: Sequence[DistinctLayer],
    tier: Tier,
    seed: int,
    progress: Progress | None,
) -> int:
    """Write the vectors of layers; return how many say nothing."""
    ids: set[str] = set()
    meaningless = 0
    for done, entry in enumerate(layers):
        for spec in cases(entry.spec, neighbours=tier != "smoke"):
            source = ", ".join(filter(None, (entry.model, f"layer {entry.name}", spec.source)))
            case = build(replace(spec, source=source), seed=seed)
            if case.id in ids or (tier == "smoke" and spec.tier != tier):
                continue
            ids.add(case.id)
            vector = vector_of(case)
            if is_judgeable(operator_named(case.operator), vector):
                writer.add(vector)
            else:
                meaningless += 1
        if progress is not None:
            progress(f"{entry.spec.operator}: layers", done + 1, len(layers))
    return meaningless
