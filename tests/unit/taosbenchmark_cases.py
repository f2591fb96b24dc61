"""Insert files in the shapes of taosBenchmark's own, drawn by a seed, and what taosBenchmark 3.3.0.0 makes of each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

_TYPES = ("INT", "FLOAT", "DOUBLE", "SMALLINT", "BOOL", "TINYINT")
_COMMON: dict[str, tuple[Any, ...]] = {  # each value is drawn; None leaves the key out
    "thread_count": (1, 2, 3, 4),
    "create_table_thread_count": (None, 1, 2),
    "num_of_records_per_req": (None, 1, 7, 10, 50, 100, 30_000),
    "prepared_rand": (None, 10, 100, 10_000),
    "insert_interval": (None, 0),
    "interlace_rows": (None, 0, 100),
    "connection_pool_size": (None, 8, 20),
    "chinese": (None, "no"),
    "max_sql_len": (None, None, 1_024_000),
    "thread_bind_vgroup": (None, None, "no"),
    "check_sql": (None, "no", "yes"),
    "continue_if_fail": (None, None, "no"),
    "trying_interval": (None, None, 1000),
}
_INFO: dict[str, tuple[Any, ...]] = {
    "precision": (None, "ms", "us", "ns"),
    "vgroups": (None, 1, 2),
    "keep": (None, 3650, "36500d"),
    "minRows": (None, 100),
    "maxRows": (None, 4096),
    "comp": (None, 2),
    "cachemodel": (None, "'none'", "'both'", '"last_row"'),
    "flush_each_batch": (None, None, "no"),
}
_TABLE: dict[str, tuple[Any, ...]] = {
    "child_table_exists": (None, "no", "no", "yes"),
    "childtable_count": (1, 3, 8, 12),
    "insert_rows": (0, 5, 20, 20, 50, 61),
    "interlace_rows": (None, 0, 0, 1, 5, 30, 200),
    "insert_mode": (None, "taosc", "taosc", "stmt", "sml"),
    "auto_create_table": (None, "no", "no", "yes"),
    "childtable_limit": (None, 0, -1, -10, 2),
    "childtable_offset": (None, 0),
    "data_source": (None, "rand"),
    "sample_file": (None, "", "./sample.csv"),
    "tags_file": (None, ""),
    "insert_interval": (None, 0),
    "timestamp_step": (1, 10, 1000),
    "start_timestamp": ("now-3d", "now - 2h + 5m", "2022-10-01 00:00:00.000", "2020-10-01 00:00:00"),
    "partial_col_num": (None, 0, 0, 1, 2, 999),
    "partial_col_from": (None, None, 1),
    "disorder_ratio": (None, 0),
    "disorder_range": (None, 0, 1000),
    "update_fill_interval": (None, None, 25),
    "update_ratio": (None, None, 5),
    "generate_row_rule": (None, None, 0),
    "start_fillback_time": (None, None, "auto"),
    "batch_create_tbl_num": (None, 5, 10),
    "multi_thread_write_one_tbl": (None, "no"),
    "rows_per_tbl": (None, None, 0),
    "max_sql_len": (None, 1_024_000),
    "non_stop_mode": (None, "no"),
    "line_protocol": (None, None, "line"),
    "keep_trying": (None, 0),
    "rollup": (None,),
    "sqls": (None, None, []),
}


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Of one super table: the numbers of its tables, rows of each, at most so many in a request."""

    first: int
    tables: int
    rows_each: int
    request: int
    interlace: int  # rows of a table before the next one; 0: to its end

    def requests(self, threads: int) -> int:
        """With interlacing, a request ends with the round over a thread's tables."""
        threads = min(threads, self.tables)
        if not self.rows_each or not threads:
            return 0
        if not self.interlace:
            return self.tables * -(-self.rows_each // self.request)
        shares = [self.tables // threads + (i < self.tables % threads) for i in range(threads)]
        return -(-self.rows_each // self.interlace) * sum(-(-n * self.interlace // self.request) for n in shares)


def drawn(seed: int) -> dict[str, Any]:
    """The content of one file."""
    draw = random.Random(seed)
    info = {"name": "pairs", "drop": draw.choice(("yes", "yes", "yes", "no"))} | _values(draw, _INFO)
    tables = [_table(draw, number) for number in range(draw.choice((1, 1, 1, 2, 3)))]
    for table in tables if _lower(info).get("precision", "ms") != "ms" else ():
        # taosBenchmark takes the milliseconds of now-3d for its units, which is in 1970
        table |= {key: "2024-02-01 00:00:00" for key in table if key.lower() == "start_timestamp"}
    head = {"filetype": "insert", "cfgdir": "/etc/taos", "host": "127.0.0.1", "port": 6030, "user": "root"}
    head |= {"password": "taosdata", "confirm_parameter_prompt": "no"} | _values(draw, _COMMON)
    return head | {"databases": [{"dbinfo": info, "super_tables": tables}]}


def _values(draw: random.Random, choices: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    values = {key: draw.choice(of) for key, of in choices.items()}
    upper = draw.random() < 0.1
    return {key.title() if upper else key: value for key, value in values.items() if value is not None}


def _table(draw: random.Random, number: int) -> dict[str, Any]:
    table = {"name": f"stb{number}", "childtable_prefix": f"t{number}_"} | _values(draw, _TABLE)
    written = _lower(table)
    if written["childtable_count"] > 5 and not written.get("interlace_rows") and draw.random() < 0.2:
        table |= {"childtable_from": 2, "childtable_to": 5}
    columns = [{"type": draw.choice(_TYPES)} for _ in range(draw.choice((1, 2, 3)))]
    columns.append({"type": "BINARY", "len": 16, "count": draw.choice((1, 2))})
    tags = [{"type": "TINYINT", "count": 2}, {"type": "BINARY", "len": 16, "name": "site"}]
    if draw.random() < 0.1 and written.get("insert_mode") != "sml" and written.get("auto_create_table") != "yes":
        tags = []
    return table | {"columns": columns, "tags": tags}


def expected(content: dict[str, Any]) -> list[Expected]:
    """As its source has it, step by step: the rows in a request are one number of the whole process."""
    found = []
    request = content.get("num_of_records_per_req", _lower(content).get("num_of_records_per_req", 30_000))
    for database in content["databases"]:
        dropped = database["dbinfo"]["drop"] != "no"
        for table in map(_lower, database["super_tables"]):
            count, rows = table["childtable_count"], table["insert_rows"]
            exists = table.get("child_table_exists") == "yes" and not dropped
            makes = table.get("auto_create_table") == "yes" and not exists
            interlace, first = min(table.get("interlace_rows", 0), request), table.get("childtable_from", 0)
            tables = table["childtable_to"] - first if "childtable_to" in table else count
            if exists and table.get("childtable_limit", 0) > 0 and "childtable_to" not in table:
                first = table.get("childtable_offset", 0)
                tables = min(table["childtable_limit"], count - first)
            if interlace > rows:
                interlace = 0
            if rows and not interlace:
                request = min(request, rows)
            if interlace and table.get("insert_mode") == "stmt" and makes:
                interlace = 0
            most = _round(request, interlace, tables, content) if interlace else min(request, rows)
            found.append(Expected(first=first, tables=tables, rows_each=rows, request=most, interlace=interlace))
    return found


def _round(request: int, interlace: int, tables: int, content: dict[str, Any]) -> int:
    """Rows of at most one round over a thread's tables."""
    threads = min(_lower(content)["thread_count"], tables)
    return interlace * min(request // interlace, -(-tables // threads))


def _lower(values: dict[str, Any]) -> dict[str, Any]:
    return {key.lower(): value for key, value in values.items()}
