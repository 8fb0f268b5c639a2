"""``permtest study``: describe, test, measure, plan, and write it all down."""

from __future__ import annotations

import argparse
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from permtest.cli.inputs import FILES
from permtest.cli.shared import EXIT_CODES, print_text
from permtest.readers import read
from permtest.study.config import StudyConfig

if TYPE_CHECKING:
    from permtest.cli.shared import Commands
    from permtest.pairs import Pairs
    from permtest.study.pipeline import Study

DESCRIPTION = """\
Everything around one question, is system A better than system B: describes the scores, recommends
tests, makes them side by side, estimates how large the difference is, what power such a test has
and how many items another study needs; and writes a report that says how to repeat it."""

EPILOG = f"""\
{FILES}

Whatever can be chosen is in a configuration, with a comment for each option: --write-config
makes one to edit, --config reads it, and what the command line says goes before it. A report
has the configuration beside it, as study.yml, which repeats the study with the same bytes.

examples:
  permtest study scores.txt
  permtest study results.csv --a new --b old --out report
  permtest study results.csv --a new --b old --write-config study.yml
  permtest study results.csv --config study.yml --out report --force

{EXIT_CODES}"""


def add_study(commands: Commands) -> None:
    """Add the command to the parser of all commands."""
    parser = commands.add_parser(
        "study",
        help="compare two systems by all tests, with effect sizes, power and a report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="scores of both systems, or of A")
    parser.add_argument(
        "file_b", metavar="FILE_B", nargs="?", help="scores of B, where FILE has those of A alone"
    )
    parser.add_argument("--a", metavar="COL", help="column of system A: its name, or number from 1")
    parser.add_argument("--b", metavar="COL", help="column of system B")
    parser.add_argument("--gold", metavar="GOLD", help="what is right, as for permtest compare")
    parser.add_argument(
        "--score", metavar="NAME", help="which score, where the files have several for each item"
    )
    parser.add_argument(
        "--no-clusters",
        action="store_true",
        help="study items by themselves, even if the format says which belong together",
    )
    parser.add_argument("--config", metavar="YAML", help="options of the study; see below")
    parser.add_argument("--seed", metavar="N", type=int, help="of everything random; default: 0")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="write a report, and print one sentence; default: print all of it",
    )
    parser.add_argument(
        "--write-config",
        metavar="YAML",
        help="write the options, each explained, and stop before the study",
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.set_defaults(run=_study)


def _study(args: argparse.Namespace) -> None:
    from permtest.study.pipeline import run_study

    config = _configuration(args)
    if args.write_config is not None:
        _check_exclusive(args)
        _write_config(config, Path(args.write_config), args.force)
        return
    if args.out is not None:
        _check_folder(Path(args.out), config, args.force)
    try:
        pairs = _read(args, config)
    except ValueError as error:
        if "--metric" not in str(error):
            raise
        raise ValueError(
            f"{str(error).partition(';')[0]}; a study is of one score for each item and system "
            "(for counts there is permtest compare --metric)"
        ) from None
    study = run_study(pairs, config=config)
    if args.json:
        print_text(study.to_json())
    else:
        print_text(study.sentence() if args.out is not None else str(study))
    if args.out is not None:
        _report(study, args)


def _read(args: argparse.Namespace, config: StudyConfig) -> Pairs:
    """The scores of items that are independent, as all of a study takes them to be."""
    where = {"a": config.data.a, "b": config.data.b, "gold": args.gold, "score": args.score}
    clusters = False if args.no_clusters else None
    pairs = read(args.file, args.file_b, statistic="mean", clusters=clusters, **where)
    if pairs.clusters is not None:
        raise ValueError(
            f"{args.file}: {len(pairs)} items are in {len(set(pairs.clusters))} clusters, and a "
            "study is of items that are independent; permtest report handles clusters, or "
            "--no-clusters studies the items by themselves"
        )
    return pairs


def _configuration(args: argparse.Namespace) -> StudyConfig:
    """The file's, with what the command line says in its place."""
    config = StudyConfig() if args.config is None else StudyConfig.from_yaml(args.config)
    if args.seed is not None:
        if args.seed < 0:
            raise ValueError(f"--seed {args.seed}: a seed must not be negative")
        config = replace(config, seed=args.seed)
    data = config.data
    a, b = (_column(args, key) or getattr(data, key) for key in ("a", "b"))
    return replace(config, data=replace(data, a=a, b=b))


def _column(args: argparse.Namespace, key: str) -> str | None:
    text: str | None = getattr(args, key)
    if text == "":
        raise ValueError(f"--{key} needs the name of a column, or its number")
    return text


def _check_exclusive(args: argparse.Namespace) -> None:
    """Nothing that was asked for is left out in silence."""
    for option, value in (("--out", args.out), ("--json", args.json)):
        if value:
            raise ValueError(
                f"--write-config stops before the study; leave out {option}, or --write-config"
            )


def _write_config(config: StudyConfig, path: Path, force: bool) -> None:
    from permtest.report import write_files

    if path.is_dir():
        raise ValueError(f"--write-config {path}: this is a folder; name a file")
    if not path.parent.is_dir():
        raise ValueError(
            f"--write-config {path}: there is no folder {path.parent}; create it first"
        )
    if path.exists() and not force:
        raise ValueError(f"--write-config {path}: the file exists; choose another, or add --force")
    write_files(path.parent, {path.name: config.to_yaml().encode()})
    print_text(f"wrote {path}; edit it, then: permtest study FILE --config {path}")


def _check_folder(folder: Path, config: StudyConfig, force: bool) -> None:
    """Refuse before computing what could not be written after it."""
    from permtest.report import check_writable

    try:
        check_writable(folder, config.report.formats, overwrite=force)
    except FileExistsError as error:
        raise ValueError(f"--out {error}; choose another folder, or add --force") from None
    except OSError as error:
        raise ValueError(f"--out {error}") from None
    for module in ("jinja2", "matplotlib"):
        if find_spec(module) is None:
            raise ImportError(f"--out needs {module}: pip install 'permtest[study]'")


def _report(study: Study, args: argparse.Namespace) -> None:
    from permtest.report import write_report

    formats = study.config.report.formats
    written = write_report(study, args.out, formats=formats, overwrite=args.force)
    if not args.json:
        print_text("\nwrote " + "\n      ".join(map(str, written)))
