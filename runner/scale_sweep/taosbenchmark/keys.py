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
    needs: str = ""  # it has no effect in a super table without that


def _text(name: str, default: str = "") -> Key:
    return Key(name=name, how="text", default=default)


def _yes(name: str, default: str = "no") -> Key:
    return Key(name=name, how="yes", default=default)


def _number(name: str, bounds: str, default: int = 0) -> Key:
    return Key(name=name, how="number", bounds=bounds, default=default)


def _choice(name: str, *choices: str) -> Key:
    """The first one is the default."""
    return Key(name=name, how="choice", choices=choices, default=choices[0])


def _only(neutral: Any, why: str, *names: str, needs: str = "") -> tuple[Key, ...]:
    return tuple(Key(name=name, how="only", neutral=(neutral,), why=why, needs=needs) for name in names)


def _idle(why: str, *names: str, neutral: tuple[Any, ...] = ()) -> tuple[Key, ...]:
    return tuple(Key(name=name, how="idle", why=why, neutral=neutral) for name in names)


_OFF = (0, "no", "")
_UNREAD = "taosBenchmark 3.3 does not read it"
_OLDER = "read by taosBenchmark 2.0, not by version 3"
_MADE_BY_RULE = "taosBenchmark 3.3 reads it only if generate_row_rule makes the rows"
RULE, RETRIES, SAMPLE, FILL_BACK, SHARING = "rule", "retries", "sample", "fill back", "sharing"
NEEDS: Mapping[str, str] = {
    RULE: "taosBenchmark 3.3 makes rows by a rule only with taosc and without interlace_rows",
    RETRIES: "keep_trying is 0",
    SHARING: "with --placement owned each thread has vgroups of its own",
    SAMPLE: "data_source is rand",
    FILL_BACK: "taosBenchmark 3.3 reads it only with start_timestamp now and interlace_rows",
}
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
        *_idle(_MADE_BY_RULE, "check_sql", "continue_if_fail", neutral=_OFF),
        *_only(0, _WAITS, "trying_interval", needs=RETRIES),
        *_only("no", "taosBenchmark 3.3.2 reads it; add --placement owned", "thread_bind_vgroup", needs=SHARING),
        *_only("no", "taosBenchmark 3.3.1 reads it; scale load loads no meta data beforehand", "pre_load_tb_meta"),
        *_idle(_UNREAD, "connection_pool_size", "sample_format", "prepare_rand", "rest_port"),
        *_idle("only a file with filetype csvfile uses it, from taosBenchmark 3.3.2 on", "csvPath"),
        *_idle(_OLDER, "max_sql_len"),
        *_idle("taosBenchmark 3.3 reads it for queries only", "telnet_tcp_port"),
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
        *_idle("insert_mode sml-rest, which is refused, writes to that socket", "tcp_transfer", neutral=_OFF),
        *_only("no", "a load has an end; use scale sweep with a duration", "non_stop_mode"),
        *_idle("values that fun describes have an angle", "angle_step", neutral=(1,)),
        *_idle(
            _MADE_BY_RULE,
            *("disorder_fill_interval", "update_ratio", "update_fill_interval", "delete_ratio"),
            *("binary_prefix", "nchar_prefix", "random_write_future", "check_correct_interval"),
            neutral=_OFF,
        ),
        *_only(0, "belongs to rollup", "delay", "file_factor"),
        *_only("", "scale load makes no rollup", "rollup"),
        *_only(0, "tables live for ever", "ttl"),
        *_only("", "belongs to rollup", "max_delay", "watermark"),
        *_only(0, "the timestamp is the only key", "primary_key"),
        *_idle("only primary_key gives several rows one time", "repeat_ts_min", "repeat_ts_max", neutral=_OFF),
        *_only([], "statements after the load are yours to run", "sqls"),
        *_only([], "scale load makes no TSMA", "tsmas"),
        *_idle("the load generator chooses its own", "batch_create_tbl_num", "batch_create_tbl_numbers"),
        *_idle("the load generator does not pause", "batch_create_tbl_intervals"),
        *_idle("num_of_records_per_req alone says how long a request is", "max_sql_len"),
        *_idle("a file of rows is CSV", "sample_format"),
        *_idle("taosBenchmark 3.3 reads it outside the super tables", "escape_character"),
        *_idle(_UNREAD, "insert_threads", "connection_pool_size"),
        *_idle(_OLDER, "multi_thread_write_one_tbl", "rows_per_tbl", "number_of_tbl_in_one_sql"),
        _yes("child_table_exists"),
        _number("childtable_count", "tables_or_none"),
        _number("insert_rows", "rows_or_none"),
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
        _number("partial_col_num", "partial"),
        _number("partial_col_from", "interval_ms"),
        _choice("continue_if_fail", "no", "yes"),
    ),
    "super_table_if": (
        *_only("", "all tables have the rows of sample_file", "childtable_sample_file", needs=SAMPLE),
        *_only("", "start_fillback_time is not supported", "start_fillback_time", needs=FILL_BACK),
        *_only(0, _WAITS, "trying_interval", needs=RETRIES),
        *_only(0, "there is one rule", "generate_row_rule", needs=RULE),
    ),
    "column": (
        *_only("", "the load generator has no such column", "encode", "compress", "level"),
        *_only("no", "the load generator has no such column", "sma"),
        *_idle(_MADE_BY_RULE, "fillNull", neutral=("true",)),
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
        *_idle("taosBenchmark 3.3 reads it beside each sql", "result"),
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
