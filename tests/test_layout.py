"""The shape of the house: imports point down, parts stay small, importing loads little."""

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import dev
import permtest as pt
from permtest import _jit

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "permtest"

# From top to bottom. A module may import from lower layers only; neighbours do not know each
# other. A package stands for all of its modules, which may know each other.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"app", "course"},
    {"widgets"},
    {"plots"},
    {"study"},
    {"permtest", "readers"},
    {"many"},
    {"alternatives"},
    {"metric", "runs", "sequential"},
    {"exact"},
    {"batch"},
    {"result"},
    {"interval"},
    {"methods"},
    {"question"},
    {"statistics"},
    {"scores"},
    {"null"},
    {"integers"},
    {"_random", "_text"},
    {"_jit"},
    {"_errors"},
]
LEVEL = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}

SLOW = {"joblib", "numba", "pandas", "scipy"}  # imported inside the functions that need them
OPTIONAL = {"IPython", "ipywidgets", "jinja2", "matplotlib", "polars", "yaml"} | {
    *("anywidget", "pyarrow", "sklearn", "statsmodels"),
}
PICTURES = {"app", "course", "plots", "widgets"}  # may import what is optional


class Import(NamedTuple):
    """One imported module, and whether importing the importer imports it at once."""

    target: str
    at_once: bool


def imports(tree: ast.AST, at_once: bool = True) -> Iterator[Import]:
    """All imports of a module: at its top, in its functions, and for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from imported_from(node, at_once)
        else:
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
                isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            )
            yield from imports(node, at_once and not later)


def imported_from(node: ast.ImportFrom, at_once: bool) -> Iterator[Import]:
    """``from permtest.null import tail`` names a module by its alias, other forms by themselves."""
    for alias in node.names:
        inner = f"{node.module}.{alias.name}"
        yield Import(inner if inner in modules() else str(node.module), at_once)


def part(module: str) -> str:
    """The layer's name of a module of the package: ``permtest.null.convolution`` is in ``null``."""
    return module.split(".")[1] if "." in module else module


@cache
def modules() -> list[str]:
    """Dotted names of all modules of the package."""
    files = sorted(path.relative_to(ROOT).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return [".".join(file.parts).removesuffix(".__init__") for file in files]


def source(module: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def imported() -> list[tuple[str, Import]]:
    """Every import, with the module that imports."""
    return [(module, one) for module in modules() for one in imports(ast.parse(source(module)))]


@pytest.fixture(scope="module")
def inner(imported) -> dict[str, set[str]]:
    """Module -> modules of this package that it imports, ever."""
    found = defaultdict(set)
    for module, (target, _) in imported:
        if target in modules() and target != module:
            found[module].add(target)
    return found


def test_imports_point_down(inner):
    assert {part(module) for module in modules()} <= LEVEL.keys(), "say in LAYERS where it belongs"
    upward = {
        f"{module} -> {target}"
        for module, targets in inner.items()
        if module != "permtest"  # it collects the public names
        for target in targets
        if part(target) != part(module) and LEVEL[part(target)] <= LEVEL[part(module)]
    }
    assert upward == set()


def test_no_import_leads_back(inner):
    graph = {module: targets - {"permtest"} for module, targets in inner.items()}
    TopologicalSorter(graph).prepare()  # which fails where there is a circle


def test_every_file_has_a_name_of_its_own():
    files = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.stem != "__init__")
    assert not [name for name, times in files.items() if times > 1]


def test_a_small_file_serves_several_others(inner):
    """Below 60 lines, one that a single other imports says that and why it "stands alone"."""
    small = {
        module
        for module in modules()
        if not (ROOT / module.replace(".", "/")).is_dir()
        and sum(module in targets for targets in inner.values()) < 2
        and source(module).count("\n") < 60
        and "stands alone" not in (ast.get_docstring(ast.parse(source(module))) or "")
    }
    assert small == {"permtest.__main__"}


def test_rooms_keep_to_their_budgets():
    assert [room.name for room in dev.layout() if room.over()] == []


def test_every_file_of_the_package_is_counted_in_one_room():
    rooms = [room for room in dev.layout() if room.name.startswith("permtest/")]
    counted = Counter(file for room in rooms for file in room.files)
    assert counted.keys() == {*PACKAGE.rglob("*.py")}
    assert set(counted.values()) == {1}


def test_lines_and_code_are_counted_apart(tmp_path):
    python, script = tmp_path / "a.py", tmp_path / "a.js"
    python.write_text(
        '"""Two\nlines."""\n\n# why\nx = 1\n\n\ndef f():\n    """One."""\n    return x\n'
    )
    script.write_text("// why\n/* two\n * lines */\nlet x = 1;\n\nx += 2;\n")
    assert (dev.code_lines(python), dev.code_lines(script)) == (3, 2)
    assert dev.Room("a", [python], 10, 3).over() is False
    assert dev.Room("a", [python], 9, 3).over()
    assert dev.Room("a", [python], 10, 2).over()


def test_nothing_slow_or_optional_is_imported_at_once(imported):
    for module, (target, at_once) in imported:
        top = target.split(".")[0]
        assert top != "numba" or module == "permtest._jit", "numba is for _jit.py alone"
        if at_once:
            needed = top == "pandas" and part(module) == "readers"  # which opens everything with it
            assert top not in SLOW or needed, f"{module} imports {top} when it is imported"
            assert top not in OPTIONAL or part(module) in PICTURES, f"{module} imports {top}"


def functions() -> Iterator[tuple[str, int]]:
    """Name and length of every function that is not a test, its docstring left out."""
    folders = (PACKAGE, ROOT / "tools", ROOT / "benchmarks")
    for path in (ROOT / "dev.py", *(file for folder in folders for file in folder.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = lines(node)
                if ast.get_docstring(node) is not None:
                    length -= lines(node.body[0])
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", length


def lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_function_is_longer_than_sixty_lines():
    assert not [name for name, length in functions() if length > 60]


IMPORT = f"""
import sys
import permtest as pt
loaded = sys.modules.keys() & {sorted(SLOW | OPTIONAL)}
assert not loaded, loaded
pt.widgets.TwoSystemsExplorer
assert "matplotlib.pyplot" not in sys.modules
pt.plots.plot_null
assert not hasattr(pt, "nothing")
"""


def test_import_loads_nothing_slow_and_what_is_asked_for_later():
    subprocess.run([sys.executable, "-c", IMPORT], check=True, cwd=ROOT)


def test_the_way_from_two_columns_to_p_is_short(monkeypatch):
    """At most eight files and thirty functions, where nothing is compiled yet."""
    monkeypatch.setattr(_jit, "patience", _jit.LONG)
    u, v = np.random.default_rng(0).integers(0, 10, (2, 1000))
    called = set()

    def note(frame, event, _):
        if event == "call" and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            called.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        pt.exact_perm_test(u, v)
    finally:
        sys.setprofile(None)
    assert (len({file for file, _ in called}) <= 8, len(called) <= 30) == (True, True), called
