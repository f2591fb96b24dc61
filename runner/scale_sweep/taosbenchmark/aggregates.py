"""-x: common aggregates over what was loaded, each asked once through the load generator, with the time that it
took."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.process import LoadProcesses
from scale_sweep.model import LoadSummary
from scale_sweep.taosbenchmark.job import Database, Job, ScaleOptions, SuperTable
from scale_sweep.taosbenchmark.loading import RESULT, Say
from scale_sweep.taosbenchmark.output import delays
from scale_sweep.taosbenchmark.spec import GO_ON, door_spec

FUNCTIONS = ("*", "count(*)", "avg({0})", "sum({0})", "max({0})", "min({0})", "first({0})", "last({0})")
GROUPS_MAX = 10
LIMIT_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Took:
    """One line: a statement, or the function of normal tables, and its seconds; None when it failed."""

    statement: str
    seconds: float | None


def ask_aggregates(job: Job, own: ScaleOptions, program: str, say: Say) -> tuple[tuple[Took, ...], LoadError | None]:
    """Asks them all of the job's first table, says each time, and returns them with what failed."""
    database, table = job.databases[0], job.databases[0].tables[0]
    texts = statements(database, table)
    total = table.tables * table.rows_each
    say("INFO", f"total Data: {total}")
    with tempfile.NamedTemporaryFile("w", suffix=".items", encoding="utf-8") as file:
        file.writelines(f"`{database.name}`.`{table.prefix}{number}`\n" for number in range(table.tables))
        file.flush()
        spec = aggregate_spec(job, own, database, table, texts, file.name)
        with LoadProcesses(program, [spec], tuple(sorted(os.sched_getaffinity(0))), job.password) as load:
            failure: LoadError | None = None
            try:
                for _ in load.lines(LIMIT_S):
                    pass
            except LoadError as error:
                failure = error
            summary, troubles = load.summary(), load.troubles
    took = _took(texts, summary) if summary else ()
    for one in took:
        if one.seconds is not None:
            say(RESULT, f"{one.statement} took {one.seconds:.6f} second(s)")
    if failure is None and troubles:
        failure = LoadError(f"{troubles[0].code} {troubles[0].message}", remedy="see the server's log")
    return took, failure


def statements(database: Database, table: SuperTable) -> Mapping[str, str]:
    """Text by the name of its operation; {item} is a normal table."""
    functions = [function.format(table.columns[0].name) for function in FUNCTIONS]
    if table.normal:
        return {
            f"aggregate{i}": f"SELECT {f} FROM {{item}} WHERE ts >= {table.start_ms}" for i, f in enumerate(functions)
        }
    tag = table.tags[0].name
    conditions = [
        " or ".join(f"{tag} = {group}" for group in range(1, last + 1))
        for last in range(1, min(GROUPS_MAX, table.tables) + 1)
    ]
    texts = [f"SELECT {f} FROM {database.name}.{table.name} WHERE {c}" for f in functions for c in conditions]
    return {f"aggregate{i}": text for i, text in enumerate(texts)}


def aggregate_spec(
    job: Job, own: ScaleOptions, database: Database, table: SuperTable, texts: Mapping[str, str], items: str
) -> dict[str, str]:
    """One thread, each statement once."""
    return {
        **door_spec(job, own, "rest" if table.method == "rest" else "sql"),
        "database": database.name,
        "operations": ",".join(texts),
        "rows_per_request": "1",
        "rounds": "1",
        "check_every": "0",
        "max_errors": str(GO_ON),
        **({"items": items} if table.normal else {}),
        **{f"ask.{name}.text": text for name, text in texts.items()},
    }


def _took(texts: Mapping[str, str], summary: LoadSummary) -> tuple[Took, ...]:
    lines = []
    for one in summary.operations:
        measured = delays(one.service) if one.service else None
        count = one.service.count if one.service else 0
        seconds = None if measured is None or one.errors else measured.avg_ms * count / 1e3
        text = texts[one.name]
        lines.append(Took(statement=text if "{item}" not in text else f"<{text}>", seconds=seconds))
    return tuple(lines)
