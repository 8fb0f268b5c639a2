"""Pages of the reference, made from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from ast import ImportFrom, parse, walk
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from book.chapter import Chapter, outline
from book.docstrings import (
    Link,
    code,
    documented_names,
    kind_of,
    parsed,
    prose,
    sections,
)
from book.surface import PAGES, Page, Thing, function_of, members

ROOT = Path(__file__).resolve().parents[2]
#: A name or a call in code that is not within a link already.
MENTION = re.compile(r"(?<!\">)(?<!'>)<code>([A-Za-z_][\w.]*)(?:\([^<]*\))?</code>")
ABSENT = inspect.Parameter.empty


def reference() -> list[Chapter]:
    """All pages of the reference."""
    return [page_of(page) for page in PAGES]


def page_of(page: Page) -> Chapter:
    """One page of the reference."""
    parts = [f"<h1 id='{page.name}'>{escape(page.title)}</h1><p>{escape(page.about)}</p>"]
    for title, things in page.things.items():
        anchor = "about-" + re.sub(r"\W+", "-", title.lower())
        parts.append(f"<h2 id='{anchor}'>{escape(title)}</h2>")
        parts += [summary(things), *map(entry, things)]
    body = f"<div class='prose reference'>{''.join(parts)}</div>"
    found = tuple(outline(BeautifulSoup(body, "html.parser")))
    return Chapter(page.name, page.title, escape(page.about), body, found, "Reference")


# ---- where a name is explained -----------------------------------------------------------------


@cache
def addresses() -> dict[str, str]:
    """Address of everything public, by all names that mean nothing else."""
    found: dict[str, set[str]] = {}
    for page in PAGES:
        for things in page.things.values():
            for thing in things:
                here = f"{page.name}.html#{thing.name}"
                for name in spellings(thing):
                    found.setdefault(name, set()).add(here)
                    for inner in members(thing.value) if thing.kind == "class" else ():
                        found.setdefault(f"{name}.{inner}", set()).add(f"{here}.{inner}")
                    for inner in fields(thing.value):
                        found.setdefault(f"{name}.{inner}", set()).add(here)
    return {name: here.pop() for name, here in found.items() if len(here) == 1}


def spellings(thing: Thing) -> Iterator[str]:
    """What texts may call it: with its module, or without."""
    full = f"{thing.module}.{thing.name}"
    for start in ("", "permtest.", "pt."):
        yield start + thing.path
    yield full
    yield thing.name
    source = getattr(thing.value, "__module__", None)
    if isinstance(source, str):
        yield f"{source}.{thing.name}"


def fields(thing: Any) -> list[str]:
    """Names of the fields of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    return list(getattr(thing, "_fields", ()))


def linker(thing: Thing, own: set[str]) -> Link:
    """What finds the address of a name in the docstring of `thing`; not of its own arguments."""
    known = addresses()
    me = f"{thing.module}.{thing.name}"

    def link(name: str) -> str | None:
        if name in own or name == thing.name:
            return None
        places = (f"{me}.{name}", f"{thing.module}.{name}", name)
        return next((known[place] for place in places if place in known), None)

    return link


def with_links(chapter: Chapter) -> Chapter:
    """A page whose mentions of public names, in code, lead to their explanations.

    Words that could mean something else, such as ``sum``, are left alone.
    """

    def linked(found: re.Match[str]) -> str:
        target = addresses().get(found[1])
        telling = re.search("[A-Z._]", found[1])
        return f'<a href="{target}">{found[0]}</a>' if target and telling else found[0]

    return dataclasses.replace(chapter, body=MENTION.sub(linked, chapter.body))


# ---- one name ----------------------------------------------------------------------------------


def summary(things: list[Thing]) -> str:
    """What there is below a heading, a line each."""
    rows = []
    for thing in things:
        link = linker(thing, set())
        about = prose(opening(thing), link).removeprefix("<p>").removesuffix("</p>")
        rows.append(
            f"<tr><th scope='row'><a href='#{thing.name}'><code>{thing.name}</code></a></th>"
            f"<td>{about}</td></tr>"
        )
    return f"<table class='names'><tbody>{''.join(rows)}</tbody></table>"


def opening(thing: Thing) -> list[str]:
    """The first sentence about it."""
    if thing.kind == "constant":
        return [comment(thing)]
    return list(parsed(thing.value)["Summary"])


def entry(thing: Thing) -> str:
    """Everything there is to say about a public name."""
    head = (
        f"<h3 id='{thing.name}'><code>{thing.name}</code></h3>"
        f"<p class='where'>{thing.kind} of <code>{thing.module}</code>, in {source(thing)}</p>"
    )
    if thing.kind == "constant":
        text = ready_made(thing)
    elif thing.kind == "class":
        text = explained(thing, thing.value, thing.name) + "".join(methods(thing))
    else:
        text = explained(thing, thing.value, thing.name)
    return f"<section class='entry'>{head}{text}</section>"


