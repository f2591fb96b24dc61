"""Makes the pictures and example reports of README and docs from stored runs.

    python tools/examples.py curve RUN              docs/images/first-curve.svg, on an opaque background
    python tools/examples.py databases RUN          docs/images/databases.svg, the curves of several databases
    python tools/examples.py search RUN TRIAL       docs/images/search.svg, the search of one trial
    python tools/examples.py report RUN NAME        docs/examples/NAME.html, at most 650 kB

RUN is the directory of a run; its pictures and its report are made again by this version of the code. Changes no run.
Refuses a report that is larger.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner"))
import scale_sweep  # noqa: E402
from scale_sweep.report.documents import documents  # noqa: E402
from scale_sweep.report.search_figure import search_svg  # noqa: E402
from scale_sweep.report.several_curves import curves_svg  # noqa: E402
from scale_sweep.report.style import PLOT_STYLE  # noqa: E402
from scale_sweep.results.store.reader import read_run  # noqa: E402

IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "docs" / "examples"
MOST_BYTES = 650_000
WIDTH_OF_SEARCH, HEIGHT_OF_SEARCH = 720, 360


def curve(run: Path) -> Path:
    """The path of the picture."""
    return opaque(scale_sweep.load(str(run)).curve.svg.decode(), IMAGES / "first-curve.svg")


def databases(run: Path) -> Path:
    """The path of the picture. Raises ValueError for a run without a rate."""
    return opaque(styled(curves_svg(read_run(run))), IMAGES / "databases.svg")


def search(run: Path, trial: str) -> Path:
    """The path of the picture. Raises ValueError for a trial that searched nothing."""
    stored = read_run(run)
    objective = stored.plan.sweep.load.objective
    result = next((r for r in stored.results if r.trial.trial_id == trial and r.measurement.steps), None)
    if objective is None or result is None:
        raise ValueError(f"{trial} of {run} is not the trial of a search")
    svg = search_svg(stored, objective, result, WIDTH_OF_SEARCH, HEIGHT_OF_SEARCH)
    return opaque(styled(svg), IMAGES / "search.svg")


def styled(svg: str) -> str:
    """The drawing of a page with the style that the page gives it; "" stays empty."""
    head, mark, rest = svg.partition(">")
    return f"{head}><style>{PLOT_STYLE}</style>{rest}" if mark else ""


def opaque(svg: str, path: Path) -> Path:
    """Writes the drawing with a background. Raises ValueError for what is not SVG."""
    opening = re.match(r"(?:<\?xml[^>]*>\s*)?<svg[^>]*>", svg)
    if opening is None:
        raise ValueError(f"the drawing for {path.name} is no SVG")
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    path.write_text(svg[: opening.end()] + paper + svg[opening.end() :], encoding="utf-8")
    return path


def report(run: Path, name: str) -> Path:
    """The path of the report. Raises ValueError for one that is too large for the docs."""
    text = documents(read_run(run)).pages["report.html"].encode()
    if len(text) > MOST_BYTES:
        raise ValueError(f"the report of {run} has {len(text):,} bytes; an example has at most {MOST_BYTES:,}")
    EXAMPLES.mkdir(exist_ok=True)
    path = EXAMPLES / f"{name}.html"
    path.write_bytes(text)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for picture in (curve, databases):
        commands.add_parser(picture.__name__).add_argument("run", type=Path)
    example = commands.add_parser("report")
    example.add_argument("run", type=Path)
    example.add_argument("name")
    searched = commands.add_parser("search")
    searched.add_argument("run", type=Path)
    searched.add_argument("trial")
    words = vars(parser.parse_args())
    makers = (curve, databases, search, report)
    print({maker.__name__: maker for maker in makers}[words.pop("command")](**words))


if __name__ == "__main__":
    main()
