"""Job → the load generator's spec and SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from scale_sweep.server.targets.tdengine.dialect import ONE_COLUMN, UNITS_PER_MS
from scale_sweep.taosbenchmark.job import Database, Job, Reachable, ScaleOptions, SuperTable
from scale_sweep.taosbenchmark.samples import batch_columns
from scale_sweep.taosbenchmark.types import spec_columns, sql_columns

GO_ON = 10**15
SEED = 1
SAMPLE_FILE, TAGS_FILE = "sample_file", "tags_file"


def door_spec(job: Reachable, own: ScaleOptions, method: str) -> dict[str, str]:
    """The part of the spec that reaches the server; it suffices for statements."""
    port = {"adapter_port": str(job.port)} if method == "rest" else {"port": str(job.port)}
    return {
        "protocol": "1",
        "driver": "tdengine",
        "method": method,
        "host": job.host,
        **port,
        "user": job.user,
        "library": own.library,
        "client_config": job.client_config,
    }


def tables_spec(job: Job, own: ScaleOptions, database: Database, table: SuperTable, vgroups: int) -> dict[str, str]:
    return {
        **door_spec(job, own, table.method),
        **_names(database, table),
        "partitions": str(min(vgroups, table.tables)),
        "placement": own.placement,
        "threads": str(min(job.create_threads, table.tables)),
        "text": table.text,
        "seed": str(SEED + table.first),
        **{key: path for key, path in table.files.items() if key == TAGS_FILE},
    }


def load_spec(job: Job, own: ScaleOptions, database: Database, table: SuperTable, vgroups: int) -> dict[str, str]:
    """The spec of the verb `load`."""
    threads = min(job.threads, table.tables)
    rows = rows_per_request(table, threads)
    spec = {
        **door_spec(job, own, table.method),
        **_names(database, table),
        "partitions": str(min(vgroups, table.tables)),
        "placement": own.placement,
        "threads": str(threads),
        "rows": str(table.tables * table.rows_each),
        "rows_per_request": str(rows),
        "start_ms": str(table.start_ms),
        "step_ms": f"{table.step / UNITS_PER_MS[database.precision]:.12g}",
        "precision": database.precision,
        "values": table.values,
        "text": table.text,
        "retries": str(table.retries),
        "max_errors": str(GO_ON if table.keep_going else 1),
        "seed": str(SEED + table.first),
        **table.files,
    }
    if table.sample:
        spec |= {"sample_rows": str(table.sample.rows), "sample_period": str(table.sample.period)}
        spec |= {
            "columns": spec_columns(batch_columns(table.columns)),
            "sample_times": str(int(table.sample.has_times)),
        }
    if table.makes_tables:
        spec["auto_create"] = "1"
    if table.interlace_rows:
        spec["interlace_rows"] = str(min(table.interlace_rows, table.rows_each))
    else:
        spec["order"] = "progressive"
    if table.interval_ms:
        spec["rate"] = f"{_rate(table, threads, rows):.9g}"
    if table.disorder_ratio:
        spec |= {"disorder_ratio": str(table.disorder_ratio), "disorder_range_ms": str(table.disorder_range_ms)}
    if table.method in ONE_COLUMN and len(table.columns) > 1:  # the first column, as in taosBenchmark
        spec |= {"partial_columns": "1", "partial_from": str(table.partial_from)}
    elif table.partial_columns:
        spec |= {"partial_columns": str(table.partial_columns), "partial_from": str(table.partial_from)}
    return spec


def _names(database: Database, table: SuperTable) -> dict[str, str]:
    return {
        "database": database.name,
        "table": table.name,
        "table_prefix": table.prefix,
        "tables": str(table.tables),
        "columns": spec_columns(table.columns),
        "tags": spec_columns(table.tags),
        **({"first_table": str(table.first)} if table.first else {}),
    }


def rows_per_request(table: SuperTable, threads: int) -> int:
    """With interlacing at most one round over a thread's tables, as in taosBenchmark."""
    if not table.interlace_rows:
        return table.rows_per_request
    each = min(table.interlace_rows, table.rows_each)
    return max(each, min(table.rows_per_request, each * ceil(table.tables / threads)))


def _rate(table: SuperTable, threads: int, rows: int) -> float:
    if table.interlace_rows:
        mean_rows = float(rows)
    else:
        mean_rows = table.rows_each / ceil(table.rows_each / rows)
    return threads * mean_rows * 1000 / table.interval_ms


def with_vgroups(database: Database, vgroups: int) -> Database:
    return replace(database, options=(("vgroups", str(vgroups)), *database.options))


def drop_database(database: Database) -> str:
    return f"DROP DATABASE IF EXISTS `{database.name}`"


def create_database(database: Database) -> str:
    """The SQL statement. The options were checked when they were read."""
    options = "".join(f" {name.upper()} {value}" for name, value in database.options)
    return f"CREATE DATABASE IF NOT EXISTS `{database.name}`{options} PRECISION '{database.precision}'"


def create_supertable(database: Database, table: SuperTable) -> str:
    return (
        f"CREATE STABLE IF NOT EXISTS `{database.name}`.`{table.name}` "
        f"(ts TIMESTAMP, {sql_columns(table.columns)}) TAGS ({sql_columns(table.tags)})"
    )


def create_normal_tables(database: Database, table: SuperTable) -> Iterator[str]:
    columns = sql_columns(table.columns)
    for number in range(table.first, table.first + table.tables):
        yield f"CREATE TABLE IF NOT EXISTS `{database.name}`.`{table.prefix}{number}` (ts TIMESTAMP, {columns})"
