"""Bad input, given to whole commands: one message that names the flag, key or file, exit code 2, nothing left."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.plan.target_defaults import column_mistakes
from scale_sweep.server.targets import all_facts
from tests.needs import module
from tests.unit.factories import make_sweep
from tests.unit.whole_commands import Ended, run

NULL = ("plan", "cpu", "--cores", "1", "--target", "null")
MIXED = ("--mix", "write=1,range=1", "--preload", "1M", "--step-ms", "10000")
SEARCH = ("plan", "cpu", "--cores", "1", "--target", "postgres")
SLO = (*SEARCH, "--slo", "p99 < 20ms")
NUMBERS = ",".join(map(str, range(4000)))
BYTE = "x=\udcff"  # as Python gives a program the byte 0xff of its command line


def refused(ended: Ended, *names: str, code: int = 2) -> None:
    """The command ended with the code and one message that has these names."""
    assert ended.code == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stderr.startswith("scale: ") and ended.stderr.count("scale: ") == 1
    assert [name for name in names if name not in ended.stderr] == []


def files(folder: Path) -> None:
    """A file, pipe or directory for each kind of bad file."""
    (folder / "deep.toml").write_text(f"x = {'[' * 5000}{']' * 5000}")
    (folder / "digits.toml").write_text(f"[axis]\ncores = {'9' * 5000}\n")
    (folder / "latin.toml").write_bytes(b"question = 'h\xe4'\n")
    (folder / "nul.toml").write_text('[axis]\ncores = "1"\n[target]\nname = "null"\ndata_dir = "/tmp/a\\u0000b"\n')
    (folder / "tags.toml").write_text('[axis]\ncores = "1"\n[tags]\na = {b = 1}\n[vary]\nc = {}\n')
    (folder / "name.toml").write_text('name = 5\nquestion = "a\\u001b[2Jb"\n[axis]\ncores = "1"\n')
    (folder / "places.toml").write_text('cores = "1..2"\n[load]\ntables = 4\n')
    (folder / "axes.toml").write_text('[axis]\ncores = "1..2"\ndisks = "1..2"\n')
    (folder / "null.toml").write_text('[axis]\ncores = "1"\n[target]\nname = "null"\n')
    (folder / "dir.toml").mkdir()
    os.mkfifo(folder / "pipe.toml")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ((*NULL, "--columns", ""), ["--columns", "empty"]),
        ((*NULL, "--duration", ""), ["--duration", "empty"]),
        ((*NULL, "--target", ""), ["--target", "empty"]),
        ((*NULL, "--tag", BYTE), ["--tag", "not UTF-8"]),
        ((*NULL, f"--tag={BYTE}"), ["--tag", "not UTF-8"]),
        (("sweep", "cpu", "--cores", "1", "--target", "null", "--tag", BYTE), ["--tag", "not UTF-8"]),
        ((*NULL, "--image", "a\x1b[2J"), ["--image", "control character"]),
        ((*NULL, "--knob", "a=b\nc=d"), ["--knob", "control character"]),
        ((*NULL, "--replicates", "9" * 400), ["--replicates", "above"]),
        ((*NULL, "--duration", "9" * 400), ["--duration", "above"]),
        ((*NULL, "--port", "²"), ["--port", "not a port"]),
        ((*NULL, "--connections", "²"), ["--connections", "whole number"]),
        ((*NULL, "--server-cpus", "9" * 5000), ["--server-cpus", "CPU list"]),
        (("plan", "cpu", "--cores", "1..1e308:1e-300", "--target", "null"), ["--cores", "at most"]),
        (("plan", "cpu", "--cores", "x" * 5000), ["--cores", "..."]),
        (("plan", "x" * 5000), ["neither a kind of sweep"]),
        (("plan", "deep.toml"), ["deep.toml", "nested too deeply"]),
        (("plan", "digits.toml"), ["digits.toml", "not valid TOML"]),
        (("plan", "latin.toml"), ["latin.toml", "not UTF-8", "line 1", "0xe4"]),
        (("plan", "nul.toml"), ["target.data_dir", "control character"]),
        (("plan", "tags.toml"), ["tags.a", "vary.c", "expected"]),
        (("plan", "name.toml"), ["name: a text is expected", "question:"]),
        (("plan", "places.toml"), ["cores: belongs in the section [axis]", "load.tables: belongs in", "[workload]"]),
        (("plan", "axes.toml"), ["axis.cores: in a disk sweep", "loop of [disks]"]),
        (("plan", "dir.toml"), ["dir.toml", "is a directory"]),
        (("plan", "pipe.toml"), ["axis.cores"]),
        (("plan", "/dev/zero"), ["/dev/zero", "is a device"]),
        (("load", "-f", "/dev/zero"), ["-f /dev/zero", "is a device"]),
        (("load", "--iot", "/dev/zero"), ["--iot /dev/zero", "is a device"]),
        (("load", "--iot", "latin.toml"), ["--iot latin.toml", "not UTF-8"]),
        (("load", "--iot", "x" * 5000), ["--iot", "name too long"]),
        (("fit", "/dev/zero", "--n", "a", "--x", "b"), ["/dev/zero", "is a device"]),
        (("fit", "dir.toml", "--n", "a", "--x", "b"), ["dir.toml", "is a directory"]),
        (("fit", "pipe.toml", "--n", "a", "--x", "b"), ["pipe.toml", "empty"]),
        (("show", ""), ["RUN is empty"]),
        (("observe", "--no-metrics", "--pid", "9" * 400), ["--pid", "no such process"]),
        (("observe", "--no-metrics", "--pid", "-1"), ["--pid", "no such process"]),
        (("observe", "--no-metrics", "--duration", "soon"), ["--duration"]),
        (("observe", "--no-metrics", "--port", "1"), ["--port"]),
        (("observe", "--no-metrics", "--disk", "x" * 5000), ["--disk", "is not there"]),
        (("show", "x" * 5000), ["no run"]),
        (("list", "--results", "/nope"), ["--results /nope", "does not exist"]),
        (("list", "--results", "latin.toml"), ["--results latin.toml", "not a directory"]),
        (("clean", "--dry-run", "--data-dir", "/nope"), ["--data-dir /nope", "does not exist"]),
        (("sweep", *NULL[1:], "--dry-run"), ["--dry-run", "scale plan shows the trials and starts nothing"]),
        ((*NULL, "--wait-quiet", "5m"), ["--wait-quiet", "scale sweep has it"]),
        ((*NULL, "--columns", "20"), ["--columns", "write 20:double"]),
        ((*NULL[:3], "all", *NULL[4:]), ["--cores", "write 1..all"]),
        (("servers", "install", "clickhouse"), ["clickhouse", "docker pull"]),
        (("servers", "install", "questdb,tdengine"), ["tdengine", "--home DIR"]),
        (("disks", "create", "--loop", "1GiB", "--count", "0"), ["--count", "at least 1"]),
        ((*NULL, "--columns", "a:int,a:float"), ["--columns", "'a'", "twice"]),
        ((*NULL, "--columns", "a:int,A:float"), ["--columns", "'A'", "twice"]),
        ((*NULL, "--columns", "a:int", "--tag-columns", "a:int"), ["--tag-columns", "'a'", "twice"]),
        ((*NULL, "--columns", "5000:int"), ["--columns", "4,096"]),
        ((*NULL, "--memory", "1KiB"), ["--memory", "16MiB"]),
        ((*NULL, "--connections", "100000"), ["--connections", "1..4096"]),
        ((*NULL, "--partitions", "100000"), ["--partitions", "1..65536"]),
        ((*NULL, "--tables", "2", "--connections", "4"), ["--connections", "4 workers", "2 tables"]),
        (("plan", "cpu", "--cores", "0.0001", "--target", "null"), ["--cores", "0.01"]),
        (("plan", "clients", "--clients", "5000", "--target", "null"), ["--clients", "1..4096"]),
        (("plan", "clients", "--clients", "1..8", "--tables", "4", "--target", "null"), ["--clients", "4 tables"]),
        ((*NULL, "--home", "/nope"), ["--home /nope", "does not exist"]),
        ((*NULL, "--replicates", "1000000"), ["--replicates", "1,000,000 trials", "10,000"]),
        ((*NULL, "--until-ci", "5%", "--replicates-max", "20000"), ["--replicates-max", "20,000 trials"]),
        ((*NULL, "--vary", f"a={NUMBERS}"), ["--vary", "12,000 trials"]),
        ((*NULL, *(w for name in "abcdef" for w in ("--vary", f"{name}={NUMBERS}"))), ["--vary", "combinations"]),
        (("ab", *NULL[1:], "--against-itself", "--blocks", "99999999"), ["--blocks", "399,999,996 trials"]),
        (("ab", *NULL[1:]), ["--b:", "are equal", "--against-itself"]),
        (("ab", *NULL[1:], "--a", "--tables 2", "--b", "--tables 2", "--dry-run"), ["--b:", "are equal"]),
        (("ab", "null.toml", "null.toml"), ["--b:", "are equal"]),
        (("ab", *NULL[1:], "--against-itself", "--b", "--tables 2"), ["--against-itself", "two variants"]),
        ((*NULL[:3], "1..1024,1025..2048", *NULL[4:]), ["--cores", "1024 at most"]),
        ((*NULL, "--server-cpus", ",".join(["0-60000"] * 9999)), ["--server-cpus"]),
        (("plan", "cpu", "--cores", "1", "--target", "postgresql"), ["mean postgres?"]),
        (("plan", "cpu", "--cores", "1", "--target", "Influx"), ["mean influxdb?"]),
        ((*NULL, "--runtime", "docke"), ["mean docker?"]),
        ((*NULL, "--workload", "iot-query"), ["mean iot-queries?"]),
        ((*NULL, "--mix", "rang=1"), ["mean range?"]),
        ((*NULL, "--operation", "a.kind=ranges"), ["mean range?"]),
        ((*NULL, "--method", "discards"), ["--method", "mean discard?"]),
        ((*NULL, "--vary", "method=discard,discards"), ["mean discard?"]),
        (("plan", "clinets"), ["mean clients?"]),
        (("servers", "install", "quest"), ["mean questdb?"]),
        (("servers", "install", "postgres,quest"), ["mean questdb?"]),
        ((*SEARCH, "--slo", ""), ["--slo", "p99 < 20ms"]),
        ((*SEARCH, "--slo", "p98 < 20ms"), ["--slo", "p98", "p99"]),
        ((*SEARCH, "--slo", "p99 < 20"), ["--slo", "unit"]),
        ((*SEARCH, "--slo", "p99 > 20ms"), ["--slo", "upper limit"]),
        ((*SEARCH, "--slo", "scan.p99 < 20ms"), ["--slo", "scan", "write"]),
        ((*SEARCH, "--slo", "p999 < 20ms", "--rows-per-request", "10000"), ["--slo", "10,000 requests", "--duration"]),
        ((*SEARCH, "--confirm", "off"), ["--confirm", "--slo"]),
        ((*SLO, "--rate", "10k", "--duration", "5s", "--until-ci", "3%"), ["--slo finds", "--slo and --until-ci"]),
        ((*SLO, "--rows", "1M"), ["--slo", "--rows"]),
        ((*SLO, *MIXED, "--operation", "write.rate=1k"), ["--slo", "NAME.rate"]),
        ((*SLO, *MIXED, "--operation", "write.connections=4"), ["--slo", "NAME.connections"]),
        ((*SLO, "--target", "victoriametrics", "--method", "tcp"), ["--slo", "--method tcp", "answers"]),
        ((*SLO, "--load-generator", "taosbenchmark"), ["--slo", "--load-generator"]),
        (("plan", "disk", "--disks", "1..2", "--loop", "1GiB", *SLO[4:]), ["--slo", "disks"]),
    ],
    ids=lambda value: " ".join(value)[:80].encode("ascii", "backslashreplace").decode(),
)
def test_what_cannot_be_read_or_done_is_refused_by_its_name(tmp_path, words, names):
    files(tmp_path)
    before = sorted(os.listdir(tmp_path))
    ended = run(*words, cwd=tmp_path, SCALE_SERVERS_DIR=str(tmp_path))
    refused(ended, *names)
    assert sorted(os.listdir(tmp_path)) == before
    assert ended.memory_mb < 500


@pytest.mark.parametrize("facts", [facts for facts in all_facts() if facts.own_columns], ids=lambda facts: facts.name)
def test_a_column_is_not_named_like_one_that_the_target_has(facts):
    data = make_sweep().work.data
    for own in facts.own_columns:
        (mistake, *_) = column_mistakes(replace(data, columns=("a:int", f"{own.upper()}:int")), facts)
        assert mistake.startswith("--columns: ")
    assert not column_mistakes(data, facts)


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    module("matplotlib")
    (tmp_path / "t.csv").write_text("n,x\n1,1\n2,2\n3,3\n")
    os.mkfifo(tmp_path / "pipe")
    ended = run("fit", "t.csv", "--n", "n", "--x", "x", "--png", "pipe", cwd=tmp_path)
    refused(ended, "pipe cannot be written", code=6)


MANY_LEVELS = tuple((*NULL[:3], f"0.1..{last}:0.001", *NULL[4:], "--replicates", "1") for last in ("0.101", "1.101"))
MANY_REPLICATES = tuple((*NULL, "--replicates", str(n)) for n in (1001, 2001))


@pytest.mark.parametrize(
    ("less", "more"),
    [MANY_REPLICATES, [(*words, "--json") for words in MANY_REPLICATES], MANY_LEVELS],
    ids=["table", "json", "levels"],
)
def test_a_plan_takes_at_most_a_millisecond_and_ten_kilobytes_a_trial(tmp_path, less, more):
    few, many = (run(*words, cwd=tmp_path, COLUMNS="160") for words in (less, more))
    assert few.code == many.code == 0
    assert less == MANY_LEVELS[0] or many.memory_mb - few.memory_mb < 1000 * 0.010
    assert many.cpu_s - few.cpu_s < 1000 * 0.001 * 4  # CPUs that are shared with other machines are three times slower


FILE = (
    "DB_SWITCH={database}\nHOST=127.0.0.1\nPORT={port}\nDEVICE_NUMBER=40\nSENSOR_NUMBER=12\nCLIENT_NUMBER=4\nLOOP=10\n"
)


@pytest.fixture
def silent(tmp_path):
    """A directory with a configuration of a server that accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        port = server.getsockname()[1]
        (tmp_path / "config.properties").write_text(FILE.format(database="PostgreSQL", port=port))
        yield tmp_path
        with pytest.raises(BlockingIOError):  # nobody has connected
            server.accept()


