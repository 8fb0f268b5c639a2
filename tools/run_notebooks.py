"""Run the notebooks and store what they show, small enough to be read where they lie.

    python3 dev.py notebooks [BEGINNING OF A NAME ...]

Pictures become PNGs of few colours, widgets stills with their sentence. Each code cell keeps a hash
of the code that made its output, so that a test can tell what was changed and not run again.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from html import unescape
from io import BytesIO
from math import ceil
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
REFERENCE = "IPY_MODEL_"
STILL = "(A still of the widget: run the notebook to play with it.)"
COLOURS, WIDEST, LARGEST = (64, 32, 16), 1300, 60_000  # of a stored picture; pixels; bytes
# What a reader would see; by the environment for processes that a cell starts, as joblib's.
VISIBLE = ("UserWarning", "RuntimeWarning", "FutureWarning", "SyntaxWarning")
SLICE = 0.25  # seconds between two looks for a message
STRICT = {"PYTHONWARNINGS": ",".join(f"error::{category}" for category in VISIBLE)}


def execute(notebook: NotebookNode, folder: Path = FOLDER, *, again: bool = False) -> NotebookNode:
    """Run all cells in a clean kernel, every warning an error; then, if `again`, last to first.

    The outputs of the second run, without pictures, are in a cell's ``metadata["again"]``.
    """
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # The kernel itself warns about what is not ours; what cells do is checked in the cells.
    strict = nbformat.v4.new_code_cell(
        "import warnings as _w; _w.simplefilter('error')\n"
        "_w.simplefilter('ignore', PendingDeprecationWarning)  # ipykernel's, when it stops"
    )
    # Nobody looks at the pictures of the second run: they are laid out, and not made.
    undrawn = nbformat.v4.new_code_cell(
        "from matplotlib.figure import Figure as _F\n"
        "get_ipython().display_formatter.formatters['image/png'].for_type(\n"
        "    _F, lambda figure: figure.draw_without_rendering()\n"
        ")"
    )
    back = [nbformat.v4.new_code_cell(cell.source) for cell in reversed(codes) if again]
    cells = [strict, *codes, *([undrawn] if again else []), *back]
    whole = nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)
    folders = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | STRICT | {"PYTHONPATH": folders}
    where = {"metadata": {"path": str(folder)}}
    poll_in_slices()
    client = NotebookClient(whole, timeout=1800, resources=where, record_timing=False)
    client.execute(env=environment)
    for cell, second in zip(reversed(codes), back, strict=False):
        cell.metadata["again"] = _joined(second.outputs)
    for count, cell in enumerate(codes, 1):
        cell.execution_count = count
        cell.outputs = _joined(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
    notebook.metadata = whole.metadata
    return notebook


def poll_in_slices() -> None:
    """Make every kernel client of this process look for messages at least every `SLICE`."""

    # `jupyter_client` waits in one long poll. Now and then, while a cell fills an Output widget, a
    # message does not wake it, and the cell waits for ever (jupyter/nbclient, issue 312).
    async def get_msg(channel: Any, timeout: float | None = None) -> dict[str, Any]:
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            wait = max(0.0, min(SLICE, deadline - time.monotonic()))
            if await channel.socket.poll(ceil(1000 * wait)):
                message: dict[str, Any] = await channel._recv()
                return message
            if time.monotonic() >= deadline:
                raise Empty

    AsyncZMQSocketChannel.get_msg = get_msg


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """What was printed in pieces, which depend on when the kernel flushed it, in one."""
    whole: list[NotebookNode] = []
    for output in outputs:
        if whole and "name" in output and output.get("name") == whole[-1].get("name"):
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def stored(notebook: NotebookNode) -> NotebookNode:
    """An executed notebook with what is worth storing of its outputs."""
    models = notebook.metadata.pop("widgets", {}).get(STATE, {}).get("state", {})
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        if cell.cell_type == "code":
            kept = [one for output in cell.outputs for one in _kept(output, cell, models)]
            cell.outputs = _joined(kept)  # between what was printed there may have been a bar
            cell.metadata["ran"] = fingerprint(cell)
    return notebook


def fingerprint(cell: NotebookNode) -> str:
    """What the code of a cell is, in twelve characters."""
    return hashlib.sha256(cell.source.encode()).hexdigest()[:12]


def text(outputs: list[NotebookNode]) -> str:
    """What outputs say in words, and that there is a picture; names of objects are left out."""
    said = []
    for output in outputs:
        data = output.get("data", {})
        if VIEW not in data:  # a stream may come in several pieces, cut anywhere
            said.append(output.get("text") or data.get("text/plain", "") + "\n")
    return re.sub(r"<[\w. ]+ (?:object )?at 0x\w+>|<Figure size .*>", "", "".join(said)).strip()


def _kept(output: Any, cell: NotebookNode, models: Mapping[str, Any]) -> Iterator[NotebookNode]:
    """A picture in few colours, a widget as a still, everything else as it is."""
    data = output.get("data", {})
    if (view := data.pop(VIEW, None)) and "image/png" not in data:
        data.clear()
        data.update(_still(list(_tree(view["model_id"], models))))
        if not data:  # a bar that showed how far a computation was
            return
    if "image/png" in data:
        data["image/png"] = small(data["image/png"])
        if alt := cell.metadata.get("alt"):
            output.metadata["image/png"] = {"alt": alt}
        if data.get("text/plain", "").startswith("<"):
            del data["text/plain"]
    yield output


def _tree(name: str, models: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A widget's state and those of all that it holds, in the order in which they are shown."""
    state = models.get(name.removeprefix(REFERENCE), {"state": {}})["state"]
    yield state
    for child in state.get("children", []):
        yield from _tree(child, models)


