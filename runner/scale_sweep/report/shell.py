"""A whole page around a body: its style and its script, and no address from which anything is loaded."""

from __future__ import annotations

import functools
from pkgutil import get_data

from scale_sweep.report.markup import escape
from scale_sweep.report.style import PAGE_STYLE


def shell(title: str, body: str) -> str:
    """The page. The title is escaped here; the body is HTML. Without its script the page shows the same."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title>\n<style>{PAGE_STYLE}</style></head>\n'
        f"<body><main>\n{body}</main>\n<script>{part('page.js')}</script></body></html>\n"
    )


@functools.cache
def part(name: str) -> str:
    """The text of a file beside this one."""
    return (get_data("scale_sweep.report", name) or b"").decode()
