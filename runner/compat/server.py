"""The server before the load: databases dropped and created, vgroups counted, tables made.

All by the load core's verbs `sql` and `tables`, so that no client library enters this process. Refuses to load.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from runner.compat import spec
from runner.compat.job import Database, Job, Ours, SuperTable
from runner.errors import TargetError
from runner.loadgen.statements import create_tables, run_statements

READY_S = 30.0
PAUSE_S = 0.2
STATEMENTS_AT_ONCE = 2_000
_BUSY = ("0386", "0396", "03d3", "0334")  # a drop or create is under way, or no dnode has reported yet


class Server:
    """Stateless between calls: each is a connection of its own."""

    def __init__(self, program: str, job: Job, ours: Ours) -> None:
        self._program, self._job, self._ours = program, job, ours

    def prepare(self, database: Database) -> int:
        """Drops and creates the database as asked, waits until it is ready; returns its vgroups."""
        method = "rest" if all(t.method == "rest" for t in database.tables) else "sql"
        if database.drop:
            self._patiently(method, spec.drop_database(database))
        if database.create:
            self._patiently(method, spec.create_database(self._sized(method, database)))
        return self._wait_ready(method, database)

    def _sized(self, method: str, database: Database) -> Database:
        """With vgroups as many as this machine has CPUs, as far as the server has room, when none were asked for."""
        return (
            spec.with_vgroups(database, min(self._room(method), os.cpu_count() or 1))
            if self._job.vgroups_auto
            else database
        )

    def _room(self, method: str) -> int:
        rows = self._rows(method, "SELECT SUM(support_vnodes), SUM(vnodes) FROM information_schema.ins_dnodes")
        return max(1, int(rows[0][0]) - int(rows[0][1]))

    def _wait_ready(self, method: str, database: Database) -> int:
        deadline = time.monotonic() + READY_S
        while True:
            pending, vgroups = self._pending(method, database)
            if not pending:
                return vgroups
            if time.monotonic() > deadline:
                raise TargetError(f"database {database.name} is not ready after {READY_S:.0f} s: {pending}")
            time.sleep(PAUSE_S)

    def _pending(self, method: str, database: Database) -> tuple[str, int]:
        schema = "information_schema"
        found = self._rows(
            method, f"SELECT status, `precision` FROM {schema}.ins_databases WHERE name = '{database.name}'"
        )
        if not found:
            raise TargetError(f"there is no database {database.name}", remedy="leave out -U, and it is made")
        if found[0][1] != database.precision:
            raise TargetError(
                f"database {database.name} is there with precision {found[0][1]}, asked for is {database.precision}",
                remedy="drop it, or give its precision",
            )
        led = self._rows(method, f"SELECT v1_status FROM {schema}.ins_vgroups WHERE db_name = '{database.name}'")
        waiting = [row[0] for row in led if row[0] != "leader"]
        if found[0][0] != "ready" or not led:
            return f"it is {found[0][0]}", len(led)
        return (f"{len(waiting)} vgroups are {waiting[0]}" if waiting else ""), len(led)

    def make_tables(self, database: Database, table: SuperTable, vgroups: int) -> int:
        """The supertable and its tables; returns how many were made. Schemaless loads make theirs themselves."""
        if table.schemaless or table.exists and not database.create:
            return 0
        if table.normal:
            for part in _parts(spec.create_normal_tables(database, table)):
                self._ask(table.method, part)
            return table.tables
        self._ask(table.method, [spec.create_supertable(database, table)])
        if table.exists:
            return 0
        create_tables(
            self._program, spec.tables_spec(self._job, self._ours, database, table, vgroups), self._job.password
        )
        return table.tables

    def _patiently(self, method: str, statement: str) -> None:
        """Again for a while when an earlier drop or create is still under way."""
        deadline = time.monotonic() + READY_S
        while True:
            try:
                self._ask(method, [statement])
                return
            except _Refused as refused:
                if not refused.code.lower().endswith(_BUSY) or time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE_S)

    def _rows(self, method: str, statement: str) -> tuple[tuple[Any, ...], ...]:
        return self._ask(method, [statement])

    def _ask(self, method: str, statements: list[str]) -> tuple[tuple[Any, ...], ...]:
        """The rows of the last statement."""
        door = spec.door_spec(self._job, self._ours, method)
        answers = run_statements(self._program, door, statements, self._job.password)
        for statement, answer in zip(statements, answers, strict=True):
            if not answer.ok:
                raise _Refused(statement, answer.code, answer.message)
        return answers[-1].rows


class _Refused(TargetError):
    """The server refused a statement."""

    def __init__(self, statement: str, code: str, message: str) -> None:
        super().__init__(f"TDengine refused {statement[:200]!r}: {code} {message}")
        self.code = code


def _parts(statements: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(statements)
    while part := list(islice(rest, STATEMENTS_AT_ONCE)):
        yield part
