"""The dashboard "Trial": everything that was watched in one trial, on one time axis."""

from __future__ import annotations

from tools.boards.live import PLAIN, cores, disks, latency, rate
from tools.boards.panels import (
    BEGINS,
    BLUE,
    DASHED,
    GREEN,
    GREY,
    ORANGE,
    RED,
    RUN_VARIABLE,
    SWEEP_VARIABLE,
    UNIT,
    WINDOW,
    About,
    Json,
    dashboard,
    disk_colours,
    fixed,
    lines,
    override,
    panel,
    target,
    variable,
)

EXTRA = ',trial="$trial"'
TRIAL = '{run="$run",trial="$trial"}'
# The trial that began last comes first.
TRIAL_VARIABLE = variable(
    "trial",
    "Trial",
    'query_result(sort_desc(max by (trial) (last_over_time(scale_trial_start_time_seconds{run="$run"}[$__range]))))',
    regex='/trial="([^"]+)"/',
)


def given() -> Json:
    """What the trial was given."""
    return panel(
        "stat",
        About(
            title="Given",
            sentence="Resources and knobs of the trial: cores, disks and each knob that is a number.",
            place=(0, 0, 14, 3),
            unit="string",
        ),
        [
            target(
                "A",
                f"max by (setting) (last_over_time(scale_trial_setting{TRIAL}[$__range]))",
                "{{setting}}",
                instant=True,
            )
        ],
        {
            **PLAIN,
            "textMode": "value_and_name",
            "colorMode": "value",
            "graphMode": "none",
            "justifyMode": "center",
            "orientation": "vertical",
            "text": {"titleSize": 15, "valueSize": 30},
        },
        color=fixed(BLUE),
    )


def outcome() -> Json:
    """How it ended."""
    verdict = (
        f"label_replace(max by (verdict) (last_over_time(scale_trial_verdict{TRIAL}[$__range])) == 1, "
        '"state", "$1", "verdict", "(.*)")'
    )
    phase = f'label_replace(max by (phase) (scale_trial_phase{TRIAL}) == 1, "state", "runs: $1", "phase", "(.*)")'
    return panel(
        "stat",
        About(
            title="Outcome",
            sentence="The trial's verdict, or the phase that it is in.",
            place=(14, 0, 10, 3),
            unit="none",
        ),
        [target("A", f"{verdict} or on () {phase}", "{{state}}", instant=True)],
        {**PLAIN, "textMode": "name", "colorMode": "value", "graphMode": "none", "justifyMode": "center"},
        color=fixed(ORANGE),
        overrides=[override("VALID", color=fixed(GREEN)), override("SOFTWARE_BOTTLENECK", color=fixed(BLUE))],
        noValue="not begun",
    )


def pools(place: tuple[int, int, int, int]) -> Json:
    """CPU of the server's threads."""
    return lines(
        About(
            title="Server's threads",
            sentence="Cores used by each of the server's thread pools, by the names that the threads have; the ten busiest.",
            place=place,
            unit="none",
        ),
        [
            target(
                "A", f"topk(10, max by (pool) (rate(scale_thread_pool_cpu_seconds_total{TRIAL}[5s])) > 0)", "{{pool}}"
            )
        ],
        axis="cores",
        stacked=True,
    )


def memory(place: tuple[int, int, int, int]) -> Json:
    """Of both sides and the host."""
    return lines(
        About(
            title="Memory",
            sentence="Memory of the server and of the load generator without page cache, and the available memory of the host "
            "(dashed, right axis).",
            place=place,
            unit="bytes",
        ),
        [
            target("A", 'max(scale_memory_used_bytes{run="$run",trial="$trial",side="server"})', "server"),
            target("C", 'max(scale_memory_used_bytes{run="$run",trial="$trial",side="generator"})', "load generator"),
            target("B", f"max(scale_host_memory_available_bytes{TRIAL})", "host available"),
        ],
        axis="memory",
        overrides=[
            override("server", color=fixed(BLUE)),
            override("load generator", color=fixed(ORANGE)),
            override(
                "host available",
                color=fixed(GREY),
                custom__lineStyle=DASHED,
                custom__fillOpacity=0,
                custom__axisPlacement="right",
                custom__axisLabel="host available",
            ),
        ],
    )


