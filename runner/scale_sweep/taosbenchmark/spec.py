"""Job → the specs and the SQL that the load generator gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from scale_sweep.server.targets.tdengine.dialect import ONE_COLUMN, UNITS_PER_MS
from scale_sweep.taosbenchmark.job import (
    Asking,
    Connection,
    Database,
    FileQuery,
    Following,
    Job,
    QueryJob,
    ScaleOptions,
    SubscribeJob,
    SuperTable,
)
from scale_sweep.taosbenchmark.limits import spec_columns, sql_columns
from scale_sweep.taosbenchmark.read_queries import TABLE_MARK
from scale_sweep.taosbenchmark.samples import batch_columns

GO_ON = 10**15
SEED = 1
SAMPLE_FILE, TAGS_FILE = "sample_file", "tags_file"
MIXED = "mixed"
POLLS_MAX = 10**9
POLL = "poll"


def door_spec(job: Connection, own: ScaleOptions, method: str) -> dict[str, str]:
    """It suffices for statements."""
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
        **_common(job, own, database, table, vgroups, job.create_threads),
        "text": table.text,
        "seed": str(SEED + table.first),
        **{key: path for key, path in table.files.items() if key == TAGS_FILE},
    }


def load_spec(job: Job, own: ScaleOptions, database: Database, table: SuperTable, vgroups: int) -> dict[str, str]:
    """Lines of the verb `load`."""
    threads = min(job.threads, table.tables)
    rows = rows_per_request(table, threads)
    spec = {
        **_common(job, own, database, table, vgroups, job.threads),
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
        spec["rate"] = f"{_rate(table, threads):.9g}"
    if table.disorder_ratio:
        spec |= {"disorder_ratio": str(table.disorder_ratio), "disorder_range_ms": str(table.disorder_range_ms)}
    is_first_only = table.method in ONE_COLUMN and len(table.columns) > 1  # as in taosBenchmark
    if columns := 1 if is_first_only else table.partial_columns:
        spec |= {"partial_columns": str(columns), "partial_from": str(table.partial_from)}
    return spec


def _common(
    job: Job, own: ScaleOptions, database: Database, table: SuperTable, vgroups: int, threads: int
) -> dict[str, str]:
    return {
        **door_spec(job, own, table.method),
        "database": database.name,
        "table": table.name,
        "table_prefix": table.prefix,
        "tables": str(table.tables),
        "columns": spec_columns(table.columns),
        "tags": spec_columns(table.tags),
        **({"first_table": str(table.first)} if table.first else {}),
        "partitions": str(min(vgroups, table.tables)),
        "placement": own.placement,
        "threads": str(min(threads, table.tables)),
    }


def rows_per_request(table: SuperTable, threads: int) -> int:
    """With interlacing at most one round over a thread's tables, as in taosBenchmark."""
    if not table.interlace_rows:
        return table.rows_per_request
    each = min(table.interlace_rows, table.rows_each)
    return max(each, min(table.rows_per_request, each * ceil(table.tables / threads)))


def _rate(table: SuperTable, threads: int) -> float:
    """Rows per second: each thread sends a request in the interval; with interlacing, a round over its tables."""
    if table.interlace_rows:
        return table.tables * min(table.interlace_rows, table.rows_each) * 1000 / table.interval_ms
    return threads * table.rows_each / ceil(table.rows_each / table.rows_per_request) * 1000 / table.interval_ms


def drop_database(database: Database) -> str:
    return f"DROP DATABASE IF EXISTS `{database.name}`"


def create_database(database: Database) -> str:
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


@dataclass(frozen=True, kw_only=True)
class QueryLoad:
    spec: dict[str, str]
    queries: dict[str, FileQuery]  # by the name of their operation; one of a mixed load stands for all
    items: tuple[str, ...]  # the lines that {item} stands for in turn; empty for a load whose texts have none
    threads: int
    times: int
    of_subtables: bool


def specified_loads(job: QueryJob, own: ScaleOptions, asking: Asking) -> list[QueryLoad]:
    """One for each statement; or one in which each thread has its share of them."""
    if asking.mixed:
        every = FileQuery(text="{item}", result="", key=MIXED)
        items = tuple(query.text for query in asking.queries)
        return [_query_load(job, own, asking, {MIXED: every}, {MIXED: "{item}"}, items=items)]
    return [
        _query_load(job, own, asking, {"query": query}, {"query": plain(query.text)}, first_worker=i * asking.threads)
        for i, query in enumerate(asking.queries)
    ]


