"""Run every notebook from a clean kernel and keep it, with its outputs, under build/html/."""

from __future__ import annotations

import time
from pathlib import Path

import nbformat
from jupyter_wakeup import poll_in_slices
from nbclient import NotebookClient
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "html"


def render(path: Path) -> Path:
    """Write the HTML copy of one notebook; the notebook itself is not touched."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=120, resources=where).execute()
    page, _ = HTMLExporter().from_notebook_node(notebook, {"metadata": {"name": path.stem}})
    target = TARGET / f"{path.stem}.html"
    target.write_text(page, encoding="utf-8")
    return target


def main() -> None:
    """Render all notebooks in the order of the story."""
    poll_in_slices()
    TARGET.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        start = time.perf_counter()
        target = render(path)
        seconds = time.perf_counter() - start
        print(f"{target.relative_to(ROOT)}  {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
