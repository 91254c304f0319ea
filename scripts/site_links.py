"""A mkdocs hook: in the built site, links to files outside docs/ become plain text, for the site does not hold them.

In the repository the same links lead to the files; tests/docs checks that they exist.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]*)[^)]*\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:  # noqa: ANN401
    """Replace links that leave the documentation's folder by their text."""
    folder = posixpath.dirname(page.file.src_uri)

    def replace(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match.group(2)))
        return match.group(1) if target.startswith("..") else match.group(0)

    return LINK.sub(replace, markdown)
