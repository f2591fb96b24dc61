"""Writes docs/metrics.md from the table of metrics, so that the page is up to date. Run it in the root directory.

python tools/metrics_page.py > docs/metrics.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.watch.exporter.names import COMMON, METRICS

HEAD = """# Metrics

`tools/metrics_page.py` generates this page from `scale_sweep/watch/exporter/names.py`. `scale sweep` serves these
metrics at `http://127.0.0.1:9464/metrics`, on the loopback interface only. `--metrics-port` selects another port. If
the port is taken, `scale` uses a free port and prints it at the start. `--no-metrics` serves nothing.
`scale export RUN --openmetrics FILE` writes a stored run with the same names and labels, and with its times.

- Names end with Prometheus' base units: `_seconds`, `_bytes`, `_ratio` (1 = all), `_cores`, `_per_second`.
- Every metric has the labels `run` (the directory's name) and `sweep` (its name). An empty label is omitted: `variant`
  exists only if the sweep has a second factor.
- The plan bounds the values of the labels `trial`, `level`, `variant`, `setting` and `disk`. The other labels have
  fixed sets of values: `side` (`server`, `generator`), `phase`, `verdict`, `role`, `quantile`, `resource`, `model`,
  `parameter`, `operation` (those of the mix), and at most 49 values of `pool`.
- A counter starts again in every trial, at its first sample. It does not fall within a trial: the use of a thread that
  ended stays counted.
- An unknown value has no sample. A missing measurement is never 0.
- The series of the running trial end with the trial. Those of finished trials, and the curve, stay until the run ends.
- After the last trial the port stays open until it has been read once more, for at most 2 seconds, so that a Prometheus
  that reads every second has the whole curve.
- Prometheus adds the label `host` to the metrics of a fleet's runs ([hosts](hosts.md#several-servers)). `scale` gives
  it the name with the address of each run.
- A stored run has no labels `job` and `instance`; queries do not use them. Values of the running trial are written once
  per second, the others every 15 seconds. A block cannot contain the mark with which Prometheus ends a series, so an
  instant query sees the last values of a trial for the look-back time (5 minutes). Select the trial by its label.
"""

TITLES = {
    "run": "The run",
    "now": "The running trial",
    "trial": "Every trial that began",
    "curve": "The curve, from the fitted trials so far",
}


def page() -> str:
    """The page as Markdown."""
    text = HEAD
    for part, title in TITLES.items():
        text += f"\n## {title}\n| metric | type | labels | meaning | exists |\n|---|---|---|---|---|\n"
        for m in METRICS:
            if m.part == part:
                labels = ", ".join(f"`{name}`" for name in m.labels)
                text += f"| `{m.name}` | {m.kind} | {labels} | {m.meaning} | {m.when or 'always'} |\n"
    return text


if __name__ == "__main__":
    assert COMMON == ("run", "sweep")
    sys.stdout.write(page())
