"""Run every notebook from a clean kernel and make a book of them under build/html/.

    python3 dev.py html              the whole book, which takes some minutes
    python3 dev.py html --quick      without running notebooks, under build/html-quick/

With the notebooks come what is written beside them (`book/documents.py`), and the reference, made
of docstrings (`book/reference.py`; `book/surface.py` says what is public) and of the command line.

The book is a folder of pages that link to each other; `index.html` opens from disk. No page loads
anything from anywhere else: formulas are MathML, widgets are shown as they were last, and the
search has its index beside it. The notebooks themselves are not touched.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from book.chapter import THEME, Chapter, chapter, markdown
from book.commands import commands
from book.documents import documents, in_order
from book.reference import reference, with_links
from bs4 import BeautifulSoup
from jinja2 import Environment, FileSystemLoader
from nbclient import NotebookClient
from nbconvert.filters.ansi import strip_ansi
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

from permtest._jupyter import poll_in_slices

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "html"
QUICK = ROOT / "build" / "html-quick"
NAME = "permtest"
KERNEL = (THEME.parent / "kernel.py").read_text(encoding="utf-8")
LOADED = ("src", "srcset", "poster", "data", "background", "action", "formaction", "xlink:href")
TIMEOUT = 600  # seconds for a cell; a busy machine is slow


# ---- running -----------------------------------------------------------------------------------


async def run(path: Path) -> NotebookNode:
    """The notebook with outputs, after all of its cells have run in a kernel of their own."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(KERNEL))
    places = [str(ROOT), os.environ.get("PYTHONPATH")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))}
    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=TIMEOUT, resources=where, record_timing=False)
    client.extra_arguments = ["--log-level=ERROR"]
    await client.async_execute(env=environment)
    del notebook.cells[0]
    return notebook


async def run_all(paths: Sequence[Path]) -> list[NotebookNode]:
    """Run notebooks, one on each core, large ones first; stop if any of them has failed."""
    cores = asyncio.Semaphore(os.cpu_count() or 1)
    done: list[str] = []

    async def run_one(path: Path) -> NotebookNode:
        async with cores:
            start = time.perf_counter()
            notebook = await run(path)
            done.append(path.stem)
            seconds = time.perf_counter() - start
            print(f"[{len(done)}/{len(paths)}] {path.stem}  {seconds:.1f} s", flush=True)
            return notebook

    order = sorted(paths, key=lambda path: path.stat().st_size, reverse=True)
    results = await asyncio.gather(*map(run_one, order), return_exceptions=True)
    found = dict(zip(order, results, strict=True))
    failed = {path: found[path] for path in paths if isinstance(found[path], BaseException)}
    for path, error in failed.items():
        lines = strip_ansi(str(error)).strip().splitlines() or [repr(error)]
        print(f"{path.name}: {lines[-1]}", file=sys.stderr)
    if failed:
        names = ", ".join(path.name for path in failed)
        sys.exit(f"no book was made; failed: {names} (python3 dev.py lab shows where)")
    return [found[path] for path in paths]


# ---- writing -----------------------------------------------------------------------------------


def others() -> list[Chapter]:
    """What the book has besides its notebooks: documents, the reference, the command line."""
    return [*map(with_links, documents()), *reference(), commands()]


def parts(chapters: Sequence[Chapter]) -> dict[str, list[Chapter]]:
    """The pages of each part of the book, in their order."""
    found: dict[str, list[Chapter]] = {}
    for here in chapters:
        found.setdefault(here.part, []).append(here)
    return found


def pages(chapters: Sequence[Chapter], introduction: str) -> dict[str, str]:
    """All files of the book, by name."""
    environment = Environment(loader=FileSystemLoader(THEME), autoescape=True)
    template = environment.get_template("page.html.j2")
    ends = [None, *chapters, None]
    files = {
        here.page: template.render(
            name=NAME, parts=parts(chapters), chapter=here, before=ends[i], after=ends[i + 2]
        )
        for i, here in enumerate(chapters)
    }
    files["index.html"] = template.render(
        name=NAME,
        parts=parts(chapters),
        chapter=None,
        introduction=markdown(introduction, folder=ROOT),
    )
    files["index.js"] = index(chapters)
    files["search.js"] = (THEME / "search.js").read_text(encoding="utf-8")
    files["book.css"] = (THEME / "book.css").read_text(encoding="utf-8") + colours_of_code()
    return files


