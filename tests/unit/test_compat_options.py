"""No option and no JSON key of taosBenchmark is dropped in silence: each changes the work, is noted, or is refused."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.keys import KEYS
from scale_sweep.taosbenchmark.objects import load_document
from scale_sweep.taosbenchmark.options import OPTIONS
from scale_sweep.taosbenchmark.run_inserts import aggregate_spec, statements
from tests.offenders import assert_none
from tests.unit.test_compat_queries import SPECIFIED, STABLE
from tests.unit.test_compat_queries import document as queries
from tests.unit.test_compat_subscriptions import document as subscription

NOW = datetime(2026, 1, 2, 3, 4, 5)

# taosBenchmark 3.3's options: those with a value, each unlike its default; those that take none; those that end at once.
VALUES = (
    "h=elsewhere P=7030 I=stmt u=me p=secret o=lines.txt T=3 i=5 S=7 H=2 s=1600000000000 B=5 r=77 t=12 n=13 d=other l=9 "
    "L=2 A=INT b=INT,INT w=10 m=x R=5000 O=10 a=3 F=99 k=2 z=50 v=6 W=dsn D=3"
)
GIVEN = dict(value.split("=") for value in VALUES.split()) | dict.fromkeys("UECNMxygGQ", "")
OTHERS = "fcV?"
NEEDS = {"w": ["-b", "BINARY,NCHAR(3)"], "R": ["-O", "5"], "E": ["-d", "Power"]}


def read(arguments):
    return read_job(*read_given(arguments), ScaleOptions(), {}, NOW)


def test_the_table_holds_every_option_once():
    assert sorted(o.short for o in OPTIONS if o.short) == sorted([*GIVEN, *OTHERS])
    assert len({o.long for o in OPTIONS}) == len(OPTIONS)


@pytest.mark.parametrize("letter", GIVEN)
def test_an_option_changes_the_job_or_is_noted_or_is_refused(letter):
    option = next(o for o in OPTIONS if o.short == letter)
    base, value = NEEDS.get(letter, []), GIVEN[letter]
    short, long = (
        ([f"-{letter}", value], [f"--{option.long}={value}"]) if value else ([f"-{letter}"], [f"--{option.long}"])
    )
    for words in (short, long):
        if option.why:
            with pytest.raises(UsageError, match=f"-{letter} \\(--{option.long}\\)"):
                read([*base, *words])
        else:
            job, plain = read([*base, *words]), read(base)
            assert (job, job.password) != (plain, plain.password)


def test_config_dir_gives_host_and_port(tmp_path):
    (tmp_path / "taos.cfg").write_text("# client\nfirstEp  db7:7030  # here\nfqdn other\n")
    (tmp_path / "empty").mkdir()
    for folder, host, port in ((tmp_path, "db7", 7030), (tmp_path / "empty", "localhost", 6030)):
        job = read(["-c", str(folder)])
        assert (job.host, job.port, job.client_config) == (host, port, str(folder))
    assert read(["-c", str(tmp_path / "taos.cfg"), "-P", "1"]).port == 1
    with pytest.raises(UsageError, match="-c"):
        read(["-c", str(tmp_path / "nowhere")])


def test_long_names_are_in_full_the_last_of_two_counts_and_vgroups_are_automatic_unless_something_says_them():
    with pytest.raises(UsageError, match="--thread: .*--threads"):
        read(["--thread", "3"])
    assert read(["-T", "3", "--threads", "4"]).threads == 4
    assert read([]).vgroups_auto
    for words in (["-T", "8"], ["-v", "2"], ["-h", "localhost"], ["-U"], ["-I", "rest"]):
        assert not read(words).vgroups_auto, words


# JSON keys without a row in KEYS, each with a value that has an effect there.
TOP, INFO = {"create_table_thread_count": 3}, {"name": "other", "vgroups": 4, "bogus": 1}
TABLE = dict.fromkeys("keep_trying insert_interval childtable_limit start_timestamp".split(), 1)
TABLE |= {"name": "x", "childtable_prefix": "z"}
TABLE |= {"columns": [{"type": "FLOAT"}], "tags": [{"type": "FLOAT"}]}
COLUMN = {"fun": "x", "gen": "order", "min": 1, "max": 2, "values": ["x"]}
TOPICS = dict.fromkeys("enable.auto.commit enable.heartbeat.background experimental.snapshot.enable".split(), "true")
TOPICS |= {"expect_rows": 5, "auto.commit.interval.ms": 5, "msg.with.table.name": "true", "client.id": "c"}
TOPICS |= {"auto.offset.reset": "earliest", "group.id": "other", "topic_list": [{"name": "x", "sql": "y"}]}


def document():
    columns = [{"type": "BINARY", "name": "a", "len": 8}, {"type": "INT", "name": "z"}]
    table = {"name": "s", "childtable_count": 2, "childtable_prefix": "y", "insert_rows": 5, "start_timestamp": 1000}
    table |= {"insert_mode": "sml", "line_protocol": "line"}
    table |= {"columns": columns, "tags": [{"type": "INT"}]}
    info = {"name": "Db", "drop": "yes", "precision": "ms"}
    return {"filetype": "insert", "databases": [{"dbinfo": info, "super_tables": [table]}]}


def read_file(tmp_path, content, *options):
    path = tmp_path / "insert.json"
    path.write_text(json.dumps(content))
    job = read(["-f", str(path), *options])
    return job, job.password


def table_of(content):
    return content["databases"][0]["super_tables"][0]


PLACES = {  # where keys stand in a file, and those without a row
    ("connection", "insert"): (document, lambda content: content, TOP),
    ("dbinfo",): (document, lambda content: content["databases"][0]["dbinfo"], INFO),
    ("super_table_if", "super_table"): (document, table_of, TABLE),
    ("column",): (document, lambda content: table_of(content)["columns"][0], COLUMN),
    ("connection", "query"): (queries, lambda content: content, {"databases": "other"}),
    ("asking", "specified"): (queries, lambda content: content[SPECIFIED], {"mixed_query": "yes"}),
    ("asking", "stable"): (queries, lambda content: content[STABLE], {"stblname": "other"}),
    ("tmq_info",): (subscription, lambda content: content["tmq_info"], TOPICS),
}


def other_value(key):
    """One that is not the default."""
    if key.how == "yes":
        return "no" if key.default == "yes" else "yes"
    if key.how == "number":
        return 1 if key.name == "partial_col_from" else 4
    return key.choices[1] if len(key.choices) > 1 else "/"


@pytest.mark.parametrize("place", PLACES, ids=" ".join)
def test_a_json_key_changes_the_job_or_is_noted_or_is_refused_by_its_path(tmp_path, place):
    make, where, more = PLACES[place]
    rows = {key.name: other_value(key) for part in place for key in KEYS.get(part, ())}
    if "query" in place:
        del rows["confirm_parameter_prompt"]  # no file of queries is asked about
    for key, value in (rows | more).items():
        plain, changed = make(), make()
        if key == "prepared_rand":
            table_of(plain)["insert_mode"] = table_of(changed)["insert_mode"] = "stmt"
        where(changed)[key] = value
        try:
            assert read_file(tmp_path, changed) != read_file(tmp_path, plain), key
        except UsageError as error:
            assert key in error.message or f"{place[-1]}s" in error.message, key


def test_names_of_keys_are_compared_without_case_as_taosbenchmark_does(tmp_path):
    content = document()
    (entry,) = content["databases"]
    shouted = {"dbInfo": entry["dbinfo"], "SUPER_TABLES": [{k.upper(): v for k, v in entry["super_tables"][0].items()}]}
    assert read_file(tmp_path, {"FileType": "insert", "Databases": [shouted]}) == read_file(tmp_path, content)
    with pytest.raises(UsageError, match="'Filetype' is given twice"):
        read_file(tmp_path, content | {"Filetype": "insert"})


def test_an_unknown_key_is_refused_anywhere_and_in_one_message_with_the_options(tmp_path):
    content = document() | {"streams": [{}]}
    table = content["databases"][0]["super_tables"][0]
    for entry in (content, content["databases"][0], table, table["columns"][0], table["tags"][0]):
        entry["nonsense"] = 1
    with pytest.raises(UsageError) as refused:
        read_file(tmp_path, content, "-t", "5", "-x")
    assert (refused.value.exit_code, refused.value.message.count("nonsense")) == (2, 5)
    assert all(word in refused.value.message for word in ("-x (--aggr-func)", "-t (--tables)", "streams"))


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"[" * 100_000, "nested"), (b"\xff{}", "UTF-8"), (b'{"a": 1' + b"0" * 5000 + b"}", "digits")]
    + [(b" " * (4 * 2**20 + 1), "at most"), (b"", "line 1"), (b"{}x", "line 1"), (b"7", "one JSON object")],
)
def test_documents_that_are_none(raw, words):
    with pytest.raises(ValueError, match=words):
        load_document(raw)


def texts_of(*options):
    job = read(["-x", *options])
    return list(statements(job.databases[0], job.databases[0].tables[0]).values())


def test_every_function_is_asked_of_one_group_and_of_one_more_each_time(wording):
    texts = texts_of("-t", "30")
    assert (len(texts), len(texts_of("-t", "3"))) == (8 * 10, 8 * 3)
    own = texts_of("-t", "1", "-b", "INT", "-A", "INT")
    normal = texts_of("-N", "-t", "30")
    assert len(normal) == 8
    wording(*texts[:2], texts[-1], own[2], normal[1])


def test_one_thread_asks_each_once_and_goes_on_after_a_failure():
    job = read(["-x", "-N", "-t", "3"])
    database = job.databases[0]
    spec = aggregate_spec(job, ScaleOptions(), database, database.tables[0], {"aggregate0": "x"}, "items")
    assert (spec["rounds"], spec["items"], spec["database"], spec.get("threads", "1")) == ("1", "items", "test", "1")
    assert int(spec["max_errors"]) > 1000


def test_every_option_and_every_json_key_is_on_the_page():
    page = (Path(__file__).resolve().parents[2] / "docs" / "taosbenchmark.md").read_text(encoding="utf-8")
    names = [f"--{option.long}" for option in OPTIONS] + [f"-{option.short}" for option in OPTIONS if option.short]
    assert_none(name for name in names if f"`{name}`" not in page)
    places = ("connection", "insert", "super_table", "super_table_if", "column")
    rows = [row for place in places for row in KEYS[place]]
    keys = sorted({*TOP, *TABLE, *COLUMN, *(row.name for row in rows)})
    assert_none(key for key in keys if f"`{key}`" not in page and f"`{key}[]`" not in page)
