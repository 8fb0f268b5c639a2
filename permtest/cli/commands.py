"""The other commands: leaderboards, reports, studies, plans, formats, the page, the notebooks."""

from __future__ import annotations

import argparse
import glob
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import permtest
from permtest import __version__
from permtest._jupyter import SOCKETS, choose_port, serve
from permtest.cli.inputs import (
    aligned,
    check_installed,
    check_out,
    direction,
    finish,
    named_statistic,
    print_text,
    read_input,
    read_table,
)
from permtest.null.probability import UNDERFLOW
from permtest.readers import FORMATS
from permtest.readers.files import printable
from permtest.statistics import CountStatistic, Statistic, lookup

if TYPE_CHECKING:
    from permtest.many import Leaderboard, ScoreTable

PACKAGE = Path(permtest.__file__).parent

#: Any of these modules will do for the extra of a format.
READERS = {"excel": ["openpyxl"], "frames": ["pyarrow"]}
READERS["inspect"] = ["compression.zstd", "backports.zstd"]

COUNTS = """\
A line holds one score of each system: a number of points, 0 or 1, or a decimal. For a metric of
counts it holds several whole numbers of each system:
  precision, recall, f1, f0.5, f2, ..., jaccard (or iou)   tp, fp, fn
  f1, jaccard                                              or tp, incorrect
  specificity, balanced_accuracy, mcc                      tp, fp, fn, tn
  wer                                                      errors, length
  bleu       match_1 to match_4, total_1 to total_4, length, reference_length
With a header, --a new finds new_tp, new_fp and new_fn (or new.tp, TP-new, ...), and no option is
needed where there are two systems. Else --a 2,3,4 lists columns in the order above. Without a
header and options, a line is the counts of A, then those of B."""


# ---- leaderboard ---------------------------------------------------------------------------------


def leaderboard(args: argparse.Namespace) -> None:
    """Rank many systems, and say which are tied.

    permtest leaderboard FILE ... [options]

    Compares all pairs of systems on the same items by exact tests, corrects p for their number, and
    says who leads, and who is tied. A FILE has all systems, or one each. A report ends in .html,
    .md, .tex, .json, .png, .svg, or .csv or .parquet: all pairs.

    For example:
      permtest leaderboard runs/* --score acc_norm --baseline gpt2 --alternative greater
      permtest leaderboard --data-set news=news.csv --data-set web=web.csv -o leaderboard.html
      permtest leaderboard --gold gold.conllu crf.conllu hmm.conllu svm.conllu --metric las --json
    """
    from permtest.many import compare_many
    from permtest.study.board import BoardDocument, board_document

    if args.alternative != "two-sided" and args.baseline is None:
        raise ValueError(f"--alternative {args.alternative} needs --baseline")
    if args.correction not in ("max-t", "none"):
        check_installed(["statsmodels"], f"--correction {args.correction}")
    if args.out is not None:
        more = BoardDocument.further_formats if Path(args.out).suffix else ()
        kinds = (*BoardDocument.formats, *more)
        check_out("--out", Path(args.out), kinds, args.force, "report")
    files = _files(args)
    tables: dict[str, ScoreTable] = {}
    for name, (some, gold) in files.items():
        first = next(iter(tables.values())).systems if tables else ()
        tables[name] = read_table(args, some, gold, first)
    board = compare_many(
        tables,
        baseline=args.baseline,
        alternative=args.alternative,
        correction=args.correction.replace("-", "_"),
        family=args.family,
        alpha=args.alpha,
        K=args.k,
        rng=args.seed or 0,
    )
    # Classes may be others elsewhere.
    by_class = getattr(next(iter(tables.values())).statistic, "average", None) is not None
    overall = board.overall() if len(tables) > 1 and not by_class else None
    boards = [board] if overall is None else [board, overall]
    sources = {name: table.source for name, table in tables.items()}
    document = board_document(board, overall=overall, sources=sources, seed=args.seed or 0)
    finish("" if args.json else _board(boards, sources, args.pairs), document, args)


