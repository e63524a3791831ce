"""What vectors were made from the pooling layers of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.cases.from_model.concrete import exact_shape
from conformance.cases.from_model.from_model import DistinctLayer, ModelVectors
from conformance.record.words import attribute_in_words
from conformance.report import document as doc
from conformance.report import values as words


def describe(made: ModelVectors) -> doc.Document:
    """Return the layers that have vectors, how they differ from the model, and the others."""
    by_name: dict[tuple[str, str], list[DistinctLayer]] = {}
    for layer in made.layers:
        by_name.setdefault((layer.model, layer.name), []).append(layer)
    layers = tuple(
        (name, "\n".join(_layer(same[0]) if len(same) == 1 else _said_by_several(model, same)))
        for (model, name), same in by_name.items()
    )
    return doc.Document(
        title="Vectors like models",
        sections=(
            doc.Section("Pooling layers", (doc.Facts(layers),), name="layers"),
            _skipped(made),
            _meaningless(made),
        ),
    )


def _layer(layer: DistinctLayer) -> Iterator[str]:
    spec = layer.spec
    size = "" if spec.output_size is None else f" to {words.shape(spec.output_size[0])}"
    same = f" ({layer.count} layers alike)" if layer.count > 1 else ""
    yield f"{spec.operator} {spec.dtype} {words.shape(spec.shape)}{size}{same}"
    if spec.attributes:
        yield " ".join(attribute_in_words(name, value) for name, value in spec.attributes.items())
    if layer.chosen:
        yield "the model leaves extents open: these were chosen"
    exact = exact_shape(spec)
    if exact != spec.shape:
        yield f"exact vectors are {words.shape(exact)}: fewer channels, all cells of a plane"


def _said_by_several(model: str, layers: Sequence[DistinctLayer]) -> Iterator[str]:
    """Yield lines about layers of one name: as a rule one layer, in the words of each operator."""
    operators = dict.fromkeys(layer.spec.operator for layer in layers)
    shapes = dict.fromkeys(words.shape(layer.spec.shape) for layer in layers)
    yield f"{model}: {', '.join(shapes)}"
    yield f"{words.count(len(operators), 'operator')}: {', '.join(operators)}"


def _skipped(made: ModelVectors) -> doc.Section:
    reasons = Counter((skipped.kind, skipped.why) for _, skipped in made.skipped)
    items = []
    for (kind, why), count in reasons.most_common():
        names = [layer.name for _, layer in made.skipped if (layer.kind, layer.why) == (kind, why)]
        items.append(doc.Span(f"{count} {kind} ({', '.join(names)}): {why}", "warn"))
    return doc.Section(
        f"Left out: {words.count(reasons.total(), 'layer')}",
        (doc.listing(items),),
        name="left-out",
        tone="warn",
    )


def _meaningless(made: ModelVectors) -> doc.Section | None:
    if not made.meaningless:
        return None
    vectors = words.count(made.meaningless, "vector")
    said = f"{vectors} left out: the error bound of so many addends says nothing"
    return doc.Section("", (doc.Paragraph(doc.Span(said, "quiet")),), name="meaningless")
