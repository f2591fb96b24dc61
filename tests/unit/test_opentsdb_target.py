"""OpenTSDB without its servers: what is started and refused, what a count tells, how queries are rendered."""

import json
import re
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scale_sweep.base.errors import CannotAsk, TargetError
from scale_sweep.experiment.work import queries_of, spec_lines
from scale_sweep.model.questions import Drawn
from scale_sweep.model.resources import Site
from scale_sweep.server.targets import Address, load_facts, load_target
from scale_sweep.server.targets.opentsdb.opentsdb_queries import rows_of
from scale_sweep.server.targets.opentsdb.opentsdb_session import JARS, MADE, NAMES_AT_ONCE, ROOT
from scale_sweep.server.targets.opentsdb.opentsdb_target import script
from scale_sweep.server.targets.placeholders import filled
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_reads import START, work_of

KNOBS = {"connections": "4", "heap": "256m", "tsd_heap": "128m"}
UP = "os.write(1, b'%s up\\n')\ntime.sleep(60)"


def trial_of(cores=1.5, knobs=KNOBS, method="put", **flags):
    made = make_trial(make_sweep(target__name="opentsdb", **flags), cores=cores)
    return replace(made, knobs=knobs, subject=replace(made.subject, method=method))


def spec_of(knobs=KNOBS):
    site = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h")
    return load_target("opentsdb").server(trial_of(knobs=knobs), site, "")


def files_of(spec):
    """The properties of HBase, and the TSD's settings."""
    site, conf = (spec.files[f"/d/opentsdb/conf/{name}"] for name in ("hbase-site.xml", "opentsdb.conf"))
    return dict(re.findall("<property><name>(.*?)</name><value>(.*?)</value></property>", site)), conf.splitlines()


def test_both_programs_are_kept_where_they_belong_also_in_an_image():
    spec = spec_of()
    site, conf = files_of(spec)
    assert spec.ports == (7001, 7002, 7003, 7004, 7005)
    at = conf.index("tsd.network.bind = 127.0.0.1")
    assert conf[at + 1] == "tsd.network.port = 7001"
    assert {"tsd.storage.hbase.zk_quorum = 127.0.0.1:7002", "tsd.storage.enable_compaction = false"} < set(conf)
    wanted = {
        "hbase.zookeeper.property.clientPort": "7002",
        "hbase.master.port": "7003",
        "hbase.regionserver.port": "7004",
        "hbase.master.info.port": "7005",
        "hbase.master.ipc.address": "127.0.0.1",
        "hbase.regionserver.ipc.address": "127.0.0.1",
        "hbase.master.info.bindAddress": "127.0.0.1",
        "hbase.rootdir": "file:///d/opentsdb/hbase/data",
        "hbase.zookeeper.property.dataDir": "/d/opentsdb/hbase/zookeeper",
    }
    assert wanted.items() <= site.items()
    assert "0.0.0.0" not in " ".join(spec.files.values())
    both = spec.files["/d/opentsdb/both.sh"]
    assert both.count("-XX:ActiveProcessorCount=2") == 2
    assert "-Xmx256m" in both and "-Xmx128m" in both
    site = Site(data_dir="/d", port=7001, bind_address="0.0.0.0", home="/opt/opentsdb", in_image=True)
    spec = load_target("opentsdb").server(trial_of(), site, "")
    hbase, conf = files_of(spec)
    assert spec.ports == (7001, 7003, 7004, 7005), "ZooKeeper is not asked"
    assert {"tsd.network.bind = 0.0.0.0", "tsd.storage.hbase.zk_quorum = 127.0.0.1:7002"} < set(conf)
    assert hbase["hbase.zookeeper.quorum"] == hbase["hbase.master.hostname"] == "127.0.0.1"
    assert hbase["hbase.master.ipc.address"] == hbase["hbase.regionserver.ipc.address"] == "0.0.0.0"
    both = spec.files["/d/opentsdb/both.sh"]
    assert both.count("setpriv --pdeathsig KILL /opt/java/openjdk/bin/java ") == 2


