"""Vector files with the pooling layers of models, and what is next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance import __version__
from conformance.errors import UsageError
from conformance.files import folder_for
from conformance.models.fixed import Fixed, fixed
from conformance.models.layer import Model, NotExpressible, Skipped, printable
from conformance.models.neighbours import cases
from conformance.models.reader import read_model
from conformance.operators import OPERATORS, operator_named, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.sweep.model import Progress, build
from conformance.vector import TIERS, Tier
from conformance.vectorfile import VectorWriter

_MOST_LAYERS = 1000
_NAMES = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A layer that has vectors: the first of its kind, and how many layers are the same."""

    model: str
    name: str
    layer: Fixed
    count: int


@dataclass(frozen=True, slots=True)
class Likeness:
    """What was made of models: vector files, the layers in them, those that are not, and why.

    `meaningless` counts cases that were left out because their error bound would say nothing.
    """

    paths: list[Path]
    found: list[Found]
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
) -> Likeness:
    """Write vector files with the pooling layers of models, one file per operator.

    `models` are OpenVINO IR or ONNX files. Tier smoke holds vectors of exactly the layers'
    attributes and spatial extents, the larger ones also vectors with each attribute one level
    away. Raises UsageError for a file that is no model or has no layer to make vectors of.
    """
    for name in operators or ():
        operator_named(name)
    if tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; there are {', '.join(TIERS)}")
    if not models:
        raise UsageError("no models to be like")
    read = [read_model(path) for path in models]
    found, skipped = _distinct(read)
    names = [o for o in operators or OPERATORS if any(each.layer.operator == o for each in found)]
    if not names:
        raise UsageError(_nothing(read, skipped, operators))
    meaningless, paths = 0, []
    with folder_for(directory) as folder:
        for name in names:
            header = {
                "package": __version__,
                "tier": tier,
                "seed": seed,
                "like": [printable(model.name) for model in read[:_NAMES]],
            }
            layers = [each for each in found if each.layer.operator == name]
            path = folder / f"{name}.h5"
            with VectorWriter(path, name, header=header) as writer:
                meaningless += _write(writer, layers, tier, seed, progress)
            paths.append(path)
    return Likeness(
        paths, [each for each in found if each.layer.operator in names], skipped, meaningless
    )


def _distinct(models: Sequence[Model]) -> tuple[list[Found], list[tuple[str, Skipped]]]:
    """Return the different layers of models, and those that have no vectors."""
    first: dict[object, Found] = {}
    skipped = [(printable(model.name), each) for model in models for each in model.skipped]
    for model in models:
        for layer in model.layers:
            name = printable(model.name)
            try:
                numbers = fixed(layer)
            except NotExpressible as error:
                skipped.append((name, Skipped(layer.name, layer.operator, str(error))))
                continue
            known = first.get(numbers.key)
            count = 1 if known is None else known.count + 1
            origin = (name, layer.name) if known is None else (known.model, known.name)
            first[numbers.key] = Found(*origin, numbers, count)
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
    where = ", ".join(printable(model.name) for model in models[:_NAMES])
    if skipped:
        first = skipped[0][1]
        return f"{where}: no layer to make vectors of; {first.kind} {first.name!r}: {first.why}"
    of = f" of {', '.join(operators)}" if operators else ""
    return f"{where}: no pooling layers{of}"


def _write(
    writer: VectorWriter,
    found: Sequence[Found],
    tier: Tier,
    seed: int,
    progress: Progress | None,
) -> int:
    """Write the vectors of layers; return how many say nothing."""
    ids: set[str] = set()
    meaningless = 0
    for done, each in enumerate(found):
        for near in cases(each.layer, neighbours=tier != "smoke"):
            source = ", ".join(filter(None, (each.model, f"layer {each.name}", near.how)))
            case = build(
                near.plan, seed=seed, tier="standard" if near.how else "smoke", source=source
            )
            if case.id in ids or (tier == "smoke" and near.how):
                continue
            ids.add(case.id)
            vector = vector_of(case)
            if is_judgeable(operator_named(case.operator), vector):
                writer.add(vector)
            else:
                meaningless += 1
        if progress is not None:
            progress(f"{each.layer.operator}: layers", done + 1, len(found))
    return meaningless
