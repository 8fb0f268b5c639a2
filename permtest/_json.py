"""Results as plain values, and as JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np


class AsJson(ABC):
    """What has a dict of plain values has a JSON object, too."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings, lists and None."""

    def to_json(self, **options: Any) -> str:
        """`to_dict` as one JSON object; `options` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)


class AsFields(AsJson):
    """A dataclass whose fields are all that there is to say."""

    def to_dict(self) -> dict[str, Any]:
        """All fields, arrays as nested lists, in plain numbers and strings; None for no number."""
        names: dict[str, Any] = getattr(self, "__dataclass_fields__")  # noqa: B009
        return {x: plain(getattr(self, x)) for x in names if not x.startswith("_")}


def plain(value: Any) -> Any:
    """A value as JSON has it: None for NaN and infinity, a float for a fraction."""
    if isinstance(value, AsJson):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            value = np.where(np.isfinite(value), value.astype(object), np.array(None))
        return value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float | Fraction | Decimal):
        value = float(value)
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value
