"""Runs in the kernel before a notebook's first cell: pictures get an alternative text.

It is put together from what is written on the picture: titles, names of axes, legends.
"""


def describe_pictures():
    """Let figures be displayed with a description in their metadata."""
    from IPython import get_ipython

    shell = get_ipython()
    shell.run_line_magic("matplotlib", "inline")
    from matplotlib.figure import Figure

    formatter = shell.display_formatter.formatters["image/png"]
    draw = formatter.for_type(Figure)

    def listed(legends):
        return [", ".join(text.get_text() for text in legend.get_texts()) for legend in legends]

    def words(title, across, up, legends):
        named = {"across": [across], "up": [up], "legend": listed(legends)}
        rest = [f"{what}: {text}" for what, texts in named.items() for text in texts if text]
        return "; ".join(filter(None, [title, *rest]))

    def name(axes):
        title = " ".join(filter(None, (axes.get_title(side) for side in ("left", "center"))))
        legends = filter(None, [axes.get_legend()])
        return words(title, axes.get_xlabel(), axes.get_ylabel(), legends)

    def describe(figure):
        shared = words("", figure.get_supxlabel(), figure.get_supylabel(), figure.legends)
        parts = [figure.get_suptitle(), *map(name, figure.axes), shared]
        text = ". ".join(" ".join(part.split()) for part in parts if part)
        return "Plot. " + text.replace("$", "")

    def draw_and_describe(figure):
        drawn = draw(figure)
        data, metadata = drawn if isinstance(drawn, tuple) else (drawn, {})
        return data, {**metadata, "alt": describe(figure)}

    formatter.for_type(Figure, draw_and_describe)


describe_pictures()
del describe_pictures
