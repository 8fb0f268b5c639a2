"""An ``.eval`` archive of Inspect, unpacked in memory and within bounds."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from permtest._optional import optional
from permtest.readers.files import (
    DEEP,
    MEMORY,
    File,
    ReadError,
    check_json,
    check_memory,
    no_json,
    parsed_json,
    printable,
    reading,
)

#: Members of an archive, at most; and how many times what they hold is in memory, at least.
MEMBERS, COPIES = 200_000, 3

#: How members may be compressed; other methods need memory that nothing bounds.
ZSTANDARD = 93
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD)

#: What is said of a whole log: when it has ended, and when it began.
HEADERS = ("header.json", "_journal/start.json")
SUMMARIES = "summaries.json"
REMEDY = "leave files as the tool writes them"


def is_log(file: File) -> bool:
    """Whether a file is an archive with the parts of a log."""
    ends = file.data[:4096] + file.data[-(2**16) :]
    known = any(name.encode() in ends for name in HEADERS)
    return file.data.startswith(b"PK\x03\x04") and known and b"samples/" in ends


def _members(file: File) -> tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]:
    """An archive that can be unpacked, and what is said of its members."""
    if file.data.count(b"PK\x01\x02") > MEMBERS:
        raise ReadError.at(file.path, f"has more than {MEMBERS} members; split the log")
    with reading(file.path, "is a damaged archive", "copy or download it again"):
        archive = zipfile.ZipFile(BytesIO(file.data))
        members = {member.filename: member for member in archive.infolist()}
        if any(member.compress_type == ZSTANDARD for member in members.values()):
            module = "zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile"
            log = f"{printable(file.path)}, a log compressed with Zstandard,"
            able = optional(module, needed_by=log, extra="inspect")
            archive = able.ZipFile(BytesIO(file.data))
    return archive, members


def parts_of(file: File) -> tuple[Any, Iterable[Any]]:
    """What is said of a log, and its samples: their summaries, where all are there."""
    archive, members = _members(file)
    left = MEMORY  # how much may still be unpacked, in bytes

    def parsed(name: str) -> Any:
        """The JSON document in a member, which must be no larger than it says."""
        nonlocal left
        member, place, content = members[name], f"{file.path}, {name}", BytesIO()
        left -= member.file_size
        if left < 0 or member.compress_type not in METHODS:
            problem = f"is compressed with method {member.compress_type}; {REMEDY}"
            large = f"with it the log has more than {MEMORY // 2**20} MiB of JSON; split the log"
            raise ReadError.at(place, large if left < 0 else problem)
        check_memory(place, COPIES * member.file_size)
        with reading(place, "is damaged", "copy the log again"), archive.open(name) as stream:
            shutil.copyfileobj(stream, content, 4096)  # more of a bomb at a time is gigabytes
        check_json(place, content.getvalue())
        try:
            return parsed_json(content.getvalue().decode())
        except (RecursionError, ValueError) as error:
            deep = isinstance(error, RecursionError)
            raise ReadError.at(place, DEEP if deep else no_json(str(error), REMEDY)) from None

    header = next((name for name in HEADERS if name in members), None)
    if header is None:
        problem = f"is an archive without {HEADERS[0]}, so no log of Inspect"
        raise ReadError.at(file.path, f"{problem}; check which file it is")
    names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
    found = parsed(SUMMARIES) if SUMMARIES in members else None
    if isinstance(found, list) and len(found) >= len(names):
        return parsed(header), found
    return parsed(header), map(parsed, names)
