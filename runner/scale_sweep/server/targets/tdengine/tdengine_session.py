"""A session with TDengine, by the load generator's verb `sql`."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.units import counted
from scale_sweep.experiment.work.sums import ALL, figures_of
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.command_load import ToolCommand
from scale_sweep.loadgen.spec import trial_spec
from scale_sweep.loadgen.verbs import SQL_S, TABLES_S, Answer, create_tables, run_statements
from scale_sweep.model.declared import Work
from scale_sweep.model.planned import Trial
from scale_sweep.model.questions import Cells, Drawn
from scale_sweep.server.targets import Address, Counted, Part, Session
from scale_sweep.server.targets.placeholders import filled
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_LOG, ON_DISK, exact_ms
from scale_sweep.server.targets.tdengine.client import DEFAULT_PASSWORD, adapter_unreachable
from scale_sweep.server.targets.tdengine.config import (
    THROUGH_ADAPTER,
    client_folder,
    config_items,
    database_options,
    parts_of,
    precision,
)
from scale_sweep.server.targets.tdengine.dialect import (
    EXISTS,
    NOT_YET,
    SCHEMALESS,
    UNITS_PER_MS,
    database_pending,
    sql_column,
    state_statements,
)
from scale_sweep.server.targets.tdengine.genuine import command
from scale_sweep.server.targets.tdengine.tdengine_queries import (
    DATABASE,
    SHOWN,
    TABLE,
    not_consecutive,
    sums_dialect,
    sums_statement,
    timed,
    total,
)

FLUSH_S = 1800.0  # of a slow disk
COMMIT_ENDED = b", commit end"
_LOG_OPTIONS = ("wal_level", "wal_fsync_period")  # 2 and 0: fsynced before the answer
CREATE_S, CREATE_PAUSE_S = 20.0, 0.2
RETRIES = 60  # each waits 10 ms longer than the last, half a minute in total
KEEP = "36500d"  # older rows are refused; by default 10 years, and those of TSBS are of 2016


class TdengineSession(Session):
    def __init__(self, trial: Trial, address: Address, library: str) -> None:
        super().__init__(trial, address)
        self._library = library
        self._program = loadgen_path()
        self._children: set[subprocess.Popen[str]] = set()
        is_new = address.is_ours and not address.holds_data
        self._password = DEFAULT_PASSWORD if is_new else address.secret or DEFAULT_PASSWORD

    def _ask(self, *statements: str, limit_s: float = SQL_S) -> tuple[Answer, ...]:
        spec = {
            "protocol": "1",
            "driver": "tdengine",
            "method": "stmt",
            "host": self._address.host,
            "port": str(self._address.port),
            **self._user(),
            "library": self._library,
            "client_config": self._client_config(),
        }
        self.asking = statements[0][:80]
        return run_statements(self._program, spec, statements, self._password, self.left_s(limit_s), self._children)

    def give_up(self) -> None:
        for child in tuple(self._children):
            child.kill()

    def _user(self) -> dict[str, str]:
        return {"user": self._address.user} if self._address.user else {}

    def _client_config(self) -> str:
        return client_folder(self._address.data_dir) if self._address.data_dir else ""

    def _rows(self, statement: str, limit_s: float = SQL_S) -> tuple[tuple[Any, ...], ...]:
        answer = self._ask(statement, limit_s=limit_s)[0]
        if not answer.ok:
            raise _refusal(statement, answer)
        return answer.rows

    def _pending(self) -> str:
        """Why CREATE DATABASE would fail. A server of ours gets its password first."""
        if self._address.is_ours and self._password != self._address.secret:
            self._rows(f"ALTER USER root PASS '{self._address.secret}'")
            self._password = self._address.secret
        status = self._rows("SELECT status FROM information_schema.ins_dnodes")
        if not status or any(row[0] != "ready" for row in status):
            return f"dnode is {status or 'not there'}"
        return adapter_unreachable(self._address) if self._trial.subject.method in THROUGH_ADAPTER else ""

    def version(self) -> str:
        return str(self._rows("SELECT SERVER_VERSION()")[0][0])

    def create_schema(self) -> None:
        chosen = {"keep": KEEP, **database_options(self._trial)}
        options = " ".join(f"{k.upper()} {_option(v)}" for k, v in chosen.items())
        self._create(f"CREATE DATABASE {DATABASE} {options}")
        if self._trial.subject.method not in SCHEMALESS:
            columns, tags = _columns(self._trial.work.data.columns), _columns(self._trial.work.data.tags)
            self._create(f"CREATE STABLE {DATABASE}.{TABLE} (ts TIMESTAMP, {columns}) TAGS ({tags})")

    def _create(self, statement: str) -> None:
        """Again while the server, just started, cannot do it yet. Another database would take the numbers of vnodes,
        whose places on the disks exist already."""
        deadline, was_refused = time.monotonic() + CREATE_S, False
        while not (answer := self._ask(statement)[0]).ok:
            code = answer.code.lower()
            if was_refused and code.endswith(EXISTS):
                return
            if not code.endswith(NOT_YET) or time.monotonic() > deadline:
                raise _refusal(statement, answer)
            was_refused = True
            time.sleep(CREATE_PAUSE_S)

    def schema_pending(self) -> str:
        databases, led = (self._rows(statement) for statement in state_statements(DATABASE))
        return database_pending(databases, led)

    def create_tables(self) -> None:
        """Schemaless methods and taosBenchmark create their own."""
        if self._trial.subject.method not in SCHEMALESS and self._trial.load.is_ours:
            writing = replace(self._trial, work=Work(data=self._trial.work.data))
            spec = trial_spec(writing, {**self.load_spec(), "method": "stmt"})
            self.asking = "the making of its tables"
            create_tables(self._program, spec, self._password, self.left_s(TABLES_S), self._children)

    def effective(self) -> Mapping[str, str]:
        variables = {str(row[1]): str(row[2]) for row in self._rows("SHOW DNODE 1 VARIABLES")}
        planned = config_items(self._trial)
        reported = {k: variables.get(k, "") for k in planned}
        wanted = list(dict.fromkeys([*database_options(self._trial), *_LOG_OPTIONS]))
        row = self._rows(
            f"SELECT {', '.join(f'`{k}`' for k in wanted)} FROM information_schema.ins_databases "
            f"WHERE name = '{DATABASE}'"
        )[0]
        options = {k: str(v).strip("'") for k, v in zip(wanted, row, strict=True)}
        vgroups = self._rows(f"SELECT vgroup_id FROM information_schema.ins_vgroups WHERE db_name = '{DATABASE}'")
        # the column `tables` of ins_vgroups is a heartbeat late
        tables = self._rows(
            "SELECT vgroup_id, COUNT(*) FROM information_schema.ins_tables "
            f"WHERE db_name = '{DATABASE}' AND stable_name = '{TABLE}' GROUP BY vgroup_id ORDER BY vgroup_id"
        )
        return {
            **reported,
            "commit_threads": reported["numOfCommitThreads"],
            **options,
            ACKNOWLEDGED: ON_DISK if [options[k] for k in _LOG_OPTIONS] == ["2", "0"] else IN_LOG,
            COMPRESSION: "columns by table, compressed by type",
            "vgroups": str(len(vgroups)),
            "tables_per_vgroup": ",".join(str(held) for _, held in tables),
        }

    def expected(self) -> Mapping[str, str]:
        items = config_items(self._trial) if self._address.is_ours else {}
        return {**items, **database_options(self._trial)}

    def parts(self) -> tuple[Part, ...]:
        if not self._address.disks:
            return ()
        rows = self._rows(f"SELECT vgroup_id FROM information_schema.ins_vgroups WHERE db_name = '{DATABASE}'")
        vnodes = sorted(int(row[0]) for row in rows)
        return parts_of(self._address.disk_placement, self._address.data_dir, self._address.disks, vnodes)

    def load_spec(self) -> Mapping[str, str]:
        return {
            "driver": "tdengine",
            "method": self._trial.subject.method,
            "host": self._address.host,
            "port": str(self._address.port),
            **self._user(),
            "database": DATABASE,
            "table": TABLE,
            "precision": precision(self._trial),
            "library": self._library,
            "client_config": self._client_config(),
            "retries": str(RETRIES),
        }

    def genuine_load(self) -> ToolCommand:
        return command(self._trial, self._address, DATABASE, TABLE)

    def commit_cycles(self) -> int | None:
        """By its log."""
        logs = sorted(Path(self._address.data_dir, "log").glob("taosdlog.*")) if self._address.data_dir else []
        try:
            ended = sum(path.read_bytes().count(COMMIT_ENDED) for path in logs)
        except OSError:
            return None
        return ended // int(self._trial.knobs["vgroups"]) if logs else None

    def flush(self) -> None:
        """A flush is only scheduled; a second one waits for the first."""
        for _ in range(2):
            self._rows(f"FLUSH DATABASE {DATABASE}", FLUSH_S)

    def count(self) -> Counted | None:
        time = "_ts" if self._trial.subject.method in SCHEMALESS else "ts"  # the server's own name
        _, rows = self._rows(total(DATABASE, TABLE, time))[0]
        faulty = self._rows(not_consecutive(self._trial, DATABASE, TABLE, time))
        some = ", ".join(f"{name} ({held} rows)" for name, held, _ in faulty[:SHOWN])
        sentence = f"rows between the first and the last are missing in {counted(len(faulty), 'table')}: {some}"
        return Counted(rows=int(rows or 0), is_distinct=True, gaps=(sentence,) if faulty else ())

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        dialect, names = sums_dialect(self._trial), figures_of(self._trial.work.data, ALL)
        rows = self._rows(sums_statement(self._trial, devices), FLUSH_S)
        return {str(device): dialect.in_ns(names, figures) for device, *figures in rows}

    def answers(self, questions: Sequence[tuple[str, Drawn]], names: Sequence[str]) -> tuple[tuple[Cells, ...], ...]:
        """Times come in the precision of the database."""
        units = UNITS_PER_MS[precision(self._trial)]
        came = self._ask(*(filled(text, drawn, names, lambda ms: str(ms * units)) for text, drawn in questions))
        refused = next((answer for answer in came if not answer.ok), None)
        if refused is not None:
            raise TargetError(f"TDengine refused {questions[0][0][:200]!r}: {refused.code} {refused.message}")
        return tuple(
            tuple((exact_ms(row[0], units), *row[1:]) if timed(text) else row for row in answer.rows)
            for (text, _), answer in zip(questions, came, strict=True)
        )

    def drop_schema(self) -> None:
        self._rows(f"DROP DATABASE {DATABASE}")


def _refusal(statement: str, answer: Answer) -> TargetError:
    return TargetError(
        f"TDengine refused {statement[:80]!r}: {answer.code} {answer.message}",
        remedy="see the server's log in the trial's directory",
    )


def _option(value: str) -> str:
    is_number = value.lstrip("-").isdigit() or value[-1:] in "dhm" and value[:-1].isdigit()
    return value if is_number else f"'{value.strip(chr(39))}'"


def _columns(columns: Sequence[str]) -> str:
    return ", ".join(sql_column(name, kind) for name, _, kind in (column.partition(":") for column in columns))
