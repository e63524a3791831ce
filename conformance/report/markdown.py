"""A document as Markdown, for a page or the summary of a CI job, which has a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.report import document as doc
from conformance.report.values import count
from conformance.text import markdown, markdown_block, markdown_code

LARGEST = 1 << 20
"""Bytes that a job summary may have; what does not fit is left out, and counted."""

_ROOM_FOR_THE_REST = 1 << 12
_ROWS = 100
"""Rows of a table, or items of a list, that are shown."""
_THREADS = "https://github.com/"


def render(document: doc.Document, *, shown: int = 20) -> str:
    """Return a document as Markdown of at most `LARGEST` bytes.

    At most `shown` parts of a series are there.
    """
    page = _Page()
    page.add(_head(document))
    level = 3 if document.conclusion else 2
    for section in document.filled():
        if section.on not in {"brief", "html"}:
            _add_section(page, section, level, shown)
    if document.footer:
        page.add([f"*{_inline(document.footer)}.*"])
    return page.finished()


class _Page:
    """Pieces as long as there is room."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._room = LARGEST - _ROOM_FOR_THE_REST
        self._left_out = 0

    def add(self, paragraphs: Iterable[str], keep_free: int = 0) -> bool:
        """Add paragraphs, all of them or none; say whether they were added."""
        piece = "\n\n".join(paragraphs)
        size = len(piece.encode()) + 2
        if size > self._room - keep_free:
            self._left_out += 1
            return False
        if piece:
            self._pieces.append(piece)
            self._room -= size
        return True

    def finished(self) -> str:
        """Return everything that was added."""
        if self._left_out:
            left_out = count(self._left_out, "section")
            self._pieces.append(f"*Left out for lack of room: {left_out}.*")
        return "\n\n".join(self._pieces) + "\n"


def _head(document: doc.Document) -> Iterator[str]:
    for alert in document.alerts:
        yield f"# ⚠️ {markdown(alert)}"
    if document.conclusion:
        yield f"## {'✅' if document.tone == 'good' else '❌'} {markdown(str(document.conclusion))}"
    else:
        yield f"# {markdown(document.title)}"
    noun, name = document.subject
    if name:
        yield f"{markdown(noun.capitalize())} {markdown_code(name)}"


def _add_section(page: _Page, section: doc.Section, level: int, shown: int) -> None:
    series = [block for block in section.blocks if isinstance(block, doc.Series)]
    blocks = [_block(block) for block in section.blocks if block not in series]
    paragraphs = [paragraph for block in blocks for paragraph in block]
    if section.title and (paragraphs or series):
        intro = [_inline(section.intro)] if section.intro else []
        paragraphs = [f"{'#' * level} {markdown(section.title)}", *intro, *paragraphs]
    page.add(paragraphs)
    for parts in series:
        _add_series(page, parts, level + 1, shown)


def _add_series(page: _Page, series: doc.Series, level: int, most: int) -> None:
    added = 0
    for part, counted in zip(series.parts(most), series.titles(), strict=False):
        paragraphs = [f"{'#' * level} {markdown(part.title + counted)}"]
        if part.shared:
            paragraphs.append(f"{_inline(part.shared)[:1].upper()}{_inline(part.shared)[1:]}.")
        for block in (*part.about, *part.blocks):
            paragraphs += _block(block)
        if not page.add(paragraphs, keep_free=LARGEST // 4):
            break
        added += 1
    if rest := series.rest(added):
        page.add([f"*{rest}, not shown here.*"])


def _block(block: doc.Block) -> Iterator[str]:
    """Yield the paragraphs of a block; what only a page shows yields none."""
    match block:
        case doc.Paragraph():
            yield _marked(block.text) + _inline(block.text)
        case doc.Code():
            lines = "\n".join(markdown_block(block.text, block.language))
            if block.title:
                title = markdown(block.title[:1].upper() + block.title[1:])
                yield f"<details><summary>{title}</summary>"
                yield lines
                yield "</details>"
            else:
                yield lines
        case doc.Drawing():
            yield "\n".join(markdown_block("\n".join(map(doc.plain, block.lines))))
        case doc.Facts():
            yield "\n".join(line for name, value in block.rows for line in _fact(name, value))
        case doc.Items():
            yield "\n".join(line for item in block.items[:_ROWS] for line in _item(item, ""))
            yield from _more(block.items)
        case doc.Entries():
            yield _entries(block)
            yield from _more(block.entries)
        case doc.Table():
            if block.title:
                yield f"**{markdown(block.title)}**"
            yield _table(block)
            yield from _more(block.rows)


def _fact(name: str, value: doc.Text | doc.Code) -> Iterator[str]:
    if isinstance(value, doc.Code):
        yield f"- {markdown(name)}:"
        yield ""
        yield from (f"  {line}" for line in markdown_block(value.text, value.language))
    else:
        yield f"- {markdown(name)}: {_inline(value)}"


def _item(item: doc.Item, indent: str) -> Iterator[str]:
    if item.page_only:
        return
    yield f"{indent}- {_marked(item.text)}{_inline(item.text)}"
    for below in item.items:
        yield from _item(below, f"{indent}  ")


def _entries(block: doc.Entries) -> str:
    marked = any(entry.mark.text for entry in block.entries)
    rows = [[markdown(head) for head in block.heads if head], [":---"] * (2 + marked)]
    for entry in block.entries[:_ROWS]:
        tag = f" ({markdown(entry.tag)})" if entry.tag else ""
        name = markdown_code(entry.name, in_table=True) + tag
        mark = f"{_marked(entry.mark)}{markdown_code(entry.mark.text, in_table=True)}"
        text = _inline(entry.text, in_table=True)
        rows.append([name, mark, text] if marked else [name, text])
    return "\n".join(map(_row, rows))


def _table(table: doc.Table) -> str:
    table = table.without_bars()
    rows = [
        [markdown(column.title) for column in table.columns],
        ["---:" if column.number else ":---" for column in table.columns],
    ]
    rows += [[_inline(cell.text, in_table=True) for cell in row] for row in table.rows[:_ROWS]]
    return "\n".join(map(_row, rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _more(items: Sequence[object]) -> Iterator[str]:
    if len(items) > _ROWS:
        yield f"*… and {len(items) - _ROWS:,} more.*"


def _marked(text: doc.Text) -> str:
    """Return a sign before a text that says that something is wrong."""
    return "❌ " if any(span.tone == "bad" for span in doc.spans(text)) else ""


def _inline(text: doc.Text, *, in_table: bool = False) -> str:
    return "".join(_span(span, in_table=in_table) for span in doc.spans(text))


def _span(span: doc.Span, *, in_table: bool) -> str:
    if span.link.startswith(_THREADS) and _is_plain(span.link.removeprefix(_THREADS)):
        return f"<{span.link}>"
    if span.code or span.link:
        return markdown_code(span.text, in_table=in_table)
    before = " " * span.text.startswith(" ")
    after = " " * (len(span.text) > 1 and span.text.endswith(" "))
    return f"{before}{markdown(span.text)}{after}"


def _is_plain(path: str) -> bool:
    """Say whether a path of an address holds nothing that could mean something."""
    signs = path.translate(str.maketrans("", "", "/-.#"))
    return signs.isascii() and signs.isalnum()
