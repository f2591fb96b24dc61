"""IoT-benchmark's configuration: what each key comes to, what is refused, the matrices, and where its token goes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.iotbenchmark.config_values import read_properties
from scale_sweep.iotbenchmark.keys import KEYS
from scale_sweep.iotbenchmark.output import LATENCIES, LoadDone, document, matrix_lines
from scale_sweep.iotbenchmark.read import names_of, read_job
from scale_sweep.iotbenchmark.run import read_file
from scale_sweep.iotbenchmark.spec import load_spec, texts_of, trial_of
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.protocol import parse_line
from scale_sweep.server.targets import all_facts, load_facts
from tests.offenders import assert_none
from tests.unit.web_server import Answer, Request, web_server
from tests.unit.whole_commands import run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "iot-benchmark.md").read_text(encoding="utf-8")
BASE = {"DB_SWITCH": "PostgreSQL", "DEVICE_NUMBER": "40", "SENSOR_NUMBER": "12", "CLIENT_NUMBER": "4", "LOOP": "10"}


def job(**values: str):
    return read_job(BASE | values)


def spec(**values: str) -> dict[str, str]:
    asked = job(**values)
    facts = load_facts(asked.target)
    trial = trial_of(asked, facts, (0, 1))
    return load_spec(asked, trial, {"driver": "x"}, texts_of(asked, facts, trial.subject.method), 0)


def refused(**values: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        job(**values)
    return caught.value.message.splitlines()


def values_of(words: str) -> dict[str, str]:
    return dict(word.split("=") for word in words.split())


def keys(lines) -> list[str]:
    """What each line begins with: the key that it is about."""
    return [line.split(" ")[0].rstrip(":") for line in lines]


def test_a_file_is_read_as_java_reads_it_with_what_overrides_it_and_defaults(tmp_path):
    text = "# no\n! no\n\n A = 1 \nB:2\nC 3\nD=a\\\n   b\nE=x\\u0041\\=\\\\\nA=4\nF=\n"
    assert read_properties(text) == {"A": "4", "B": "2", "C": "3", "D": "ab", "E": "xA=\\", "F": ""}
    (tmp_path / "config.properties").write_text("DB_SWITCH=QuestDB\nLOOP=7\nHOST=h\nPORT=9000\n")
    read = read_file(str(tmp_path), ("LOOP=8", "DEVICE_NUMBER=20"), {"SCALE_TARGET_PASSWORD": "s"})
    assert (read.target, read.host, read.port, read.password) == ("questdb", "h", 9000, "s")
    assert read.rows == 8 * 100 * 20
    for words in (("-x",), ("LOOP",)):
        with pytest.raises(UsageError, match="KEY=VALUE"):
            read_file(str(tmp_path), words, {})
    with pytest.raises(UsageError, match="No such file"):
        read_file(str(tmp_path / "none"), (), {})
    read = read_job({"DB_SWITCH": "TDengine-3"})
    data = read.work.data
    assert (read.clients, data.tables, len(data.columns), data.rows_per_request) == (20, 6000, 200, 100)
    assert read.rows == 6000 * 100 * 100
    assert (data.start_ms, data.step_ms, data.period_rows, data.decimals) == (1640966405000, 5000, 100, 2)
    assert (data.values, data.disorder) == ("line=1,sine=1,square=1,random=1,constant=1", "")
    assert (read.seed, read.read_seed, read.drops, read.timeout_s) == (666, 151658, True, 120.0)


def test_names_of_keys_are_compared_without_case(tmp_path):
    (tmp_path / "config.properties").write_text(
        "db_switch=QuestDB\nloop=7\nIotdb_Dialect_Mode=tree\nBatch_Size_per_write=10"
    )
    read = read_file(str(tmp_path), ("Loop=8",), {})
    assert (read.target, read.rows, keys(read.notes)) == ("questdb", 8 * 10 * 6000, [])
    assert keys(refused(lopp="1", loop="x")) == ["LOOP", "lopp"]


def test_the_page_has_every_key_every_database_and_those_that_store_tags():
    assert_none(key for key in sorted(row.name for row in KEYS.values()) if f"`{key}`" not in PAGE)
    names = {name for facts in all_facts() for name in names_of(facts)}
    assert {name for name in names if f"`{name}`" in PAGE} == names >= {"TDengine-3", "InfluxDB", "TimescaleDB"}
    (line,) = [line for line in PAGE.splitlines() if line.startswith("| `TAG_NUMBER`")]
    titles = {facts.title for facts in all_facts() if facts.stores_tags and facts.name != "null"}
    assert {facts.title for facts in all_facts() if facts.title in line} == titles


def test_columns_laws_intervals_and_tags_are_those_of_the_file():
    for shares, kinds in (
        ("1:1:1:1:1:1", "bool bool int int bigint bigint float float double double binary(2) binary(2)".split()),
        ("0:1:0:0:3:0:0:0:0:0:0", ["int"] * 3 + ["double"] * 9),
        ("0:0:0:0:0:1:1:0:2:0:0", ["binary(2)"] * 6 + ["timestamp"] * 6),
    ):
        columns = job(INSERT_DATATYPE_PROPORTION=shares).work.data.columns
        assert columns == tuple(f"s_{i}:{kind}" for i, kind in enumerate(kinds))
    data = job(
        IS_OUT_OF_ORDER="true", OUT_OF_ORDER_MODE="BATCH", OUT_OF_ORDER_RATIO="0.3", START_TIME="2020-01-01T00:00:00Z",
        LINE_RATIO="0.054", SIN_RATIO="0.036", SQUARE_RATIO="0", RANDOM_RATIO="0.512", CONSTANT_RATIO="0.352",
    ).work.data  # fmt: skip
    assert (data.disorder, data.disorder_percent, data.disorder_rows) == ("batch", 30, 1000)
    assert data.values == "line=105469,sine=70312,random=1000000,constant=687500"
    assert data.start_ms == 1577836800000 + 5000
    data = job(DEVICE_NUM_PER_WRITE="5", BATCH_SIZE_PER_WRITE="20").work.data
    assert (data.rows_per_request, data.interlace_rows) == (100, 20)
    assert job(REAL_INSERT_RATE="0.25").work.data.tables == 11  # there, too, one more than a quarter
    assert keys(refused(REAL_INSERT_RATE="0.25", OPERATION_PROPORTION="1:1")) == ["REAL_INSERT_RATE"]
    for given, rows_per_s in (
        ("OP_MIN_INTERVAL=0", 0),
        ("OP_MIN_INTERVAL=1000", 40 * 100),
        ("OP_MIN_INTERVAL=-1 POINT_STEP=2000", 40 * 100 / 2),
        ("OP_MIN_INTERVAL=1000 OP_MIN_INTERVAL_RANDOM=true", 40 * 100 * 2),
        ("INTERVAL_BETWEEN_WRITE_BATCH=50", 40 * 100 / 0.5),
        ("INTERVAL_BETWEEN_WRITE_BATCH=50 OP_MIN_INTERVAL=1000", 40 * 100),
    ):
        assert job(**values_of(given)).rate == pytest.approx(rows_per_s)
    given = {"DB_SWITCH": "TDengine-3", "TAG_NUMBER": "2", "TAG_VALUE_CARDINALITY": "50,10"}
    told = spec(**given)
    assert told["tags"] == "groupid:int,tag_0:binary(20),tag_1:binary(20)"
    assert (told["tag_groups"], told["tag_prefix"]) == ("tag_0:50,tag_1:10", "value_")
    named = spec(**given, TAG_KEY_PREFIX="area", TAG_VALUE_PREFIX="a-value-of-this-tag-")
    assert named["tags"] == "groupid:int,area0:binary(22),area1:binary(21)"
    assert named["tag_groups"] == "area0:50,area1:10"
    assert "tag_groups" not in spec()
    assert keys(job(TAG_KEY_PREFIX="x").notes) == ["TAG_KEY_PREFIX"]
    for database in ("TimescaleDB", "IoTDB-200-SESSION_BY_TABLET"):
        assert keys(refused(**given | {"DB_SWITCH": database})) == ["TAG_NUMBER"]


@pytest.mark.parametrize("more", ["", ":0:0", ":1", ":0:0:0:0:0:0:0"])
def test_operations_by_eleven_to_thirteen_shares(more):
    read = job(OPERATION_PROPORTION="3:1:0:2:0:0" + more)
    weights = {o.name: o.weight for o in read.work.operations}
    assert weights["range_value"] == pytest.approx(2 * weights["point"], rel=3e-4)
    assert weights["write"] == pytest.approx(3 * 10 * weights["point"], rel=3e-4)  # ten devices of each client
    part = 3 / (7 if more == ":1" else 6)
    assert read.requests == round(10 * 4 * (part * 10 + 1 - part))
    assert read.rows == 0


def test_queries_have_the_files_parameters():
    told = spec(
        OPERATION_PROPORTION="1:0:1:0:0:0:0:1", QUERY_INTERVAL="60000", STEP_SIZE="2", GROUP_BY_TIME_UNIT="15000",
        QUERY_AGGREGATE_FUN="max_value", QUERY_DEVICE_NUM="3", POINT_STEP="1000", LOOP="90",
    )  # fmt: skip
    assert told["ask.range.span_ms"] == "60001"  # the end belongs to the range
    assert told["ask.group_by_time.span_ms"] == "60000"  # and here it does not, as in IoT-benchmark
    assert told["ask.range.step_ms"] == "2000"
    assert told["ask.range.within_ms"] == str(2000 * 29)  # of 90 loops, 30 ask a range
    assert told["ask.range.text"].count("{device}") == 3
    assert 'max("s_2")' in told["ask.group_by_time.text"]  # the first sensor that holds numbers
    assert "'15000 milliseconds'" in told["ask.group_by_time.text"]
    assert (told["requests"], "rows" in told) == (str(90 * 4 // 3 * 10 + 240), False)
    for database, words in {"IoTDB-200-SESSION_BY_TABLET": "max_time(s_2)", "PostgreSQL": "max(time) FILTER"}.items():
        told = spec(DB_SWITCH=database, OPERATION_PROPORTION="1:0:0:0:1", QUERY_AGGREGATE_FUN="max_time")
        assert words in told["ask.aggregate.text"]
    with pytest.raises(UsageError, match="QUERY_AGGREGATE_FUN: TDengine has no max_time"):
        spec(DB_SWITCH="TDengine-3", OPERATION_PROPORTION="1:0:0:0:1", QUERY_AGGREGATE_FUN="max_time")
    told = spec(OPERATION_PROPORTION="1:0:1", IS_RECENT_QUERY="true")
    assert (told["ask.range.follows"], "ask.range.within_ms" in told) == ("1", False)
    read = job(OPERATION_PROPORTION="0:1", IS_RECENT_QUERY="true")
    assert (read.writes, read.drops, read.creates, read.requests) == (False, False, False, 40)
    assert "IS_RECENT_QUERY" in keys(read.notes)


TABLE_2_4 = {
    "QUERY_DEVICE_NUM": "2", "QUERY_SENSOR_NUM": "2", "QUERY_AGGREGATE_FUN": "count", "STEP_SIZE": "1",
    "QUERY_INTERVAL": "250000", "QUERY_LOWER_VALUE": "-5", "GROUP_BY_TIME_UNIT": "20000", "LOOP": "30",
    "OPERATION_PROPORTION": "0:1:1:1:1:1:1:1:1:1:1", "INSERT_DATATYPE_PROPORTION": "0:0:0:0:1:0", "POINT_STEP": "500",
}  # fmt: skip


def test_table_2_4_of_the_article_asks_as_iot_benchmark_does(wording):
    told = spec(DB_SWITCH="IoTDB-013-SESSION_BY_TABLET", **TABLE_2_4)
    names = ("range_value", "aggregate", "aggregate_value", "group_by_time")
    wording(*(told[f"ask.{name}.text"] for name in names))
    assert (told["ask.range.span_ms"], told["ask.group_by_time.span_ms"]) == ("250001", "250000")
    assert (told["ask.range_value.value_low"], told["requests"]) == ("-5", "120")
    one, all_of_them = {"OPERATION_PROPORTION": "0:0:0:1"}, {}
    asked = dict.fromkeys("PostgreSQL TimescaleDB InfluxDB InfluxDB2 QuestDB TDengine-3".split(), all_of_them)
    for database, shares in (asked | dict.fromkeys(("Cassandra", "VictoriaMetrics"), one)).items():
        told = spec(DB_SWITCH=database, **TABLE_2_4 | shares)
        texts = [text for key, text in told.items() if key.endswith(".text")]
        assert len(texts) == (1 if shares else 10)
        assert all("s_0" in text and "s_1" in text and text.count("{value}") % 2 == 0 for text in texts)
        assert told["ask.range_value.text"].count("{value}") == (4 if database == "QuestDB" else 2)
    with pytest.raises(UsageError, match="aggregate: KairosDB is not asked for aggregates of several columns"):
        spec(DB_SWITCH="KairosDB", OPERATION_PROPORTION="1:0:0:0:1", QUERY_SENSOR_NUM="2")


def test_keys_without_a_meaning_and_names_of_other_versions_are_said():
    read = job(GROUP_NUMBER="10", CSV_OUTPUT="true", DB_NAME="x", COMPRESSOR="", IOTDB_DATA_DIR="/data,/more")
    assert keys(read.notes) == ["GROUP_NUMBER", "CSV_OUTPUT", "IOTDB_DATA_DIR"]
    other = read_job({"DB_SWITCH": "VictoriaMetrics", "DB_NAME": "x", "USERNAME": "u"})
    assert keys(other.notes) == ["USERNAME", "DB_NAME"]
    for version in ("013", "100", "110", "130"):
        read = job(DB_SWITCH=f"iotdb-{version}-session_by_tablet")
        assert (read.target, read.method) == ("iotdb", "tablet")
        (note,) = read.notes
        assert note.startswith(f"DB_SWITCH: IoTDB-{version}-SESSION_BY_TABLET ")
    for how in ("tablet", "records"):
        read = job(DB_SWITCH=f"IoTDB-200-SESSION_BY_{how.upper()}")
        assert (read.method, read.notes) == (how, ())
    assert all(method in facts.methods for facts in all_facts() for method in names_of(facts).values())
    for name in ("InfluxDB-2.x", "INFLUXDB2"):
        read = read_job({"DB_SWITCH": name, "TOKEN": "t0ken", "PASSWORD": "p"})
        assert (read.target, read.password, keys(read.notes)) == ("influxdb2", "t0ken", ["PASSWORD"])
        assert "t0ken" not in repr(read)
    assert read_job({"DB_SWITCH": "InfluxDB2", "TOKEN": "t0ken"}, "given").password == "given"
    other = job(TOKEN="t0ken")
    assert (other.password, keys(other.notes)) == ("root", ["TOKEN"])
    read = job(DB_SWITCH="TimescaleDB", USERNAME="u", DB_NAME="d")
    assert (read.target, read.user, read.database_name, read.notes) == ("timescaledb", "u", "d", ())


STORE = {"TEST_DATA_PERSISTENCE": "MySQL", "TEST_DATA_STORE_IP": "h", "TEST_DATA_STORE_DB": "a b"}


def test_where_results_are_stored_and_where_not():
    read = job(**STORE, TEST_DATA_STORE_USER="u@", TEST_DATA_STORE_PW="s3cret", REMARK="r", TOKEN="t0ken", LOOP="3")
    settings = read.store.settings
    assert (read.store.url, read.store.password) == ("mysql://u%40@h:3306/a%20b", "s3cret")
    assert read.store.project.startswith("testW_Postg_r_2")
    assert (settings["LOOP"], settings["SENSOR_NUMBER"]) == ("3", "12")
    assert not {"s3cret", "t0ken", "PASSWORD", "TOKEN"} & {*settings, *settings.values()}
    assert "s3cret" not in repr(read)
    assert read_job(BASE | STORE, store_password="given").store.password == "given"
    for given in ({}, {"TEST_DATA_PERSISTENCE": "None"}):
        assert (job(**given).store, job(**given).notes) == (None, ())
    read = job(TEST_DATA_PERSISTENCE="CSV", TEST_DATA_STORE_DB="x")
    assert (read.store, keys(read.notes)) == (None, ["TEST_DATA_PERSISTENCE=csv", "TEST_DATA_STORE_DB"])
    assert keys(refused(TEST_DATA_PERSISTENCE="Oracle")) == ["TEST_DATA_PERSISTENCE"]
    wrong = refused(TEST_DATA_PERSISTENCE="MySQL", TEST_DATA_STORE_IP="a/b", TEST_DATA_STORE_PORT="0")
    assert keys(wrong) == [f"TEST_DATA_STORE_{part}" for part in ("IP", "PORT", "DB")]


@pytest.mark.parametrize(
    "words",
    [
        *"DB_SWITCH=IoTDB-200-JDBC LOPP=1 LOOP=ten LOOP=0 OUT_OF_ORDER_RATIO=1.5 OUT_OF_ORDER_MODE=CHAOS".split(),
        *"OPERATION_PROPORTION=0:0 OPERATION_PROPORTION=1:0:0:0:0:0:0:0:0:0:0:0:0:0 CLIENT_NUMBER=41".split(),
        *"INSERT_DATATYPE_PROPORTION=1:1 INSERT_DATATYPE_PROPORTION=1:1:1:1:1:1:0:1:0:0:0 DOUBLE_LENGTH=6".split(),
        *"START_TIME=yesterday START_TIME=2022-01-01T00:00:00 LINE_RATIO=-1 HOST=a,b PORT=x".split(),
        *(f"{row.name}=other" for row in KEYS.values() if row.how == "only"),
        "QUERY_SENSOR_NUM=13 OPERATION_PROPORTION=1:1",
        "OPERATION_PROPORTION=1:1 QUERY_DEVICE_NUM=41",
        "QUERY_AGGREGATE_FUN=median OPERATION_PROPORTION=1:0:0:0:1",
        "TAG_VALUE_CARDINALITY=0 TAG_NUMBER=1 DB_SWITCH=InfluxDB",
        "TAG_VALUE_CARDINALITY=5;3 TAG_NUMBER=1 DB_SWITCH=InfluxDB",
        "TAG_KEY_PREFIX=a;b TAG_VALUE_CARDINALITY=3 TAG_NUMBER=1 DB_SWITCH=InfluxDB",
        "TAG_VALUE_PREFIX=it's TAG_VALUE_CARDINALITY=3 TAG_NUMBER=1 DB_SWITCH=InfluxDB",
    ],
)
def test_what_would_be_another_load_is_refused_by_its_first_key(words):
    given = values_of(words)
    assert keys(refused(**given))[0] == next(iter(given))


def test_all_mistakes_come_at_once(wording):
    wording(
        *refused(
            LOOP="x", LOPP="1", USE_SSL="true", PORT="0", OUT_OF_ORDER_RATIO="1.5", START_TIME="yesterday", HOST="a,b",
            DB_SWITCH="InfluxDB", TAG_NUMBER="1", TAG_VALUE_CARDINALITY="3,4",
        )
    )  # fmt: skip


def test_the_matrices_have_all_operations_and_their_figures():
    text = "driver=null\ntables=9\noperations=range:1,write:1\nrequests=200\nask.range.text={device}\nrows_per_request=10\n"
    said = subprocess.run([loadgen_path(), "load", "-"], input=text, capture_output=True, text=True, check=True)
    summary = parse_line(said.stdout.splitlines()[-1])
    asked = job(OPERATION_PROPORTION="1:0:1")
    done = LoadDone(summary=summary, schema_s=0.5, rows_counted=7, troubles=(), interrupted=False)
    lines = matrix_lines(asked, done)
    result = next(line.split() for line in lines if line.startswith("TIME_RANGE"))
    told = next(one for one in document(asked, done)["operations"] if one["operation"] == "range")
    assert [line.split(" ")[0] for line in lines].count("INGESTION") == 2
    assert "throughput(point/s)" in lines[3]
    assert lines[20].split() == ["Operation", *LATENCIES]
    assert result[1:5] == [str(told[name]) for name in ("okOperation", "okPoint", "failOperation", "failPoint")]
    assert told["okPoint"] == sum(o.rows_window for o in summary.operations if o.name == "range") > 0
    assert told["latency_ms"]["MIN"] <= told["latency_ms"]["MEDIAN"] <= told["latency_ms"]["MAX"]
    assert told["throughput"] == pytest.approx(told["okPoint"] / summary.window_s)


TOKEN = "t0ken-of-the-file"
ANSWERS = {
    "/health": {"version": "v2.7.12"},
    "/api/v2/orgs": {"orgs": [{"id": "0f0f"}]},
    "/api/v2/buckets": {"id": "0b0b", "buckets": [{"id": "0b0b"}]},
    "/api/v2/dbrps": {"content": [{}]},
    "/query": {"results": [{"error": "not asked here"}]},
}


def answer(request: Request) -> Answer:
    path = request.path.partition("?")[0]
    return Answer(200, ANSWERS[path]) if path in ANSWERS else Answer(204)


def test_every_request_has_the_token(tmp_path):
    with web_server(answer) as server:
        text = f"DB_SWITCH=InfluxDB-2.x\nHOST=127.0.0.1\nPORT={server.port}\nTOKEN={TOKEN}\nDEVICE_NUMBER=4\n"
        (tmp_path / "config.properties").write_text(f"{text}SENSOR_NUMBER=3\nCLIENT_NUMBER=2\nLOOP=3\n")
        done = run("load", "--iot", "config.properties", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert sum(one.path.startswith("/api/v2/write?") for one in server.requests) == 3 * 4
    assert {one.authorization for one in server.requests if one.path != "/health"} == {f"Token {TOKEN}"}
    assert TOKEN not in done.stdout + done.stderr
