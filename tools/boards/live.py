"""The dashboard "Live sweep": one look shows the running trial, the progress, and the resource at its limit."""

from __future__ import annotations

from tools.boards import operations
from tools.boards.panels import (
    BEGINS,
    BLUE,
    DASHED,
    GREEN,
    GREY,
    LIGHT_BLUE,
    LIGHT_ORANGE,
    ORANGE,
    PURPLE,
    RED,
    RUN,
    RUN_VARIABLE,
    SWEEP_VARIABLE,
    UNIT,
    About,
    Json,
    below,
    dashboard,
    disk_colours,
    fixed,
    limit,
    lines,
    override,
    panel,
    target,
    thresholds,
)

PLAIN = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "orientation": "auto"}
BARS = {
    "orientation": "horizontal",
    "displayMode": "basic",
    "valueMode": "color",
    "showUnfilled": True,
    "sizing": "auto",
    "minVizHeight": 10,
    "minVizWidth": 8,
    "maxVizHeight": 300,
}
SERVER, GENERATOR = '{run="$run",side="server"}', '{run="$run",side="generator"}'
# Bars show the last ten seconds, so that one busy second is not taken for a limit.
LAST = "[10s]"


def running() -> Json:
    """Trial and phase. In a stored run the trials before are still seen for minutes: the newest counts."""
    # The text is a label: a panel that shows names has no other way to say that there is none.
    newest = f"topk(1, max by (trial) (last_over_time(scale_trial_start_time_seconds{RUN}[$__range])))"
    phase = f"max by (trial, phase) (scale_trial_phase{RUN}) == 1 and on (trial) {newest}"
    return panel(
        "stat",
        About(
            title="Running trial",
            sentence="The trial that runs and the phase that it is in.",
            place=(0, 0, 7, 3),
            unit="none",
        ),
        [
            target(
                "A",
                f'label_join({phase}, "now", ": ", "trial", "phase") '
                'or on () label_replace(vector(0), "now", "no trial runs", "", "")',
                "{{now}}",
                instant=True,
            )
        ],
        {**PLAIN, "textMode": "name", "colorMode": "value", "graphMode": "none", "justifyMode": "center"},
        color=fixed(BLUE),
    )


def progress() -> Json:
    """Share of the plan."""
    return panel(
        "bargauge",
        About(
            title="Progress",
            sentence="Share of the plan that is done, the running trial included.",
            place=(7, 0, 4, 3),
            unit="percentunit",
        ),
        [target("A", f"max(last_over_time(scale_run_progress_ratio{RUN}[$__range]))", "done", instant=True)],
        {**PLAIN, **BARS, "namePlacement": "hidden", "text": {"valueSize": 30}},
        min=0,
        max=1,
        decimals=0,
        color=fixed(BLUE),
    )


def left() -> Json:
    """Time."""
    return panel(
        "stat",
        About(
            title="Time left",
            sentence="Estimated time to the end of the sweep.",
            place=(11, 0, 4, 3),
            unit="dtdurations",
        ),
        [target("A", f"min(last_over_time(scale_run_remaining_seconds{RUN}[$__range]))", "left", instant=True)],
        {**PLAIN, "textMode": "value", "colorMode": "value", "graphMode": "none", "justifyMode": "center"},
        color=fixed(BLUE),
        decimals=0,
    )


