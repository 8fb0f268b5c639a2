"""Draw the pictures of the README that show results, from the data of the notebooks.

PYTHONPATH=. python tools/draw_docs.py            # into docs/
PYTHONPATH=. python tools/draw_docs.py build      # into another folder

The others, of accuracy and speed, are measured: `python3 dev.py bench`.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from PIL import Image

import permtest as pt
from permtest.alternatives import bayes_test
from permtest.course import load
from permtest.plots import plot_answers, plot_posteriors, plot_ranking, roles, style

ROOT = Path(__file__).resolve().parents[1]


def draw_answers() -> Any:
    """All tests of two taggers."""
    data = load("ud_en_ewt_pos")
    names = ("crf_rich", "crf_base")
    u, v = (data[f"{name}_correct"] for name in names)
    return plot_answers(pt.compare_all(u, v, names=names, rng=0))[0]


def draw_bayes() -> Any:
    """Two chunkers, by the folds of a 3 x 2 cross-validation."""
    data = pd.read_csv(ROOT / "notebooks" / "data" / "uner_bcv_iob2_iobes.csv")
    chosen = data[(data["corpus"] == "uner_en_ewt_dev+test") & (data["task"] == "ORG")]
    names = ("IOB2", "IOBES")
    folds = [chosen[chosen["model"] == name][["tp", "fp", "fn"]].to_numpy() for name in names]
    results = [bayes_test(*folds, metric, names=names) for metric in ("precision", "recall", "f1")]
    return plot_posteriors(results, conservative=True)[0]


#: Name of a picture -> what draws it, and returns its axes or the first of them.
PICTURES: dict[str, Callable[[], Any]] = {
    "answers": draw_answers,
    "bayes": draw_bayes,
    "leaderboard": lambda: plot_ranking(pt.compare_many(load("ud_en_ewt_pos", "correct"))),
}


# ---- the moving picture ------------------------------------------------------------------------

ITEMS = 6  # sentences on which two taggers differ, so that there are 2^6 labellings
STEP, REST = 160, 4000  # milliseconds: a labelling, and the end


def swap_frames() -> Iterator[Image.Image]:
    """Six pairs of scores change sides, and the lead of each labelling falls on its axis.

    Each labelling is one swap away from the one before (a Gray code).
    """
    scores = load("ud_en_ewt_pos", "correct")[["crf_rich", "crf_base"]]
    pairs = scores[scores["crf_rich"] != scores["crf_base"]].iloc[:ITEMS].to_numpy().tolist()
    observed = sum(u - v for u, v in pairs)
    dots: Counter[int] = Counter()
    for k in range(2**ITEMS):
        swapped = [bool((k ^ k >> 1) >> item & 1) for item in range(ITEMS)]
        now = [(v, u) if swap else (u, v) for (u, v), swap in zip(pairs, swapped, strict=True)]
        lead = sum(u - v for u, v in now)
        dots[lead] += 1
        extreme = sum(count for value, count in dots.items() if abs(value) >= abs(observed))
        share = f"{extreme} of {k + 1} labellings lead by {abs(observed)} or more"
        whole = f": p = {extreme / (k + 1):.2f}" if k + 1 == 2**ITEMS else ""
        yield draw_frame(now, swapped, dots, lead, observed, share + whole)


def draw_frame(
    pairs: list[tuple[int, int]],
    swapped: list[bool],
    dots: Counter[int],
    lead: int,
    observed: int,
    title: str,
) -> Image.Image:
    """One labelling: the scores on the left, the leads so far on the right."""
    fig, (cards, axis) = plt.subplots(
        1, 2, figsize=(9, 4), dpi=80, width_ratios=(2, 3), layout="constrained"
    )
    cards.set(xlim=(-0.8, 1.6), ylim=(-1.5, ITEMS), title="six sentences: words right")
    cards.set_axis_off()
    for row, ((u, v), swap) in enumerate(zip(pairs, swapped, strict=True)):
        left, right = (roles.B, roles.A) if swap else (roles.A, roles.B)  # a score keeps its colour
        for x, value, role in ((0, u, left), (1, v, right)):
            look = {"boxstyle": "round,pad=0.35", "fc": role.rgba(0.25), "ec": role.rgba()}
            cards.text(x, ITEMS - 1 - row, f"{value:2}", ha="center", va="center", bbox=look)
        if swap:
            cards.text(0.5, ITEMS - 1 - row, "\N{LEFT RIGHT ARROW}", ha="center", va="center")
    for x, name in ((0, "crf_rich"), (1, "crf_base")):
        cards.text(x, -1.2, name, ha="center", va="center")
    limit = sum(abs(u - v) for u, v in pairs) + 2
    axis.set(xlim=(-limit, limit), ylim=(0, 17), xlabel="lead of crf_rich (words)", yticks=[])
    axis.spines["left"].set_visible(False)
    for value, count in dots.items():
        role = roles.TAIL if abs(value) >= abs(observed) else roles.NULL
        axis.plot([value] * count, [k + 0.5 for k in range(count)], "o", color=role.rgba(), ms=9)
    axis.plot(lead, dots[lead] - 0.5, "o", mfc="none", mec=roles.ink(), ms=13)
    for value, rule in ((observed, roles.OBSERVED), (-observed, roles.MIRRORED)):
        axis.axvline(value, **rule.line())
    axis.set_title(title)
    held = BytesIO()
    fig.savefig(held, dpi=80)
    plt.close(fig)
    return Image.open(held).convert("RGB").quantize(32, dither=Image.Dither.NONE)


# ---- the gallery -------------------------------------------------------------------------------

#: The picture of each notebook that stands for it, by the name of its cell.
GALLERY = {"01": "stacks", "06": "staircase", "09": "both", "11": "estimation"}
GALLERY |= {"10": "intervals", "13": "play-figure"}
THUMBNAIL = 360, 220  # pixels


def save_gallery(folder: Path) -> None:
    """Write a thumbnail of each notebook, from the picture that is stored in it."""
    folder.mkdir(exist_ok=True)
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))[1:]:  # 00 is the map
        number = path.name[:2]
        pictures = {
            cell["id"]: output["data"]["image/png"]
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
            for output in cell.get("outputs", [])
            if "image/png" in output.get("data", {})
        }
        chosen = pictures[GALLERY[number]] if number in GALLERY else next(iter(pictures.values()))
        picture = Image.open(BytesIO(b64decode("".join(chosen)))).convert("RGB")
        picture.thumbnail(THUMBNAIL, Image.Resampling.LANCZOS)
        page = Image.new("RGB", THUMBNAIL, "white")
        page.paste(picture, [(a - b) // 2 for a, b in zip(THUMBNAIL, picture.size, strict=True)])
        page.quantize(48, dither=Image.Dither.NONE).save(folder / f"{number}.png", optimize=True)


def main() -> None:
    """Draw them all."""
    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    with style():
        for name, draw in PICTURES.items():
            draw().figure.savefig(folder / f"{name}.png")
        first, *others = swap_frames()
    times = [STEP] * len(others) + [REST]
    swap = folder / "swap.gif"
    first.save(swap, save_all=True, append_images=others, duration=times, loop=0, optimize=True)
    save_gallery(folder / "gallery")
    print(*sorted(folder.glob("*.png")), swap, folder / "gallery", sep="\n")


if __name__ == "__main__":
    main()
