"""The pictures of the documents: one command draws all that show results."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEASURED = {"error", "time", "time-f1"}  # by the benchmarks


def test_the_command_draws_every_picture_that_shows_results_and_all_are_there():
    drawn = set(runpy.run_path(str(ROOT / "tools" / "draw_docs.py"))["PICTURES"])
    shown = set()
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"!?\[[^\]]*\]\(([^):]+\.png)\)", path.read_text("utf-8")):
            picture = (path.parent / target).resolve()
            assert picture.exists(), f"{path.name} shows {target}"
            shown |= {picture.stem} if picture.parent == ROOT / "docs" else set()
    assert shown - MEASURED == drawn >= {"answers", "bayes", "leaderboard"}
