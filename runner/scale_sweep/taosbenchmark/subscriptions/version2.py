"""Subscribe files for taosBenchmark 2 → topics and consumers of TDengine 3, with a sentence for each statement."""

from __future__ import annotations

from zlib import crc32

from scale_sweep.taosbenchmark.keys import ObjectReader
from scale_sweep.taosbenchmark.limits import plain_name
from scale_sweep.taosbenchmark.queries.read import TABLE_MARK, one_line
from scale_sweep.taosbenchmark.subscriptions.job import Following, Topic

PARTS = ("specified_table_query", "super_table_query")
_IDLE = {
    "mode": "a consumer waits for each message",
    "interval": "messages are read as they come",
    "endAfterConsume": "a consumer ends when no message comes any more",
    "resubAfterConsume": "a consumer subscribes once",
}


def read_followings(
    keys: ObjectReader,
    database: str,
    new_group: str,
    poll_ms: int,
    notes: list[str],
    idle: list[tuple[str, str]],
) -> tuple[Following, ...]:
    """One for each statement of both parts. notes: collects the sentences. idle: collects keys without effect."""
    followings: list[Following] = []
    for part in (keys.object(name) for name in PARTS if keys.has(name)):
        for key, why in _IDLE.items():
            part.unused(key, why)
        followings += _of_part(part, database, new_group, poll_ms, notes)
        idle.extend(part.idle)
        part.finish()
    return tuple(followings)


def _of_part(part: ObjectReader, database: str, new_group: str, poll_ms: int, notes: list[str]) -> list[Following]:
    is_super = part.path == PARTS[1]
    concurrent = part.number("concurrent", 1, "threads")
    consumers = part.number("threads", concurrent, "threads")
    restarts, keeps = part.is_yes("restart", "yes"), part.is_yes("keepProgress", "no")
    supertable = _supertable(part) if is_super else ""
    followings = []
    for entry in part.objects("sqls"):
        topic = _topic(entry, database, supertable, is_super=is_super)
        group = f"{new_group}_{topic.name}" if restarts else topic.name
        settings = (
            ("group.id", group if is_super else group + "_{worker}"),
            ("client.id", "scale_{worker}"),
            ("auto.offset.reset", "earliest"),
            ("enable.auto.commit", "true" if keeps else "false"),
        )
        followings.append(
            Following(
                topics=(topic,),
                consumers=consumers,
                settings=settings,
                poll_ms=poll_ms,
                expect_rows=0,
                commits=False,
                rows_file=entry.text("result", ""),
                key=entry.path,
            )
        )
        notes.append(f"{entry.path} is of version 2: it is taken as topic {topic.name} as {topic.statement}")
        entry.finish()
    return followings


def _supertable(part: ObjectReader) -> str:
    try:
        return plain_name(part.text("stblname", ""), 192, keep_case=False)
    except ValueError as error:
        part.refuse("stblname", str(error))
        return "stb"


def _topic(entry: ObjectReader, database: str, supertable: str, *, is_super: bool) -> Topic:
    """Its name follows from its statement, so that the same file finds its topics again."""
    statement = one_line(entry.text("sql", ""))
    if not statement:
        entry.refuse("sql", "is needed")
    if is_super and TABLE_MARK not in statement:
        entry.refuse("sql", f"has no {TABLE_MARK}, which stands for the subtables")
    statement = statement.replace(TABLE_MARK, f"`{supertable}`") if is_super else statement
    return Topic(name=f"scale_{crc32(f'{database} {statement}'.encode()):08x}", statement=statement)
