"""Events as JSON values, and the times of a load's lines on another clock."""

import json
from pathlib import Path

import pytest

from scale_sweep.base.errors import StoreError
from scale_sweep.loadgen.remote import shifted_line, shifted_spec
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.model import ArtifactMade, Noted
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.target_defaults import complete
from scale_sweep.results.store.events import event_of, event_text, plain_event
from scale_sweep.server.targets import load_facts
from tests.unit.factories import make_sweep
from tests.unit.raw_run import trial_events
from tests.unit.trial_orders import trial_order

SOURCE = Path("host:db1")
ARTIFACT = {"event": "artifact", "name": "log", "text": "", "content": None}


def test_the_events_of_a_trial_come_back_as_they_were():
    facts = load_facts("postgres")
    plan = make_plan(complete(make_sweep(), facts), read_host(), facts)
    trial = plan.trials[0]
    for event in (
        *trial_events(plan, trial, [90_000] * 3, 2),
        Noted(trial_id=trial.trial_id, sentence="ü"),
        ArtifactMade(trial_id=trial.trial_id, name="requests.parquet", content=b"\x00\xff"),
    ):
        text = event_text(event)
        assert text == json.dumps(plain_event(event), ensure_ascii=False)
        assert event_of(json.loads(text), trial, SOURCE) == event


@pytest.mark.parametrize(
    "raw",
    [
        {**ARTIFACT, "name": "../../manifest.json"},
        {**ARTIFACT, "name": ".hidden"},
        {**ARTIFACT, "content": "not base64!"},
        {"event": "other"},
        {"event": "phase", "phase": "measure"},
        {"event": "finished", "result": {}},
    ],
)
def test_what_no_host_writes_is_refused_with_its_source(raw, tmp_path):
    with pytest.raises(StoreError, match="host:db1"):
        event_of(raw, trial_order(tmp_path).trial, SOURCE)


def test_only_the_times_of_a_line_move():
    line = '{"event":"summary","window_start_ns":100,"window_end_ns":200,"last_ack_ns":null,"rows":100}\n'
    moved = '{"event":"summary","window_start_ns":150,"window_end_ns":250,"last_ack_ns":null,"rows":100}\n'
    assert shifted_line(line, 50) == moved
    answer = '{"event":"asked","content":"\\"monotonic_ns\\":100"}\n'
    assert shifted_line(answer, 50) == answer
    assert shifted_spec({"start_at_ns": "100", "seed": "7"}, -50) == {"start_at_ns": "50", "seed": "7"}
    assert shifted_spec({"seed": "7"}, -50) == {"seed": "7"}