def queues(place: tuple[int, int, int, int]) -> Json:
    """Of the disks."""
    right = {
        "matcher": {"id": "byRegexp", "options": ".* queue$"},
        "properties": [
            {"id": "unit", "value": "none"},
            {"id": "custom.axisPlacement", "value": "right"},
            {"id": "custom.axisLabel", "value": "requests in flight"},
            {"id": "custom.lineStyle", "value": DASHED},
        ],
    }
    return lines(
        About(
            title="Disks: time and queue",
            sentence="Share of the time in which a disk had requests in flight, and how many on average (dashed, right axis).",
            place=place,
            unit="percentunit",
        ),
        [
            target("A", f"max by (disk) (scale_disk_utilisation_ratio{TRIAL})", "{{disk}} busy"),
            target("B", f"max by (disk) (scale_disk_queue_requests{TRIAL})", "{{disk}} queue"),
        ],
        axis="time busy",
        overrides=[*disk_colours(), right],
    )


def waits(place: tuple[int, int, int, int]) -> Json:
    """Pressure and throttling."""
    return lines(
        About(
            title="Waiting",
            sentence="Share of the time in which some task of the machine waited for CPU, I/O or memory, and in which the "
            "server was throttled.",
            place=place,
            unit="percentunit",
        ),
        [
            target("A", f"max by (resource) (rate(scale_pressure_seconds_total{TRIAL}[5s]))", "waits for {{resource}}"),
            target("B", f"max(rate(scale_throttled_seconds_total{TRIAL}[5s]))", "throttled"),
        ],
        axis="of the time",
        overrides=[override("throttled", color=fixed(RED))],
    )


def requests(place: tuple[int, int, int, int]) -> Json:
    """Answers, errors, retries."""
    return lines(
        About(
            title="Requests",
            sentence="Requests answered each second, and those that failed or were sent again.",
            place=place,
            unit="reqps",
        ),
        [
            target("A", f"max(rate(scale_requests_total{TRIAL}[5s]))", "answered"),
            target("B", f"max(rate(scale_errors_total{TRIAL}[5s]))", "errors"),
            target("C", f"max(rate(scale_retries_total{TRIAL}[5s]))", "retries"),
        ],
        axis="requests/s",
        overrides=[
            override("answered", color=fixed(BLUE)),
            override("errors", color=fixed(RED)),
            override("retries", color=fixed(ORANGE)),
        ],
    )


def service(place: tuple[int, int, int, int]) -> Json:
    """From the sending."""
    quantiles = (("A", "0.5", "median", GREEN), ("B", "0.99", "99 %", ORANGE), ("C", "1", "longest", RED))
    return lines(
        About(
            title="Service time",
            sentence="Time from the sending of a request to its answer: median, 99th percentile, longest.",
            place=place,
            unit="s",
        ),
        [
            target(ref, f'max(scale_service_time_seconds{{run="$run",quantile="{q}"{EXTRA}}})', name)
            for ref, q, name, _ in quantiles
        ],
        axis="service time",
        log=True,
        overrides=[override(n, color=fixed(c)) for _, _, n, c in quantiles],
    )


def one_trial() -> Json:
    """The page."""
    return dashboard(
        "scale-trial",
        "Trial",
        "Everything that was watched in one trial, on one time axis.",
        [
            given(),
            outcome(),
            rate((0, 3, 8, 7), TRIAL),
            cores((8, 3, 8, 7), EXTRA),
            pools((16, 3, 8, 7)),
            latency((0, 10, 8, 7), EXTRA),
            disks((8, 10, 8, 7), EXTRA),
            memory((16, 10, 8, 7)),
            requests((0, 17, 6, 7)),
            service((6, 17, 6, 7)),
            queues((12, 17, 6, 7)),
            waits((18, 17, 6, 7)),
        ],
        [SWEEP_VARIABLE, RUN_VARIABLE, TRIAL_VARIABLE, {**UNIT, "hide": 2}],
        time_from="now-2m",
        annotations=[BEGINS, WINDOW],
    )
