"""People use the page of `permtest app`, and nobody else hears of it."""

from pathlib import Path
from typing import Any

import pytest

from permtest.app import EXAMPLE
from tests.test_app import running_app


@pytest.mark.browser
def test_a_person_compares_two_files_and_downloads_the_report(browser: Any, tmp_path: Path) -> None:
    with running_app(tmp_path) as address:
        page, outside = browser.new_page(color_scheme="dark"), []
        page.on("requestfinished", lambda request: outside.append(request.url))
        page.set_default_timeout(30_000)
        page.set_viewport_size({"width": 400, "height": 900})
        page.goto(address)
        for name, column in (("one.csv", 1), ("two.csv", 2)):
            lines = [line.split(b",") for line in EXAMPLE.data.split()]
            text = b"\n".join(b"%s,%s" % (line[0], line[column] if i else b"score")
                              for i, line in enumerate(lines))  # fmt: skip
            (tmp_path / name).write_bytes(text)
        with page.expect_file_chooser() as chooser:
            page.locator("button.widget-upload").click()
        chooser.value.set_files([tmp_path / "one.csv", tmp_path / "two.csv"])
        page.get_by_text("two.csv: 12 lines").wait_for()
        page.get_by_role("button", name="Compare").click()
        report = page.frame_locator("iframe[title='the report']")
        report.get_by_text("p = 0.0312 (exact two-sided paired-permutation test)").first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="report.json").click()
        assert '"pvalue": 0.03125' in Path(download.value.path()).read_text()
        report.get_by_text("Other tests").first.click()
        report.get_by_text("paired t-test").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert not [url for url in outside if "127.0.0.1" not in url and url.startswith("http")]
        page.close()
