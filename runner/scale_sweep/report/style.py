"""The CSS of pages and pictures: light and dark by the reader's setting, in colours of Okabe and Ito."""

from __future__ import annotations

import functools
from pkgutil import get_data


@functools.cache
def part(name: str) -> str:
    return (get_data("scale_sweep.report", name) or b"").decode()


def _flat(css: str) -> str:
    return "".join(line.strip() for line in css.splitlines())


_LIGHT = """
--paper:#fff;--raised:#f6f7f8;--ink:#16191d;--soft:#59616b;--rule:#dfe3e7;--grid:#e9ecef;--blue:#0067a8;
--orange:#b34a00;--green:#00795a;--purple:#a3487f;--band:#0067a8;--warn:#fdf4e3;--warn-edge:#d99a1c;--shade:#eef3f7;
--edge:#16191d2e;
"""
_DARK = """
--paper:#14171a;--raised:#1d2125;--ink:#e8eaed;--soft:#a0a8b1;--rule:#343a41;--grid:#292e34;--blue:#5cb8f0;
--orange:#f29b4c;--green:#35c79a;--purple:#e08fc0;--band:#5cb8f0;--warn:#2b2415;--warn-edge:#c98f22;--shade:#20272e;
--edge:#e8eaed38;
"""

PLOT_CSS = part("plot.css")
THEME_CSS = (
    f":root{{color-scheme:light dark;{_flat(_LIGHT)}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{_flat(_DARK)}}}}}"
)
PLOT_STYLE = THEME_CSS + _flat(PLOT_CSS)
PAGE_STYLE = THEME_CSS + _flat(part("page.css")) + _flat(PLOT_CSS)
