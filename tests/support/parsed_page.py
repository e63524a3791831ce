"""A web page taken apart, for tests of reports."""

import json
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "hr", "img"}


class Page(HTMLParser):
    """A parsed page: its elements in order, each with attributes, text and parent's number."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.parents = [], [], [], []
        self._open = [-1]
        self.feed(text)
        self.close()
        assert self._open == [-1], "an element is not closed"

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self.texts.append([])
        self.parents.append(self._open[-1])
        if tag not in VOID:
            self._open.append(len(self.tags) - 1)

    def handle_startendtag(self, tag, attrs):
        """Note an element without content."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        """Close the element that is open."""
        assert self.tags[self._open.pop()] == tag

    def handle_data(self, data):
        """Note text, of all elements that it is in."""
        for number in self._open[1:]:
            self.texts[number].append(data)

    def text(self, number):
        """Return the text of an element, spaces as one."""
        return " ".join(" ".join(self.texts[number]).split())

    def above(self, number):
        """Return the numbers of the elements that an element is in."""
        found = []
        while (number := self.parents[number]) >= 0:
            found.append(number)
        return found

    def all(self, tag, **wanted):
        """Return the numbers of elements with some attributes (class: one of its words)."""
        name = wanted.pop("kind", None)
        return [
            i
            for i, (each, attributes) in enumerate(zip(self.tags, self.attributes, strict=True))
            if each == tag
            and wanted.items() <= attributes.items()
            and (name is None or name in (attributes.get("class") or "").split())
        ]

    def one(self, tag, **wanted):
        """Return the only element of its kind."""
        (number,) = self.all(tag, **wanted)
        return number

    def data(self, name):
        """Return the data that the page carries under a name."""
        number = self.one("script", id=f"data-{name}")
        return json.loads("".join(self.texts[number]))
