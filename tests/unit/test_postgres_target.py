"""PostgreSQL's methods without its server: what they refuse, and what they need of the table."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.server.targets import Address, load_facts, load_target
from scale_sweep.server.targets.postgres.postgres_facts import METHODS
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_reads import every

KNOBS = {"connections": "4", "partitions": "4", "chunk_interval": "7d", "compress": "off"}


@pytest.mark.parametrize("target", ["postgres", "timescaledb"])
def test_jsonb_refuses_bytes_and_cannot_be_read(target, wording):
    assert load_facts(target).methods == METHODS
    assert METHODS == ("copy", "insert", "upsert", "copy-upsert", "jsonb")

    def findings(method):
        sweep = make_sweep(load__method=method, workload__columns="a:int,b:varbinary(8)")
        return load_target(target).check(make_trial(replace(sweep, target=target), knobs=KNOBS), None)

    (finding,) = findings("jsonb")
    assert finding.blocking
    wording(finding.sentence)
    assert findings("insert") == ()
    with pytest.raises(CannotAsk, match="--method jsonb"):
        load_facts(target).rendered(queries_of(every())["range"], every().data, "jsonb")


@pytest.mark.parametrize("method", METHODS)
def test_the_table_of_a_method(method):
    trial = make_trial(make_sweep(load__method=method, workload__columns="a:int,b:double"), knobs=KNOBS)
    session = load_target("postgres").session(trial, Address(host="127.0.0.1", port=1, secret=""))
    asked: list[str] = []
    session._rows = lambda sql: asked.append(sql) or [(0, 0, 0)]
    session.create_schema()
    assert ("metrics jsonb" if method == "jsonb" else '"a" integer, "b"') in asked[0]
    is_upsert = method in ("upsert", "copy-upsert")
    assert any("UNIQUE" in sql for sql in asked) is session.count().is_distinct is is_upsert
