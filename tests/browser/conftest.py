"""A page for the tests that drive a browser."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that remembers whom it asked for what; those must be on this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page, asked = context.new_page(), []
    context.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.set_default_timeout(300_000)
    yield page
    context.close()
    inside = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:", "about:")
    assert not [url for url in asked if not url.startswith((*inside, "file:"))]
