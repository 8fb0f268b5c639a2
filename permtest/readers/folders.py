"""Folders that evaluation harnesses write: which file in them is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from permtest.readers.files import ReadError, StrPath

#: What harnesses call their files, in the order in which they are looked for.
PATTERNS = ("samples_*.jsonl", "per_instance_stats.json", "*.eval", "results.json")

#: The end of a name that says when it was written.
DATE = re.compile(r"_\d{4}-\d\d-\d\dT[\d.:-]+$")


def files_at(sources: Iterable[StrPath]) -> list[StrPath]:
    """The files themselves; for a folder, the one in it that all folders have.

    Parameters
    ----------
    sources : iterable of str or path-like

    Returns
    -------
    list of str or path-like

    Raises
    ------
    ReadError
        If a folder has no file that a harness wrote, or several.
    """
    paths = list(sources)
    folders = [path for path in paths if _is_folder(path)]
    if not folders:
        return paths
    tasks = [_tasks(folder) for folder in folders]
    common = [task for task in tasks[0] if all(task in one for one in tasks)]
    if len(common) != 1:
        found = f"{', '.join(common[:10])}" if common else "no task in common"
        remedy = "name the files themselves"
        raise ReadError.at(str(folders[0]), f"a folder with several tasks ({found}); {remedy}")
    chosen = {
        str(folder): _only(folder, one[common[0]])
        for folder, one in zip(folders, tasks, strict=True)
    }
    return [chosen.get(str(path), path) if _is_folder(path) else path for path in paths]


def _is_folder(path: StrPath) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _tasks(folder: StrPath) -> dict[str, list[Path]]:
    """Task -> files of the first kind that there is."""
    for pattern in PATTERNS:
        found = sorted(Path(folder).glob(pattern)) or sorted(Path(folder).glob(f"*/{pattern}"))
        if found:
            tasks: dict[str, list[Path]] = {}
            for path in found:
                tasks.setdefault(DATE.sub("", path.stem), []).append(path)
            return tasks if pattern != "*.eval" else {"log": found}
    names = ", ".join(PATTERNS)
    problem = f"this is a folder without what an evaluation wrote ({names}); name one file in it"
    raise ReadError.at(str(folder), problem)


def _only(folder: StrPath, paths: Sequence[Path]) -> Path:
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths[:10])
        raise ReadError.at(str(folder), f"{len(paths)} runs ({names}); name one of the files")
    return paths[0]
