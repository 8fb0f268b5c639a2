"""What tests of explorers share."""

import pytest

from permtest.widgets import frame


@pytest.fixture
def unseen(monkeypatch):
    """Explorers paint as ever, but make no PNG file of it, which takes most of their time."""
    monkeypatch.setattr(frame, "png", lambda figure: b"")
