"""Writes docs/metrics.md from the table of metrics, so that the page cannot fall behind. Run from the project's root.

    python tools/metrics_page.py > docs/metrics.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from runner.exporter.names import COMMON, METRICS

HEAD = """# Metrics

Made by `tools/metrics_page.py` from `runner/exporter/names.py`. `scale sweep` serves these at
`http://127.0.0.1:9464/metrics`, on the loopback interface only: `--metrics-port` takes another port, a free one
replaces one that is taken (said on start), and `--no-metrics` serves nothing. `scale export RUN --openmetrics FILE`
writes the same names and labels of a stored run, with its times.

- Units are Prometheus' base units and end the names: `_seconds`, `_bytes`, `_ratio` (1 = all), `_cores`, `_per_second`.
- Every metric has the labels `run` (the directory's name) and `sweep` (its name). An empty label is no label: `variant`
  is only there when the sweep has a second factor.
- The plan bounds the labels: `trial`, `level`, `variant`, `setting`, `disk`; fixed sets do the rest: `side` (server,
  generator), `phase`, `verdict`, `role`, `quantile`, `resource`, `model`, `parameter`, and at most 49 values of `pool`.
- A counter starts anew with every trial, at its first sample, and does not fall within one: what a thread that ended
  had used stays counted.
- What is not known has no sample; nothing is 0 for want of a measurement.
- The series of the running trial end with it; those of the trials that ended, and the curve, stay to the end of the
  run.
- After the last trial the port stays open until it has been read once more, 2 seconds at most, so that a Prometheus
  that reads every second has the whole curve.
- A stored run has no label `job` or `instance`: queries do not use them. Values of the running trial are written once a
  second, the others every 15 seconds. A block cannot hold the mark with which Prometheus ends a series, so an instant
  query sees a trial's last values for the look-back time (5 minutes): choose the trial by its label.
"""

TITLES = {
    "run": "The run",
    "now": "The running trial",
    "trial": "Every trial that began",
    "curve": "The curve, from the VALID trials so far",
}


def page() -> str:
    """The page as Markdown."""
    text = HEAD
    for part, title in TITLES.items():
        text += f"\n## {title}\n| metric | type | labels | meaning | there when |\n|---|---|---|---|---|\n"
        for m in METRICS:
            if m.part == part:
                labels = ", ".join(f"`{name}`" for name in m.labels)
                text += f"| `{m.name}` | {m.kind} | {labels} | {m.meaning} | {m.when or 'always'} |\n"
    return text


if __name__ == "__main__":
    assert COMMON == ("run", "sweep")
    sys.stdout.write(page())
