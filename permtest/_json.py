"""Results as JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any


class AsJson(ABC):
    """What has a dict of plain values has a JSON object, too."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)