def test_an_item_goes_into_the_configuration_that_it_belongs_to():
    of_tsd = {"tsd.storage.flush_interval": "7", "tsd.storage.enable_compaction": "true"}
    of_its_client = {"hbase.nsre.high_watermark": "9"}
    spec = spec_of({**KNOBS, **of_tsd, **of_its_client, "hbase.regionserver.handler.count": "<3>"})
    site, conf = files_of(spec)
    assert {f"{name} = {value}" for name, value in (of_tsd | of_its_client).items()} < set(conf)
    assert site["hbase.regionserver.handler.count"] == "&lt;3&gt;"
    assert not [line for line in conf if "handler" in line or "heap" in line]
    assert not [name for name in site if "flush_interval" in name or "nsre" in name or "heap" in name]


def test_tags_of_a_load_and_the_version_of_the_jar_are_known(tmp_path):
    trial = trial_of()
    for tags, limit in ((7, None), (9, "10")):
        data = replace(trial.work.data, tags=tuple(f"t{i}:int" for i in range(tags)))
        settings = load_target("opentsdb").settings(replace(trial, work=replace(trial.work, data=data)), is_ours=True)
        assert settings.get("tsd.storage.max_tags") == limit
    (tmp_path / ROOT).mkdir()
    names = ("HdrHistogram-2.1.12", "hbase-server-2.4.18", "opentsdb-2.4.1")
    (tmp_path / ROOT / JARS).write_text(" ".join(f"/c/opentsdb-9.9/lib/{name}.jar" for name in names) + "\n")
    assert session_of(tmp_path).version() == "2.4.1"


def test_knobs_that_are_none_and_items_that_no_class_names_are_refused(tmp_path):
    of_hbase = "hbase.rootdir hbase.regionserver.ipc.address hbase.zookeeper.property.clientPort"
    for name in ("tsd.network.port", "tsd.network.bind", *of_hbase.split(), "storage.flush_interval"):
        (finding,) = load_target("opentsdb").check(trial_of(knobs={**KNOBS, name: "1", "tsd.mode": "rw"}), None)
        assert finding.blocking and name in finding.sentence.split()
        assert ("neither" in finding.sentence) is (name == "storage.flush_interval")
    (tmp_path / "lib").mkdir()
    for jar, member, text in (
        ("opentsdb-2.4.1.jar", "net/Config.class", b"\0\x1etsd.storage.flush_interval\x01\0\x08tsd.mode\x01"),
        ("hbase-common-2.4.18.jar", "hbase-default.xml", b"<name>hbase.regionserver.handler.count</name>"),
    ):
        with zipfile.ZipFile(tmp_path / "lib" / jar, "w") as file:
            file.writestr(member, text)
    known = {"tsd.storage.flush_interval": "1", "tsd.mode": "rw", "hbase.regionserver.handler.count": "3"}
    asked = trial_of(knobs={**KNOBS, **known, "tsd.storage.flush": "1"})
    (finding,) = load_target("opentsdb").check_installed(str(tmp_path), asked)
    assert "tsd.storage.flush:" in finding.sentence
    assert load_target("opentsdb").check_installed("/nowhere", asked) == ()


def test_a_question_for_a_name_that_was_never_written_is_told_apart_from_others_that_fail():
    def failed(cause):
        return (
            f"{failure} \n"
            "com.stumbleupon.async.DeferredGroupException: At least one of the Deferreds failed, first exception:\n"
            "\tat com.stumbleupon.async.DeferredGroup.done(DeferredGroup.java:169)\n"
            f"Caused by: {cause}\n\tat net.opentsdb.uid.UniqueId.call(UniqueId.java:1)\n"
        )

    suspicious, failure = load_target("opentsdb").suspicious, "ERROR QueryRpc Query exception:"
    unknown = failed("net.opentsdb.uid.NoSuchUniqueName: No such name for 'metrics': 'measurement_f'")
    refused = failed("org.hbase.async.RemoteException: Call queue is full")
    put = "ERROR PutDataPointRpc Unexpected exception\n"
    assert suspicious(unknown * 2) == ()
    assert suspicious(refused) == suspicious(refused + unknown) == (failure,)
    assert suspicious(unknown + put) == suspicious(put + unknown) == (put.strip(),)
    cut = "\n".join(unknown.splitlines()[:2])
    assert suspicious(f"{cut}\nWARN UniqueId NoSuchUniqueName\n") == (failure,)


