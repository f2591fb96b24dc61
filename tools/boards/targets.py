"""Several databases, or other variants of one sweep, level by level: their panels in "Scaling curve".

A line is a target, or a variant of it, and has the same colour in all panels. Says nothing of who wins: intervals are
in the report.
"""

from __future__ import annotations

from tools.boards.over_levels import RANGE, marked, over_n
from tools.boards.panels import (
    RUN,
    About,
    Json,
    counted,
    override,
    panel,
    target,
)

# What a line is named after: the variant, without the word that says that targets are varied; without one the target.
NAME = "of"
POINT = '{run="$run",role="point"}'


def named(expr: str, how: str) -> str:
    """One series for each level and line. how: the aggregation of a level's trials."""
    for label, pattern in (("target", "(.+)"), ("variant", "(.+)"), ("variant", "target (.+)")):
        expr = f'label_replace({expr}, "{NAME}", "$1", "{label}", "{pattern}")'
    return f"{how} by (level, {NAME}) ({expr})"


def last(metric: str, selector: str = RUN) -> str:
    """The last value in the time range."""
    return f"last_over_time(scale_{metric}{selector}{RANGE})"


def of_trials(expr: str) -> str:
    """Values by trial, those of the curve's trials with their level, target and variant."""
    return f"max by (trial) ({expr}) * on (trial) group_left (level, target, variant) {last('trial_info', POINT)}"


def rate() -> str:
    """Of each trial: requests if the load reads, else rows."""
    requests, rows = (last(f"trial_{unit}_per_second") for unit in ("requests", "rows"))
    return f"max by (trial) ({requests} or on (trial) {rows})"


def cores(side: str) -> str:
    """Used by the server or by the load generator."""
    return last("trial_cpu_used_cores", f'{{run="$run",side="{side}"}}')


def mean(expr: str) -> str:
    """The mean of a level's trials that count; without any, of all its trials, marked."""
    values = of_trials(expr)
    return marked(named(f"({values} and on (trial) {counted()})", "avg"), named(values, "avg"), NAME)


RATE = mean(rate())
PER_CORE = mean(f"{rate()} / on (trial) (max by (trial) ({cores('server')}) > 0)")
MEDIAN, SLOW = (mean(last("trial_response_time_seconds", f'{{run="$run",quantile="{q}"}}')) for q in ("0.5", "0.99"))
CLIENT = mean(f"1e6 * max by (trial) ({cores('generator')}) / on (trial) {rate()}")


def figures() -> Json:
    """The same as numbers."""
    durable = mean(last("trial_durable_rows_per_second"))
    valid = named(last("curve_valid_trials"), "max")
    columns = (
        ("A", f"{valid} or 0 * ({RATE})", "VALID", "none"),
        ("B", RATE, "Rate", "sishort"),
        ("C", durable, "Durable rows/s", "sishort"),
        ("D", PER_CORE, "Per server core", "sishort"),
        ("E", CLIENT, "Client CPU", "s"),
        ("F", MEDIAN, "Median", "s"),
        ("G", SLOW, "99 %", "s"),
    )
    return panel(
        "table",
        About(
            title="Figures of each",
            sentence="Means over a level's trials that count; † none does: means over all. VALID: the number of trials on the curve. Client CPU: of the "
            "load generator, for a million rows or requests.",
            place=(0, 17, 24, 8),
            unit="none",
        ),
        [target(ref, expr, table=True) for ref, expr, _, _ in columns],
        {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}},
        noValue="–",
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True, "minWidth": 50},
        overrides=[override("n", unit="string"), *(override(name, unit=unit) for _, _, name, unit in columns)],
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
                    "indexByName": {"level": 0, NAME: 1, **{f"Value #{c[0]}": at for at, c in enumerate(columns, 2)}},
                    "renameByName": {"level": "n", NAME: "Target", **{f"Value #{c[0]}": c[2] for c in columns}},
                },
            },
            *({"id": "sortBy", "options": {"fields": {}, "sort": [{"field": one}]}} for one in ("Target", "n")),
        ],
    )


def panels() -> list[Json]:
    """In a grid that begins at 0."""
    return [
        over_n(
            About(
                title="Throughput of each",
                sentence="Rows per second, or requests of a load that reads: the mean of a level's trials that count; † none does: of all.",
                place=(0, 0, 14, 9),
                unit="sishort",
            ),
            RATE,
            name=NAME,
            axis="${unit}/s",
            min=0,
        ),
        over_n(
            About(
                title="Per server core",
                sentence="The rate over the cores that the server used.",
                place=(14, 0, 10, 9),
                unit="sishort",
            ),
            PER_CORE,
            name=NAME,
            axis="${unit}/s per core",
            min=0,
        ),
        over_n(
            About(
                title="Response time of each",
                sentence="Median of the response times of the window; of a method without answers there is none.",
                place=(0, 9, 14, 8),
                unit="s",
            ),
            MEDIAN,
            name=NAME,
            axis="response time",
            min=0,
        ),
        over_n(
            About(
                title="Client CPU",
                sentence="CPU time of the load generator for a million rows, or requests of a load that reads.",
                place=(14, 9, 10, 8),
                unit="s",
            ),
            CLIENT,
            name=NAME,
            axis="per million ${unit}",
            min=0,
        ),
        figures(),
    ]
