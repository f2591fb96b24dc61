"""Prepares the server for a load: drops and creates databases, counts vgroups, creates tables."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from itertools import islice
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.loadgen.verbs import create_tables, run_statements
from scale_sweep.server.targets.tdengine.dialect import NOT_YET, database_pending, state_statements
from scale_sweep.taosbenchmark import spec
from scale_sweep.taosbenchmark.job import Database, Job, ScaleOptions, SuperTable
from scale_sweep.taosbenchmark.limits import tables_below

READY_S = 30.0
PAUSE_S = 0.2
STATEMENTS_AT_ONCE = 2_000
ROOM = "SELECT SUM(support_vnodes), SUM(`vnodes`) FROM information_schema.ins_dnodes"
Rows = tuple[tuple[Any, ...], ...]


class TdengineServer:
    """Each call opens its own connection."""

    def __init__(self, program: str, job: Job, own: ScaleOptions) -> None:
        self._program, self._job, self._own = program, job, own

    def prepare(self, database: Database) -> int:
        """Waits until the database is ready. Returns the number of vgroups."""
        method = "rest" if database.tables and all(t.method == "rest" for t in database.tables) else "sql"
        drop = [spec.drop_database(database)] if database.drop else []
        if self._job.vgroups_auto:
            rows = self._patiently(method, [*drop, ROOM])[-1]
            options = (("vgroups", str(_vgroups(database, rows))), *database.options)
            database, drop = replace(database, options=options), []
        tables = [t for t in database.tables if not (t.schemaless or t.normal)]
        supertables = [spec.create_supertable(database, t) for t in tables]
        create = [spec.create_database(database), *supertables] if database.create else []
        answers = self._patiently(method, [*drop, *create, *state_statements(database.name)])
        deadline = time.monotonic() + READY_S
        while pending := _pending(database, *answers[-2:]):
            if time.monotonic() > deadline:
                raise TargetError(f"database {database.name} is not ready after {READY_S:.0f} s: {pending}")
            time.sleep(PAUSE_S)
            answers = self._ask(method, [*state_statements(database.name)])
        vgroups = len(answers[-1])
        for table in tables_below(database, vgroups):
            raise TargetError(
                f"database {database.name} has {vgroups} vgroups, {table.name} only {table.tables} tables: the load "
                "generator wants a table for each vgroup",
                remedy="give fewer vgroups with -v, or more tables",
            )
        return vgroups

    def make_tables(self, database: Database, table: SuperTable, vgroups: int) -> int:
        """Returns their number. Schemaless loads create their own."""
        if table.schemaless or table.exists or table.makes_tables or not table.tables:
            return 0
        if table.normal:
            statements = spec.create_normal_tables(database, table)
            while part := list(islice(statements, STATEMENTS_AT_ONCE)):
                self._ask(table.method, part)
        else:
            lines = spec.tables_spec(self._job, self._own, database, table, vgroups)
            create_tables(self._program, lines, self._job.password)
        return table.tables

    def _patiently(self, method: str, statements: list[str]) -> list[Rows]:
        deadline = time.monotonic() + READY_S
        while True:
            try:
                return self._ask(method, statements)
            except _Refused as refused:
                if not refused.code.lower().endswith(NOT_YET) or time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE_S)

    def _ask(self, method: str, statements: list[str]) -> list[Rows]:
        door = spec.door_spec(self._job, self._own, method)
        answers = run_statements(self._program, door, statements, self._job.password)
        for statement, answer in zip(statements, answers, strict=True):
            if not answer.ok:
                raise _Refused(statement, answer.code, answer.message)
        return [answer.rows for answer in answers]


def _vgroups(database: Database, room: Rows) -> int:
    """As many as this machine's CPUs, at most what the server has capacity for, and the tables."""
    free = int(room[0][0]) - int(room[0][1])
    return max(1, min(free, os.cpu_count() or 1, *(t.tables for t in database.tables)))


def _pending(database: Database, databases: Rows, led: Rows) -> str:
    """ "" if all is ready. Raises TargetError for what will never be."""
    if not databases:
        raise TargetError(f"there is no database {database.name}", remedy="leave out -U, and it is made")
    precision = databases[0][1]
    if precision != database.precision:
        raise TargetError(
            f"database {database.name} is there with precision {precision}, asked for is {database.precision}",
            remedy="drop it, or give its precision",
        )
    return database_pending(databases, led)


class _Refused(TargetError):
    def __init__(self, statement: str, code: str, message: str) -> None:
        super().__init__(f"TDengine refused {statement[:200]!r}: {code} {message}")
        self.code = code