def _files(args: argparse.Namespace) -> dict[str, tuple[list[str], str | None]]:
    """Data set -> its files, and what is right there; "" where there is one without a name."""
    if bool(args.files) == bool(args.data_set):
        problem = f"{args.files[0]}: no data set is named for it" if args.files else "no file"
        raise ValueError(f"{problem}; name files, or all data sets as --data-set NAME=FILE")
    files: dict[str, list[str]] = {"": args.files} if args.files else {}
    for head, *more in args.data_set:
        name, _, file = printable(head).partition("=")
        if not name or not file:
            raise ValueError(f"--data-set {head}: write NAME=FILE, and further files after it")
        if name in files:
            raise ValueError(f"--data-set {name} is there twice; list its files after each other")
        files[name] = [head.partition("=")[2], *more]
    gold: dict[str, str] = {}
    for text in args.gold:
        name, mark, file = text.partition("=")
        name, file = (name, file) if mark and name in files else ("", text)
        if name in gold:
            raise ValueError(f"--gold {text}: there is one already; a data set has one")
        gold[name] = file
    return {name: (some, gold.get(name, gold.get(""))) for name, some in files.items()}


def _board(boards: Sequence[Leaderboard], sources: Mapping[str, Any], pairs: bool) -> str:
    """A ranking and a sentence for each data set, and what is known of all of them."""
    parts = []
    for board in boards:
        for name in board.data_sets:
            parts += [*([name] if name else []), _ranking(board, name), board.sentence(name)]
            parts += [_all_pairs(board[name])] if pairs else []
            parts += [f"data   {sources[name]['read']}"] if name in sources else []
    parts.append(f"score  {direction(boards[0].score)}")
    return "\n\n".join(
        [*parts, *([str(boards[0].replicability())] if sources.keys() - {""} else [])]
    )


def _ranking(board: Leaderboard, name: str) -> str:
    """The systems from the best to the worst."""
    from permtest.many.wording import ranking

    header, cells = ranking(board, name)
    if board.baseline is not None:
        return aligned([header, *cells])
    room = max(len(row[4]) for row in cells)
    rows = [("rank   system", *header[2:5], "")]
    for rank, system, value, may_be, alike, tied in cells:
        rows.append((f"{rank:>4}   {system}", value, may_be, alike.ljust(room), "*" * bool(tied)))
    more = "; systems that share a letter do not differ" if room else ""
    return f"{aligned(rows)}\n* is the best, or does not differ from it{more}"


def _all_pairs(one: Leaderboard) -> str:
    """All pairs of systems on one data set, each with its p."""
    columns = (one.statistic, one.log10_pvalue, one.pvalue, one.adjusted, one.differs)
    rows = [("pair", "difference", "p", "adjusted p", "differs")]
    for i, j, difference, log10, p, adjusted, differs in zip(
        one.first, one.second, *(column[0].tolist() for column in columns), strict=True
    ):
        tiny = Context(prec=6).power(10, Decimal(log10)) if p <= UNDERFLOW else p
        shown = (f"{difference:+.6g}", f"{tiny:.6g}", f"{adjusted:.6g}", "yes" if differs else "no")
        rows.append((f"{one.systems[i]} - {one.systems[j]}", *shown))
    return aligned(rows)


# ---- report and study ----------------------------------------------------------------------------


