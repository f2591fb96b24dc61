"""The parts of the dashboards: targets, panels, variables, annotations, in the shape that Grafana 11 documents.

A panel is declared with its title, its sentence, its place and its queries. Refuses a panel without sentence or unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scale_sweep.model.measured import VerdictKind

Json = dict[str, Any]
SOURCE: Json = {"type": "prometheus", "uid": "scale-prometheus"}
SCHEMA = 39
BLUE, GREEN, ORANGE, RED, PURPLE, GREY = "#1f77b4", "#2ca02c", "#e08214", "#d62728", "#7b3294", "#8c8c8c"
# What was given stands beside what is used, in a lighter tone of its colour: a legend shows no dashes.
LIGHT_BLUE, LIGHT_ORANGE = "#86b8dc", "#f0bd80"
DISK_COLOURS = ("#2ca02c", "#7b3294", "#17a2b8", "#b8860b", "#c2517b", "#5b6f80", "#8c564b", "#3b5bdb")
DASHED = {"fill": "dash", "dash": [8, 6]}
# Of the room left of a plot: equal on all panels, so that equal times stand under each other.
AXIS_WIDTH = 58
# Above this level an axis has no ticks between whole numbers.
TICKS_MAX = 16
TICK_ERROR = 0.001


def counted(more: str = "") -> str:
    """The verdicts of the trials that count, over the time range. more: further labels."""
    kinds = "|".join(kind.value for kind in VerdictKind if kind.is_fitted)
    return f'last_over_time(scale_trial_verdict{{run="$run",verdict=~"{kinds}"{more}}}[$__range])'


def target(ref: str, expr: str, legend: str = "", *, table: bool = False, instant: bool = False) -> Json:
    """One query. table: rows at the end of the time range; instant: one value for each series there."""
    return {
        "refId": ref,
        "datasource": SOURCE,
        "expr": expr,
        "legendFormat": legend or "__auto",
        "format": "table" if table else "time_series",
        "instant": table or instant,
        "range": not (table or instant),
        "editorMode": "code",
    }


def override(name: str, **properties: Any) -> Json:
    """Properties of one series or column, by its name; in a property's name, `__` stands for a dot."""
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": key.replace("__", "."), "value": value} for key, value in properties.items()],
    }


def fixed(colour: str) -> Json:
    """A colour that stays with its meaning on all dashboards."""
    return {"mode": "fixed", "fixedColor": colour}


def limit(name: str, colour: str) -> Json:
    """A thin dashed line with nothing below it."""
    return override(name, color=fixed(colour), custom__lineStyle=DASHED, custom__lineWidth=1, custom__fillOpacity=0)


def only_when_empty() -> Json:
    """A panel's `noValue` stands there when it has no data, and not beside the marks without a number of a log axis.

    Grafana draws gaps as 0 if the text of a field is empty or blank, which is the number 0 to JavaScript; the zero-width
    space is neither a number nor visible.
    """
    return {"matcher": {"id": "byType", "options": "number"}, "properties": [{"id": "noValue", "value": "\u200b"}]}


def level_ticks() -> list[Json]:
    """Hides ticks that cannot be a level: above 1 all but whole numbers, below 1 all but quarters (of a core).

    Grafana chooses the ticks of a number by itself, such as 1.2 disks, and a panel cannot give it a list. A range of
    values with an empty text has no label.
    """
    ends = [*(i / 4 for i in range(5)), *range(2, TICKS_MAX + 1)]
    hidden = [(low + TICK_ERROR, high - TICK_ERROR) for low, high in pairwise(ends)]
    return [
        {"type": "range", "options": {"from": low, "to": high, "result": {"text": "", "index": at}}}
        for at, (low, high) in enumerate(hidden)
    ]


def disk_colours() -> list[Json]:
    """All that is said of one disk has its colour."""
    return [
        {
            "matcher": {"id": "byRegexp", "options": f"^d{number}( .*)?$"},
            "properties": [{"id": "color", "value": fixed(colour)}],
        }
        for number, colour in enumerate(DISK_COLOURS, start=1)
    ]


