"""What a page of HTML has in it, as browsers read it."""

from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """Elements with their attributes, and texts, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, Any]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(reversed(attrs))))  # of two alike, the first counts

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, name: str) -> list[dict[str, Any]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    def values(self, *names: str) -> list[str]:
        """What these attributes say, wherever they are."""
        both = [item for _, attributes in self.elements for item in attributes.items()]
        return [value or "" for name, value in both if name in names]

    def acting(self) -> list[str]:
        """Attributes that run a script."""
        return [name for _, attributes in self.elements for name in attributes if name[:2] == "on"]