@pytest.mark.parametrize(
    "change",
    [
        *("IS_OUT_OF_ORDER=maybe", "IS_DELETE_DATA=1", "QUERY_SENSOR_NUM=0", "QUERY_SENSOR_NUM=13", "QUERY_INTERVAL=x"),
        *("QUERY_DEVICE_NUM=100000", "QUERY_AGGREGATE_FUN=maximum", "GROUP_BY_TIME_UNIT=-1", "LOOP=", "LOOP=1_0"),
        *("LOOP=999999999999999999", "SENSOR_NUMBER=99999999", "DEVICE_NUMBER=9999999999999", "CLIENT_NUMBER=5000"),
        *("BATCH_SIZE_PER_WRITE=99999999", "POINT_STEP=99999999999", "LINE_RATIO=nan", "STRING_LENGTH=99999999"),
        *("LAMBDA=1e300", "WORKLOAD_BUFFER_SIZE=99999999999", "TAG_NUMBER=1000000000000"),
        "START_TIME=" + "9" * 5000,
        "PORT=" + "9" * 5000,
        "TAG_VALUE_CARDINALITY=" + "9" * 5000,
        "OPERATION_PROPORTION=1e308:1e308",
        "DATA_SEED=" + "9" * 30,
        "SENSOR_NAME_PREFIX=" + "x" * 70,
        "DB_NAME=a\nhost=elsewhere",
    ],
    ids=lambda change: change[:40],
)
def test_a_value_that_a_key_cannot_have(silent, change):
    ended = run("load", "--iot", ".", change, cwd=silent)
    key = change.partition("=")[0]
    assert ended.code == 2, ended.stderr
    assert ended.stderr.startswith(f"scale: {key}: ")
    assert len(ended.stderr) < 1000
    assert ended.memory_mb < 500
