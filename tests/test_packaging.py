"""The files around the package agree with each other and with what is promised of them."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rattler import MatchSpec

import permtest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # the rest is called the same on conda-forge


def git(*arguments: str) -> str:
    """Output of a git command; the test is skipped where there is no repository."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def conda_dependencies() -> list[str]:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]


def requirements(*extras: str) -> dict[str, str]:
    """Name -> version bounds of the core and of some extras, extras of extras included."""
    found: dict[str, str] = {}
    texts = list(PROJECT["dependencies"])
    texts += [text for extra in extras for text in PROJECT["optional-dependencies"][extra]]
    for requirement in map(Requirement, texts):
        if requirement.name == "permtest":
            found |= requirements(*sorted(requirement.extras))
        else:
            found[requirement.name] = str(requirement.specifier)
    return found


def test_conda_environment_agrees_with_pyproject_and_binder_uses_it():
    assert (ROOT / "binder/environment.yml").read_bytes() == (ROOT / "environment.yml").read_bytes()
    wanted = {CONDA_NAMES.get(k, k): v for k, v in requirements("lab", "frames").items()}
    conda = {
        requirement.name: str(requirement.specifier)
        for requirement in map(Requirement, conda_dependencies()[2:])
    }
    assert conda == wanted
    python, pip = conda_dependencies()[:2]
    assert python.removeprefix("python=") in SpecifierSet(PROJECT["requires-python"])
    assert pip == "pip"
    assert all(MatchSpec(spec, strict=True).name is not None for spec in conda_dependencies())


def test_scripts_are_executable_and_have_a_first_line():
    for script in (ROOT / "binder" / "postBuild", ROOT / "binder" / "start", ROOT / ".ci" / "run"):
        assert script.read_text(encoding="utf-8").startswith("#!/bin/bash\n")
        assert sys.platform == "win32" or script.stat().st_mode & 0o111 == 0o111


@pytest.mark.skipif(sys.platform == "win32", reason="repo2docker does not run on Windows")
def test_binder_image_is_described_completely():
    """Without a container engine repo2docker still says what it would build."""
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    dockerfile = done.stdout + done.stderr
    assert "Building conda environment for python=3.12" in dockerfile
    for name in ("binder/environment.yml", "./binder/postBuild", "binder/start"):
        assert name in dockerfile


def test_one_version_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert newest is not None
    assert PROJECT["version"] == permtest.__version__ == citation["version"] == newest[1]


def test_no_file_names_somebody_s_machine_or_a_package_registry():
    """None that git has, or would be given by `git add`."""
    needles = [f"/{name}/" for name in ("work", "root", "tmp")]
    needles += [f"{name}.org" for name in ("pypi", "pythonhosted", "anaconda", "npmjs")]
    for name in git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if (path := ROOT / name).is_file():
            content = path.read_bytes()
            assert not [needle for needle in needles if needle.encode() in content], name


def test_the_repository_is_small():
    """A clone takes seconds, also in a lecture hall."""
    names = git("ls-files", "-z").split("\0")
    sizes = [path.stat().st_size for name in names if (path := ROOT / name).is_file()]
    assert sum(sizes) < 10 * 2**20
    assert max(sizes) < 2**20
