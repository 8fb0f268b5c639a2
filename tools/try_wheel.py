"""Build the distributions, install the wheel into an empty environment and test it there.

    python tools/try_wheel.py                         the core; up to Python 3.12 with the oldest
                                                      dependencies allowed, which no later one has
    python tools/try_wheel.py --everything            all extras, newest dependencies, all tests

The wheel is built from the sdist, as an installer without a wheel would do it. Tests run in a copy
of the project that has no `permtest` folder, so that they can see the installed package alone.
Those that drive a browser are left out, and with `--everything` those that look at the checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OLD = (3, 12)  # the last Python that has the oldest dependencies

#: What tests the numbers that users get. Most of its time goes into compiling, as no machine code
#: comes with a wheel; tests of the kernels one by one would compile those that nobody calls, too.
CORE = ("exact", "monte_carlo", "scores", "result", "structured", "integers")
#: What those need besides the core.
TOOLS = ("hypothesis", "mpmath", "pandas", "polars", "pytest", "pytest-xdist")
#: The main job, with the core alone.
FILES = ("notebooks/data/own_gsm8k_6b.txt", "notebooks/data/own_gsm8k_175b.txt")
JOB = ("compare", *FILES, "--score", "exact_match,first-answer", "--missing", "drop")
#: What looks at the checkout itself.
OF_THE_CHECKOUT = ("layout", "packaging", "book", "api", "readme")
#: The variables of this process, but for what would lead to other packages.
CLEAN = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}


def call(python: Path | str, *arguments: str, folder: Path | None = None) -> None:
    """Run a Python; stop if it fails."""
    if code := subprocess.call([str(python), *arguments], env=CLEAN, cwd=folder):
        sys.exit(code)


def environment(folder: Path) -> Path:
    """An empty environment; return its Python."""
    call(sys.executable, "-m", "venv", "--clear", str(folder))
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def build(folder: Path) -> tuple[Path, Path]:
    """Make the sdist and from it the wheel; return the unpacked project, and the wheel."""
    python = environment(folder / "builder")
    # One environment serves for both; `build` would make a new one for each of them.
    needed = PYPROJECT["build-system"]["requires"]
    call(python, "-m", "pip", "install", "--quiet", "build", *needed)
    call(python, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    for path in (sdist, wheel):
        print(f"{path.name}: {path.stat().st_size / 2**20:.2f} MB")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    project = folder / sdist.name.removesuffix(".tar.gz")
    shutil.rmtree(project / "permtest")
    return project, wheel


def oldest() -> Iterator[str]:
    """The lower bounds of the dependencies, as constraints: ``numpy==2.0.*``."""
    for text in PYPROJECT["project"]["dependencies"]:
        if bound := re.match(r"([\w.-]+)>=([\d.]+)", text):
            release = bound[2] if bound[2].count(".") > 1 else f"{bound[2]}.*"
            yield f"{bound[1]}=={release}"


def install(python: Path, wheel: Path, project: Path, everything: bool) -> None:
    """Install the wheel alone and do the main job with it; then install what the tests need."""
    aged = not everything and sys.version_info[:2] <= OLD
    listed = wheel.with_name("constraints.txt")
    listed.write_text("\n".join([*(oldest() if aged else ()), ""]), encoding="utf-8")
    pip = ("-m", "pip", "install", "--quiet", "-c", str(listed))
    call(python, *pip, str(wheel))
    call(python, "-m", "pip", "freeze", "--exclude", "permtest")
    call(python, "-m", "permtest", *JOB, folder=project)
    call(python, *pip, *([f"{wheel}[dev]"] if everything else []), *TOOLS)


def main() -> int:
    """Build, install, test in the copy; return pytest's exit code."""
    everything = "--everything" in sys.argv
    tests = [f"tests/test_{name}.py" for name in CORE]
    if everything:
        tests = ["tests", *(f"--ignore=tests/test_{name}.py" for name in OF_THE_CHECKOUT)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project, wheel = build(folder)
        python = environment(folder / "user")
        install(python, wheel, project, everything)
        # Several processes would compile the same at once, which takes longer than these few tests.
        spread = ["-n", "auto"] if everything else ["-n", "0"]
        command = [str(python), "-m", "pytest", "-q", *spread, "-m", "not browser", *tests]
        how = {"HYPOTHESIS_PROFILE": "quick" if everything else "few"}
        how["OPENBLAS_NUM_THREADS"] = "1"  # other tests have the other processors
        return subprocess.call(command, cwd=project, env=CLEAN | how)


if __name__ == "__main__":
    sys.exit(main())