def report(args: argparse.Namespace) -> None:
    """Compare two systems, and write all there is to say about it.

    permtest report FILE [FILE_B] [options]

    Compares two systems by the exact test, and says what there is to say about the difference: its
    interval, the items behind it, other tests side by side, effect size, power, and what to cite.
    A report ends in .html, .md, .tex, .json, .png or .svg.

    For example:
      permtest report results.csv --a new --b old -o report.html
      permtest report entities.csv --a new --b old --metric f1 --clusters document -o table.tex
      permtest report runs/new runs/old --metric acc_norm -o report/
    """
    from permtest.study import Overview, overview

    if args.out is not None:
        check_out("--out", Path(args.out), Overview.formats, args.force, "report")
    pairs, entry = read_input(args)
    if named_statistic(args.metric) is None and isinstance(entry, Statistic):
        entry = lookup("mean")  # on the scale of single items, as intervals are
    how = {"alternative": args.alternative, "alpha": args.alpha, "rng": args.seed or 0}
    found = overview(pairs, statistic=entry, **how)
    finish(str(found) if args.out is None else found.sentence(), found, args)


def study(args: argparse.Namespace) -> None:
    """Answer one question by its plan: describe, test, measure, look ahead, and report.

    permtest study FILE [FILE_B] [options]

    Describes the scores, recommends tests, makes them side by side, estimates how large the
    difference is, what power such a test has and how many items another study needs. A report has
    its configuration beside it, study.yml, which repeats the study byte by byte.

    For example:
      permtest study results.csv --a new --b old --out report/
      permtest study results.csv --a new --b old --write-config study.yml
      permtest study results.csv --config study.yml --out report/ --force
    """
    from permtest.study import Study, StudyConfig, run_study

    config = StudyConfig() if args.config is None else StudyConfig.from_yaml(args.config)
    for name in ("a", "b", "higher_is_better", "seed"):  # the command line goes before the file
        if getattr(args, name) is None:
            setattr(args, name, getattr(config, name))
        config = replace(config, **{name: getattr(args, name)})
    if args.write_config is not None:
        if args.out is not None or args.json:
            raise ValueError("--write-config stops before the study; leave out --out and --json")
        path = Path(args.write_config)
        check_out("--write-config", path, (), args.force)
        path.write_text(config.to_yaml(), encoding="utf-8")
        print_text(f"wrote {path}; edit it, then: permtest study FILE --config {path}")
        return
    if args.out is not None:
        check_out("--out", Path(args.out), Study.formats, args.force, "report")
    pairs, entry = read_input(args)
    if isinstance(entry, CountStatistic):
        raise ValueError(f"--metric {entry.name}: a study takes one score; see permtest report")
    if pairs.clusters is not None:
        raise ValueError(
            f"{args.file}: {len(pairs)} items are in {len(set(pairs.clusters))} clusters, and a "
            "study is of items that are independent; permtest report handles clusters, or "
            "--no-clusters studies the items by themselves"
        )
    found = run_study(pairs, config=config)
    finish(str(found) if args.out is None else found.sentence(), found, args)


# ---- plan ----------------------------------------------------------------------------------------


