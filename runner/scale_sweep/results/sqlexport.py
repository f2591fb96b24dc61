"""A stored run as tables of an SQL database: runs, settings, trials, ticks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.base.registry import install_command, require_extra
from scale_sweep.model.fitted import StoredRun
from scale_sweep.results.formats import Cell, Kind, TypedTable, columns_of

if TYPE_CHECKING:
    import sqlalchemy

RUN = "run"
_RUN_KINDS: Mapping[str, Kind] = {
    RUN: "text",
    "name": "text",
    "status": "text",
    "created_utc": "text",
    "tool_version": "text",
    "method": "integer",
    "manifest": "text",
}
_SETTING_KINDS: Mapping[str, Kind] = {RUN: "text", "setting": "text", "value": "text"}


@dataclass(frozen=True, kw_only=True)
class SqlTable:
    """keys: columns that identify its rows. run_column: rows of a run are replaced together."""

    name: str
    keys: tuple[str, ...]
    kinds: Mapping[str, Kind]
    rows: Sequence[tuple[Cell, ...]]
    run_column: str = RUN


def tables_of(run: StoredRun) -> tuple[SqlTable, ...]:
    trials, ticks = columns_of(run, "points"), columns_of(run, "timeseries")
    settings = [(trials.run, key, value) for key, value in sorted(_flat("", run.manifest.get("sweep")))]
    return (
        SqlTable(name="scale_runs", keys=(RUN,), kinds=_RUN_KINDS, rows=[_run_row(run, trials.run)]),
        SqlTable(name="scale_settings", keys=(RUN, "setting"), kinds=_SETTING_KINDS, rows=settings),
        _of_run("scale_trials", (RUN, "trial_id"), trials),
        _of_run("scale_ticks", (RUN, "trial_id", "t_s"), ticks),
    )


def _of_run(name: str, keys: tuple[str, ...], columns: TypedTable) -> SqlTable:
    rows = [(columns.run, *row) for row in columns.rows]
    return SqlTable(name=name, keys=keys, kinds={RUN: "text", **columns.kinds}, rows=rows)


def _run_row(run: StoredRun, name: str) -> tuple[Cell, ...]:
    manifest = run.manifest
    method = manifest.get("method")
    return (
        name,
        run.plan.sweep.name,
        _text(manifest.get("status")),
        _text(manifest.get("created_utc")),
        _text(manifest.get("tool_version")),
        method if isinstance(method, int) else None,
        json.dumps(manifest, ensure_ascii=False, sort_keys=True),
    )


def _flat(prefix: str, value: object) -> Iterator[tuple[str, str | None]]:
    if not isinstance(value, Mapping):
        yield prefix, _text(value)
        return
    for key, inner in value.items():
        yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


PASSWORD_VARIABLE = "SCALE_SQL_PASSWORD"
_LIMITS: Mapping[str, Mapping[str, Any]] = {  # seconds
    "postgresql+psycopg": {"connect_timeout": 10},
    "mysql+pymysql": {"connect_timeout": 10, "read_timeout": 300, "write_timeout": 300},
    "mariadb+pymysql": {"connect_timeout": 10, "read_timeout": 300, "write_timeout": 300},
}
_ROWS_AT_ONCE = 1000
_KEY_LENGTH = 255  # MySQL's keys need a length
_PREFERRED = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}


@dataclass(frozen=True, kw_only=True)
class ExportedTables:
    """where: the URL without a password. rows: by table."""

    where: str
    rows: Mapping[str, int]


def write(run: str, tables: Sequence[SqlTable], url: str, password: str = "") -> ExportedTables:
    """Replaces one run. url: of SQLAlchemy. Raises UsageError for its mistakes, StoreError for the database's."""
    engine = _engine(url, password)
    with _explained(engine):
        defined = {table.name: _present(engine, table) for table in tables}
        with engine.begin() as connection:
            for table in tables:
                _replace(connection, defined[table.name], run, table)
    engine.dispose()
    return ExportedTables(where=str(engine.url), rows={table.name: len(table.rows) for table in tables})


