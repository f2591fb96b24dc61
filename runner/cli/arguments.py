"""Arguments and options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RUN = Annotated[str, typer.Argument(metavar="RUN", help="A run's name, a part of it, its path, or `last`.")]
RESULTS = Annotated[Path, typer.Option("--results", help="Where runs are stored.", metavar="DIR")]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
