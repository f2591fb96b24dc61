"""The keys of taosBenchmark's JSON files by their places: how each is read, or why it has no effect or is refused.

A key without a row here, such as `columns`, depends on others, and is read where its object is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Key:
    name: str  # compared without case
    how: str  # text, yes, number or choice: how it is read; only, refused: not at all; idle: without an effect
    default: Any = None
    bounds: str = ""  # of a number, by their name
    choices: tuple[str, ...] = ()
    neutral: tuple[Any, ...] = ()  # values that are neither refused nor noted
    why: str = ""


def _text(name: str, default: str = "") -> Key:
    return Key(name=name, how="text", default=default)


def _yes(name: str, default: str = "no") -> Key:
    return Key(name=name, how="yes", default=default)


def _number(name: str, bounds: str, default: int = 0) -> Key:
    return Key(name=name, how="number", bounds=bounds, default=default)


def _choice(name: str, *choices: str) -> Key:
    """The first one is the default."""
    return Key(name=name, how="choice", choices=choices, default=choices[0])


def _only(neutral: Any, why: str, *names: str) -> tuple[Key, ...]:
    return tuple(Key(name=name, how="only", neutral=(neutral,), why=why) for name in names)


def _idle(why: str, *names: str) -> tuple[Key, ...]:
    return tuple(Key(name=name, how="idle", why=why) for name in names)


_UNREAD = "taosBenchmark 3.3 does not read it"
_INSIDE = "taosBenchmark 3.3 reads it inside a super table only"
_WAITS = "the load generator waits 10 ms longer before each further try"
_OLD = "belongs to subscriptions of version 2"
_KILLS = "no query is killed; taosBenchmark 3.3 hangs before its first query when this is set"

KEYS: Mapping[str, tuple[Key, ...]] = {
    "connection": (
        _text("cfgdir"),
        _text("host"),
        _text("user", "root"),
        _text("password"),
        _number("port", "port"),
        _text("result_file", "./output.txt"),
    ),
    "insert": (
        _choice("filetype", "insert"),
        *(
            Key(name=name, how="refused", why="belongs to files whose filetype is query or subscribe")
            for name in ("query_times", "query_mode", "specified_table_query", "super_table_query", "tmq_info")
        ),
        *_only("", "belongs to taosBenchmark built for WebSocket", "dsn"),
        *_only([], "scale load makes no streams", "streams"),
        *_only("no", "scale load does not read rows back", "check_sql"),
        *_only("no", "is read inside a super table", "continue_if_fail"),
        *_only(0, _WAITS, "trying_interval"),
        *_idle(_UNREAD, "connection_pool_size", "sample_format"),
        *_idle(_INSIDE, "interlace_rows", "insert_mode"),
        _yes("escape_character"),
        _number("num_of_records_per_req", "rows_per_request", 30_000),
        _number("prepared_rand", "prepared", 10_000),
        _number("insert_interval", "interval_ms"),
        _number("keep_trying", "retries"),
        _yes("chinese"),
        _number("thread_count", "threads", 8),
        _yes("confirm_parameter_prompt", "yes"),
    ),
    "dbinfo": (
        _yes("drop", "yes"),
        *_only("no", "the load generator does not flush between requests", "flush_each_batch"),
        _text("precision", "ms"),
    ),
    "super_table": (
        *_only("", "all tables have the rows of sample_file", "childtable_sample_file"),
        *_only("no", "the load generator has no OpenTSDB socket", "tcp_transfer"),
        *_only("no", "a load has an end; use scale sweep with a duration", "non_stop_mode"),
        Key(name="start_fillback_time", how="only", neutral=("", "auto"), why="start_fillback_time is not supported"),
        *_only(1, "the load generator's values have no angle", "angle_step"),
        *_only(0, _WAITS, "trying_interval"),
        *_only(0, "there is no filling afterwards", "disorder_fill_interval"),
        *_only(0, "the load generator writes no row twice", "update_ratio", "update_fill_interval"),
        *_only(0, "the load generator deletes nothing", "delete_ratio"),
        *_only(0, "there is one rule", "generate_row_rule"),
        *_only("", "the load generator's texts have no prefix", "binary_prefix", "nchar_prefix"),
        *_only("no", "rows have the times that start and step give", "random_write_future"),
        *_only(0, "scale load does not read rows back", "check_correct_interval"),
        *_only(0, "belongs to rollup", "delay", "file_factor"),
        *_only("", "scale load makes no rollup", "rollup"),
        *_only(0, "tables live for ever", "ttl"),
        *_only("", "belongs to rollup", "max_delay", "watermark"),
        *_only(0, "the timestamp is the only key", "primary_key"),
        *_only(0, "every row has a time of its own", "repeat_ts_min", "repeat_ts_max"),
        *_only([], "statements after the load are yours to run", "sqls"),
        *_only([], "scale load makes no TSMA", "tsmas"),
        *_idle("the load generator chooses its own", "batch_create_tbl_num", "batch_create_tbl_numbers"),
        *_idle("the load generator does not pause", "batch_create_tbl_intervals"),
        *_idle("num_of_records_per_req alone says how long a request is", "max_sql_len"),
        *_idle("a file of rows is CSV", "sample_format"),
        *_idle("taosBenchmark 3.3 reads it outside the super tables", "escape_character"),
        *_idle(_UNREAD, "insert_threads", "connection_pool_size"),
        _yes("child_table_exists"),
        _number("childtable_from", "table_number"),
        _number("childtable_to", "table_number"),
        _number("childtable_offset", "table_number"),
        _choice("insert_mode", "taosc", "stmt", "rest", "sml"),
        _choice("line_protocol", "line", "telnet", "json", "taosjson"),
        _number("interlace_rows", "interlace_rows"),
        _choice("data_source", "rand", "sample"),
        _yes("use_sample_ts"),
        _text("sample_file"),
        _text("tags_file"),
        _yes("auto_create_table"),
        _number("timestamp_step", "step", 1),
        _number("disorder_ratio", "disorder_ratio"),
        _number("disorder_range", "disorder_range_ms", 1000),  # in units of the precision, as the step
        _number("partial_col_num", "columns"),
        _number("partial_col_from", "interval_ms"),
        _choice("continue_if_fail", "no", "yes"),
    ),
    "column": (
        *_only("", "the load generator has no such column", "encode", "compress", "level"),
        *_only("no", "the load generator has no such column", "sma"),
        *_only("true", "the load generator has no such column", "fillNull"),
        _number("count", "columns", 1),
        _number("len", "width", 64),
        _text("name"),
        _text("type"),
    ),
    "query": (
        _choice("filetype", "query"),
        _choice("query_mode", "taosc", "rest", "restful"),
        _number("query_times", "times", 1),
        *_idle("an answer may have any length", "response_buffer"),
        *_idle("queries do not use it", "telnet_tcp_port"),
        *_idle("no query is killed", "kill_slow_query_interval"),
        *_idle(_UNREAD, "connection_pool_size"),
        Key(name="kill_slow_query_threshold", how="idle", neutral=(0,), why=_KILLS),
        _yes("confirm_parameter_prompt", "yes"),
        _yes("reset_query_cache"),
        _choice("continue_if_fail", "no", "yes"),
    ),
    "asking": (  # specified_table_query and super_table_query of a query file
        *_idle(_OLD, "subscribe_interval", "subscribe_times", "interval", "restart", "keepProgress"),
        *_idle(_OLD, "endAfterConsume", "resubAfterConsume"),
        *_idle("a thread waits for each answer, as in taosBenchmark 3.3", "mode"),
        _number("concurrent", "threads", 1),
        _number("threads", "threads"),  # as there, it overrules `concurrent`
        _number("query_times", "times"),
        _number("query_interval", "interval_s"),
    ),
    "statement": (_text("sql"), _text("result"), *_idle(_OLD, "endAfterConsume", "resubAfterConsume")),
    "subscribe": (_choice("filetype", "subscribe"), _yes("confirm_parameter_prompt", "yes")),
    "tmq_info": (
        _choice("create_mode", "parallel", "sequential"),
        _number("concurrent", "threads", 1),
        _choice("group_mode", "share", "independent"),
        _number("poll_delay", "poll_ms", 10_000),
        _choice("enable.manual.commit", "false", "true"),
        _text("rows_file"),
    ),
    "subscription": (  # specified_table_query and super_table_query of a subscribe file
        *_idle("a consumer waits for each message", "mode"),
        *_idle("messages are read as they come", "interval"),
        *_idle("a consumer ends when no message comes any more", "endAfterConsume"),
        *_idle("a consumer subscribes once", "resubAfterConsume"),
        _number("concurrent", "threads", 1),
        _number("threads", "threads"),
        _yes("restart", "yes"),
        _yes("keepProgress"),
    ),
}
