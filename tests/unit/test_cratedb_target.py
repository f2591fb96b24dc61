"""CrateDB without its server: what it is found by, what is started, what is refused, and how settings are read back."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.model.resources import Site
from scale_sweep.server.targets import Address, load_facts, load_target
from scale_sweep.server.targets.cratedb.cratedb_session import as_set, items
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, web_server

TARGET = load_target("cratedb")
KNOBS = {"partitions": "4", "connections": "4", "heap": "512m", "table.translog.durability": "REQUEST"}


def trial_of(knobs=KNOBS, method="unnest", **flags):
    return replace(make_trial(make_sweep(target__name="cratedb", load__method=method, **flags), cores=1.5), knobs=knobs)


def options_of(spec):
    """The settings on the command line of a server."""
    return dict(word.removeprefix("-C").split("=", 1) for word in spec.argv if word.startswith("-C"))


def server(trial, **site):
    return TARGET.server(trial, Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h", **site), "secret")


def test_it_listens_on_loopback_and_reports_nothing():
    spec = server(trial_of({**KNOBS, "thread_pool.write.size": "2"}))
    said = options_of(spec)
    assert (said["network.host"], said["http.port"], said["transport.tcp.port"]) == ("127.0.0.1", "7001", "7002")
    assert (said["psql.enabled"], said["udc.enabled"], said["discovery.type"]) == ("false", "false", "single-node")
    assert said["path.data"] == "/d/cratedb/crate" and said["thread_pool.write.size"] == "2"
    assert not any(name.startswith("table.") or name in KNOBS for name in said)
    assert {"-Xmx512m", "-XX:ActiveProcessorCount=2"} <= set(spec.argv) and spec.ports == (7001, 7002)
    assert "secret" not in repr(spec)
    on_disks = server(trial_of(), disks=("/m/1", "/m/2"))
    assert options_of(on_disks)["path.data"] == "/m/1/crate,/m/2/crate" and "/m/2/crate" in on_disks.folders


def test_the_protocol_of_postgres_is_open_for_its_method_only():
    spec = server(trial_of(method="pgwire"))
    assert options_of(spec)["psql.enabled"] == "true" and options_of(spec)["psql.port"] == "7003"
    assert spec.ports == (7001, 7002, 7003)
    told = TARGET.session(trial_of(method="pgwire"), Address(host="127.0.0.1", port=7001, secret="")).load_spec()
    assert (told["driver"], told["port"], told["user"], told["database"]) == ("pgarrays", "7003", "crate", "doc")


@pytest.mark.parametrize(
    ("trial", "named"),
    [
        (trial_of(workload__columns="x:varbinary(4)"), "CrateDB"),
        (trial_of(workload__columns="x:ubigint"), "CrateDB"),
    ],
)
def test_a_type_that_it_lacks_is_refused(trial, named):
    (finding,) = TARGET.check(trial, None)
    assert finding.blocking and finding.sentence.startswith(named)
    assert TARGET.check(trial_of(), None) == ()


def test_a_reported_value_is_compared_with_the_one_that_was_set():
    for value, reported in (("5s", "5000"), ("5s", "5000ms"), ("512mb", "536870912"), ("false", "false")):
        assert as_set(value, reported) == value
    for value, reported in (("ASYNC", "REQUEST"), ("5s", "6000")):
        assert as_set(value, reported) == reported
    assert dict(items({"a": {"b": True, "c": {"d": 5}}, "e": "x"})) == {"a.b": "true", "a.c.d": "5", "e": "x"}


def session_with(rows, act):
    with web_server(lambda request: Answer(body={"cols": [], "rows": rows, "rowcount": len(rows)})) as web:
        address = Address(host="127.0.0.1", port=web.port, secret="")
        return act(TARGET.session(trial_of(workload__start_ms="60000", workload__step_ms="10"), address))


def test_rows_are_counted_device_by_device_and_shards_that_have_not_started_are_waited_for():
    counted = session_with([[0, 3, 60000, 60020], [1, 2, 60000, 60020]], lambda session: session.count())
    assert counted.rows == 5 and counted.has_parts and "d1" in counted.gaps[0]
    pending = session_with([["STARTED"], ["INITIALIZING"]], lambda session: session.schema_pending())
    assert pending.startswith("1 of 2")
    assert session_with([["STARTED"]], lambda session: session.schema_pending()) == ""


def test_sets_that_it_lacks_and_reads_by_its_protocol_of_postgres_cannot_be_asked():
    work = make_sweep(mix="range", preload__rows="20k", workload__step_ms="60000").work
    facts, query, data = load_facts("cratedb"), queries_of(work)["range"], work.data
    assert facts.rendered(query, data, "unnest").startswith("SELECT time")
    with pytest.raises(CannotAsk, match="asked over HTTP"):
        facts.rendered(query, data, "pgwire")
    with pytest.raises(CannotAsk, match="no INTERSECT"):
        facts.rendered(replace(query, sets="intersect"), data, "bulk")