def subtable_load(job: QueryJob, own: ScaleOptions, asking: Asking, subtables: Sequence[str]) -> QueryLoad:
    queries = {f"query{i}": query for i, query in enumerate(asking.queries)}
    texts = {name: plain(query.text).replace(TABLE_MARK, "{item}") for name, query in queries.items()}
    return _query_load(job, own, asking, queries, texts, items=tuple(f"`{job.database}`.`{t}`" for t in subtables))


def subtables_statement(job: QueryJob, supertable: str) -> str:
    return (
        f"SELECT table_name FROM information_schema.ins_tables WHERE db_name = '{job.database}' "
        f"AND stable_name = '{supertable}'"
    )


def plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _query_load(
    job: QueryJob,
    own: ScaleOptions,
    asking: Asking,
    queries: dict[str, FileQuery],
    texts: dict[str, str],
    *,
    items: tuple[str, ...] = (),
    first_worker: int = 0,
) -> QueryLoad:
    """queries, texts: by the names of the operations. items: what {item} in the texts stands for."""
    threads = min(asking.threads, len(items)) if items else asking.threads
    spec = {
        **door_spec(job, own, job.method),
        "database": job.database,
        "operations": ",".join(queries),
        "threads": str(threads),
        "first_worker": str(first_worker),
        "workers_total": str(first_worker + threads),
        "tables": str(first_worker + threads),
        "rows_per_request": "1",
        "placement": "stock",
        "rounds": str(asking.times),
        "round_interval_s": str(asking.interval_s),
        "order": "progressive" if asking.mixed else "rotate",
        "check_every": "0",
        "max_errors": str(GO_ON if job.keep_going else 1),
    }
    for name, query in queries.items():
        spec[f"ask.{name}.text"] = texts[name]
        spec[f"ask.{name}.before"] = job.before
        spec[f"ask.{name}.result"] = query.result
    return QueryLoad(
        spec=spec,
        queries=queries,
        items=items,
        threads=threads,
        times=asking.times,
        of_subtables=bool(asking.supertable),
    )


def statements_spec(job: SubscribeJob, own: ScaleOptions) -> dict[str, str]:
    return {**door_spec(job, own, "sql"), "database": job.database}


def create_statements(following: Following) -> list[str]:
    return [f"CREATE TOPIC IF NOT EXISTS `{topic.name}` AS {topic.statement}" for topic in following.topics]


def row_statements(following: Following) -> dict[str, str]:
    """One row of each topic, but not of a whole database or supertable."""
    selects = {topic.name: topic.statement for topic in following.topics if topic.statement[:7].lower() == "select "}
    return {name: f"{statement.rstrip('; ')} LIMIT 1" for name, statement in selects.items()}


def members_statement(following: Following) -> str:
    group = dict(following.settings)["group.id"]
    groups = sorted({group.replace("{worker}", str(worker)) for worker in range(following.consumers)})
    names = ", ".join(f"'{name}'" for name in groups)
    return f"SELECT COUNT(*) FROM information_schema.ins_consumers WHERE consumer_group IN ({names})"


def follow_spec(job: SubscribeJob, own: ScaleOptions, following: Following) -> dict[str, str]:
    """Each worker is a consumer and polls until no message comes."""
    consumers = str(following.consumers)
    return {
        **door_spec(job, own, "tmq"),
        "operations": POLL,
        f"ask.{POLL}.text": ",".join(plain(topic.name) for topic in following.topics),
        f"ask.{POLL}.result": following.rows_file,
        "rounds": str(POLLS_MAX),
        "threads": consumers,
        "tables": consumers,
        "placement": "stock",
        "rows_per_request": "1",
        "check_every": "0",
        "max_errors": "1",
        "consumer": ",".join(f"{key}={value}" for key, value in following.settings),
        "poll_ms": str(following.poll_ms),
        "expect_rows": str(following.expect_rows),
        "commit_messages": str(int(following.commits)),
        "row_times": str(int(own.row_times)),
        "connect_timeout_s": "60",
    }
