"""Set the project up and run it. Needs nothing but Python 3.11 or newer.

    python3 dev.py app      open the page that compares your own files (--no-browser, --port N)
    python3 dev.py lab      open JupyterLab on notebook 01 (--no-browser, --port N)
    python3 dev.py test     run every check and every test
    python3 dev.py cover    run the tests with nothing compiled, and list lines that none reaches
    python3 dev.py bench    measure the accuracy and speed that the README speaks of
    python3 dev.py notebooks [NN ...]    run the notebooks and store what they show
    python3 dev.py site     make the book, build/site/index.html, and what runs it in a browser

The first command makes `.venv` beside this file and installs the project there, which takes a
minute or so; later ones start at once. `.venv` is made anew when the dependencies change. On
Windows write `py` for `python3`.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one should be told so
    sys.exit("permtest needs Python 3.11 or newer; this is " + sys.version.split()[0])

import ast
import hashlib
import json
import os
import shutil
import subprocess
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, NoReturn
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent
REPORTS = ROOT / "build" / "reports"
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "installed.json"

PYTEST = ["-m", "pytest", "-q"]
# A process for each processor; each goes through its share in order, so that what a module shares
# is mostly made once, and takes from the others when it is done.
SPREAD = ["-n", "auto", "--dist=worksteal"]
CHECKS = {
    "lint": ["-m", "ruff", "check"],
    "format": ["-m", "ruff", "format", "--check"],
    "types": ["-m", "mypy"],
    "tests": [*PYTEST, *SPREAD],
    "wheel": [str(ROOT / "tools" / "try_wheel.py")],
    "speed": ["-m", "benchmarks.gate"],
}
# It waits for disk and network half of its time, so it runs beside those before it.
BESIDE = "wheel"

TOOLS = {
    "app": ["-m", "permtest", "app"],
    "lab": ["-m", "jupyterlab", "--allow-root", f"--ServerApp.root_dir={ROOT / 'notebooks'}"],
    "bench": ["-m", "benchmarks"],
    "cover": [str(ROOT / "tools" / "cover.py")],
    "notebooks": [str(ROOT / "tools" / "run_notebooks.py")],
    "site": [str(ROOT / "tools" / "build_site.py")],
}
TOOLS["lab"] += ["--LabApp.default_url=/lab/tree/01-are-they-different.ipynb"]
EXTRAS = {"app": "lab", "lab": "lab", "bench": "bench", "cover": "dev", "notebooks": "dev"}
EXTRAS |= {"site": "site"}

# What each room may come to: the files it has, their lines as ruff formats them, and their lines of
# code, which are those that are neither docstring, comment nor blank.
BUDGETS = {
    "permtest/_*.py": (550, 350),
    "permtest/*.py": (4_300, 2_600),  # without those above and below
    "permtest/null": (3_800, 2_500),
    "permtest/alternatives": (2_100, 1_150),
    "permtest/study": (1_500, 900),
    "permtest/readers": (1_320, 905),  # of lines that plots do not need
    "permtest/many": (800, 500),
    "permtest/plots": (980, 695),
    "permtest/widgets": (900, 650),
    "permtest/course": (420, 290),
    "permtest/cli + permtest/app": (600, 430),
    "the package": (17_000, 10_500),  # less than its rooms together: some need less
    "JavaScript": (1_300, 1_300),
    "tests": (12_000, 12_000),
    "benchmarks + tools": (2_800, 2_800),
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


# ---- the environment ---------------------------------------------------------------------------


def prepare(extra: str) -> None:
    """Make `.venv` hold the project with `extra`; do nothing if it does already."""
    # What decides which packages are installed; tools' settings do not.
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    parts = json.dumps([pyproject["build-system"], pyproject["project"]], sort_keys=True)
    depends = hashlib.sha256(parts.encode()).hexdigest()
    wanted = {"python": list(sys.version_info[:2]), "depends": depends}
    found = json.loads(STAMP.read_text()) if STAMP.exists() else {}
    extras = found.pop("extras", [])
    if found == wanted and ({extra, "dev"} & set(extras)):
        return
    start = time.perf_counter()
    print(f"installing into {VENV.name} (once; this may take a minute or two)", flush=True)
    if found != wanted:
        extras = []
        make_venv()
    STAMP.unlink(missing_ok=True)
    install(extra)
    STAMP.write_text(json.dumps({**wanted, "extras": [*extras, extra]}))
    print(f"installed in {time.perf_counter() - start:.0f} s; the package and its command are in")
    print(f"{BIN.relative_to(ROOT)}, which `source {BIN.relative_to(ROOT)}/activate` puts first")
    sys.stdout.flush()


def make_venv() -> None:
    """Make a new, empty `.venv`, unless this very Python lives in it."""
    if Path(sys.prefix).resolve() == VENV:
        return
    if subprocess.call([sys.executable, "-m", "venv", "--clear", str(VENV)]):
        sys.exit(
            "could not make a virtual environment. Debian and Ubuntu keep that part of Python\n"
            "in a package of its own: sudo apt install python3-venv"
        )


def install(extra: str) -> None:
    """Install the project, editable, with uv where there is one and with pip otherwise."""
    if shutil.which("uv"):
        # Compiled now, as pip does it, and not at the first import, which would be slow.
        command = ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", str(PYTHON)]
    else:
        command = [str(PYTHON), "-m", "pip", "install", "--quiet"]
    if subprocess.call([*command, "--editable", f".[{extra}]"], cwd=ROOT, env=environment()):
        sys.exit("installation failed; see the message above. Running the command again is safe")


def environment() -> dict[str, str]:
    """Return the variables of an activated `.venv`."""
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])
    return {**os.environ, "VIRTUAL_ENV": str(VENV), "PATH": path}


# ---- the checks --------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What a check came to. A check that counts no tests counts as one."""

    name: str
    seconds: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        verdict = "FAILED" if self.failed else "skipped" if not self.passed else "ok"
        return f"{self.name:12}{verdict:10}{self.seconds:6.1f} s"


