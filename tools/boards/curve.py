"""The dashboard "Scaling curve": throughput, speedup and efficiency over n with the fitted line, one run over another."""

from __future__ import annotations

from tools.boards import operations, targets
from tools.boards.over_levels import AXIS, CHOSEN, RANGE, TARGETS, VARIANT, VARIANTS
from tools.boards.panels import (
    BLUE,
    GREEN,
    GREY,
    LIGHT_BLUE,
    LIGHT_ORANGE,
    ORANGE,
    RED,
    RUN_VARIABLE,
    SWEEP_VARIABLE,
    UNIT,
    About,
    Json,
    below,
    by_level,
    counted,
    dashboard,
    fixed,
    limit,
    override,
    panel,
    target,
    variable,
)

POINTS = {"custom__drawStyle": "points", "custom__showPoints": "always"}
# A fitted line is paler than what it is fitted to.
PALE = {BLUE: LIGHT_BLUE, ORANGE: LIGHT_ORANGE}
# A trial's rates as they are; what is chosen in `other` is "none" until a second run is wanted.
OTHER = variable(
    "other",
    "Over it",
    'query_result(label_replace(vector(1), "run", "none", "", "") or max by (run) (last_over_time(scale_run_info[$__range])))',
    regex='/run="([^"]+)"/',
)


def chosen(run: str) -> str:
    """The labels of what is chosen of a run."""
    return CHOSEN if run == "run" else VARIANT


def curve(metric: str, run: str) -> str:
    """A metric of the curve by level, the last one in the time range."""
    return f"max by (level) ({_last(metric, run)})"


def _last(metric: str, run: str) -> str:
    return f'last_over_time(scale_curve_{metric}{{run="${run}",{chosen(run)}}}{RANGE})'


def rate(run: str, of: str = "") -> str:
    """The rate by level, in rows or in requests, whichever the run has. of: "fitted_" for the model's."""
    rows, requests = (_last(f"{of}{unit}_per_second", run) for unit in ("rows", "requests"))
    return f"max by (level) ({rows} or {requests})"


def fitted(run: str) -> str:
    """The model's rate by level."""
    return rate(run, "fitted_")


def first_rate(run: str) -> str:
    """The rate to which the speedup 1 belongs: rate over speedup, which is the same at each level."""
    return f"scalar(max({rate(run)} / {curve('speedup_ratio', run)}))"


def level_ratio(run: str) -> str:
    """n over the first n."""
    return f"{curve('speedup_ratio', run)} / {curve('efficiency_ratio', run)}"


def trials(which: str, verdict: str = "and") -> str:
    """The lowest or the highest rate of a level's trials that count. verdict: "unless" chooses the others."""
    of = f'{{run="$run",{CHOSEN}}}{RANGE}'
    disks = f'last_over_time(scale_run_info{{run="$run",axis="disks"}}{RANGE})'
    # The curve of a load that reads is that of its requests, that of a disk sweep otherwise of the durable rate.
    return (
        f"{which} by (level) ((last_over_time(scale_trial_requests_per_second{of}) or on (trial) ("
        f"last_over_time(scale_trial_durable_rows_per_second{of}) and on (run) {disks} or "
        f"last_over_time(scale_trial_rows_per_second{of}) unless on (run) {disks})) {verdict} on (trial) {counted(f',{CHOSEN}')})"
    )


def throughput() -> Json:
    """With the spread of the trials."""
    names = {
        "A": "mean of VALID trials",
        "B": "fitted",
        "C": "highest trial",
        "D": "lowest trial",
        "E": "other: mean",
        "F": "other: fitted",
        "G": "highest rejected trial",
    }
    targets = [
        target("A", rate("run"), table=True),
        target("B", fitted("run"), table=True),
        target("C", trials("max"), table=True),
        target("D", trials("min"), table=True),
        target("E", rate("other"), table=True),
        target("F", fitted("other"), table=True),
        target("G", trials("max", "unless"), table=True),
    ]
    small = {**POINTS, "custom__pointSize": 4, "color": fixed(GREY)}
    return by_level(
        About(
            title="Throughput",
            sentence="Rows per second, or requests of a load that reads, at each level: the mean of the VALID trials, the lowest and "
            "highest of them, the fitted line, and the highest trial that was rejected; the other run over it.",
            place=(0, 0, 14, 9),
            unit="sishort",
        ),
        targets,
        axis="${unit}/s",
        names=names,
        overrides=[
            override(names["A"], color=fixed(BLUE), **POINTS),
            override(names["B"], color=fixed(LIGHT_BLUE)),
            override(names["C"], **small),
            override(names["D"], **small),
            override(names["E"], color=fixed(ORANGE), **POINTS),
            override(names["F"], color=fixed(LIGHT_ORANGE)),
            override(names["G"], **{**small, "color": fixed(RED)}),
        ],
    )


def speedup() -> Json:
    """Against the first level."""
    names = {"A": "measured", "B": "fitted", "C": "ideal", "D": "other: measured", "E": "other: fitted"}
    targets = [
        target("A", curve("speedup_ratio", "run"), table=True),
        target("B", f"{fitted('run')} / {first_rate('run')}", table=True),
        target("C", level_ratio("run"), table=True),
        target("D", curve("speedup_ratio", "other"), table=True),
        target("E", f"{fitted('other')} / {first_rate('other')}", table=True),
    ]
    return by_level(
        About(
            title="Speedup",
            sentence="Throughput over that of the first level; ideal is n over the first n.",
            place=(14, 0, 10, 8),
            unit="none",
        ),
        targets,
        axis="times",
        names=names,
        overrides=_styles(names, "C"),
    )