def _engine(url: str, password: str) -> sqlalchemy.Engine:
    require_extra("sql", "an SQL database")
    import sqlalchemy

    try:
        parsed = sqlalchemy.make_url(url)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise UsageError(
            "--sql is not the URL of a database",
            remedy="for example sqlite:///runs.db or postgresql://user@host/database",
        ) from None
    if parsed.password is not None:
        raise UsageError(
            "--sql: a password on the command line can be read by every user of this machine",
            remedy=f"leave it out of the URL and set {PASSWORD_VARIABLE}",
        )
    parsed = parsed.set(drivername=_PREFERRED.get(parsed.drivername, parsed.drivername), password=password or None)
    try:
        limits = _LIMITS.get(parsed.drivername, {})
        limits = {name: value for name, value in limits.items() if name not in parsed.query}
        return sqlalchemy.create_engine(parsed, connect_args=limits)
    except sqlalchemy.exc.NoSuchModuleError:
        raise UsageError(
            f"--sql: SQLAlchemy does not support the database {parsed.drivername!r}",
            remedy=f"install its dialect; for DuckDB: {install_command(['duckdb-engine'])}",
        ) from None
    except ImportError as error:
        raise UsageError(
            f"--sql: {parsed.drivername} needs a package: {error}", remedy="install it beside scale"
        ) from None


@contextmanager
def _explained(engine: sqlalchemy.Engine) -> Iterator[None]:
    import sqlalchemy

    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        engine.dispose()
        raise StoreError(
            f"{engine.url} refused the export: {' '.join(str(error.orig).split())}",
            remedy=f"check the address, the user and {PASSWORD_VARIABLE}; nothing of this run was written",
        ) from None


def _present(engine: sqlalchemy.Engine, table: SqlTable) -> sqlalchemy.Table:
    """Created, or with the columns that it lacked."""
    import sqlalchemy
    from sqlalchemy.schema import CreateColumn

    defined = _defined(table)
    defined.metadata.create_all(engine)
    quote = engine.dialect.identifier_preparer.quote
    with engine.begin() as connection:  # not every dialect can list the columns
        there = set(connection.execute(sqlalchemy.text(f"SELECT * FROM {quote(table.name)} WHERE 1 = 0")).keys())
        for column in defined.columns:
            if column.name not in there:
                spelled = CreateColumn(column).compile(dialect=engine.dialect)
                connection.execute(sqlalchemy.text(f"ALTER TABLE {quote(table.name)} ADD COLUMN {spelled}"))
    return defined


def _defined(table: SqlTable) -> sqlalchemy.Table:
    import sqlalchemy
    from sqlalchemy.dialects import mysql

    types: dict[str, sqlalchemy.types.TypeEngine[Any]] = {
        "integer": sqlalchemy.BigInteger(),
        "number": sqlalchemy.Double(),
        "text": sqlalchemy.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"),
    }
    key = sqlalchemy.String(_KEY_LENGTH)
    columns = [
        sqlalchemy.Column(
            name,
            key if name in table.keys and kind == "text" else types[kind],
            primary_key=name in table.keys,
            autoincrement=False,
        )
        for name, kind in table.kinds.items()
    ]
    return sqlalchemy.Table(table.name, sqlalchemy.MetaData(), *columns)


def _replace(connection: sqlalchemy.Connection, defined: sqlalchemy.Table, run: str, table: SqlTable) -> None:
    connection.execute(defined.delete().where(defined.c[table.run_column] == run))
    names = list(table.kinds)
    for start in range(0, len(table.rows), _ROWS_AT_ONCE):
        some = table.rows[start : start + _ROWS_AT_ONCE]
        connection.execute(defined.insert(), [dict(zip(names, row, strict=True)) for row in some])
