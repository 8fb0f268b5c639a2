"""Draw the pictures of README and guide that show results; they stand in the notebooks.

PYTHONPATH=. python tools/draw_docs.py            # into docs/
PYTHONPATH=. python tools/draw_docs.py build      # into another folder

The others, of accuracy and speed, are measured: `python3 dev.py bench`.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageOps

from permtest.course import load
from permtest.plots import roles, style

ROOT = Path(__file__).resolve().parents[1]

#: Name of a picture -> the notebook and the cell that show it.
PICTURES = {
    "answers": ("07", "answers"),
    "bayes": ("09", "explorer"),
    "leaderboard": ("12", "ranking-picture"),
}
#: The picture of each notebook that stands for it in the gallery, if it is not the first one.
GALLERY = {"01": "stacks", "06": "staircase", "09": "both", "11": "estimation"}
GALLERY |= {"10": "intervals", "13": "play-figure"}
THUMBNAIL = 360, 220  # pixels


def pictures_of(path: Path) -> dict[str, bytes]:
    """The last picture that is stored in each cell of a notebook."""
    return {
        cell["id"]: b64decode("".join(output["data"]["image/png"]))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    }


def save_pictures(folder: Path) -> None:
    """Write the pictures of the guide, and a thumbnail of each notebook."""
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    paths = sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))[1:]  # 00 is the map
    found = {path.name[:2]: pictures_of(path) for path in paths}
    for name, (number, cell) in PICTURES.items():
        (folder / f"{name}.png").write_bytes(found[number][cell])
    for number, pictures in found.items():
        chosen = pictures[GALLERY.get(number, next(iter(pictures)))]
        picture = Image.open(BytesIO(chosen)).convert("RGB")
        page = ImageOps.pad(picture, THUMBNAIL, Image.Resampling.LANCZOS, "white")
        small = page.quantize(48, dither=Image.Dither.NONE)
        small.save(folder / "gallery" / f"{number}.png", optimize=True)


ITEMS = 6  # sentences on which two taggers differ, so that there are 2^6 labellings
STEP, REST = 160, 4000  # milliseconds: a labelling, and the end


def swap_frames() -> Iterator[Image.Image]:
    """Six pairs of scores change sides, and the lead of each labelling falls on its axis.

    Each labelling is one swap away from the one before (a Gray code).
    """
    scores = load("ud_en_ewt_pos", "correct")[["crf_rich", "crf_base"]]
    pairs = scores[scores["crf_rich"] != scores["crf_base"]].iloc[:ITEMS].to_numpy()
    gaps = pairs[:, 0] - pairs[:, 1]
    observed, dots = abs(int(gaps.sum())), Counter[int]()
    for k in range(1, 2**ITEMS + 1):
        swaps = [bool((k - 1 ^ k - 1 >> 1) >> item & 1) for item in range(ITEMS)]
        lead = int(np.where(swaps, -gaps, gaps).sum())
        dots[lead] += 1
        extreme = sum(count for value, count in dots.items() if abs(value) >= observed)
        whole = f": p = {extreme / k:.2f}" if k == 2**ITEMS else ""
        fig, (cards, axis) = plt.subplots(
            1, 2, figsize=(9, 4), dpi=80, width_ratios=(2, 3), layout="constrained"
        )
        draw_cards(cards, pairs, swaps)
        draw_dots(axis, dots, lead, observed)
        limit = int(abs(gaps).sum()) + 2
        told = f"{extreme} of {k} labellings lead by {observed} or more{whole}"
        axis.set(xlim=(-limit, limit), title=told)
        fig.canvas.draw()
        picture = Image.fromarray(np.asarray(fig.canvas.buffer_rgba()))
        plt.close(fig)
        yield picture.convert("RGB").quantize(32, dither=Image.Dither.NONE)


def draw_cards(axis: Any, pairs: Any, swaps: list[bool]) -> None:
    """The scores; each keeps its colour where it is swapped."""
    axis.set(xlim=(-0.8, 1.6), ylim=(-1.5, ITEMS), title="six sentences: words right")
    axis.set_axis_off()
    write = partial(axis.text, ha="center", va="center")
    for y, (pair, swap) in enumerate(zip(pairs[::-1], swaps[::-1], strict=True)):
        for side, role in enumerate((roles.A, roles.B)):
            look = {"boxstyle": "round,pad=0.35", "fc": role.rgba(0.25), "ec": role.rgba()}
            write(side ^ swap, y, f"{pair[side]:2}", bbox=look)
        write(0.5, y, "\N{LEFT RIGHT ARROW}" * swap)
    write(0, -1.2, "crf_rich")
    write(1, -1.2, "crf_base")


def draw_dots(axis: Any, dots: Counter[int], lead: int, observed: int) -> None:
    """The leads so far, the last one in a circle."""
    axis.set(ylim=(0, 17), xlabel="lead of crf_rich (words)", yticks=[])
    axis.spines["left"].set_visible(False)
    for value, count in dots.items():
        role = roles.TAIL if abs(value) >= observed else roles.NULL
        axis.plot([value] * count, np.arange(count) + 0.5, "o", color=role.rgba(), ms=9)
    axis.plot(lead, dots[lead] - 0.5, "o", mfc="none", mec=roles.ink(), ms=13)
    axis.axvline(observed, **roles.OBSERVED.line())
    axis.axvline(-observed, **roles.MIRRORED.line())


def main() -> None:
    """Write them all."""
    mpl.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    save_pictures(folder)
    with style():
        first, *others = swap_frames()
    times = [STEP] * len(others) + [REST]
    swap = folder / "swap.gif"
    first.save(swap, save_all=True, append_images=others, duration=times, loop=0, optimize=True)
    print(*sorted(folder.glob("*.png")), swap, folder / "gallery", sep="\n")


if __name__ == "__main__":
    main()
