"""taosBenchmark's subscribe JSON file → SubscribeJob."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scale_sweep.taosbenchmark.connecting import notes_of_idle, read_connection
from scale_sweep.taosbenchmark.job import Refusals
from scale_sweep.taosbenchmark.keys import ObjectReader
from scale_sweep.taosbenchmark.limits import plain_name
from scale_sweep.taosbenchmark.queries.read import one_line
from scale_sweep.taosbenchmark.subscriptions.job import Following, SubscribeJob, Topic
from scale_sweep.taosbenchmark.subscriptions.version2 import PARTS, read_followings

POLL_MS = 10_000
TOPICS_MAX = 100
_TRUTHS = ("enable.auto.commit", "enable.heartbeat.background", "experimental.snapshot.enable", "msg.with.table.name")
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


def read_subscriptions(
    document: Mapping[str, Any],
    options: Mapping[str, str],
    client: Mapping[str, str],
    password: str,
    new_group: str,
    refusals: Refusals,
) -> SubscribeJob:
    """The job of a file. Mistakes go into `refusals`; the job is then not to be used."""
    keys = ObjectReader("", document, refusals)
    keys.choice("filetype", "subscribe", ("subscribe",))
    reached = read_connection(keys, options, client, password, int(client.get("port") or 6030))
    keys.is_yes("confirm_parameter_prompt", "yes")
    notes: list[str] = []
    idle: list[tuple[str, str]] = []
    database = _database(keys)
    followings: tuple[Following, ...] = ()
    if keys.has("tmq_info"):
        followings = (_following(keys.object("tmq_info"), new_group, idle),)
    elif any(keys.has(part) for part in PARTS):
        followings = read_followings(keys, database, new_group, POLL_MS, notes, idle)
    if not any(following.topics for following in followings):
        refusals.add("tmq_info.topic_list", "there is no topic")
    job = SubscribeJob(
        host=reached.host,
        port=reached.port,
        user=reached.user,
        password=reached.password,
        database=database,
        followings=followings,
        result_file=options.get("output") or keys.text("result_file", "./output.txt"),
        notes=(*notes, *notes_of_idle((*keys.idle, *idle))),
    )
    keys.finish()
    return job


def _database(keys: ObjectReader) -> str:
    if not keys.has("databases"):
        return ""
    try:
        return plain_name(keys.text("databases", ""), 64, keep_case=False)
    except ValueError as error:
        keys.refuse("databases", str(error))
        return ""


def _following(info: ObjectReader, new_group: str, idle: list[tuple[str, str]]) -> Following:
    if info.choice("create_mode", "parallel", ("sequential", "parallel")) == "sequential":
        idle.append((info.name("create_mode"), "the load generator makes all consumers at the same time"))
    following = Following(
        topics=_topics(info),
        consumers=info.number("concurrent", 1, "threads"),
        settings=_settings(info, new_group),
        poll_ms=info.number("poll_delay", POLL_MS, "poll_ms"),
        expect_rows=_expect_rows(info),
        commits=info.choice("enable.manual.commit", "false", ("true", "false")) == "true",
        rows_file=info.text("rows_file", ""),
        key="tmq_info",
    )
    info.finish()
    idle.extend(info.idle)
    return following


def _expect_rows(info: ObjectReader) -> int:
    if info.value("expect_rows", 0) == -1:
        return 0
    return info.number("expect_rows", 0, "expect_rows")


def _settings(info: ObjectReader, new_group: str) -> tuple[tuple[str, str], ...]:
    group, consumer = _id(info, "group.id", new_group), _id(info, "client.id", "scale")
    is_shared = info.choice("group_mode", "share", ("share", "independent")) == "share"
    settings = [("group.id", group if is_shared else group + "_{worker}"), ("client.id", consumer + "_{worker}")]
    if info.has("auto.offset.reset"):
        reset = info.choice("auto.offset.reset", "latest", ("earliest", "latest", "none"))
        settings.append(("auto.offset.reset", reset))
    if info.has("auto.commit.interval.ms"):
        settings.append(("auto.commit.interval.ms", str(info.number("auto.commit.interval.ms", 5_000, "commit_ms"))))
    settings += [(key, info.choice(key, "false", ("true", "false"))) for key in _TRUTHS if info.has(key)]
    return tuple(settings)


def _id(info: ObjectReader, key: str, otherwise: str) -> str:
    text = info.text(key, "") or otherwise
    if _ID.fullmatch(text):
        return text
    info.refuse(key, f"{text[:40]!r} is not made of up to 100 letters, digits, _ . : and -")
    return otherwise


def _topics(info: ObjectReader) -> tuple[Topic, ...]:
    topics = []
    for entry in info.objects("topic_list"):
        statement = one_line(entry.text("sql", ""))
        if not statement:
            entry.refuse("sql", "is needed")
        try:
            topics.append(Topic(name=plain_name(entry.text("name", ""), 192, keep_case=False), statement=statement))
        except ValueError as error:
            entry.refuse("name", str(error))
        entry.finish()
    if len(topics) > TOPICS_MAX:
        info.refuse("topic_list", f"{len(topics)} topics are more than {TOPICS_MAX}")
    return tuple(topics)
