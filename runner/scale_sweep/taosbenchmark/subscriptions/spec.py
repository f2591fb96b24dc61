"""SubscribeJob → SQL for its topics and the load generator's specs. Pure."""

from __future__ import annotations

from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.queries.spec import plain
from scale_sweep.taosbenchmark.spec import door_spec
from scale_sweep.taosbenchmark.subscriptions.job import Following, SubscribeJob

POLLS_MAX = 10**9
OPERATION = "poll"


def statements_spec(job: SubscribeJob, own: ScaleOptions) -> dict[str, str]:
    """For the verb `sql`, in the database of the file where it names one."""
    return {**door_spec(job, own, "sql"), "database": job.database}


def create_statements(following: Following) -> list[str]:
    return [f"CREATE TOPIC IF NOT EXISTS `{topic.name}` AS {topic.statement}" for topic in following.topics]


def row_statements(following: Following) -> dict[str, str]:
    """Topic → SQL for one row of those that it delivers. Topics of a whole database or supertable are not asked for."""
    selects = {topic.name: topic.statement for topic in following.topics if topic.statement[:7].lower() == "select "}
    return {name: f"{statement.rstrip('; ')} LIMIT 1" for name, statement in selects.items()}


def members_statement(following: Following) -> str:
    """SQL for the number of consumers that the groups have."""
    group = dict(following.settings)["group.id"]
    groups = sorted({group.replace("{worker}", str(worker)) for worker in range(following.consumers)})
    names = ", ".join(f"'{name}'" for name in groups)
    return f"SELECT COUNT(*) FROM information_schema.ins_consumers WHERE consumer_group IN ({names})"


def follow_spec(job: SubscribeJob, own: ScaleOptions, following: Following) -> dict[str, str]:
    """For the verb `load`: each worker is a consumer and polls until no message comes."""
    consumers = str(following.consumers)
    return {
        **door_spec(job, own, "tmq"),
        "operations": OPERATION,
        f"ask.{OPERATION}.text": ",".join(plain(topic.name) for topic in following.topics),
        f"ask.{OPERATION}.result": following.rows_file,
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
