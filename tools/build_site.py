"""Make the site: the book at its root, and in `lite/` a JupyterLab that runs it in the browser.

    python3 dev.py site                        into build/site; Python comes from Pyodide's servers
    python3 dev.py site --pyodide ARCHIVE      with Python in the site itself
    python3 dev.py site --book                 the book alone, which opens from disk

The book needs no server and asks nobody: formulas are MathML, and the search has its index beside
it. JupyterLab needs one, `python3 -m http.server -d build/site`. Kernels there load the package and
what it needs before they start, so that notebooks run as they are.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import permtest

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
#: Modules of which everything in ``__all__`` is public, in the order of the book.
PARTS = ("", "alternatives", "many", "study", "readers", "plots", "widgets", "app", "course")
MODULES = [".".join(filter(None, ["permtest", part])) for part in PARTS]
#: What tests return and nobody imports.
RESULTS = "batch.BatchResult", "null.distribution.JointDistribution", "runs.RunsTestResult"
RESULTS += ("sequential.EProcess",)
OTHERS = "Mapping, tuple"  # classes of others, whose methods the reference leaves to them
#: Where the published site loads Python from: the release that the tests serve themselves.
PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/pyodide.js"
#: What Pyodide has, and every kernel loads.
COMPILED = ("numpy", "scipy", "pandas", "joblib", "matplotlib")
#: What it does not have, or not in every archive. What is compiled in them is left out: they run
#: without it.
PURE = ("anywidget", "comm", "ipywidgets", "jinja2", "jupyterlab_widgets", "markupsafe")
PURE += ("psygnal", "pyyaml", "tqdm", "typing_extensions")
#: What Sphinx folds away of cells with these tags, as Jupyter does.
FOLDED = {"setup": "hide-input", "draw": "hide-input", "solution": "hide-cell"}
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
TRACKER = "@jupyterlab/notebook-extension:tracker"
WHEELS = "../../../../pypi"  # as seen from the script of that extension


def build_book(target: Path, *options: str) -> None:
    """Let Sphinx make the book; a warning is an error."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        gather(source)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
        command += ["-c", str(ROOT / "docs"), *options, str(source), str(target)]
        subprocess.run(command, check=True)
    # What readers download is as it was, and has its data beside it.
    shutil.copytree(ROOT / "notebooks", target / "_sources" / "notebooks", dirs_exist_ok=True)


def gather(source: Path) -> None:
    """Copy what the book is made of, and write the pages that have no file of their own."""
    for name in ("docs", "notebooks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("_*", ".*"))
    for name in ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "README.md"):
        shutil.copy(ROOT / name, source)
    for file in (source / "notebooks").glob("*.ipynb"):
        notebook = prepared(json.loads(file.read_text("utf-8")))
        file.write_text(json.dumps(notebook), encoding="utf-8")
    contents = source / "docs" / "contents.md"
    readme = re.sub(r"^\[!\[.*\n\n", "", (source / "README.md").read_text("utf-8"), flags=re.M)
    index = f"{readme}\n{contents.read_text('utf-8')}"  # without badges, which lie elsewhere
    (source / "index.md").write_text(index, encoding="utf-8")
    contents.unlink()
    (source / "docs" / "command-line.md").write_text(commands(), encoding="utf-8")
    (source / "docs" / "reference").mkdir()
    for module in MODULES:
        page = source / "docs" / "reference" / f"{module}.rst"
        page.write_text(reference(module), encoding="utf-8")


def prepared(notebook: dict[str, Any]) -> dict[str, Any]:
    """Tell Sphinx of a notebook what Jupyter knows: what is folded away, and texts of pictures.

    Moving figures get their script; below the still of a widget stands its sentence.
    """
    moving = []
    for cell in notebook["cells"]:
        metadata = cell["metadata"]
        tags = metadata.get("tags", [])
        tags += [FOLDED[tag] for tag in tags if tag in FOLDED]
        for output in cell.get("outputs", []).copy():
            data, about = output.get("data", {}), output.get("metadata", {})
            if alt := metadata.get("alt") or about.get("image/png", {}).get("alt"):
                metadata["mystnb"] = {"image": {"alt": alt}}
            if figure := about.get("permtest"):
                moving.append((data, figure))
            elif "image/png" in data and "text/html" not in data and "text/plain" in data:
                words = {"data": {"text/plain": data.pop("text/plain")}, "metadata": {}}
                cell["outputs"].append({"output_type": "display_data"} | words)
    for data, figure in moving:
        from permtest.course.figures import page_div

        picture = f'<img alt="" src="data:image/png;base64,{data["image/png"]}">'
        data["text/html"] = page_div(**figure, still=picture)
    return notebook


