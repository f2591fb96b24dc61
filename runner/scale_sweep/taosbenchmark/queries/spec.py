"""QueryJob → the load generator's specs, one for each load, and the lines of their items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.queries.job import Asking, FileQuery, QueryJob
from scale_sweep.taosbenchmark.queries.read import TABLE_MARK
from scale_sweep.taosbenchmark.spec import GO_ON, door_spec

OPERATIONS_MAX = 128
"""How many operations one load of the load generator has at most."""
MIXED = "mixed"


@dataclass(frozen=True, kw_only=True)
class QueryLoad:
    """One run of the load generator."""

    spec: dict[str, str]
    queries: dict[str, FileQuery]  # by the name of their operation; one of a mixed load stands for all
    items: tuple[str, ...] = ()  # the lines that {item} stands for in turn; empty for a load whose texts have none
    threads: int
    times: int


@dataclass(frozen=True, kw_only=True)
class Statements:
    """The queries of one load."""

    # queries, texts: by the name of the operation
    queries: dict[str, FileQuery]
    texts: dict[str, str]
    items: tuple[str, ...] = ()  # what {item} in the texts stands for
    progressive: bool = False  # each item once, in order


def specified_loads(job: QueryJob, own: ScaleOptions, asking: Asking) -> list[QueryLoad]:
    """One after another, a load for each statement; or one in which each thread has its share of them."""
    if asking.mixed:
        texts = tuple(query.text for query in asking.queries)
        every = FileQuery(text="{item}", result="", key=MIXED)
        mixed = Statements(queries={MIXED: every}, texts={MIXED: "{item}"}, items=texts, progressive=True)
        return [_load(job, own, asking, mixed)]
    each = [Statements(queries={"query": query}, texts={"query": plain(query.text)}) for query in asking.queries]
    return [_load(job, own, asking, one, first_worker=i * asking.threads) for i, one in enumerate(each)]


def subtable_load(job: QueryJob, own: ScaleOptions, asking: Asking, subtables: Sequence[str]) -> QueryLoad:
    queries = {f"query{i}": query for i, query in enumerate(asking.queries)}
    texts = {name: plain(query.text).replace(TABLE_MARK, "{item}") for name, query in queries.items()}
    items = tuple(f"`{job.database}`.`{name}`" for name in subtables)
    return _load(job, own, asking, Statements(queries=queries, texts=texts, items=items))


def subtables_statement(job: QueryJob, supertable: str) -> str:
    return (
        f"SELECT table_name FROM information_schema.ins_tables WHERE db_name = '{job.database}' "
        f"AND stable_name = '{supertable}'"
    )


def plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _load(job: QueryJob, own: ScaleOptions, asking: Asking, statements: Statements, first_worker: int = 0) -> QueryLoad:
    items = statements.items
    threads = min(asking.threads, len(items)) if items else asking.threads
    spec = {
        **door_spec(job, own, job.method),
        "database": job.database,
        "operations": ",".join(statements.queries),
        "threads": str(threads),
        "first_worker": str(first_worker),
        "workers_total": str(first_worker + threads),
        "tables": str(first_worker + threads),
        "rows_per_request": "1",
        "placement": "stock",
        "rounds": str(asking.times),
        "round_interval_s": str(asking.interval_s),
        "order": "progressive" if statements.progressive else "rotate",
        "check_every": "0",
        "max_errors": str(GO_ON if job.keep_going else 1),
    }
    for name, query in statements.queries.items():
        spec[f"ask.{name}.text"] = statements.texts[name]
        spec[f"ask.{name}.before"] = job.before
        spec[f"ask.{name}.result"] = query.result
    return QueryLoad(spec=spec, queries=statements.queries, items=items, threads=threads, times=asking.times)