@dataclass(frozen=True, kw_only=True)
class About:
    """What every panel has. place: x, y, width, height in Grafana's grid of 24 columns. unit: Grafana's name of it."""

    title: str
    sentence: str
    place: tuple[int, int, int, int]
    unit: str

    def __post_init__(self) -> None:
        if not self.sentence.endswith(".") or not self.unit:
            raise ValueError(f"{self.title}: a panel has a sentence and a unit")


def panel(
    kind: str,
    about: About,
    targets: Sequence[Json],
    options: Json,
    *,
    custom: Json | None = None,
    overrides: Sequence[Json] = (),
    transformations: Sequence[Json] = (),
    **defaults: Any,
) -> Json:
    """kind: Grafana's name of the type."""
    x, y, width, height = about.place
    return {
        "type": kind,
        "title": about.title,
        "description": about.sentence,
        "gridPos": {"x": x, "y": y, "w": width, "h": height},
        "datasource": SOURCE,
        "targets": list(targets),
        "fieldConfig": {
            "defaults": {"unit": about.unit, **({"custom": custom} if custom else {}), **defaults},
            "overrides": list(overrides),
        },
        "options": options,
        "transformations": list(transformations),
    }


def lines(
    about: About,
    targets: Sequence[Json],
    *,
    axis: str,
    stacked: bool = False,
    log: bool = False,
    last: bool = False,
    overrides: Sequence[Json] = (),
    **defaults: Any,
) -> Json:
    """Series over time. last: the legend has their last values too, which takes the room of two more names each."""
    custom: Json = {
        "axisLabel": axis,
        "axisWidth": AXIS_WIDTH,
        "axisColorMode": "text",
        "lineWidth": 1 if stacked else 2,
        "fillOpacity": 40 if stacked else 4,
        "showPoints": "never",
        "spanNulls": 3000,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
        "scaleDistribution": {"type": "log", "log": 10} if log else {"type": "linear"},
    }
    options: Json = {
        "legend": {
            "displayMode": "list",
            "placement": "bottom",
            "showLegend": True,
            "calcs": ["lastNotNull"] if last else [],
        },
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    if not log:
        defaults = {"min": 0, **defaults}
    return panel("timeseries", about, targets, options, custom=custom, overrides=overrides, **defaults)


def by_level(
    about: About,
    targets: Sequence[Json],
    *,
    axis: str,
    names: Mapping[str, str],
    overrides: Sequence[Json],
    **defaults: Any,
) -> Json:
    """Series over the swept axis: each target gives a table with a row for each level. names: of each target's values."""
    renamed = {f"Value #{ref}": name for ref, name in names.items()} | {"Value": next(iter(names.values()))}
    transformations = [
        {"id": "joinByField", "options": {"byField": "level", "mode": "outer"}},
        {
            "id": "convertFieldType",
            "options": {"conversions": [{"targetField": "level", "destinationType": "number"}], "fields": {}},
        },
        {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": "level"}]}},
        {
            "id": "organize",
            "options": {
                "excludeByName": {"Time": True, **{f"Time {i}": True for i in range(1, len(targets) + 1)}},
                "indexByName": {},
                "renameByName": {**renamed, "level": "n"},
            },
        },
    ]
    custom: Json = {
        "axisLabel": axis,
        "axisColorMode": "text",
        "drawStyle": "line",
        "lineWidth": 2,
        "pointSize": 9,
        "showPoints": "never",
        "spanNulls": True,
        "fillOpacity": 0,
    }
    options: Json = {
        "xField": "n",
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "none"},
    }
    over_n = override("n", unit="none", custom__axisLabel="n, ${axis}", min=None, mappings=level_ticks())
    return panel(
        "trend",
        about,
        targets,
        options,
        custom=custom,
        overrides=[over_n, *overrides],
        transformations=transformations,
        min=0,
        **defaults,
    )


def thresholds(*steps: tuple[float | None, str]) -> Json:
    """Colours from a value upwards; the first step has no value."""
    return {"mode": "absolute", "steps": [{"value": value, "color": colour} for value, colour in steps]}


def variable(name: str, label: str, query: str, *, regex: str = "", sort: int = 0, everything: bool = False) -> Json:
    """A variable whose values a query gives; the first is taken. sort 2: the other way round by name."""
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": SOURCE,
        "query": {"qryType": 5 if not query.startswith("query_result") else 3, "query": query, "refId": name},
        "definition": query,
        "regex": regex,
        "refresh": 2,
        "sort": sort,
        "hide": 0,
        "multi": False,
        "includeAll": everything,
        **({"allValue": ".*", "current": {"selected": True, "text": "All", "value": "$__all"}} if everything else {}),
    }


