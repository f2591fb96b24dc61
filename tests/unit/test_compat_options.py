"""No option and no JSON key of taosBenchmark is dropped in silence: each changes the work, is noted, or is refused."""

import json
from datetime import datetime

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.keys import load_document
from scale_sweep.taosbenchmark.options import OPTIONS
from scale_sweep.taosbenchmark.run import read_given, read_job

NOW = datetime(2026, 1, 2, 3, 4, 5)

# taosBenchmark 3.3's options, each with a value unlike its default ("": it takes none).
GIVEN = {
    "f": None,
    "c": None,
    "h": "elsewhere",
    "P": "7030",
    "I": "stmt",
    "u": "me",
    "p": "secret",
    "o": "lines.txt",
    "T": "3",
    "i": "5",
    "S": "7",
    "H": "2",
    "s": "1600000000000",
    "U": "",
    "B": "5",
    "r": "77",
    "t": "12",
    "n": "13",
    "d": "other",
    "l": "9",
    "L": "2",
    "A": "INT",
    "b": "INT,INT",
    "w": "10",
    "m": "x",
    "E": "",
    "C": "",
    "N": "",
    "M": "",
    "x": "",
    "y": "",
    "R": "5000",
    "O": "10",
    "a": "3",
    "g": "",
    "G": "",
    "F": "99",
    "k": "2",
    "z": "50",
    "v": "6",
    "V": None,
    "Q": "",
    "W": "dsn",
    "D": "3",
    "?": None,
}
NEEDS = {"w": ["-b", "BINARY,NCHAR(3)"], "R": ["-O", "5"], "E": ["-d", "Power"]}


def read(arguments):
    return read_job(*read_given(arguments), ScaleOptions(), {}, NOW)


def test_the_table_holds_every_option_once():
    letters = [o.short for o in OPTIONS if o.short]
    assert sorted(letters) == sorted(GIVEN)
    assert len({o.long for o in OPTIONS}) == len(OPTIONS)


@pytest.mark.parametrize("letter", [letter for letter, value in GIVEN.items() if value is not None])
def test_an_option_changes_the_job_or_is_noted_or_is_refused(letter):
    option = next(o for o in OPTIONS if o.short == letter)
    base = NEEDS.get(letter, [])
    for words in ([f"-{letter}", GIVEN[letter]], [f"--{option.long}={GIVEN[letter]}"]):
        arguments = words if GIVEN[letter] else [words[0].rstrip("=")]
        if option.why:
            with pytest.raises(UsageError, match=f"-{letter} \\(--{option.long}\\)"):
                read([*base, *arguments])
        else:
            job, plain = read([*base, *arguments]), read(base)
            assert (job, job.password) != (plain, plain.password)


def test_config_dir_gives_host_and_port(tmp_path):
    (tmp_path / "taos.cfg").write_text("# client\nfirstEp  db7:7030  # here\nfqdn other\n")
    job = read(["-c", str(tmp_path)])
    assert (job.host, job.port) == ("db7", 7030)
    assert read(["-c", str(tmp_path / "taos.cfg"), "-P", "1"]).port == 1
    with pytest.raises(UsageError, match="-c"):
        read(["-c", str(tmp_path / "nowhere")])
    (tmp_path / "empty").mkdir()
    job = read(["-c", str(tmp_path / "empty")])
    assert (job.host, job.port, job.client_config) == ("localhost", 6030, str(tmp_path / "empty"))


def test_long_names_are_written_in_full_and_the_last_of_two_counts():
    with pytest.raises(UsageError, match="--thread: is unknown; did you mean --threads"):
        read(["--thread", "3"])
    assert read(["-T", "3", "--threads", "4"]).threads == 4


def test_threads_and_vgroups_are_automatic_only_when_neither_is_said():
    assert read([]).vgroups_auto
    for words in (["-T", "8"], ["-v", "2"], ["-h", "localhost"], ["-U"], ["-I", "rest"]):
        assert not read(words).vgroups_auto, words


