"""Writes the section on many databases of docs/databases.md from a stored run, with its picture and its report.

    python tools/comparison_section.py RUN

It writes the command, the number of VALID trials, the picture docs/images/many-databases.svg and the report
docs/examples/many-databases.html, which has the tables and the cautions. Changes no run. Refuses a run of fewer than
eight databases, and a run that lacks trials.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "runner")]
from scale_sweep.model.fitted import StoredRun  # noqa: E402
from scale_sweep.report.forms import valid_words  # noqa: E402
from scale_sweep.report.run_facts import command_of, created, machine_facts  # noqa: E402
from scale_sweep.report.several_curves import curves, curves_svg  # noqa: E402
from scale_sweep.results.store.reader import read_run  # noqa: E402
from tools import examples  # noqa: E402

PAGE, NAME = ROOT / "docs/databases.md", "many-databases"
BEGIN, END = "<!-- tools/comparison_section.py writes this section -->\n", "<!-- end of the section -->\n"
LEAST, WIDTH = 8, 118
OF_THE_PLACE = ("--results", "--yes", "-y")  # flags of the command that do not change what is measured


def section(run: StoredRun) -> str:
    """The section as Markdown. Raises ValueError for a run of fewer databases, or one that lacks trials."""
    compared = curves(run)
    if len(compared) < LEAST or len(run.results) < len(run.plan.trials):
        trials = f"{len(run.results)} of {len(run.plan.trials)} trials"
        raise ValueError(f"{run.path} has {len(compared)} databases and {trials}; the section needs all of {LEAST}")
    names = ", ".join(curve.name for curve in compared)
    machine = dict(machine_facts(run)).get("CPU", "")
    blocks = (
        f"### {len(compared)} databases on one page",
        f"```sh\n{_command(run)}\n```",
        _wrapped(f"A run of {created(run)} on {machine} ([the whole report](examples/{NAME}.html))."),
        valid_words((curve.name, curve.results) for curve in compared).partition(":")[0] + ".",
        f"![The rate and the durable rate of {names} by cores](images/{NAME}.svg)",
    )
    return "\n\n".join(blocks) + "\n"


def _command(run: StoredRun) -> str:
    """The command in lines, without the folder of the results."""
    words = shlex.join(_kept(shlex.split(command_of(run))))
    return " \\\n".join(_lines(words, "", "  "))


def _kept(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word not in OF_THE_PLACE:
            yield word
        elif word == "--results":
            next(rest, None)


def _wrapped(text: str) -> str:
    return "\n".join(_lines(text, "", ""))


def _lines(text: str, first: str, later: str) -> list[str]:
    """first, later: before the lines. Words stay whole."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


def written(page: str, run: StoredRun) -> str:
    """The page with the section between its marks. Raises ValueError as `section`, and for a page without them."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return f"{page[:begin]}\n{section(run)}\n{page[end:]}"


def main() -> None:
    """Writes the page, the picture and the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    folder = parser.parse_args().run
    run = read_run(folder)
    page = written(PAGE.read_text(encoding="utf-8"), run)
    examples.report(folder, NAME)
    examples.opaque(examples.styled(curves_svg(run)), examples.IMAGES / f"{NAME}.svg")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
