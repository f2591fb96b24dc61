"""A line for each name over the levels of a sweep: one query whose series have the labels `level` and the name's own.

A level without a trial that counts is a point of its own, under a marked name: no line leads to it or across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scale_sweep.report.table import MARK
from tools.boards.panels import About, Json, level_ticks, only_when_empty, override, panel, target, variable

VARIANT = 'variant=~"$variant"'
CHOSEN = f'target=~"$target",{VARIANT}'  # of the run; the run over it may be of another target
RANGE = "[$__range]"
AXIS = variable("axis", "Axis", 'label_values(scale_run_info{run="$run"}, axis)')
TARGETS = variable("target", "Target", 'label_values(scale_trial_info{run="$run"}, target)')
VARIANTS = variable("variant", "Variant", 'label_values(scale_trial_info{run="$run",target=~"$target"}, variant)')
# A name has the same colour in all panels.
BY_NAME = {"mode": "palette-classic-by-name"}


def marked(counted: str, every: str, name: str) -> str:
    """Means of the trials that count; of a level without any, of every trial, under a marked name. name: the label."""
    return f'{counted} or label_replace({every} unless {counted}, "{name}", "$1{MARK}", "{name}", "(.*)")'


def over_n(
    about: About,
    expr: str,
    *,
    name: str,
    axis: str,
    log: bool = False,
    overrides: Sequence[Json] = (),
    **defaults: Any,
) -> Json:
    """name: the label that names a line; the same name has the same colour in all such panels."""
    matrix = f"level\\{name}"
    return panel(
        "trend",
        about,
        [target("A", expr, table=True)],
        {
            "xField": "n",
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        custom={
            "axisLabel": axis,
            "axisColorMode": "text",
            "drawStyle": "line",
            "lineWidth": 2,
            "pointSize": 7,
            "showPoints": "always",
            "spanNulls": False,
            "fillOpacity": 0,
            "scaleDistribution": {"type": "log", "log": 10} if log else {"type": "linear"},
        },
        overrides=[
            override(
                "n",
                unit="none",
                custom__axisLabel="n, ${axis}",
                custom__scaleDistribution={"type": "linear"},
                min=None,
                mappings=level_ticks(),
            ),
            only_when_empty(),
            {
                "matcher": {"id": "byRegexp", "options": f"{MARK}$"},
                "properties": [{"id": "custom.drawStyle", "value": "points"}],
            },
            *overrides,
        ],
        transformations=[
            {
                "id": "groupingToMatrix",
                "options": {"columnField": name, "rowField": "level", "valueField": "Value", "emptyValue": "null"},
            },
            {
                "id": "convertFieldType",
                "options": {"conversions": [{"targetField": matrix, "destinationType": "number"}], "fields": {}},
            },
            {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": matrix}]}},
            {"id": "organize", "options": {"excludeByName": {}, "indexByName": {}, "renameByName": {matrix: "n"}}},
        ],
        color=BY_NAME,
        **defaults,
    )