# JSON keys that taosBenchmark 3.3 reads, by place, each with a value that has an effect there.
TOP = {
    "filetype": "query",
    "cfgdir": None,
    "host": "h",
    "port": 7030,
    "user": "u",
    "password": "p",
    "confirm_parameter_prompt": "no",
    "continue_if_fail": "yes",
    "check_sql": "yes",
    "result_file": "r",
    "thread_count": 3,
    "keep_trying": 2,
    "trying_interval": 5,
    "create_table_thread_count": 2,
    "num_of_records_per_req": 3,
    "prepared_rand": 3,
    "chinese": "yes",
    "escape_character": "yes",
    "insert_interval": 9,
    "insert_mode": "stmt",
    "dsn": "x",
    "streams": [{}],
    "connection_pool_size": 9,
}
INFO = {"name": "other", "drop": "no", "flush_each_batch": "yes", "precision": "us", "vgroups": 4, "bogus": 1}
TABLE = {
    "name": "other",
    "childtable_prefix": "z",
    "childtable_sample_file": "x",
    "auto_create_table": "yes",
    "batch_create_tbl_num": 5,
    "batch_create_tbl_numbers": "5",
    "batch_create_tbl_intervals": "5",
    "child_table_exists": "yes",
    "childtable_count": 3,
    "data_source": "sample",
    "insert_mode": "stmt",
    "line_protocol": "telnet",
    "tcp_transfer": "yes",
    "childtable_limit": 1,
    "childtable_offset": 1,
    "childtable_from": 1,
    "childtable_to": 1,
    "continue_if_fail": "smart",
    "start_fillback_time": "now",
    "start_timestamp": 1,
    "timestamp_step": 2,
    "angle_step": 2,
    "keep_trying": 2,
    "trying_interval": 2,
    "sample_file": "x",
    "use_sample_ts": "yes",
    "non_stop_mode": "yes",
    "max_sql_len": 5,
    "tags_file": "x",
    "insert_rows": 6,
    "interlace_rows": 2,
    "disorder_ratio": 2,
    "disorder_range": 7,
    "disorder_fill_interval": 2,
    "update_ratio": 2,
    "update_fill_interval": 2,
    "delete_ratio": 2,
    "generate_row_rule": 2,
    "binary_prefix": "x",
    "nchar_prefix": "x",
    "random_write_future": "yes",
    "check_correct_interval": 2,
    "insert_interval": 2,
    "partial_col_num": 2,
    "partial_col_from": 1,
    "delay": 2,
    "file_factor": 2,
    "rollup": "x",
    "ttl": 2,
    "max_delay": "x",
    "watermark": "x",
    "primary_key": 1,
    "repeat_ts_min": 2,
    "repeat_ts_max": 2,
    "sqls": ["x"],
    "columns": [{"type": "FLOAT"}],
    "tags": [{"type": "FLOAT"}],
    "tsmas": [{}],
}
COLUMN = {
    "type": "FLOAT",
    "name": "b",
    "len": 9,
    "count": 2,
    "min": 1,
    "max": 2,
    "gen": "order",
    "fun": "x",
    "values": ["x"],
    "fillNull": "false",
    "encode": "x",
    "compress": "x",
    "level": "x",
    "sma": "yes",
}


def document():
    column = {"type": "BINARY", "name": "a", "len": 8}
    table = {"name": "s", "childtable_count": 2, "childtable_prefix": "x", "insert_rows": 5, "start_timestamp": 1000}
    table |= {"insert_mode": "sml", "line_protocol": "line", "partial_col_num": 1}
    table |= {"columns": [column, {"type": "INT", "name": "z"}], "tags": [{"type": "INT"}]}
    info = {"name": "Db", "drop": "yes", "precision": "ms"}
    return {"filetype": "insert", "databases": [{"dbinfo": info, "super_tables": [table]}]}


def read_file(tmp_path, content):
    path = tmp_path / "insert.json"
    path.write_text(json.dumps(content))
    job = read(["-f", str(path)])
    return job, job.password


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        *(("top", k, v) for k, v in TOP.items() if v is not None),
        *(("info", k, v) for k, v in INFO.items()),
        *(("table", k, v) for k, v in TABLE.items()),
        *(("column", k, v) for k, v in COLUMN.items()),
    ],
)
def test_a_json_key_changes_the_job_or_is_noted_or_is_refused_by_its_path(tmp_path, place, key, value):
    plain, changed = document(), document()
    for content in (plain, changed):
        if key == "line_protocol":
            content["databases"][0]["super_tables"][0]["line_protocol"] = "json"
        if key == "prepared_rand":
            content["databases"][0]["super_tables"][0]["insert_mode"] = "stmt"
    entry = changed["databases"][0]
    table = entry["super_tables"][0]
    where = {"top": changed, "info": entry["dbinfo"], "table": table, "column": table["columns"][0]}[place]
    where[key] = value
    try:
        assert read_file(tmp_path, changed) != read_file(tmp_path, plain)
    except UsageError as error:
        assert key in error.message or f"{place}s" in error.message


def test_an_unknown_key_is_refused_anywhere(tmp_path):
    content = document()
    table = content["databases"][0]["super_tables"][0]
    for entry in (content, content["databases"][0], table, table["columns"][0], table["tags"][0]):
        entry["nonsense"] = 1
    with pytest.raises(UsageError) as refused:
        read_file(tmp_path, content)
    assert refused.value.message.count("nonsense") == 5


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff{}", "no UTF-8"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "digits"),
        (b" " * (4 * 2**20 + 1), "at most"),
        (b"", "line 1"),
        (b"{}x", "line 1"),
        (b"7", "one JSON object"),
    ],
)
def test_documents_that_are_none(raw, words):
    with pytest.raises(ValueError, match=words):
        load_document(raw)


def test_refusals_of_options_and_file_come_in_one_message(tmp_path):
    path = tmp_path / "insert.json"
    path.write_text(json.dumps(document() | {"check_sql": "yes"}))
    with pytest.raises(UsageError) as refused:
        read(["-f", str(path), "-t", "5", "-x"])
    assert all(word in refused.value.message for word in ("-x (--aggr-func)", "-t (--tables)", "check_sql"))
    assert refused.value.exit_code == 2
