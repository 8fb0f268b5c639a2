"""The page of a leaderboard sorts and searches from disk, by keyboard too, on any screen."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import permtest as pt
from permtest.report import write_report
from permtest.study.board import BoardDocument

pytestmark = pytest.mark.browser

ROWS = "table.sortable tbody tr:visible"


def test_a_board_sorts_and_searches(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {f"model {i}": rng.integers(0, 2, 60) + (i < 105) * 3 for i in range(110)}
    board = pt.compare_many(table, rng=0)
    (file,) = write_report(BoardDocument(board), tmp_path / "board.html")
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_default_timeout(20_000)
    page.goto(file.as_uri())

    def names() -> list[str]:
        return [str(x) for x in page.locator(f"{ROWS} th").all_inner_texts()]

    def press(head: str) -> str:
        button = page.get_by_role("button", name=head, exact=True)
        button.press("Enter")
        return str(button.locator("xpath=..").get_attribute("aria-sort"))

    assert names() == board.order()
    page.get_by_label("Search systems").fill("model 10")
    assert sorted(names()) == sorted(x for x in board.systems if x.startswith("model 10"))
    assert page.get_by_role("status").inner_text() == "11 of 110 systems"
    page.get_by_label("Search systems").fill("")
    assert press("system") == "ascending"
    assert names() == list(board.systems)  # model 2 before model 10
    assert press("mean") == "descending"
    assert names()[0] == board.order()[0]
    assert press("mean") == "ascending"
    assert names()[0] in board.order()[-3:]
    assert page.locator("th[aria-sort]").count() == 1
    page.get_by_label("Search systems").fill("model 10")
    assert sorted(names()) == sorted(x for x in board.systems if x.startswith("model 10"))
    for width in (1400, 1100, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert problems == []
