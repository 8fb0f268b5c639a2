"""The shape of the house: imports point down, functions are short, importing loads little."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import dev

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "permtest"

# From top to bottom. A module may import from lower layers only; neighbours do not know each
# other. A package stands for all of its modules, which may know each other.
LAYERS = [
    {"__main__"},
    {"app", "cli"},
    {"report", "widgets"},
    {"plots"},
    {"metric"},
    {"readers", "permtest"},
    {"study"},
    {"many"},
    {"alternatives"},
    {"runs"},
    {"exact", "margins", "sequential"},
    {"monte_carlo"},
    {"batch"},
    {"result"},
    {"interval", "sensitivity"},
    {"solvers"},
    {"structured"},
    {"comparison"},
    {"labels"},
    {"statistics"},
    {"measures", "pairs"},
    {"_html", "score"},
    {"null"},
    {"decimals", "symmetry"},
    {
        "_arrays",
        "_checks",
        "_integers",
        "_jit",
        "_json",
        "_jupyter",
        "_optional",
        "_parallel",
        "_progress",
        "_rng",
        "_text",
    },
]
LEVEL = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}

SLOW = {"numba", "scipy"}  # imported inside the functions that need them
OPTIONAL = {"IPython", "ipywidgets", "jinja2", "matplotlib", "pandas", "polars", "yaml"} | {
    *("dask", "distributed", "joblib", "pyarrow", "sklearn", "statsmodels"),
}
PICTURES = {"app", "plots", "widgets"}  # may import what is optional


class Import(NamedTuple):
    """One imported module, and whether importing the importer imports it at once."""

    target: str
    at_once: bool


def imports(tree: ast.AST, at_once: bool = True) -> Iterator[Import]:
    """All imports of a module that ever run; those for type checkers alone do not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from imported_from(node, at_once)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        else:
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(node, at_once and not function)


def imported_from(node: ast.ImportFrom, at_once: bool) -> Iterator[Import]:
    """``from permtest import plots`` names a module by its alias, other forms by themselves."""
    for alias in node.names:
        inner = node.module == "permtest" and alias.name in LEVEL
        yield Import(f"permtest.{alias.name}" if inner else str(node.module), at_once)


def part(module: str) -> str:
    """The layer's name of a module of the package: ``permtest.null.dp`` is in ``null``."""
    return module.split(".")[1] if "." in module else module


def modules() -> list[str]:
    """Dotted names of all modules of the package."""
    files = sorted(path.relative_to(ROOT).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return [".".join(file.parts).removesuffix(".__init__") for file in files]


def tree_of(module: str) -> ast.Module:
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def imported() -> list[tuple[str, Import]]:
    """Every import, with the module that imports."""
    return [(module, one) for module in modules() for one in imports(tree_of(module))]


def test_imports_point_down(imported):
    assert {part(module) for module in modules()} <= LEVEL.keys(), "say in LAYERS where it belongs"
    for module, (target, _) in imported:
        if module == "permtest":
            continue  # it collects the public names
        if target.split(".")[0] == "permtest" and part(target) != part(module):
            below = LEVEL[part(target)] > LEVEL[part(module)]
            assert below, f"{module} must not import {target}"


def test_nothing_slow_or_optional_is_imported_at_once(imported):
    for module, (target, at_once) in imported:
        top = target.split(".")[0]
        assert top != "numba" or module == "permtest._jit", "numba is for _jit.py alone"
        if at_once:
            assert top not in SLOW, f"{module} imports {top} when it is imported"
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
import permtest
print(*sys.modules.keys() & {sorted(SLOW | OPTIONAL)})
"""


def test_import_loads_nothing_slow():
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "\n"


def test_plots_and_widgets_are_there_when_they_are_asked_for():
    code = (
        "import sys, permtest as pt; assert 'matplotlib' not in sys.modules; "
        "pt.plots.plot_null; pt.widgets.TwoSystemsExplorer; assert not hasattr(pt, 'nothing')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_all_tests_that_drive_a_browser_are_run():
    files = (ROOT / "tests").rglob("test_*.py")
    driving = [file for file in files if re.search(r"mark\.browser\b", file.read_text("utf-8"))]
    known = [ROOT / path for path in dev.BROWSER]
    assert driving
    assert not [file for file in driving if not {file, *file.parents} & set(known)]
