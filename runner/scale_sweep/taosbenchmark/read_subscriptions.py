"""A subscribe file of taosBenchmark → SubscribeJob. What version 2 says becomes topics and consumers of TDengine 3."""

from __future__ import annotations

import re
from zlib import crc32

from scale_sweep.taosbenchmark.job import Following, SubscribeJob, Topic
from scale_sweep.taosbenchmark.objects import Invocation, ObjectReader, read_connection
from scale_sweep.taosbenchmark.read_queries import TABLE_MARK, one_line, refuse_unwritable

POLL_MS = 10_000
TOPICS_MAX = 100
PARTS = ("specified_table_query", "super_table_query")  # of version 2
_TRUTHS = ("enable.auto.commit", "enable.heartbeat.background", "experimental.snapshot.enable", "msg.with.table.name")
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


def read_subscriptions(keys: ObjectReader, around: Invocation) -> SubscribeJob:
    """Not to be used if there are mistakes."""
    keys.read("subscribe")
    database = keys.plain_name("databases", 64, "") if keys.has("databases") else ""
    new_group = f"scale_{round(around.now.timestamp() * 1e6):x}"
    followings: list[Following] = []
    if keys.has("tmq_info"):
        followings = [_following(keys.object("tmq_info"), new_group)]
    else:
        for part in PARTS:
            if keys.has(part):
                followings += _of_version2(keys.object(part), database, new_group, is_super=part == PARTS[1])
    if not any(following.topics for following in followings):
        keys.remarks.refuse("tmq_info.topic_list", "there is no topic")
    job = SubscribeJob(
        **vars(read_connection(keys, around, int(around.client.get("port") or 6030))),
        database=database,
        followings=tuple(followings),
    )
    keys.finish()
    for following in followings:
        key = f"{following.key}.{'rows_file' if following.key == 'tmq_info' else 'result'}"
        if following.rows_file and around.own.row_times:
            why = "delays are not measured while rows are written to a file: leave out this or --row-times"
            keys.remarks.refuse(key, why)
        else:
            refuse_unwritable(keys, key, following.rows_file)
    return job


def _following(info: ObjectReader, new_group: str) -> Following:
    values = info.read("tmq_info")
    if values["create_mode"] == "sequential":
        info.unused("create_mode", "the load generator makes all consumers at the same time")
    waits = info.value("expect_rows", 0) == -1
    topics = _topics(info)
    group, consumer = _id(info, "group.id", new_group), _id(info, "client.id", "scale")
    is_shared = values["group_mode"] == "share"
    settings = [("group.id", group if is_shared else group + "_{worker}"), ("client.id", consumer + "_{worker}")]
    if info.has("auto.offset.reset"):
        settings.append(
            ("auto.offset.reset", info.choice("auto.offset.reset", ("earliest", "latest", "none"), "latest"))
        )
    if info.has("auto.commit.interval.ms"):
        settings.append(("auto.commit.interval.ms", str(info.number("auto.commit.interval.ms", 5_000, "commit_ms"))))
    settings += [(key, info.choice(key, ("true", "false"), "false")) for key in _TRUTHS if info.has(key)]
    following = Following(
        topics=topics,
        consumers=values["concurrent"],
        settings=tuple(settings),
        poll_ms=values["poll_delay"],
        expect_rows=0 if waits else info.number("expect_rows", 0, "expect_rows"),
        commits=values["enable.manual.commit"] == "true",
        rows_file=values["rows_file"],
        key="tmq_info",
    )
    info.finish()
    return following


def _id(info: ObjectReader, key: str, otherwise: str) -> str:
    text = info.text(key) or otherwise
    if _ID.fullmatch(text):
        return text
    info.refuse(key, f"{text[:40]!r} is not made of up to 100 letters, digits, _ . : and -")
    return otherwise


def _topics(info: ObjectReader) -> tuple[Topic, ...]:
    topics = []
    for entry in info.objects("topic_list"):
        statement = _statement(entry)
        topics.append(Topic(name=entry.plain_name("name", 192, ""), statement=statement))
        entry.finish()
    if len(topics) > TOPICS_MAX:
        info.refuse("topic_list", f"{len(topics)} topics are more than {TOPICS_MAX}")
    return tuple(topics)


def _statement(entry: ObjectReader) -> str:
    statement = one_line(entry.text("sql"))
    if not statement:
        entry.refuse("sql", "is needed")
    return statement


def _of_version2(part: ObjectReader, database: str, new_group: str, *, is_super: bool) -> list[Following]:
    """The name of a topic follows from its statement, so that the same file finds it again."""
    values = part.read("subscription")
    supertable = part.plain_name("stblname", 192, "stb") if is_super else ""
    followings = []
    for entry in part.objects("sqls"):
        statement = _statement(entry)
        if is_super and TABLE_MARK not in statement:
            entry.refuse("sql", f"has no {TABLE_MARK}, which stands for the subtables")
        statement = statement.replace(TABLE_MARK, f"`{supertable}`") if is_super else statement
        topic = Topic(name=f"scale_{crc32(f'{database} {statement}'.encode()):08x}", statement=statement)
        group = f"{new_group}_{topic.name}" if values["restart"] else topic.name
        followings.append(
            Following(
                topics=(topic,),
                consumers=values["threads"] or values["concurrent"],
                settings=(
                    ("group.id", group if is_super else group + "_{worker}"),
                    ("client.id", "scale_{worker}"),
                    ("auto.offset.reset", "earliest"),
                    ("enable.auto.commit", "true" if values["keepProgress"] else "false"),
                ),
                poll_ms=POLL_MS,
                rows_file=entry.text("result"),
                key=entry.path,
            )
        )
        part.remarks.notes.append(f"{entry.path} is of version 2: it is taken as topic {topic.name} as {statement}")
        entry.finish()
    part.finish()
    return followings