def begun(hbase, tsd, tmp_path):
    """The script with these two commands of Python, and the file that lets the second one start."""
    path = tmp_path / "both.sh"
    commands = [(sys.executable, "-c", f"import os, signal, sys, time\n{text}") for text in (hbase, tsd)]
    path.write_text(script(str(tmp_path), "/h", *commands))
    process = subprocess.Popen(["/bin/sh", str(path)], stdout=subprocess.PIPE, text=True)
    return process, tmp_path / MADE


def both_up(tmp_path, hbase=UP % "hbase", tsd=UP % "tsd"):
    process, made = begun(hbase, tsd, tmp_path)
    assert process.stdout.readline() == "hbase up\n"
    made.touch()
    assert process.stdout.readline() == "tsd up\n"
    return process


def test_the_second_program_waits_for_the_tables_and_one_that_ends_takes_the_other_along(tmp_path):
    (tmp_path / MADE).touch()  # of the start before
    process, made = begun(UP % "hbase", UP % "tsd", tmp_path)
    assert process.stdout.readline() == "hbase up\n"
    time.sleep(0.5)
    assert not made.exists()
    process.terminate()
    assert process.wait(50) == 0
    assert process.stdout.read() == ""
    assert begun("sys.exit(3)", UP % "tsd", tmp_path)[0].wait(50) == 1
    slowly = "signal.signal(15, lambda *_: (time.sleep(5), os.write(1, b'hbase ends\\n'), sys.exit(0)))\n"
    process = both_up(tmp_path, slowly + UP % "hbase", "os.write(1, b'tsd up\\nno memory\\n')\nsys.exit(3)")
    assert process.wait(50) == 3
    assert process.stdout.read() == "no memory\n"


def test_a_signal_ends_the_second_one_first_and_a_killed_shell_takes_both_along(tmp_path):
    ends = "signal.signal(15, lambda *_: (time.sleep(0.3), os.write(1, b'%s ends\\n'), sys.exit(0)))\n"
    process = both_up(tmp_path, ends % "hbase" + UP % "hbase", ends % "tsd" + UP % "tsd")
    process.terminate()
    assert process.wait(50) == 0
    assert process.stdout.read() == "tsd ends\nhbase ends\n"
    process = both_up(tmp_path)
    process.kill()
    process.wait(50)
    assert process.stdout.read() == "", "it ends when no process holds it any more"


class Points:
    """A TSD with these times by device for each metric, asked over its session's Web. others: series of other tags."""

    def __init__(self, session, others=(), **columns):
        self.columns = {f"measurement_{name}": [*times.items(), *others] for name, times in columns.items()}
        self.asked = []
        session._web = self

    def post_json(self, path, _within, text):
        assert path == "/api/query"
        asked = json.loads(text)
        (one,) = asked["queries"]
        (by,) = one["filters"]
        self.asked.append(by["filter"])
        if one["metric"] not in self.columns:
            raise TargetError(f"OpenTSDB refused {path}: HTTP status 400: No such name for 'metrics'")
        answers = []
        for device, times in self.columns[one["metric"]]:
            inside = [at for at in times if asked["start"] <= at <= asked["end"]]
            if inside and (by["filter"] == "*" or device in by["filter"].split("|")):
                points = {str(asked["start"]): len(inside)} if "downsample" in one else dict.fromkeys(inside, 7)
                tags = {"device": device, "groupid": str(len(answers))}
                answers.append({"tags": tags, "dps": {str(at): n for at, n in points.items()}})
        return answers


def session_of(tmp_path, tables="2", **more):
    flags = {"workload__start_ms": "60000", "workload__step_ms": "10", "workload__columns": "f:float,i:int"}
    trial = trial_of(workload__tables=tables, **flags, **more)
    return load_target("opentsdb").session(trial, Address(host="127.0.0.1", port=1, secret="", data_dir=str(tmp_path)))