def run(name: str, out: IO[bytes] | None = None) -> Outcome:
    """Run one check, showing its own output or keeping it in a file."""
    command = CHECKS[name]
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    extra = [f"--junitxml={report}"] if "pytest" in command else []
    # Tests have a process for each processor; threads of the linear algebra would only wait.
    variables = environment() | ({"OPENBLAS_NUM_THREADS": "1"} if extra else {})
    start = time.perf_counter()
    whole = [PYTHON, *command, *extra]
    code = subprocess.call(whole, cwd=ROOT, env=variables, stdout=out, stderr=out)
    outcome = Outcome(name, time.perf_counter() - start, int(code == 0), int(code != 0))
    if report.exists():
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        skips = [
            x for case in cases for x in case.iter("skipped") if x.get("type") == "pytest.skip"
        ]
        broken = sum(any(case.find(x) is not None for x in ("failure", "error")) for case in cases)
        outcome.failed = broken or int(code != 0)
        outcome.skipped, outcome.passed = len(skips), len(cases) - broken - len(skips)
        outcome.reasons = tuple(dict.fromkeys(skip.get("message", "") for skip in skips))
    return outcome


def run_all() -> list[Outcome]:
    """Run the checks in turn, one of them beside the others; its output is shown in its turn."""
    outcomes, log = [], REPORTS / f"{BESIDE}.txt"
    with log.open("wb") as out, ThreadPoolExecutor() as pool:
        beside = pool.submit(run, BESIDE, out)
        for number, (name, command) in enumerate(CHECKS.items(), 1):
            print(f"\n[{number}/{len(CHECKS)}] {name}: {' '.join(command[1:])}", flush=True)
            outcome = beside.result() if name == BESIDE else run(name)
            if name == BESIDE:
                print(log.read_text(encoding="utf-8", errors="replace"), end="")
            print(f"{name}: {outcome.seconds:.1f} s", flush=True)
            outcomes.append(outcome)
    return outcomes