def efficiency() -> Json:
    """Speedup over the ideal one."""
    names = {"A": "measured", "B": "fitted", "C": "ideal", "D": "other: measured", "E": "other: fitted"}

    def fitted_ratio(run: str) -> str:
        return f"{fitted(run)} / {first_rate(run)} / ({level_ratio(run)})"

    targets = [
        target("A", curve("efficiency_ratio", "run"), table=True),
        target("B", fitted_ratio("run"), table=True),
        target("C", f"0 * {curve('efficiency_ratio', 'run')} + 1", table=True),
        target("D", curve("efficiency_ratio", "other"), table=True),
        target("E", fitted_ratio("other"), table=True),
    ]
    return by_level(
        About(
            title="Efficiency",
            sentence="Speedup over the ideal one.",
            place=(14, 8, 10, 9),
            unit="percentunit",
        ),
        targets,
        axis="of ideal",
        names=names,
        overrides=_styles(names, "C"),
    )


def _styles(names: dict[str, str], ideal: str) -> list[Json]:
    found = []
    for ref, name in names.items():
        colour = ORANGE if name.startswith("other") else BLUE
        if ref == ideal:
            found.append(limit(name, GREY))
        elif name.endswith("measured"):
            found.append(override(name, color=fixed(colour), **POINTS))
        else:
            found.append(override(name, color=fixed(PALE[colour])))
    return found


def levels() -> Json:
    """The figures of the curve, and how many of a level's trials are quick."""
    quick = f'count by (level) (last_over_time(scale_trial_mark{{run="$run",{CHOSEN},mark="quick"}}{RANGE}))'
    targets = [
        target("A", curve("valid_trials", "run"), table=True),
        target("B", rate("run"), table=True),
        target("C", fitted("run"), table=True),
        target("D", curve("speedup_ratio", "run"), table=True),
        target("E", curve("efficiency_ratio", "run"), table=True),
        target("F", f"{quick} or 0 * {curve('valid_trials', 'run')}", table=True),
    ]
    names = {
        "level": "n",
        "Value #A": "VALID",
        "Value #B": "Rate",
        "Value #C": "Fitted",
        "Value #D": "Speedup",
        "Value #E": "Efficiency",
        "Value #F": "Quick",
    }
    hidden = {"Time": True, **{f"Time {i}": True for i in range(1, 7)}}
    return panel(
        "table",
        About(
            title="Levels",
            sentence="The same as figures: VALID trials, mean and fitted rate, speedup and efficiency of each level. Quick: trials with a "
            "window under 40 s, which is too short for a claim.",
            place=(0, 9, 9, 8),
            unit="sishort",
        ),
        targets,
        {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}},
        custom={"align": "right", "cellOptions": {"type": "auto"}, "filterable": False, "minWidth": 50},
        overrides=[
            override("n", unit="string", custom__width=44),
            override("VALID", unit="none", custom__width=60),
            override("Quick", unit="none", custom__width=52),
            override("Speedup", unit="none", decimals=2),
            override("Efficiency", unit="percentunit", decimals=0),
        ],
        transformations=[
            {"id": "joinByField", "options": {"byField": "level", "mode": "outer"}},
            {
                "id": "convertFieldType",
                "options": {"conversions": [{"targetField": "level", "destinationType": "number"}], "fields": {}},
            },
            {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": "level"}]}},
            {"id": "organize", "options": {"excludeByName": hidden, "indexByName": {}, "renameByName": names}},
        ],
    )


def parameters() -> Json:
    """Of the chosen model."""

    def of(run: str, name: str) -> str:
        known = f'last_over_time(scale_curve_parameter{{run="${run}",{chosen(run)}}}{RANGE})'
        return f'label_replace(max by (model, parameter) ({known}), "curve", "{name}", "", "")'

    return panel(
        "table",
        About(
            title="Fitted model",
            sentence="Parameters of the chosen model: alpha is contention, beta coherency, gamma the ideal rate.",
            place=(9, 9, 5, 8),
            unit="none",
        ),
        [target("A", f"{of('run', 'this')} or {of('other', 'other')}", table=True)],
        {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}},
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": False, "minWidth": 50},
        noValue="too few VALID trials",
        overrides=[
            override("Model", custom__width=58),
            override("Name", custom__width=58),
            override("Value", color=fixed(GREEN), unit="sishort", decimals=3, custom__width=68),
        ],
        transformations=[
            {
                "id": "organize",
                "options": {
                    "excludeByName": {"Time": True},
                    "indexByName": {"model": 0, "parameter": 1, "Value": 2, "curve": 3},
                    "renameByName": {"curve": "Run", "model": "Model", "parameter": "Name"},
                },
            },
        ],
    )


def scaling() -> Json:
    """The page."""
    return dashboard(
        "scale-curve",
        "Scaling curve",
        "The rate over n, with the fitted line.",
        [
            throughput(),
            speedup(),
            efficiency(),
            levels(),
            parameters(),
            *below("Databases and variants", 17, targets.panels()),
            *below("Operations of a mix", 43, operations.by_levels()),
        ],
        [SWEEP_VARIABLE, RUN_VARIABLE, TARGETS, OTHER, VARIANTS, {**AXIS, "hide": 2}, {**UNIT, "hide": 2}],
        time_from="now-1h",
    )
