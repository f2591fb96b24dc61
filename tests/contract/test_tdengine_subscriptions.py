"""Consumers on a real TDengine whose group still has members that died: nothing may be lost in silence.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_subscriptions.py
"""

from __future__ import annotations

import subprocess
import time

from loadgen_program import spec_text

from tests.contract.tdengine_contract import NEEDS_SERVER, PROGRAM, ask, loaded, prepared, run

pytestmark = list(NEEDS_SERVER)
POLL = {"method": "tmq", "operations": "poll", "rounds": 10**9, "check_every": 0, "rows_per_request": 1}
ASSIGNED_S = 60.0


def test_consumers_of_a_group_whose_members_died_wait_for_their_vgroups(server):
    """The server gives the vgroups of the dead to others 12 s later, and to the new ones none before."""
    loaded(prepared(server, "followed", partitions=2))
    ask(server, "CREATE TOPIC followed AS SELECT * FROM followed.meters")
    consumer = "group.id=g,client.id=c_{worker},auto.offset.reset=earliest,enable.auto.commit=false"
    spec = server.spec() | POLL | {"ask.poll.text": "followed", "threads": 2, "tables": 2, "consumer": consumer}
    with subprocess.Popen([str(PROGRAM), "load", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as dying:
        dying.stdin.write(spec_text(spec | {"poll_ms": -1}).encode())
        dying.stdin.close()
        deadline = time.monotonic() + ASSIGNED_S
        while members(server) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        dying.kill()
    outcome = run(spec | {"poll_ms": 2000})
    assert outcome.code == 0, outcome.stderr
    assert sum(worker["rows_read"] for worker in outcome.summary["workers"]) == 1200


def members(server) -> int:
    """Consumers of the group that have vgroups."""
    rows = ask(server, "SELECT consumer_id FROM information_schema.ins_subscriptions WHERE consumer_group = 'g'")[0]
    return len({row[0] for row in rows if row[0] is not None})
