"""What was made of the layers of models, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.models.fixed import Fixed
from conformance.models.like import Likeness
from conformance.report import values as words


def likeness(made: Likeness) -> RenderableType:
    """Return the layers that have vectors, how they differ from the model, and the others."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    for each in made.found:
        table.add_row(each.name, Text("\n").join(map(Text, _layer(each.layer, each.count))))
    return Group(Text("Pooling layers", "bold"), table, *_skipped(made), Text())


def _layer(layer: Fixed, count: int) -> Iterator[str]:
    size = "" if layer.output_size is None else f" to {words.shape(layer.output_size)}"
    same = f" ({count} layers alike)" if count > 1 else ""
    yield f"{layer.operator} {layer.dtype} {words.shape(layer.shape)}{size}{same}"
    if layer.attributes:
        yield " ".join(words.attribute(name, value) for name, value in layer.attributes.items())
    if layer.chosen:
        yield "the model leaves extents open: these were chosen"
    if layer.planes != layer.shape:
        yield f"exact vectors are {words.shape(layer.planes)}: fewer channels, all cells of a plane"


def _skipped(made: Likeness) -> Iterator[Text]:
    whys = Counter((each.kind, each.why) for _, each in made.skipped)
    if whys:
        yield Text(f"Left out: {words.count(whys.total(), 'layer')}", "bold yellow")
    for (kind, why), count in whys.most_common():
        names = [each.name for _, each in made.skipped if (each.kind, each.why) == (kind, why)]
        shown = ", ".join([*names[:3], *(["..."] if len(names) > 3 else [])])
        yield Text(f"  {count} {kind} ({shown}): {why}", "yellow")
    if made.meaningless:
        said = words.count(made.meaningless, "vector")
        yield Text(f"{said} left out: the error bound of so many addends says nothing", "dim")