def reference(module: str) -> str:
    """The page of a module: all that its ``__all__`` names, and no page before it has."""
    names = {name: f"{module}.{name}" for name in import_module(module).__all__}
    if module == "permtest":
        names |= {name: f"permtest.{name}" for name in RESULTS}
    else:
        names = {name: path for name, path in names.items() if name not in permtest.__all__}
    listed, entries, constants = [], [], []
    for name, path in sorted(names.items(), key=lambda item: item[0].lower()):
        holder, _, last = path.rpartition(".")
        thing = getattr(import_module(holder), last)
        if inspect.isclass(thing):
            entries.append(f".. autoclass:: {path}\n   :members:\n   :inherited-members: {OTHERS}")
        elif callable(thing):
            entries.append(f".. autofunction:: {path}")
        else:
            keys = ", ".join(f"``{key}``" for key in thing) if isinstance(thing, dict) else ""
            constants.append(f".. data:: {name}\n\n   {comment(name)} {keys and f'Keys: {keys}.'}")
            continue
        listed.append(f"   {name}")
    head = [f"{module}\n{'=' * len(module)}", f".. automodule:: {module}"]
    head += [f".. currentmodule:: {module}", ".. autosummary::\n   :nosignatures:"]
    return "\n\n".join([*head, "\n".join(listed), *entries, *constants])


def comment(name: str) -> str:
    """What the comment above a constant says of it."""
    for file in sorted((ROOT / "permtest").rglob("*.py")):
        text = file.read_text("utf-8")
        if found := re.search(rf"((?:^#: ?.*\n)+){name}\b", text, re.MULTILINE):
            return " ".join(line.removeprefix("#:").strip() for line in found[1].splitlines())
    raise ValueError(f"{name} has no comment that says what it is; write one above it, after '#: '")


def commands() -> str:
    """What every command says for ``--help``."""
    page = ["# The command line\n"]
    for name in ("", "compare", "leaderboard", "report", "plan", "app"):
        words = [*filter(None, ["permtest", name])]
        help_ = [sys.executable, "-m", *words, "--help"]
        text = subprocess.check_output(
            help_, env=os.environ | {"NO_COLOR": "1"}, text=True, cwd=ROOT
        )
        page.append(f"## {' '.join(words)}\n\n```text\n{text}```\n")
    return "\n".join(page)


def build_lite(target: Path, pyodide: Path | None) -> None:
    """Make a JupyterLab that needs no server, with the notebooks, their data, and the package."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = pack(Path(folder, "wheels"))
        command = [sys.executable, "-m", "jupyter", "lite", "build", "--lite-dir", folder]
        command += ["--contents", str(ROOT / "notebooks"), "--output-dir", str(target)]
        command += ["--apps", "lab", "--apps", "notebooks", "--apps", "tree", "--no-sourcemaps"]
        command += [word for wheel in wheels for word in ("--piplite-wheels", str(wheel))]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if built.returncode:
            sys.exit(built.stdout + built.stderr)
    if pyodide:
        with tarfile.open(pyodide) as archive:
            archive.extractall(target / "static", filter="data")
    list_fonts(target / "pypi" / "permtest_start-0-py3-none-any.whl")
    configure(target, own=pyodide is not None)


def configure(target: Path, *, own: bool) -> None:
    """Let kernels load the packages before they start, from the site itself if it has them."""
    file = target / "jupyter-lite.json"
    settings = json.loads(file.read_text("utf-8"))
    config = settings["jupyter-config-data"]
    kernel = config.setdefault("litePluginSettings", {}).setdefault(KERNEL, {})
    wheels = sorted(wheel.name for wheel in (target / "pypi").glob("*.whl"))
    packages = [*COMPILED, *(f"{WHEELS}/{wheel}" for wheel in wheels)]
    kernel["loadPyodideOptions"] = {"packages": packages}
    kernel["pyodideUrl"] = "./static/pyodide/pyodide.js" if own else PYODIDE
    # Cells out of sight keep what they show in the page, where the search of a browser finds it.
    config["settingsOverrides"] = {TRACKER: {"windowingMode": "none"}}
    # It calls a server for previews, and there is none.
    extensions = config["federated_extensions"]
    config["federated_extensions"] = [x for x in extensions if "voila" not in x["name"]]
    file.write_text(json.dumps(settings, indent=2), encoding="utf-8")


def pack(folder: Path) -> list[Path]:
    """Make wheels of the package and of what it needs, as installed here."""
    folder.mkdir()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for name in PURE:
        found = distribution(name)
        wheel = folder / f"{name}-{found.version}-py3-none-any.whl"
        with ZipFile(wheel, "w", ZIP_DEFLATED) as archive:
            for file in found.files or ():
                if file.parts[0] != ".." and file.suffix not in {".so", ".pyd", ".pyc"}:
                    archive.write(str(file.locate()), str(file))
    return sorted(folder.glob("*.whl"))


def list_fonts(wheel: Path) -> None:
    """Make a wheel that lets matplotlib list its fonts, of which it speaks, before a cell runs."""
    name = wheel.name.removesuffix("-py3-none-any.whl")
    with ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}.dist-info/METADATA", "Name: permtest-start\nVersion: 0\n")
        run = f"{name}.data/data/etc/ipython/startup/fonts.py"
        archive.writestr(run, "import matplotlib.font_manager\n")


def main() -> None:
    """Make the site."""
    parser = argparse.ArgumentParser(prog="dev.py site", description="Make the site in build/site.")
    parser.add_argument("--book", action="store_true", help="the book alone")
    parser.add_argument("--pyodide", type=Path, metavar="ARCHIVE", help="Python for the site")
    chosen = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    shutil.rmtree(SITE, ignore_errors=True)
    build_book(SITE)
    print(f"the book: {(SITE / 'index.html').as_uri()}")
    if not chosen.book:
        build_lite(SITE / "lite", chosen.pyodide)
        print(f"in the browser: python3 -m http.server -d {SITE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
