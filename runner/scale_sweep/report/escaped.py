"""The only way of a text from outside into a report: one function for HTML, one for Markdown.

A name, a question, a tag or a server's message is shown as it is and is never markup. Refuses to be called twice on one
text: what it returns is markup.
"""

from __future__ import annotations

import html
import re

from scale_sweep.base.visible import visible

_SPECIAL = re.compile(r"([\\`*\[\]|#~]|(?<!\w)_|_(?!\w))")  # an underscore inside a word is not markup


def escape(text: str) -> str:
    """The text as HTML, also inside of an attribute."""
    return html.escape(visible(text))


def safe(text: str) -> str:
    """The text as Markdown, on one line. Entities instead of backslashes where some programs take a backslash before a
    tag for text, and the tag for a tag."""
    return _SPECIAL.sub(r"\\\1", html.escape(visible(" ".join(text.split())), quote=False))
