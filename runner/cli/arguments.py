"""Arguments and options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from runner.errors import UsageError
from runner.setting.readers import rates
from runner.units import parse_levels

RUN = Annotated[str, typer.Argument(metavar="RUN", help="A run's name, a part of it, its path, or `last`.")]
RESULTS = Annotated[Path, typer.Option("--results", help="Where runs are stored.", metavar="DIR")]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
PREDICT = Annotated[
    str | None,
    typer.Option(help="Levels whose rate to predict, up to twice the highest measured: 16,24.", metavar="LEVELS"),
]
NEED = Annotated[str | None, typer.Option(help="Rates whose level to find: 2000000 or 2M,5M.", metavar="RATES")]


def asked_of(predict: str | None, need: str | None) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both questions as numbers. Raises UsageError naming the flag."""
    found: list[tuple[float, ...]] = []
    for flag, text, read in (("--predict", predict, parse_levels), ("--need", need, rates)):
        try:
            found.append(read(text) if text is not None else ())
        except ValueError as error:
            raise UsageError(f"{flag}: {error}") from None
    return found[0], found[1]