def index(chapters: Sequence[Chapter]) -> str:
    """What the search looks through, as a script: a page opened from disk cannot fetch data."""
    sections = [
        [number, section.anchor, section.title, section.text]
        for number, here in enumerate(chapters)
        for section in here.sections
    ]
    book = {"pages": [[here.page, here.title] for here in chapters], "sections": sections}
    return f"const BOOK = {json.dumps(book, ensure_ascii=False, separators=(',', ':'))};\n"


def colours_of_code() -> str:
    """Style sheet of highlighted code, for both themes."""
    light, dark = (
        HtmlFormatter(style=style, nobackground=True).get_style_defs(".highlight")
        for style in ("default", "github-dark")
    )
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def about(readme: str) -> str:
    """Title and opening paragraphs of the README, up to its first picture or heading."""
    return re.split(r"^(?:!\[|## )", readme, maxsplit=1, flags=re.M)[0]


def check(files: dict[str, str]) -> None:
    """Exit if a page would load something from elsewhere, or links to what is not there."""
    soups = {name: BeautifulSoup(files[name], "html.parser") for name in files if "html" in name}
    anchors = {
        f"{name}#{tag['id']}" for name, soup in soups.items() for tag in soup.find_all(id=True)
    } | set(files)
    faults = [
        f"{name}: {fault}"
        for name, soup in soups.items()
        for fault in (*loads(soup), *broken_links(name, soup, anchors), *undescribed(soup))
    ]
    if faults:
        sys.exit("no book was made:\n" + "\n".join(faults))


def loads(soup: BeautifulSoup) -> Iterator[str]:
    """What a page would load that is neither inside of it nor beside it."""
    for tag in soup.find_all(True):
        names = [*LOADED, *(["href"] if tag.name != "a" else [])]
        values = [str(tag[name]) for name in names if tag.has_attr(name)]
        styles = str(tag.get("style", "")) + (tag.get_text() if tag.name == "style" else "")
        values += re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]*)", styles)
        yield from (f"loads {x}" for x in values if re.match(r"(?!data:)[a-z]+:|//", x, re.I))


def broken_links(name: str, soup: BeautifulSoup, anchors: set[str]) -> Iterator[str]:
    """Links to pages or headings that the book does not have."""
    for tag in soup.find_all("a", href=True):
        target = str(tag["href"])
        if not re.match("(https?|mailto|data):", target):
            here = name + target if target.startswith("#") else target
            if here not in anchors:
                yield f"links to {target}, which is not in the book"


def undescribed(soup: BeautifulSoup) -> Iterator[str]:
    """Pictures without an alternative text."""
    for tag in soup.find_all("img"):
        if not tag.get("alt"):
            yield 'a picture has no text: give its cell the metadata {"alt": "..."}'


def build(
    paths: Sequence[Path],
    target: Path,
    introduction: str,
    *,
    more: Sequence[Chapter] = (),
    run: bool = True,
) -> None:
    """Run the notebooks, and write the book only if all of it is as it should be."""
    notebooks = asyncio.run(run_all(paths)) if run else [nbformat.read(p, 4) for p in paths]
    try:
        chapters = [chapter(p.stem, book) for p, book in zip(paths, notebooks, strict=True)]
    except ValueError as error:
        sys.exit(f"no book was made: {error}")
    if more:
        chapters = [with_links(here) for here in chapters]
    files = pages(in_order([*chapters, *more]), introduction)
    check(files)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, text in files.items():
        (target / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Make a book of all notebooks, in the order of the story, and of what goes with them."""
    parser = argparse.ArgumentParser(prog="python3 dev.py html", allow_abbrev=False)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="do not run the notebooks: the book has no output of theirs, and is made elsewhere",
    )
    quick, start = parser.parse_args().quick, time.perf_counter()
    paths = sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
    introduction = about((ROOT / "README.md").read_text(encoding="utf-8"))
    target = QUICK if quick else TARGET
    if not quick:
        poll_in_slices()
        print(f"running {len(paths)} notebooks, which takes a minute or two", flush=True)
    build(paths, target, introduction, more=others(), run=not quick)
    page = target / "index.html"
    print(f"{page.relative_to(ROOT)} is ready ({time.perf_counter() - start:.0f} s)")
    print(f"    {page.as_uri()}")


if __name__ == "__main__":
    main()
