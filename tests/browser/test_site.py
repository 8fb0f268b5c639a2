"""Readers run a notebook on the site: in their browser, with nothing installed, asking nobody.

An index has 32 bits there; the examples of the package say the same.
"""

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import playwright
import pytest
from build_site import build_lite

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT.parent / "shared" / "browser" / "pyodide-0.27.7.tar.bz2"
FIRST = "01-are-they-different.ipynb"
# What cells wrote there, and tracebacks.
ERROR = "[data-mime-type='application/vnd.jupyter.stderr']"
NODE = Path(playwright.__file__).parent / "driver" / "node"  # which comes with playwright
SCRIPT = """
const [folder, root] = process.argv.slice(2);
const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: folder });
await python.loadPackage(["numpy", "scipy", "pandas", "joblib"], { messageCallback() {} });
python.FS.mkdirTree("/project");
python.mountNodeFS("/project", root);
process.exit(python.runPython(`
import doctest, os, pkgutil, sys, warnings
from importlib import import_module

sys.path.insert(0, "/project")
sys.dont_write_bytecode = True
os.chdir("/project")
warnings.filterwarnings("ignore", "Numba is not installed", RuntimeWarning)

parts = ["exact", "scores", "interval", "runs", "batch", "sequential", "metric"]
parts += ["result", "statistics"]
for room in ("alternatives", "many", "null"):
    found = pkgutil.iter_modules(import_module(f"permtest.{room}").__path__, f"{room}.")
    parts += [module.name for module in found]
# Very small tails of this posterior were NaN.
found = import_module("permtest.alternatives").bayes_test(
    (12517, 1067, 6446), (12435, 992, 6528), "recall", weight=0.3688
)
assert abs(found.p_h0 - 0.7050389573995882) < 1e-9, found.p_h0
noise = import_module("numpy").random.default_rng(0).normal(size=(2, 60))
assert import_module("permtest").exact_perm_test(*noise).method == "bracket"
# Extended precision has no functions there, and tails of runs were wrong.
rng = import_module("numpy").random.default_rng(13)
for _ in range(60):
    both = (rng.random((60, 5)) < rng.random((60, 1)) for _ in "ab")
    found = import_module("permtest").exact_runs_test(*both, null="runs")
    assert abs(found.pvalue / float(found.fraction()) - 1) <= found.error_bound, found

results = [doctest.testmod(import_module(f"permtest.{part}")) for part in parts]
print(sum(r.attempted for r in results), "lines run on", sys.maxsize.bit_length() + 1, "bits")
sum(r.failed for r in results)
`));
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and keeps no log."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JupyterLite that has Python itself."""
    if not ARCHIVE.exists():
        missing = f"there is no Pyodide at {ARCHIVE.relative_to(ROOT.parent)}, beside the checkout"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    folder = tmp_path_factory.mktemp("site") / "lite"
    build_lite(folder, ARCHIVE)
    return folder


@pytest.fixture(scope="module")
def site(lite: Path) -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(lite.parent)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/lite"
    server.shutdown()
    server.server_close()


def test_a_notebook_runs_to_its_end_as_it_is(site: str, page: Any) -> None:
    inside = site.removesuffix("/lite")
    page.context.route(lambda url: not url.startswith(inside), lambda route: route.abort())
    page.goto(f"{site}/notebooks/index.html?path={FIRST}")
    page.locator(".jp-Notebook .jp-CodeCell").first.click()
    for menu, entry in (("Edit", "Clear Outputs of All Cells"), ("Run", "Run All Cells")):
        page.get_by_role("menuitem", name=menu, exact=True).click()
        page.get_by_role("menuitem", name=entry, exact=True).click()
    numbered = "prompt => /[0-9]/.test(prompt.textContent)"
    done = "prompt => !prompt.textContent.includes('*')"  # folded cells have no prompt
    for ready in (f"some({numbered})", f"every({done})"):
        prompts = "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
        page.wait_for_function(f'document.querySelector("{ERROR}") || {prompts}.{ready}')
    assert page.locator(ERROR).all_inner_texts() == []
    assert page.locator(".jp-OutputArea img").count() > 0
    assert page.locator(".jp-OutputArea .jupyter-widgets").count() > 0


def test_examples_run_on_32_bits(lite: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [str(NODE), str(script), str(lite / "static" / "pyodide"), str(ROOT)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=900)
    assert done.returncode == 0, (done.stdout + done.stderr)[-20_000:]
    attempted, *_, bits, _ = done.stdout.splitlines()[-1].split()
    assert int(attempted) > 150
    assert bits == "32"