def plan(args: argparse.Namespace) -> None:
    """Say how many items a comparison needs.

    permtest plan [FILE [FILE_B]] [options]

    How many items does a test need to find a difference? State the difference and the standard
    deviation of the differences, or the shares of items that one system alone has right; or name
    the files of a pilot, which say what is not stated.

    For example:
      permtest plan --delta 0.5 --sigma 2
      permtest plan --shares 0.06 0.03 --power 0.9
      permtest plan pilot.csv --a new --b old --alternative greater
    """
    from permtest.study import exact_power, exact_power_n, power_t, sample_size

    how = {"alpha": args.alpha, "alternative": args.alternative}
    found = _planned(args)
    of = {name: found[name] for name in ("p_b", "p_c", "delta", "sigma") if name in found}
    if "p_b" in of:
        needed, power = (
            exact_power_n(power=args.power, **of, **how),
            partial(exact_power, **of, **how),
        )
        test, more = "exact test of 0/1 scores", ""
        what = f"if A alone has {of['p_b']:.4g} of them right, and B alone {of['p_c']:.4g}"
    else:
        needed, power = (
            int(sample_size(power=args.power, **of, **how)),
            partial(power_t, **of, **how),
        )
        test, more = "paired t-test", " The exact permutation test needs about as many."
        what = f"if differences have a mean of {of['delta']:.6g} and a standard deviation of "
        what += f"{of['sigma']:.6g}"
    sizes = sorted({max(2, round(needed * part / 4)) for part in (1, 2, 3, 4, 6, 8)})
    curve = [{"n": n, "power": power(n=n)} for n in sizes]
    if args.json:
        facts = {"n": needed, "power": power(n=needed), "wanted": args.power, "test": test}
        print_text(json.dumps(facts | how | found | {"curve": curve, "version": __version__}))
        return
    side = "" if args.alternative == "two-sided" else "one-sided, "
    text = f"The {test} ({side}{args.alternative}, level {args.alpha:g}) needs {needed} "
    text += f"{found['unit']} for a power of {args.power:g}, {what}.{more}"
    if "pilot" in found:
        text += f"\n\ndata   {found['source']['read']}\n\nThe pilot's own difference may be luck; "
        text += "--delta names the smallest one that matters."
    rows = [(str(one["n"]), f"{one['power']:.4f}", "") for one in curve]
    print_text(f"{text}\n\n{aligned([(found['unit'], 'power', ''), *rows])}")


def _planned(args: argparse.Namespace) -> dict[str, Any]:
    """What is to be found: shares of items that one system alone has right, or a difference."""
    stated = args.delta is not None or args.sigma is not None
    if args.shares is not None:
        if stated or args.file is not None:
            raise ValueError("--shares says all; leave out --delta, --sigma and files")
        return {"unit": "items", "p_b": args.shares[0], "p_c": args.shares[1]}
    if args.file is None:
        if args.delta is None or args.sigma is None:
            raise ValueError("name --delta and --sigma, or --shares, or the files of a pilot")
        return {"unit": "items", "delta": args.delta, "sigma": args.sigma}
    pairs, entry = read_input(args)
    if isinstance(entry, CountStatistic):
        raise ValueError(f"a plan is for one score of each item, not for --metric {entry.name}")
    unit = "items" if pairs.clusters is None else "clusters"
    pairs = pairs if pairs.clusters is None else pairs.by_cluster()
    gaps = [pairs.in_scores(int(u) - int(v)) for u, v in zip(pairs.u, pairs.v, strict=True)]
    found = {"pilot": len(gaps), "unit": unit, "source": pairs.source}
    delta = fmean(gaps) if args.delta is None else args.delta
    if not delta:
        raise ValueError(f"{args.file}: the systems tie; name the difference to find as --delta")
    right = (
        unit == "items" and pairs.scale == 1 and {*pairs.u.tolist(), *pairs.v.tolist()} <= {0, 1}
    )
    if right and args.sigma is None:
        apart = fmean(map(abs, gaps))
        if abs(delta) > apart:
            raise ValueError(f"--delta {delta:g}: the systems differ on a share of {apart:g} only")
        return found | {"p_b": max(apart + delta, 0) / 2, "p_c": max(apart - delta, 0) / 2}
    sigma = stdev(gaps) if args.sigma is None else args.sigma
    return found | {"delta": delta, "sigma": sigma}


# ---- formats -------------------------------------------------------------------------------------


