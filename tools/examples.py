"""Makes the pictures and example reports of README and docs from stored runs.

    python tools/examples.py curve RUN              docs/images/first-curve.svg, on an opaque background
    python tools/examples.py databases RUN          docs/images/databases.svg, the curves of several databases
    python tools/examples.py reads RUN              docs/images/reads.svg, the response times of each operation
    python tools/examples.py search RUN TRIAL       docs/images/search.svg, the search of one trial
    python tools/examples.py report RUN NAME        docs/examples/NAME.html, at most 650 kB
    python tools/examples.py recording LOG          docs/images/sweep.svg, a terminal that shows the output of a sweep

RUN is the directory of a run; its pictures and its report are made again by this version of the code. LOG is a file
with the output of `scale sweep`. The recording shows each line after a part of its time, so that the whole takes 16 s,
and then begins again. Changes no run. Refuses a report that is larger.
"""

from __future__ import annotations

import argparse
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner"))
import scale_sweep  # noqa: E402
from scale_sweep.report.documents import documents  # noqa: E402
from scale_sweep.report.operation_times import times_svg  # noqa: E402
from scale_sweep.report.search_figure import search_svg  # noqa: E402
from scale_sweep.report.style import PLOT_STYLE  # noqa: E402
from scale_sweep.report.subject_curves import curves_svg  # noqa: E402
from scale_sweep.results.store.reader import read_run  # noqa: E402

IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "docs" / "examples"
MOST_BYTES = 650_000
WIDTH_OF_SEARCH, HEIGHT_OF_SEARCH = 720, 360
ROWS, COLUMNS = 26, 160
LINE, WIDTH, LEFT, TOP = 18.0, 7.6, 14.0, 44.0  # of the terminal, in pixels; WIDTH of a character of 12.6 px
LASTS_S, RESULT_S = 16.0, 6.0  # the recording; of these the result stands still
NO_BREAK = "\u00a0"  # SVG draws several spaces as one
GREEN, WHITE = "#7ee787", "#e6edf3"


def curve(run: Path) -> Path:
    """The path of the picture."""
    return opaque(scale_sweep.load(str(run)).curve.svg.decode(), IMAGES / "first-curve.svg")


def databases(run: Path) -> Path:
    """The path of the picture. Raises ValueError for a run without a rate."""
    return opaque(styled(curves_svg(read_run(run))), IMAGES / "databases.svg")


def reads(run: Path) -> Path:
    """The path of the picture. Raises ValueError for a load that only writes."""
    return opaque(styled(times_svg(read_run(run))), IMAGES / "reads.svg")


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


def recording(log: Path) -> Path:
    """The path of the picture."""
    written = [line.rstrip() for line in log.read_text(encoding="utf-8").splitlines()]
    lines = [line[at : at + COLUMNS] for line in written for at in range(0, max(len(line), 1), COLUMNS)]
    path = IMAGES / "sweep.svg"
    path.write_text(terminal(lines), encoding="utf-8")
    return path


def terminal(lines: list[str]) -> str:
    """An SVG that prints the lines one after the other and scrolls as a terminal does."""
    step = (LASTS_S - RESULT_S) / max(len(lines), 1)
    scrolled = max(len(lines) - ROWS, 0)
    width, height = COLUMNS * WIDTH + 2 * LEFT, ROWS * LINE + TOP + LEFT
    texts = "".join(_line(number, line, (number + 1) * step) for number, line in enumerate(lines))
    times = [0.0, *((ROWS + number + 1) * step for number in range(scrolled)), LASTS_S]
    moves = ";".join(f"0 {-LINE * min(number, scrolled):g}" for number in range(len(times)))
    keys = ";".join(f"{time / LASTS_S:.4f}" for time in times)
    scroll = (
        f'<animateTransform attributeName="transform" type="translate" calcMode="discrete" dur="{LASTS_S:g}s" '
        f'repeatCount="indefinite" values="{moves}" keyTimes="{keys}"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="A terminal in which scale sweeps one and two cores of PostgreSQL">'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>'
        + "".join(f'<circle cx="{x}" cy="18" r="6" fill="#30363d"/>' for x in (20, 40, 60))
        + f'<clipPath id="screen"><rect y="{TOP - LINE:g}" width="{width:g}" height="{ROWS * LINE + 6:g}"/></clipPath>'
        f'<g clip-path="url(#screen)" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" '
        f'font-size="12.6"><g transform="translate(0 {-LINE * scrolled:g})">{scroll}{texts}</g></g></svg>\n'
    )


def _line(number: int, line: str, appears_s: float) -> str:
    """One line, which appears after a time and stays until the recording begins again."""
    colour = GREEN if line.startswith("$") or " VALID" in line else WHITE
    at = min(appears_s / LASTS_S, 0.99)
    shows = (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{LASTS_S:g}s" repeatCount="indefinite" '
        f'values="hidden;visible" keyTimes="0;{at:.4f}"/>'
    )
    y, text = TOP + number * LINE, escape(line).replace(" ", NO_BREAK)
    width = f' textLength="{len(line) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"' if line else ""
    return f'<text x="{LEFT:g}" y="{y:g}" fill="{colour}"{width}>{text}{shows}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for picture in (curve, databases, reads):
        commands.add_parser(picture.__name__).add_argument("run", type=Path)
    example = commands.add_parser("report")
    example.add_argument("run", type=Path)
    example.add_argument("name")
    searched = commands.add_parser("search")
    searched.add_argument("run", type=Path)
    searched.add_argument("trial")
    commands.add_parser("recording").add_argument("log", type=Path)
    words = vars(parser.parse_args())
    makers = (curve, databases, reads, search, report, recording)
    print({maker.__name__: maker for maker in makers}[words.pop("command")](**words))


if __name__ == "__main__":
    main()
