"""Writes docs/metrics.md from the table of metrics, so that the page is up to date. Run it in the root directory.

python tools/metrics_page.py > docs/metrics.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.watch.exporter.names import COMMON, METRICS, Metric

HEAD = """# Metrics

<!-- tools/metrics_page.py writes this page -->

`scale sweep` serves these metrics at `http://127.0.0.1:9464/metrics`, on loopback only. `--metrics-port` selects
another port. If the port is taken, `scale` uses a free one and prints it. `--no-metrics` serves nothing.
`scale export RUN --openmetrics FILE` writes a stored run with its times.

- Counters end with `_total`, infos with `_info`. Metrics with the label `quantile` are summaries, all others gauges.
- Every metric has the labels `run` and `sweep`, and [several servers](hosts.md#several-servers) have `host`. An empty
  label is omitted. `side` is `server` or `generator`.
- Of two metrics in a row, that of requests is for loads that do not only write.
- A counter starts again in every trial. An unknown value has no sample, and is never 0.
- An instant query of a stored run sees the last values of a trial for 5 minutes: select the trial by its label.
"""

TITLES = {
    "run": "The run",
    "now": "The running trial",
    "trial": "Every trial that began",
    "curve": "The curve, from the fitted trials so far",
}
SHOWN = {"open loop (--rate)": "`--rate`", "searches for an objective (--slo)": "`--slo`", "disk sweeps": "disk sweeps"}
ALL_HAVE = {
    "run": (),
    "now": ("trial",),
    "trial": ("trial",),
    "curve": ("target", "variant"),
}


def page() -> str:
    """The page as Markdown."""
    text = HEAD
    for part, title in TITLES.items():
        text += f"\n## {title}\n"
        if common := ALL_HAVE[part]:
            text += f"All have the label{'s' * (len(common) > 1)} {' and '.join(f'`{name}`' for name in common)}.\n\n"
        text += "| metric | meaning |\n|---|---|\n"
        metrics = [m for m in METRICS if m.part == part]
        text += "".join(f"| {_names(m, metrics)} | {_meaning(m)} |\n" for m in metrics if not _is_twin(m, metrics))
    return text


def _twin(metric: Metric, metrics: list[Metric]) -> Metric | None:
    """The metric of requests beside one of rows."""
    name = metric.name.replace("_rows", "_requests")
    return next((m for m in metrics if m.name == name != metric.name and m.labels == metric.labels), None)


def _is_twin(metric: Metric, metrics: list[Metric]) -> bool:
    return any(_twin(m, metrics) is metric for m in metrics)


def _names(metric: Metric, metrics: list[Metric]) -> str:
    labels = ",".join(name for name in metric.labels if name not in ALL_HAVE[metric.part])
    both = filter(None, (metric, _twin(metric, metrics)))
    return ", ".join(f"`{m.name}{{{labels}}}`" if labels else f"`{m.name}`" for m in both)


def _meaning(metric: Metric) -> str:
    """The meaning, with the kind of sweep that has the metric."""
    return f"{metric.meaning} ({SHOWN[metric.when]})" if metric.when in SHOWN else metric.meaning


if __name__ == "__main__":
    assert COMMON == ("run", "sweep")
    sys.stdout.write(page())