def formats(args: argparse.Namespace) -> None:
    """List the formats of files that can be compared.

    permtest formats [NAME] [--json]

    Which format a file has is seen from its content; its name does not matter.

    For example:
      permtest formats
      permtest formats table
    """
    names = ("name", "title", "rows", "pairs_on", "gold", "extra", "example")
    facts = []
    for kind in (FORMATS[args.format],) if args.format else FORMATS.values():
        there = kind.extra is None or any(map(_is_there, READERS[kind.extra]))
        facts.append({name: getattr(kind, name) for name in names} | {"installed": there})
    if args.json:
        print_text(json.dumps(facts[0] if args.format else facts))
    elif args.format:
        (one,) = facts
        needs = f"pip install 'permtest[{one['extra']}]'" if one["extra"] else "nothing more"
        rows = [("an item holds", one["rows"]), ("paired on", one["pairs_on"])]
        rows += [("gold file", one["gold"]), ("needs", needs + " (installed)" * one["installed"])]
        print_text(f"{one['title']}\n\n{aligned(rows)}\n\n  {one['example']}")
    else:
        table = aligned([(one["name"], one["title"]) for one in facts])
        print_text(f"{table}\n\n{COUNTS}\n\npermtest formats NAME shows one, with an example.")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # of the package that it is in
        return False


# ---- the page and the notebooks ------------------------------------------------------------------


def app(args: argparse.Namespace) -> None:
    """Compare two systems on a web page of this machine.

    permtest app [options]

    Only this machine can see the page, and nothing leaves this machine. Each page has a Python of
    its own, which ends when the page is closed. Needs pip install 'permtest[lab]'.

    For example:
      permtest app
      permtest app --port 8866 --no-browser
    """
    check_installed(("voila", "ipywidgets", "matplotlib", "jinja2"), args.prog)
    print("starting the page", flush=True)  # Voila takes some seconds
    serve(find_notebook("09-your-own-data.ipynb"), port=args.port, browser=not args.no_browser)


def lab(args: argparse.Namespace) -> None:
    """Open the notebooks in JupyterLab.

    permtest lab [FOLDER] [options]

    The notebooks are copied to FOLDER, where what is there is left as it is. Without FOLDER a
    checkout's own are opened, and an installed package copies them to permtest-notebooks. Needs
    pip install 'permtest[lab]'.

    For example:
      permtest lab --notebook 05
      permtest lab course --port 8888 --no-browser
    """
    check_installed(("jupyterlab", "ipywidgets", "matplotlib"), args.prog)
    path = find_notebook(args.notebook)
    if args.folder is not None or path.parent == PACKAGE / "notebooks":
        folder = Path(args.folder or "permtest-notebooks")
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder}: this is a file; name a folder")
        hidden = shutil.ignore_patterns(".*")
        shutil.copytree(path.parent, folder, ignore=hidden, copy_function=_copy, dirs_exist_ok=True)
        print_text(f"the notebooks are in {folder.resolve()}; what was there is as it was")
        path = folder.resolve() / path.name
    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]

    options = [f"--ServerApp.root_dir={path.parent}", f"--LabApp.default_url=/lab/tree/{path.name}"]
    options += ["--ip=127.0.0.1", f"--port={choose_port(args.port)}", "--ServerApp.port_retries=0"]
    options += [f"--ServerApp.tornado_settings={SOCKETS}", "--ServerApp.answer_yes=True"]
    options += ["--no-browser"] * args.no_browser
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # the only user in many containers
        options += ["--allow-root"]
    LabApp.launch_instance(options)


def find_notebook(name: str) -> Path:
    """The notebook of that name, or the only one whose name begins so.

    They are beside the package in a checkout, and within it once it is installed.
    """
    beside = PACKAGE.parent / "notebooks"
    checkout = beside.is_dir() and (PACKAGE.parent / "pyproject.toml").is_file()
    folder = beside if checkout else PACKAGE / "notebooks"
    found = sorted(folder.glob(f"{glob.escape(name)}*"))
    known = ", ".join(sorted(path.name for path in folder.glob("*.ipynb")))
    if not known:
        raise FileNotFoundError(f"there are no notebooks in {folder}; install permtest again")
    if len(found) != 1:
        said = "could be several" if found else "is none"
        raise ValueError(f"--notebook {name}: this {said}; choose one of {known}")
    return found[0]


def _copy(source: str, target: str) -> None:
    """Copy a file that is not there yet."""
    if not os.path.lexists(target):
        shutil.copyfile(source, target)