class Room(NamedTuple):
    """A part of the project: its files, and how many lines, and lines of code, they may have."""

    name: str
    files: list[Path]
    most_lines: int
    most_code: int

    def lines(self) -> int:
        """Count all lines."""
        return sum(file.read_text(encoding="utf-8").count("\n") for file in self.files)

    def code(self) -> int:
        """Count the lines of code."""
        return sum(code_lines(file) for file in self.files)

    def over(self) -> bool:
        """Whether there are more of either than there may be."""
        return self.lines() > self.most_lines or self.code() > self.most_code


def files_of(room: str) -> list[Path]:
    """List the files of a room; a name without `.py` may be a folder or a module."""
    if room == "the package":
        return [*(ROOT / "permtest").rglob("*.py")]
    if room == "JavaScript":
        return [*(ROOT / "permtest").rglob("*.js")]
    if room == "permtest/*.py":
        others = {
            file
            for name in BUDGETS
            if "permtest/" in name and name != room
            for file in files_of(name)
        }
        return [file for file in ROOT.glob(room) if file not in others]
    patterns = [x if x.endswith(".py") else f"{x}/**/*.py" for x in room.split(" + ")]
    modules = [x + ".py" for x in room.split(" + ") if not x.endswith(".py")]
    return [file for pattern in [*patterns, *modules] for file in ROOT.glob(pattern)]


def layout() -> list[Room]:
    """List the rooms."""
    return [Room(name, files_of(name), *most) for name, most in BUDGETS.items()]


def code_lines(file: Path) -> int:
    """Count the lines that are neither blank nor comments nor docstrings."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if file.suffix == ".js":
        return sum(line.strip()[:2] not in {"", "//", "/*", "*", "* ", "*/"} for line in lines)
    counted = {number for number, line in enumerate(lines, 1) if line.strip()[:1] not in {"", "#"}}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            counted -= {*range(first.lineno, (first.end_lineno or 0) + 1)}
    return len(counted)


def print_layout() -> None:
    """Print the lines of each room beside its budget."""
    print(f"\n{'room':48}{'files':>6}{'lines':>8}{'budget':>8}{'code':>8}{'budget':>8}")
    for room in layout():
        lines, code, state = room.lines(), room.code(), "  over" * room.over()
        print(
            f"{room.name:48}{len(room.files):6}{lines:8,}{room.most_lines:8,}"
            f"{code:8,}{room.most_code:8,}{state}"
        )


def test() -> NoReturn:
    """Run all checks, even after one has failed, and sum them up."""
    start = time.perf_counter()
    prepare("dev")
    REPORTS.mkdir(parents=True, exist_ok=True)
    outcomes = run_all()
    print(f"\nSummary ({time.perf_counter() - start:.0f} s)")
    for outcome in outcomes:
        print(f"  {outcome}", *(f"skipped: {reason}" for reason in outcome.reasons), sep="\n    ")
    passed, failed, skipped = (
        sum(getattr(outcome, count) for outcome in outcomes)
        for count in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    print_layout()
    refused = skipped and os.environ.get("PERMTEST_REQUIRE_BROWSER")
    sys.exit("a test was skipped, which is refused here" if refused else failed > 0)


# ---- the command line --------------------------------------------------------------------------


def main() -> None:
    """Do what the first argument says; further ones belong to the tool that is started."""
    command, *rest = sys.argv[1:] or ["--help"]
    if command in {"-h", "--help", "help"} or {"-h", "--help"} & set(rest):
        print(__doc__)
    elif command == "test":
        if rest:
            sys.exit(f"dev.py test takes no arguments; for some tests only: {PYTHON} -m pytest ...")
        test()
    elif command in TOOLS:
        prepare(EXTRAS[command])
        os.chdir(ROOT)
        arguments = [str(PYTHON), *TOOLS[command], *rest]
        if os.name == "posix":  # this process goes on as the environment's Python
            os.execve(PYTHON, arguments, environment())
        sys.exit(subprocess.call(arguments, env=environment()))
    else:
        sys.exit(f"dev.py {command}: there is no such command\n{__doc__}")


if __name__ == "__main__":
    main()
