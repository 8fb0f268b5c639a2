"""What several test modules share: how hard hypothesis tries, a command line, a browser, ..."""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

if find_spec("matplotlib"):  # no windows; kernels of notebooks choose for themselves
    import matplotlib

    matplotlib.use("Agg")

# A deadline would measure compilation and the machine's load, not the code; so would that check.
timeless = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", timeless)
settings.register_profile("few", timeless, max_examples=5)
settings.register_profile("quick", timeless, max_examples=25)
settings.register_profile("ci", timeless, max_examples=200, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
CHROMIUM += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
NO_BROWSER = (
    "no Chromium found; install one with your system's packages (sudo apt install chromium) "
    "or with `playwright install chromium` inside .venv"
)


@pytest.fixture
def command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run `permtest` in a folder; exit code, standard output, standard error."""
    from permtest.cli import main

    monkeypatch.chdir(tmp_path)

    def command_line(*argv: object) -> tuple[int, str, str]:
        try:
            code = main(list(map(str, argv)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return command_line


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium. Without one the test is skipped, or fails where a skip is refused."""
    from playwright.sync_api import sync_playwright

    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if Path(own).exists():
        return own
    if os.environ.get("PERMTEST_REQUIRE_BROWSER"):
        pytest.fail(NO_BROWSER)
    pytest.skip(NO_BROWSER)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """A Chromium for all tests of a file."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=CHROMIUM)
        yield browser
        browser.close()
