"""The parser child: ``python -m seamline.ingest.child``. One process parses many files, under caps of its own.

It reads requests from its standard input and answers on what was its standard output; what parsers print goes
to standard error. It opens no network connection and ends when its input does.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.metadata import PackageNotFoundError, entry_points
from typing import Any, BinaryIO

from seamline.ingest.child_limits import address_space, limit_files, renew
from seamline.ingest.extract import by_media_type, extract
from seamline.ingest.missing import missing
from seamline.ingest.wire import from_parsed, receive, send
from seamline.ports import Parsed, Parser
from seamline.types import ParseStatus

_BUILT_IN = "seamline"


def main() -> None:
    """Greet with the parsers that could be loaded, then answer requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    requests, answers = _take_over_pipes()
    sys.addaudithook(_no_network)
    parsers, problems = _load_parsers()
    limit_files()
    send(
        answers,
        {
            "parsers": {parser.name: parser.version for parser in parsers},
            "problems": problems,
            "memory_cap": address_space() is not None,
        },
    )
    table = by_media_type(parsers)
    started_with = address_space() or 0
    while (request := receive(requests, most=sys.maxsize)) is not None:
        header, data = request
        renew(memory=header["memory"], seconds=header["seconds"])
        answer, body = _answer(header, data, table)
        renew(memory=None, seconds=header["seconds"])
        # Memory that a file left behind would shrink what the next one may use.
        grown = (address_space() or 0) - started_with
        send(answers, answer | {"retire": grown > header["memory"] // 2}, body)


def _answer(header: dict[str, Any], data: bytes, table: dict[str, Parser]) -> tuple[dict[str, Any], bytes]:
    try:
        extracted = extract(data, header["filename"], header["media_type"], table, most_chars=header["output_chars"])
        answer, body = from_parsed(extracted.parsed)
        return answer | {"parser": extracted.parser, "version": extracted.version}, body
    except MemoryError:
        reason = f"needs more than parse_memory_bytes ({header['memory']})"
    except Exception as error:  # whatever a parser raises is a property of the file
        reason = f"the parser failed: {type(error).__name__}: {error}"[:500]
    failed = Parsed(text="", media_type=header["media_type"] or "", status=ParseStatus.CORRUPT, reason=reason)
    return from_parsed(failed)[0] | {"parser": "", "version": ""}, b""


def _take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return requests, answers


def _no_network(event: str, arguments: tuple[object, ...]) -> None:  # noqa: ARG001
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"):
        raise PermissionError("parsers may not use the network")


def _load_parsers() -> tuple[list[Parser], dict[str, str]]:
    """Every parser of the group ``seamline.parsers``, built-ins first, and why some could not be loaded."""
    loaded: list[Parser] = []
    problems: dict[str, str] = {}
    points = entry_points(group="seamline.parsers")
    for point in sorted(points, key=lambda p: (p.dist is None or p.dist.name != _BUILT_IN, p.name)):
        try:
            made = point.load()
            loaded.append(made({}))
        except PackageNotFoundError as error:  # the built-ins ask for the version of their library
            loaded.append(missing(made, str(error.name)))
        except Exception as error:  # a broken plug-in must not take the others with it
            problems[point.name] = f"{type(error).__name__}: {error}"[:500]
    return loaded, problems


if __name__ == "__main__":
    main()