def _still(states: list[Mapping[str, Any]]) -> dict[str, str]:
    """The first picture of a widget, and its sentences."""
    pages = [state["value"] for state in states if isinstance(state.get("value"), str)]
    caught = [output.get("data", {}) for state in states for output in state.get("outputs", [])]
    pngs = [x["image/png"].replace("\n", "") for x in caught if "image/png" in x]
    pages += [f"data:image/png;base64,{png}" for png in pngs]
    found = re.search(r"data:image/png;base64,([\w+/=]+)", "".join(pages))
    told = [words(page) for page in pages if "role='status'" in page and "-work'" not in page]
    if found is None:
        return {"text/plain": "\n".join([*told, STILL])} if told else {}
    return {"image/png": found[1], "text/plain": "\n".join([*filter(None, told), STILL])}


def words(page: str) -> str:
    """The text of a piece of HTML."""
    plain = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)
    return " ".join(unescape(plain).split())


def small(png: str) -> str:
    """The same picture, no wider than a page, with as many colours as its size allows."""
    picture = Image.open(BytesIO(b64decode(png))).convert("RGB")
    if picture.width > WIDEST:
        size = WIDEST, round(picture.height * WIDEST / picture.width)
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    for colours in COLOURS:
        held = BytesIO()
        median, plain = Image.Quantize.MEDIANCUT, Image.Dither.NONE
        few = picture.quantize(colours, median, kmeans=1, dither=plain)
        few.save(held, "PNG", optimize=True)
        if held.tell() <= LARGEST:
            break
    return b64encode(held.getvalue()).decode()


def main(names: list[str]) -> None:
    paths = sorted(FOLDER.glob("[0-9][0-9]-*.ipynb"))
    chosen = [path for path in paths if not names or path.name.startswith(tuple(names))]
    if not chosen:
        sys.exit(f"no notebook begins with {' or '.join(names)}; there are {FOLDER}/NN-*.ipynb")
    for path in chosen:
        notebook = stored(execute(nbformat.read(path, as_version=4)))
        nbformat.write(notebook, path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