@pytest.mark.parametrize(
    ("f", "i", "words"),
    [
        (None, None, ""),  # nothing was ever written
        ("60000,60010 60000", "60000,60010 60000", ""),
        ("60000,60020 60000", "60000,60020 60000", "d0"),
        ("60010 60000", "60010 60000", "d0"),
        ("60000 60000", "60000", "columns i "),
        ("60000,60010", "", "columns i "),
    ],
)
def test_a_count_tells_which_device_lacks_rows(tmp_path, f, i, words):
    def devices(text):
        return {f"d{at}": list(map(int, times.split(","))) for at, times in enumerate(text.split())}

    columns = {name: devices(text) for name, text in (("f", f), ("i", i)) if text is not None}
    session = session_of(tmp_path)
    Points(session, **columns)
    counted = session.count()
    assert counted.rows == sum(map(len, columns.get("f", {}).values()))
    assert words in "".join(counted.gaps) and bool(counted.gaps) is bool(words)


def test_a_device_may_have_series_of_other_tags_and_many_points_are_counted_in_parts(tmp_path, monkeypatch):
    session = session_of(tmp_path, tables="1")
    Points(session, others=[("d0", [60020])], f={"d0": [60000, 60010]}, i={"d0": [60000, 60010]})
    assert (session.count().rows, session.count().gaps) == (3, ())
    monkeypatch.setattr("scale_sweep.server.targets.opentsdb.opentsdb_session.POINTS_AT_ONCE", 32)
    session = session_of(tmp_path, tables="5")
    times = {f"d{i}": [60000, 60010] for i in range(5)}
    asked = Points(session, f=times, i=times).asked
    assert session.count().rows == 10
    assert asked[:4] == ["d0", "d0|d1", "d2|d3", "d4"]


@pytest.mark.parametrize(("mix", "has_groups"), [("scan_tag", True), ("", False)])
def test_every_device_and_group_that_is_asked_for_has_a_name_before_the_load(tmp_path, mix, has_groups):
    said, count = [], NAMES_AT_ONCE + 1
    flags = {"tables": str(count), "mix": mix, "preload__rows": "1000", "workload__tags": "groupid:int"}
    session = session_of(tmp_path, **flags)
    session._web = SimpleNamespace(post=lambda path, _within, text: said.append((path, json.loads(text))))
    session.create_tables()
    assert {path for path, _ in said} == {"/api/uid/assign"}
    first, *more = (one for _, one in said)
    assert (first["metric"], first["tagk"][0]) == (["measurement_f", "measurement_i"], "device")
    assert max(len(one["tagv"]) for one in more) <= NAMES_AT_ONCE
    named = [name for one in more for name in one["tagv"]]
    assert {f"d{i}" for i in range(count)} <= set(named)
    assert (set(map(str, range(1, 11))) <= set(named)) is has_groups


@pytest.mark.parametrize("method", ["put", "telnet"])
def test_rows_that_are_not_acknowledged_are_waited_for(tmp_path, monkeypatch, method):
    left = [3, 1, 0, 0, 0, 0]

    def clients(*_):
        return [{"pendingRPCs": 0, "pendingBatchedRPCs": left.pop(0), "rpcsInFlight": 0}]

    monkeypatch.setattr("scale_sweep.server.targets.opentsdb.opentsdb_session.COLLECTED_S", 0.15)
    session = session_of(tmp_path, method=method)
    session._web = SimpleNamespace(get_json=clients)
    session._wait_for_tsd()
    assert (len(left) < 4) is (method == "telnet")


DAY = 86_400_000


def rendered(mix, *operation, **more):
    work = work_of(mix, *operation, **more)
    return load_facts("opentsdb").rendered(queries_of(work)[mix], work.data, "put")


def asked(mix, *operation, **more):
    drawn = Drawn(devices=(1, 0), from_ms=START, to_ms=START + 20, value=3.0)
    return filled(rendered(mix, *operation, **more), drawn, ["d0", "d1"], str)


def one(column, device, *points, **tags):
    tags = {"device": device, **tags} if device else tags
    return {"metric": f"measurement_{column}", "tags": tags, "aggregateTags": [], "dps": [list(p) for p in points]}


