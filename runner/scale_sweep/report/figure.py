"""A picture of a page under its caption, with its data as a file. Refuses a picture without data to save."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Sequence

from scale_sweep.base.texts import visible
from scale_sweep.report.markup import escape

Rows = Sequence[Sequence[object]]


def figure_html(name: str, drawn: str, caption: str, rows: Rows, *, narrow: str = "", width: int = 0) -> str:
    """name: of the files that a reader saves; the script of the page adds those of pictures. drawn: SVG. narrow: the
    same picture for a phone. rows: its data, the headers first. width: the most, in pixels; 0: of the page."""
    most = f' style="max-width:{width}px"' if width else ""
    pictures = f'<div class="wide">{drawn}</div><div class="narrow">{narrow}</div>' if narrow else drawn
    data = base64.b64encode(_csv(rows).encode()).decode()
    link = f'<a download="{escape(name)}.csv" href="data:text/csv;base64,{data}">CSV</a>'
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure data-name="{escape(name)}"{most}>{pictures}{words}<p class="save">{link}</p></figure>\n'


def _csv(rows: Rows) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def _cell(value: object) -> str:
    """A number with nine digits: `scale verify` may compute a whole number, or another last bit."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.9g}"
    return "" if value is None else visible(str(value))