def explained(thing: Thing, function: Any, name: str, back: str = "") -> str:
    """Signature and docstring of a function, a class or a method."""
    document = parsed(function)
    link = linker(thing, documented_names(document))
    called = {"Parameters": "Fields"} if dataclasses.is_dataclass(function) else {}
    return "\n".join(
        [
            signature(function, name, back),
            prose(document["Summary"], link),
            sections(document, link, called),
        ]
    )


def methods(thing: Thing) -> Iterator[str]:
    """Those of a class, each with a heading of its own, and where others come from."""
    link = linker(thing, set())
    bases = [b.__name__ for b in thing.value.__mro__[1:] if addresses().get(b.__name__)]
    if bases:
        yield f"<p>Has what {' and '.join(code(name, link) for name in bases)} has, too.</p>"
    for name, member in members(thing.value).items():
        function = function_of(member)
        back = returned(function, link)
        text = explained(thing, function, called(thing, name, member), back)
        if not called(thing, name, member):
            kind = f" <span class='kind'>{back}</span>" if back else ""
            text = f"<p class='signature'><code><b>{name}</b></code>{kind}</p>{text}"
        label = f"{thing.name}.{name}"
        yield f"<section class='member' id='{label}' aria-label='{label}'>{text}</section>"


def called(thing: Thing, name: str, member: Any) -> str:
    """What comes before the brackets of a call; nothing for a property."""
    if isinstance(member, classmethod | staticmethod):
        return f"{thing.name}.{name}"
    return name if inspect.isfunction(member) else ""


def signature(function: Any, name: str, back: str) -> str:
    """How it is called, every argument whole on its line."""
    if not name:
        return ""
    parts = [f"<span>{escape(part)}</span>" for part in arguments(function)]
    arrow = f" <span class='kind'>→ {back}</span>" if back else ""
    return f"<p class='signature'><code><b>{name}</b>({', '.join(parts)})</code>{arrow}</p>"


def arguments(function: Any) -> Iterator[str]:
    """Arguments with their defaults, and the star that those by keyword come after."""
    starred = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls") or parameter.name.startswith("_"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        marks = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        default = "" if parameter.default is ABSENT else f"={shown(parameter.default)}"
        yield marks.get(parameter.kind, "") + parameter.name + default


def shown(default: Any) -> str:
    """A default as one would write it."""
    if "factory" in repr(default) or " object at " in repr(default):
        return "..."
    if callable(default):
        return str(default.__name__)
    return repr(default).replace("'", '"')


def returned(function: Any, link: Link) -> str:
    """What a method returns, as its signature has it."""
    annotation = getattr(function, "__annotations__", {}).get("return")
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return kind_of(text, link)


def source(thing: Thing) -> str:
    """The file in which it is defined."""
    if thing.kind == "constant":
        return f"<code>{defined(thing).relative_to(ROOT).as_posix()}</code>"
    path = Path(inspect.getsourcefile(thing.value) or "").resolve()
    return f"<code>{path.relative_to(ROOT).as_posix()}</code>"


# ---- what is ready-made ------------------------------------------------------------------------


def defined(thing: Thing) -> Path:
    """The file that gives a constant its value: that to which imports of its name lead."""
    module: str | None = thing.module
    while module:
        path = Path(inspect.getsourcefile(import_module(module)) or "").resolve()
        imports = [n for n in walk(parse(path.read_text("utf-8"))) if isinstance(n, ImportFrom)]
        froms = [n.module for n in imports if thing.name in {alias.name for alias in n.names}]
        module = froms[0] if froms else None
    return path


def comment(thing: Thing) -> str:
    """What the comment above a constant says of it."""
    lines = re.search(rf"((?:^#: ?.*\n)+){thing.name}\b", defined(thing).read_text("utf-8"), re.M)
    if not lines:
        raise ValueError(f"{thing.path} has no comment that says what it is: '#: ...' above it")
    return " ".join(line.removeprefix("#:").strip() for line in lines[1].splitlines())


def ready_made(thing: Thing) -> str:
    """What a constant is: an entry a line if there are several."""
    text = prose([comment(thing)], linker(thing, set()))
    if not isinstance(thing.value, dict):
        return text
    rows = "".join(
        f"<tr><th scope='row'><code>{escape(key)}</code></th><td>{escape(about(value))}</td></tr>"
        for key, value in thing.value.items()
    )
    return f"{text}<table class='names'><tbody>{rows}</tbody></table>"


def about(value: Any) -> str:
    """An entry of a table in a few words: all of them if it has nothing else."""
    if isinstance(value, tuple):
        return ", ".join(value)
    words = (getattr(value, name, None) for name in ("about", "title", "distribution"))
    return next((word for word in words if isinstance(word, str)), str(value))