def test_points_and_groups_are_asked_up_to_the_last_moment_before_the_end():
    text = asked("range")
    whole = json.loads(text)
    assert (whole["start"], whole["end"], whole["msResolution"]) == (START, START + 19, True)
    assert [one["metric"].removeprefix("measurement_") for one in whole["queries"]] == ["current", "voltage", "phase"]
    assert {(one["aggregator"], one["filters"][0]["filter"]) for one in whole["queries"]} == {("none", "d1")}
    points = one("current", "d1", (START, 1.5), (START + 10, 2.5))
    found = [points, one("voltage", "d1", (START, 7)), one("phase", "d1")]
    assert rows_of(text, found) == ((START, 1.5, 7, None), (START + 10, 2.5, None, None))
    text = asked("range", "range.devices=2", "range.columns=current")
    assert json.loads(text)["queries"][0]["filters"][0]["filter"] == "d1|d0"
    found = [one("current", "d1", (START, 1.5)), one("current", "d0", (START, 2.5))]
    assert rows_of(text, found) == ((START, "d0", 2.5), (START, "d1", 1.5)), "rows of several devices have their device"
    text = asked("group_by_tag", "group_by_tag.function=count")
    (series,) = json.loads(text)["queries"]
    assert series["filters"] == [{"type": "wildcard", "tagk": "groupid", "filter": "*", "groupBy": True}]
    found = [one("current", "", (1, 5.0), groupid="10"), one("current", "", (1, 4.5), groupid="2")]
    assert rows_of(text, found) == ((2, 4.5), (10, 5))
    text = asked("scan_tag", "scan_tag.columns=current")
    assert json.loads(text)["queries"][0]["filters"][0]["filter"] == "3"
    found = [one("current", "d4", (START, 1.5), groupid="3")]
    assert rows_of(text, found) == ((START, "d4", 1.5),)
    text = asked("aggregate_tag", "aggregate_tag.function=sum", "aggregate_tag.bucket=7m")
    start = json.loads(text)["start"]
    assert start % 420_000 == 0 and START - DAY - 420_000 < start <= START - DAY


def test_a_moment_is_asked_as_the_time_before_the_next_row():
    assert rendered("point").startswith('{{"start":{at},"end":{until},')
    work = work_of("point")
    assert spec_lines(work)["ask.point.span_ms"] == str(work.data.step_ms), "what the load generator takes for {until}"
    text = asked("range", "range.columns=device", **{"workload.columns": "device:float,v:float"})
    assert json.loads(text)["queries"][0]["metric"] == "measurement_device", "also with the name of a mark"
    with pytest.raises(CannotAsk, match="ends at least a millisecond"):
        rendered("point", **{"workload.step_ms": "1"})
    wide = {"workload.columns": "n:bigint,d:double"}
    with pytest.raises(CannotAsk, match="values as doubles"):
        rendered("aggregate", "aggregate.function=last", **wide)
    assert "0all-max" in rendered("aggregate", "aggregate.function=max", **wide)


@pytest.mark.parametrize(
    ("operation", "end", "aggregator", "downsample"),
    [
        ("aggregate", START + 20, "none", "0all-avg"),
        ("aggregate devices=2 function=max", START + 20, "mimmax", "0all-max"),
        ("group_by_time step=10m", START + 19, "none", "600000ms-avg"),
        ("group_by_time step=10m devices=2 function=count", START + 19, "zimsum", "600000ms-count"),
    ],
)
def test_a_downsample_of_a_whole_range_excludes_its_end_and_others_do_not(operation, end, aggregator, downsample):
    mix, *parameters = operation.split()
    text = asked(mix, *(f"{mix}.{one}" for one in parameters))
    whole = json.loads(text)
    (series,) = whole["queries"]
    assert (whole["start"], whole["end"]) == (START, end)
    assert (series["aggregator"], series["downsample"]) == (aggregator, downsample)
    row = rows_of(text, [one("current", "d1", (START, 2.0))])
    assert row == (((START, 2),) if "ms-" in downsample else ((2,),))
    assert rows_of(text, [one("current", "d1")]) == rows_of(text, []) == ()
