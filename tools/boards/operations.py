"""The operations of a mix: their panels in "Live sweep", now, and in "Scaling curve", at each level."""

from __future__ import annotations

from scale_sweep.experiment.work import OPERATIONS, operation_of
from tools.boards.over_levels import CHOSEN, RANGE, marked, over_n
from tools.boards.panels import (
    RUN,
    About,
    Json,
    counted,
    fixed,
    lines,
    only_when_empty,
    override,
    panel,
    target,
)

COLOURS = (
    *("#1f77b4", "#aec7e8", "#e08214", "#f0bd80", "#2ca02c", "#98df8a", "#d62728", "#ff9896", "#9467bd"),
    *("#c5b0d5", "#8c564b", "#c49c94", "#c2517b", "#f7b6d2", "#5b6f80", "#b8860b", "#17a2b8", "#bcbd22"),
)


def coloured() -> list[Json]:
    """Each kind of operation has its colour in all panels; a name of the user's own gets one from Grafana."""
    names = [name for name in OPERATIONS.names() if operation_of(name).in_mix]
    return [override(name, color=fixed(colour)) for name, colour in zip(names, COLOURS, strict=True)]


def requests(place: tuple[int, int, int, int]) -> Json:
    """Requests by operation."""
    return lines(
        About(
            title="Requests by operation",
            sentence="Requests of each operation of the mix, each second.",
            place=place,
            unit="reqps",
        ),
        [target("A", f"max by (operation) (rate(scale_operation_requests_total{RUN}[5s]))", "{{operation}}")],
        axis="requests/s",
        last=True,
        overrides=coloured(),
    )


def response(place: tuple[int, int, int, int]) -> Json:
    """p99 by operation."""
    return lines(
        About(
            title="Response time by operation, 99 %",
            sentence="99th percentile of the response time of each operation over its last 1,000 requests or more: one second, or several if it is slow.",
            place=place,
            unit="s",
        ),
        [
            target(
                "A",
                f"max by (operation) (scale_operation_response_time_seconds{RUN})",
                "{{operation}}",
            )
        ],
        axis="response time",
        log=True,
        last=True,
        noValue="no operation has 1,000 requests yet: the table has whole trials",
        overrides=[only_when_empty(), *coloured()],
    )


def of_trials(metric: str, more: str = "") -> str:
    """By operation and level: the mean over the trials that count; without any, over all that ended, marked."""
    values = f'last_over_time(scale_trial_operation_{metric}{{run="$run",{CHOSEN}{more}}}{RANGE})'
    here, every = (f"avg by (operation, level) ({of})" for of in (f"{values} and on (trial) {counted()}", values))
    return marked(here, every, "operation")


def median(place: tuple[int, int, int, int]) -> Json:
    """Over the levels."""
    return over_n(
        About(
            title="Median by operation",
            sentence="Median response time of each operation at each level: means over the level's trials that count; † none does: over all.",
            place=place,
            unit="s",
        ),
        of_trials("response_time_seconds", ',quantile="0.5"'),
        name="operation",
        axis="response time",
        log=True,
        overrides=coloured(),
        noValue="no trial has ended",
    )


def by_level() -> Json:
    """Of each operation at each level."""
    wanted = (
        ("A", "requests_per_second", ""),
        ("B", "response_time_seconds", ',quantile="0.5"'),
        ("C", "response_time_seconds", ',quantile="0.99"'),
    )
    return panel(
        "table",
        About(
            title="Operations",
            sentence="Requests per second and response time of each operation at each level: means over the level's trials that count; † none does: over all.",
            place=(9, 0, 15, 9),
            unit="none",
        ),
        [target(ref, of_trials(metric, more), table=True) for ref, metric, more in wanted],
        {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}},
        noValue="none: only a mix and reads have operations",
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True, "minWidth": 50},
        overrides=[
            override("n", unit="string"),
            override("Requests/s", unit="sishort"),
            override("Median", unit="s"),
            override("99 %", unit="s", noValue="–"),
        ],
        transformations=[
            {"id": "merge", "options": {}},
            {
                "id": "convertFieldType",
                "options": {"conversions": [{"targetField": "level", "destinationType": "number"}], "fields": {}},
            },
            {
                "id": "organize",
                "options": {
                    "excludeByName": {"Time": True},
                    "indexByName": {"operation": 0, "level": 1, "Value #A": 2, "Value #B": 3, "Value #C": 4},
                    "renameByName": {
                        "operation": "Operation",
                        "level": "n",
                        "Value #A": "Requests/s",
                        "Value #B": "Median",
                        "Value #C": "99 %",
                    },
                },
            },
            # Grafana sorts by the first field of a list only; its sorting is stable.
            *({"id": "sortBy", "options": {"fields": {}, "sort": [{"field": one}]}} for one in ("n", "Operation")),
        ],
    )


def now() -> list[Json]:
    """Of the running trial."""
    return [requests((0, 0, 12, 8)), response((12, 0, 12, 8))]


def by_levels() -> list[Json]:
    """Of the trials that ended."""
    return [median((0, 0, 9, 9)), by_level()]