def annotation(name: str, expr: str, colour: str, title: str, text: str, *, at_value: bool = False) -> Json:
    """A mark on all time axes where the query is not 0; at_value: at the time that the value says, in milliseconds."""
    return {
        "name": name,
        "datasource": SOURCE,
        "enable": True,
        "hide": False,
        "iconColor": colour,
        "expr": expr,
        "step": "1s",
        "titleFormat": title,
        "textFormat": text,
        **({"useValueForTime": True} if at_value else {}),
    }


def below(title: str, y: int, panels: Sequence[Json]) -> list[Json]:
    """A row with a title at y, and the panels under it; their own grid begins at 0."""
    heading = {
        "type": "row",
        "title": title,
        "collapsed": False,
        "gridPos": {"x": 0, "y": y, "w": 24, "h": 1},
        "panels": [],
    }
    places = ({**one["gridPos"], "y": one["gridPos"]["y"] + y + 1} for one in panels)
    return [heading, *({**one, "gridPos": place} for one, place in zip(panels, places, strict=True))]


def dashboard(
    uid: str,
    title: str,
    sentence: str,
    panels: Sequence[Json],
    variables: Sequence[Json],
    *,
    time_from: str,
    annotations: Sequence[Json] = (),
) -> Json:
    """The whole page, with a way to the others that keeps time and variables."""
    return {
        "uid": uid,
        "title": title,
        "description": sentence,
        "tags": ["scale"],
        "schemaVersion": SCHEMA,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "5s",
        "timezone": "browser",
        "time": {"from": time_from, "to": "now"},
        "timepicker": {"refresh_intervals": ["1s", "2s", "5s", "10s", "1m"]},
        "links": [
            {
                "type": "dashboards",
                "title": "Dashboards",
                "tags": ["scale"],
                "asDropdown": True,
                "keepTime": True,
                "includeVars": True,
                "targetBlank": False,
                "icon": "dashboard",
                "tooltip": "",
                "url": "",
            }
        ],
        "templating": {"list": list(variables)},
        "annotations": {"list": list(annotations)},
        "panels": [{"id": number, **one} for number, one in enumerate(panels, start=1)],
    }


RUN = '{run="$run"}'
SWEEP_VARIABLE = variable("sweep", "Sweep", "label_values(scale_run_info, sweep)", sort=1, everything=True)
RUN_VARIABLE = variable("run", "Run", 'label_values(scale_run_info{sweep=~"$sweep"}, run)', sort=2)
# What the rate counts: rows, or requests of a load that reads.
UNIT = variable("unit", "Unit", 'label_values(scale_run_info{run="$run"}, unit)')
# Boundaries of trials: where one begins, and the window that counts.
BEGINS = annotation(
    "Trial begins",
    f"max by (trial) (scale_trial_start_time_seconds{RUN}) * 1000",
    "#c0c0c0",
    "{{trial}} begins",
    "{{trial}}",
    at_value=True,
)
WINDOW = annotation(
    "Window",
    'max by (trial) (scale_trial_phase{run="$run",trial="$trial",phase="measure"}) == 1',
    "#9ecae1",
    "measured window",
    "{{trial}}",
)
