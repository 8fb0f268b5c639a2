"""What a widget shows, without a kernel: its pictures and sentences as they were last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any

from nbformat import NotebookNode

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
PROGRESS = {"FloatProgressModel", "IntProgressModel"}
REFERENCE = "IPY_MODEL_"

Model = Mapping[str, Any]


def freeze_widgets(notebook: NotebookNode, live: str) -> None:
    """Replace all widgets of an executed notebook by HTML; `live` says how to see them move.

    Bars that showed how far a computation was are left out.
    """
    models = notebook.metadata.pop("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        kept = []
        for output in cell.get("outputs", []):
            if VIEW in output.get("data", {}):
                tree = list(_tree(output.data[VIEW]["model_id"], models))
                if PROGRESS & {model["model_name"] for model in tree}:
                    continue
                output.data = NotebookNode({"text/html": _still(tree, live)})
            kept.append(output)
        if cell.cell_type == "code":
            cell.outputs = kept


def _tree(name: str, models: Mapping[str, Model]) -> Iterator[Model]:
    """A widget and all that it holds, in the order in which they are shown."""
    model = models.get(name.removeprefix(REFERENCE), {"model_name": "", "state": {}})
    yield model
    for child in model["state"].get("children", []):
        yield from _tree(child, models)


def _still(tree: list[Model], live: str) -> str:
    """What is shown, from top to bottom, controls as words; some are beside each other."""
    parts = []
    for is_control, models in groupby(
        filter(_is_seen, tree), key=lambda model: bool(_chosen(model))
    ):
        shown = "".join(map(_chosen if is_control else _shown, models))
        parts.append(f"<p class='controls'>{shown}</p>" if is_control else shown)
    return (
        f"<div class='still'>{''.join(parts)}<p class='live'>This is how the widget looked when "
        f"the notebook was run. To play with it: <code>{escape(live)}</code></p></div>"
    )


def _is_seen(model: Model) -> bool:
    return bool(_chosen(model) or _shown(model))


def _shown(model: Model) -> str:
    """HTML as it is, and what an Output widget has caught."""
    state = model["state"]
    if model["model_name"] in ("HTMLModel", "HTMLMathModel"):
        return str(state.get("value", ""))
    return "".join(map(_caught, state.get("outputs", [])))


def _caught(output: Mapping[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
        return f"<img alt='{escape(alt)}' src='data:image/png;base64,{data['image/png']}'>"
    return f"<pre>{escape(output.get('text') or data.get('text/plain', ''))}</pre>"


def _chosen(model: Model) -> str:
    """A control that has a name, and what it is set to."""
    state = model["state"]
    name, value = state.get("description"), state.get("value")
    if labels := state.get("_options_labels"):
        value = labels[state["index"]] if state.get("index") is not None else None
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if not name or not isinstance(value, str | int | float):
        return ""
    return f"<span>{escape(name)} <b>{escape(str(value))}</b></span> "