def verdicts() -> Json:
    """Counted."""
    colours = {
        "VALID": GREEN,
        "SOFTWARE_BOTTLENECK": BLUE,
        "UNSTEADY": ORANGE,
        "ABORTED": RED,
        "ERRORS": RED,
        "LOST_ROWS": RED,
        "WRONG_ROWS": RED,
        "WRONG_ANSWER": RED,
    }
    return panel(
        "stat",
        About(
            title="Verdicts so far",
            sentence="How many trials ended with which verdict; only VALID and SOFTWARE_BOTTLENECK ones make the curve.",
            place=(15, 0, 9, 3),
            unit="none",
        ),
        [
            target(
                "A",
                f"max by (verdict) (last_over_time(scale_run_finished_trials_total{RUN}[$__range])) > 0",
                "{{verdict}}",
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
        },
        color=fixed(ORANGE),
        noValue="none yet",
        overrides=[override(n, color=fixed(c)) for n, c in colours.items()],
    )


def _share(used: str, limit: str) -> str:
    """Of the running trial alone: the range of the mean reaches back into the trial before."""
    return f"max(max by (trial) (avg_over_time({used}{LAST})) / max by (trial) ({limit}))"


def bottleneck() -> Json:
    """Each resource against its limit."""
    disk = f"max by (trial, disk) (avg_over_time(scale_disk_write_bytes_per_second{RUN}{LAST}))"
    busy = f"max by (trial) (avg_over_time(scale_disk_utilisation_ratio{RUN}{LAST}))"
    shares = [
        ("A", "Server's cores", _share(f"scale_cpu_used_cores{SERVER}", f"scale_cpu_given_cores{SERVER}")),
        (
            "B",
            "Load generator's cores",
            _share(f"scale_cpu_used_cores{GENERATOR}", f"scale_cpu_given_cores{GENERATOR}"),
        ),
        (
            "C",
            "Rate, of the load generator's ceiling",
            " or ".join(
                _share(f"scale_achieved_{unit}_per_second{RUN}", f"scale_generator_ceiling_{unit}_per_second{RUN}")
                for unit in ("rows", "requests")
            ),
        ),
        (
            "D",
            "Busiest disk, of its fio limit",
            f"max({disk} / on (disk) group_left () max by (disk) (scale_disk_ceiling_bytes_per_second{RUN}) "
            f"and on (trial) scale_trial_running{RUN})",
        ),
        ("E", "Busiest disk's time", f"max({busy} and on (trial) scale_trial_running{RUN})"),
    ]
    return panel(
        "bargauge",
        About(
            title="What is the bottleneck?",
            sentence="Use of each resource over its limit in the last ten seconds: the full "
            "bar is the limit. Only if it belongs to the server, the rate is the server's.",
            place=(0, 3, 10, 7),
            unit="percentunit",
        ),
        [target(ref, expr, name, instant=True) for ref, name, expr in shares],
        {**PLAIN, **BARS, "namePlacement": "top"},
        min=0,
        max=1,
        decimals=0,
        color={"mode": "thresholds"},
        noValue="no load now",
        thresholds=thresholds((None, BLUE), (0.7, ORANGE), (0.9, RED)),
    )


def rate(place: tuple[int, int, int, int], chosen: str = RUN) -> Json:
    """The rate that the run is fitted on, against the load generator's ceiling."""
    rows, requests = (f"max(scale_achieved_{unit}_per_second{chosen})" for unit in ("rows", "requests"))
    offered = " or ".join(f"max(scale_offered_{unit}_per_second{chosen})" for unit in ("requests", "rows"))
    ceiling = " or ".join(f"max(scale_generator_ceiling_{unit}_per_second{chosen})" for unit in ("rows", "requests"))
    held, failed = (
        " or ".join(f"max(scale_search_{end}_{unit}_per_second{chosen})" for unit in ("rows", "requests"))
        for end in ("held", "failed")
    )
    return lines(
        About(
            title="Rate",
            sentence="Acknowledged rows each second, or answered requests of a load that reads, whose written rows have the right "
            "axis. The offered rate; of a search for the capacity also the highest that held the objective and the lowest that did not (dashed). In the legend the ceiling: the rate of the load generator by itself, mostly far above the axis.",
            place=place,
            unit="sishort",
        ),
        [
            target("A", f"{requests} or {rows}", "rate"),
            target("B", offered, "offered"),
            target("C", ceiling, "ceiling"),
            target("D", f"{rows} and on () {requests}", "rows written"),
            target("E", held, "held"),
            target("F", failed, "did not hold"),
        ],
        axis="${unit}/s",
        last=True,
        overrides=[
            override("rate", color=fixed(BLUE)),
            override("offered", color=fixed(PURPLE)),
            limit("held", GREEN),
            limit("did not hold", ORANGE),
            override(
                "rows written", color=fixed(GREEN), custom__axisPlacement="right", custom__axisLabel="rows written/s"
            ),
            override(
                "ceiling",
                color=fixed(GREY),
                custom__hideFrom={"viz": True, "legend": False, "tooltip": False},
            ),
        ],
    )


def cores(place: tuple[int, int, int, int], extra: str = "") -> Json:
    """Used against given."""
    sides = [("server", "server", BLUE, LIGHT_BLUE), ("generator", "load generator", ORANGE, LIGHT_ORANGE)]
    targets, overrides = [], []
    for ref, (side, name, colour, light) in zip(("A", "B"), sides, strict=True):
        chosen = f'{{run="$run",side="{side}"{extra}}}'
        targets += [
            target(ref, f"max(scale_cpu_used_cores{chosen})", f"{name} used"),
            target(chr(ord(ref) + 2), f"max(scale_cpu_given_cores{chosen})", f"{name} given"),
        ]
        overrides += [
            override(f"{name} used", color=fixed(colour)),
            limit(f"{name} given", light),
        ]
    return lines(
        About(
            title="Cores",
            sentence="Cores used by the server and by the load generator (solid), and the cores that each was given (dashed).",
            place=place,
            unit="none",
        ),
        targets,
        axis="cores",
        overrides=overrides,
    )


def disks(place: tuple[int, int, int, int], extra: str = "") -> Json:
    """Against what fio measured; the limits of disks that are written to."""
    written = f'max by (disk) (scale_disk_write_bytes_per_second{{run="$run"{extra}}})'
    dashed = {
        "matcher": {"id": "byRegexp", "options": ".* limit$"},
        "properties": [
            {"id": "custom.lineStyle", "value": DASHED},
            {"id": "custom.lineWidth", "value": 1},
            {"id": "custom.fillOpacity", "value": 0},
        ],
    }
    return lines(
        About(
            title="Disks",
            sentence="Bytes written to each disk of the server, and in a disk sweep the limit of the disk by fio (dashed).",
            place=place,
            unit="Bps",
        ),
        [
            target("A", written, "{{disk}}"),
            target(
                "B",
                f"max by (disk) (scale_disk_ceiling_bytes_per_second{RUN}) and on (disk) {written}",
                "{{disk}} limit",
            ),
        ],
        axis="written",
        overrides=[*disk_colours(), dashed],
    )


def latency(place: tuple[int, int, int, int], extra: str = "") -> Json:
    """Response time."""
    colours = {"median": GREEN, "99 %": ORANGE, "longest": RED}
    objective = target("D", f'max by (condition) (scale_objective_seconds{{run="$run"{extra}}})', "{{condition}} limit")
    dashed = {
        "matcher": {"id": "byRegexp", "options": ".* limit$"},
        "properties": [{"id": "custom.lineStyle", "value": DASHED}, {"id": "custom.fillOpacity", "value": 0}],
    }
    quantiles = (("A", "0.5", "median"), ("B", "0.99", "99 %"), ("C", "1", "longest"))
    return lines(
        About(
            title="Response time",
            sentence="Time from a request's intended start to its answer: median, 99th percentile, longest. "
            "The limits of an objective (dashed).",
            place=place,
            unit="s",
        ),
        [
            target(ref, f'max(scale_response_time_seconds{{run="$run",quantile="{q}"{extra}}})', name)
            for ref, q, name in quantiles
        ]
        + [objective],
        axis="response time",
        log=True,
        last=True,
        overrides=[*(override(n, color=fixed(c)) for n, c in colours.items()), dashed],
    )


def finished() -> Json:
    """Trials that ended, with a way to each one's own page."""
    kept = "last_over_time({}[$__range])"
    rows, requests = (kept.format(f"scale_trial_{unit}_per_second{RUN}") for unit in ("rows", "requests"))
    targets = [
        target("A", f"max by (trial, level, verdict) ({kept.format('scale_trial_verdict' + RUN)}) == 1", table=True),
        target("B", f"max by (trial) ({rows} unless on (trial) {requests})", table=True),
        target("C", f"max by (trial) ({requests})", table=True),
        target(
            "D",
            f"max by (trial) ({kept.format('scale_trial_start_time_seconds' + RUN)}) * 1000 "
            f"and on (trial) {kept.format('scale_trial_end_time_seconds' + RUN)}",
            table=True,
        ),
        target("E", f"max by (trial) ({kept.format('scale_trial_end_time_seconds' + RUN)}) * 1000", table=True),
    ]
    hidden = {"Time": True, **{f"Time {i}": True for i in range(1, 6)}, "Value #A": True}
    names = {
        "trial": "Trial",
        "level": "n",
        "verdict": "Verdict",
        "Value #B": "Rows/s",
        "Value #C": "Requests/s",
        "Value #D": "begin",
        "Value #E": "Ended",
    }
    link = [
        {
            "title": "this trial",
            "url": "/d/scale-trial/trial?var-run=${run}&var-trial=${__data.fields.Trial}"
            "&from=${__data.fields.begin}&to=${__data.fields.Ended}",
        }
    ]
    shown = {"VALID": GREEN, "SOFTWARE_BOTTLENECK": BLUE}
    verdict = [
        {
            "type": "value",
            "options": {
                name: {"color": colour, "index": at, "text": name} for at, (name, colour) in enumerate(shown.items())
            },
        }
    ]
    return panel(
        "table",
        About(
            title="Trials that ended",
            sentence="Each trial that ended, the newest first, with its verdict; its name leads to its page.",
            place=(0, 10, 10, 7),
            unit="sishort",
        ),
        targets,
        {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}},
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": False, "minWidth": 50},
        noValue="none yet",
        overrides=[
            override("Trial", links=link),
            override("n", unit="string", custom__width=44),
            override(
                "Verdict",
                mappings=verdict,
                custom__cellOptions={"type": "color-text"},
                color=fixed(ORANGE),
                custom__width=214,
            ),
            override("Rows/s", unit="sishort", custom__width=66),
            override("Requests/s", unit="sishort", custom__width=98),
            override("begin", custom__hidden=True, unit="none"),
            override("Ended", unit="dateTimeAsLocal", custom__hidden=True),
        ],
        transformations=[
            {"id": "joinByField", "options": {"byField": "trial", "mode": "outer"}},
            {"id": "organize", "options": {"excludeByName": hidden, "indexByName": {}, "renameByName": names}},
            {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": "Ended", "desc": True}]}},
        ],
    )


def live() -> Json:
    """The page."""
    return dashboard(
        "scale-live",
        "Live sweep",
        "The running trial of a sweep, and the resource that limits it.",
        [
            running(),
            progress(),
            left(),
            verdicts(),
            bottleneck(),
            rate((10, 3, 7, 7)),
            cores((17, 3, 7, 7)),
            finished(),
            disks((10, 10, 7, 7)),
            latency((17, 10, 7, 7)),
            *below("Operations of a mix", 17, operations.now()),
        ],
        [SWEEP_VARIABLE, RUN_VARIABLE, {**UNIT, "hide": 2}],
        time_from="now-5m",
        annotations=[BEGINS],
    )
