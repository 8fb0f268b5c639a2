"""The pictures of the documents: one command draws all that show results."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEASURED = {"error", "time", "time-f1"}  # by the benchmarks
OURS = re.compile(r"\((?:docs/)?([\w-]+)\.png\)")


def shown() -> set[str]:
    """Names of the pictures that the README and the documents show."""
    files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return {name for name in OURS.findall(text) if (ROOT / "docs" / f"{name}.png").exists()}


def test_the_command_knows_every_picture_that_shows_results():
    spec = importlib.util.spec_from_file_location("draw_docs", ROOT / "tools" / "draw_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert set(module.PICTURES) >= {"answers", "bayes", "leaderboard"}
    drawn = {name for name in shown() - MEASURED if not name.startswith("figure")}
    assert drawn == set(module.PICTURES)


def test_every_picture_of_a_document_is_there():
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)", text):
            assert (path.parent / target).exists(), f"{path.name} shows {target}"
