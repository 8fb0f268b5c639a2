"""Where an index has 32 bits, as in a browser, the examples of the package say the same."""

import os
import subprocess
import tarfile
from pathlib import Path

import playwright
import pytest

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = ROOT.parent / "shared" / "browser" / "pyodide-0.27.7.tar.bz2"
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

parts = ["exact", "pairs", "interval", "runs", "batch", "margins", "sequential", "sensitivity"]
parts += ["metric", "result", "statistics", "predictions", "score", "integers"]
for room in ("alternatives", "many", "null"):
    found = pkgutil.iter_modules(import_module(f"permtest.{room}").__path__, f"{room}.")
    parts += [module.name for module in found]
# Very small tails of this posterior were NaN.
found = import_module("permtest.alternatives").bayes_test(
    (12517, 1067, 6446), (12435, 992, 6528), "recall", weight=0.3688
)
assert abs(found.p_h0 - 0.7050389573995882) < 1e-9, found.p_h0

results = [doctest.testmod(import_module(f"permtest.{part}")) for part in parts]
print(sum(r.attempted for r in results), "lines run on", sys.maxsize.bit_length() + 1, "bits")
sum(r.failed for r in results)
`));
"""


def test_examples_run_on_32_bits(tmp_path: Path) -> None:
    if not ARCHIVE.exists():
        missing = f"there is no Pyodide at {ARCHIVE.relative_to(ROOT.parent)}, beside the checkout"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    script = tmp_path / "run.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [str(NODE), str(script), str(tmp_path / "pyodide"), str(ROOT)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=900)
    assert done.returncode == 0, (done.stdout + done.stderr)[-20_000:]
    attempted, *_, bits, _ = done.stdout.splitlines()[-1].split()
    assert int(attempted) > 150
    assert bits == "32"
