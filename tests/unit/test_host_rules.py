"""Hosts of their own: rates from their samples, which host a bottleneck names, events as JSON values, and times on another
clock."""

import json
import subprocess
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from scale_sweep.agent.serve import request_of
from scale_sweep.base.errors import ProvisionError, StoreError, UsageError
from scale_sweep.hosts.check import MOVED_NS, ClockSeen, HostClock, measure_clocks
from scale_sweep.hosts.inventory import HostEntry
from scale_sweep.hosts.package import copied_servers, names_of, refuse_other_machine, to_have_on
from scale_sweep.judge.figures.taken import HostSeries, host_figures, taken_on_hosts
from scale_sweep.judge.verdict.bottleneck import bottleneck_of, judge_standing
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence, HostUse
from scale_sweep.loadgen.remote import shifted_line, shifted_spec
from scale_sweep.loadgen.split import delay_elsewhere_ns, start_ns
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.machine.sampling.sampler import HostReader, interface_towards, tcp_segments
from scale_sweep.model.events import ArtifactMade, Noted
from scale_sweep.model.measured import BottleneckKind, Measurement, VerdictKind
from scale_sweep.model.samples import DiskSource, HostNetwork, HostSample, Sample
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.preparing.on_hosts import refuse_elsewhere
from scale_sweep.plan.target_defaults import complete
from scale_sweep.results.store.codec import plain
from scale_sweep.results.store.events import event_of, event_text, plain_event
from scale_sweep.server.pinned.pins import corrupt_servers, keep_digest
from scale_sweep.server.targets import load_facts
from scale_sweep.server.targets.installations import installed
from tests.unit.factories import executable, make_sweep
from tests.unit.raw_run import trial_events
from tests.unit.test_attribution import CORES, GIVEN, IDLE
from tests.unit.trial_orders import trial_order

ELSEWHERE = replace(GIVEN, generator_cpus=0, is_elsewhere=True, round_trips_ms={"near": 0.1, "far": 0.4})
SERVER = HostUse(name="db1", cpus=0, received_per_s=1e6, received_most_per_s=1e8, sent_per_s=1e5, sent_most_per_s=1e8)
LOAD = replace(
    SERVER, name="load1", cpus=4, load_cpu_cores=0.5, other_cpu_cores=0.1, sent_per_s=1e6, received_per_s=1e4
)


@pytest.mark.parametrize(
    ("on_load", "on_server", "kind", "words"),
    [
        ({}, {}, BottleneckKind.UNKNOWN, ""),
        ({"sent_per_s": 0.9e8}, {}, BottleneckKind.NETWORK, "load1 sent 90"),
        ({"sent_per_s": 0.9e8, "resent": 0.034}, {}, BottleneckKind.NETWORK, "load1 sent 90 3.4"),
        ({"received_per_s": 1.02e8}, {}, BottleneckKind.NETWORK, "load1 received 102"),
        ({}, {"received_per_s": 0.95e8}, BottleneckKind.NETWORK, "db1 received 95"),
        ({"sent_most_per_s": None}, {}, BottleneckKind.UNKNOWN, ""),
        ({"load_cpu_cores": 3.6}, {}, BottleneckKind.GENERATOR_CPU, "load1 90"),
        ({"load_cpu_cores": 1.0, "other_cpu_cores": 2.9}, {}, BottleneckKind.OTHER_PROCESSES, "load1"),
        ({"load_cpu_cores": 1.0, "stolen_cpu_cores": 2.9}, {}, BottleneckKind.HYPERVISOR, "load1's"),
        ({"load_cpu_cores": 1.0, "other_cpu_cores": 2.0}, {}, BottleneckKind.UNKNOWN, ""),  # one CPU of it was idle
    ],
)
def test_a_host_is_named_by_what_it_lacked(on_load, on_server, kind, words):
    hosts = (replace(SERVER, **on_server), replace(LOAD, **on_load))
    found = bottleneck_of(replace(IDLE, generator_cpu_cores=0.5, hosts=hosts), ELSEWHERE, CORES)
    assert found.kind is kind
    assert set(words.split()) <= set(found.sentence.split())
    assert "--generator-cpus" not in found.remedy


def test_a_full_host_explains_a_pause_a_bound_number_and_late_requests():
    paused = replace(IDLE, seconds=6.0, stalled_s=2.0, stalled_cores=0.0, hosts=(replace(LOAD, sent_per_s=1e8),))
    assert bottleneck_of(paused, ELSEWHERE, CORES).kind is BottleneckKind.NETWORK
    assert bottleneck_of(replace(paused, hosts=(LOAD,)), ELSEWHERE, CORES).kind is BottleneckKind.STALL
    use = replace(IDLE, server_cpu_cores=3.9, hosts=(SERVER, replace(LOAD, load_cpu_cores=3.95)))
    kind, reasons = judge_standing(use, ELSEWHERE, CORES)
    assert kind is VerdictKind.GENERATOR_BOUND and "load1" in reasons[0]
    assert "another" in bottleneck_of(use, ELSEWHERE, CORES).remedy
    use = replace(IDLE, rate_per_s=1e6, hosts=(LOAD,), taken=taken_on_hosts((replace(LOAD, other_cpu_cores=0.5),)))
    found = bottleneck_of(use, replace(ELSEWHERE, offered_per_s=1e6), CORES)
    assert found.kind is BottleneckKind.OTHER_PROCESSES and "load1's 4" in found.sentence


@pytest.mark.parametrize(("p50", "is_told"), [(1.9, True), (2.1, False), (None, False)])
def test_a_round_trip_above_a_fifth_of_the_median_response_time_is_told(p50, is_told):
    figures = Measurement(rows=10**6, requests_per_s=1e3, response_ms_p50=p50)
    given = Evidence(resources=ELSEWHERE, measurement=figures, window=IDLE)
    told = [reason for reason in diagnose(given, CORES).reasons if "round trip" in reason]
    assert bool(told) is is_told
    assert all("far" in reason and "0.4 ms" in reason for reason in told)


def tick(second, **hosts):
    nothing = {"server": None, "generator": None, "memory_available_bytes": None}
    return Sample(monotonic_ns=second * 10**9, psi_some_s_total={}, thread_cpu_s_total={}, **nothing, hosts=hosts)


def seen(second, rate=1.0):
    return HostSample(
        monotonic_ns=round(second * 1e9),
        cpus=2,
        load_cpu_s_total=0.5 * rate * second,
        busy_cpu_s_total=1.25 * rate * second,
        stolen_cpu_s_total=0.0,
        sent_bytes_total=1e6 * second,
        received_bytes_total=1e3 * second,
        segments_total=99.0 * second,
        segments_again_total=1.0 * second,
    )


def test_rates_of_a_host_come_from_its_own_times_though_its_samples_are_late_or_end():
    late = [tick(at, load1=seen(at - 0.7)) for at in range(1, 9)]
    late[4] = tick(5, load1=seen(3.3))
    network = HostNetwork(host="load1", sent_bytes_per_s=2e6, received_bytes_per_s=1e6, round_trip_ms=0.1)
    series = HostSeries(late, (network,))
    for start, end in ((2, 7), (3, 4), (1, 7)):
        (use,) = series.uses(start * 10**9, end * 10**9)
        assert use.load_cpu_cores == pytest.approx(0.5)
        assert use.other_cpu_cores == pytest.approx(0.75)
        assert use.network == pytest.approx({"sent": 0.5, "received": 0.001})
        assert use.resent == pytest.approx(0.01)
    figures = host_figures([use])["load1"]
    assert figures.network_percent == pytest.approx(50.0) and figures.resent_percent == pytest.approx(1.0)
    silent = [tick(at, load1=seen(min(at, 2))) for at in range(1, 9)]
    (use,) = HostSeries(silent, ()).uses(4 * 10**9, 7 * 10**9)
    assert (use.load_cpu_cores, use.other_cpu_cores, use.network, use.resent) == (None, None, {}, None)
    assert HostSeries([tick(1), tick(2)], ()).uses(10**9, 2 * 10**9) == ()


def test_this_machine_is_read_and_an_agent_knows_its_requests():
    assert interface_towards("127.0.0.1") == "lo" and interface_towards("203.0.113.1") != "lo"
    assert tcp_segments()["OutSegs"] >= 0
    first, second = (reader.read() for reader in [HostReader("127.0.0.1", [0])] * 2)
    assert first.cpus == 1 and first.busy_cpu_s_total > 0 and first.load_cpu_s_total > 0
    assert second.monotonic_ns > first.monotonic_ns and second.sent_bytes_total >= first.sent_bytes_total
    names = "clean clock facts listen load send watch choose findings trial set_up tiers"
    assert all(callable(request_of(name)) for name in names.split())
    with pytest.raises(ValueError, match="exec: no such request"):
        request_of("exec")
    clock = HostClock(offset_ns=1, error_ns=2, round_trip_ns=3)
    seen = ClockSeen(trial_id="t", host="db1", before=clock, after=clock)
    for value in (seen, make_sweep()):
        assert json.dumps(plain(value), default=str) == json.dumps(asdict(value), default=str)


def test_a_clock_counts_as_moved_beyond_the_errors_of_both_measurements():
    before = HostClock(offset_ns=100 * 10**9, error_ns=300_000, round_trip_ns=600_000)
    for moved_ms, counts in ((0, False), (4, False), (6, True), (-6, True)):
        after = replace(before, offset_ns=before.offset_ns + moved_ms * 10**6)
        moved_ns = ClockSeen(trial_id="t", host="load1", before=before, after=after).moved_ns
        assert (moved_ns > MOVED_NS) is counts


def test_what_is_measured_on_one_machine_only_is_refused_by_its_flag():
    disks = DiskSource(kind="loop", loop_bytes=2**30)
    sweep = replace(make_sweep(), endpoint="", data_dir="ram:1GiB", disks=disks, generator_cpus=())
    refuse_elsewhere(sweep)
    for flag, more in {
        "--endpoint": {"endpoint": "127.0.0.1:1"},
        "--disk-placement stripe": {"disk_placement": "stripe"},
        "--trace": {"load": replace(sweep.load, trace_every=10)},
        "--load-generator": {"load": replace(sweep.load, generator="pgbench")},
        "scale_cpus": {"generator_cpus": (0,)},
    }.items():
        with pytest.raises(UsageError, match=flag):
            refuse_elsewhere(replace(sweep, **more))


class Answering:
    """A link whose host answers when so many have been asked, from a thread as the reader's. ahead_ns: of its clock."""

    def __init__(self, name, asked, ahead_ns):
        self.host = HostEntry(name=name, address="10.0.0.1")
        self._reply, self._ahead_ns = asked, ahead_ns

    def ask(self, what, on_line):
        assert what == "clock"
        threading.Thread(target=self._answer, args=(on_line,), daemon=True).start()

    def _answer(self, on_line):
        if self._ahead_ns is None:
            return on_line({"error": {"kind": "ProvisionError", "message": "lost"}})
        self._reply.wait()
        on_line({"answer": time.monotonic_ns() + self._ahead_ns})
        return None


def test_the_clocks_of_all_hosts_are_measured_at_once_and_a_load_there_begins_when_it_can():
    asked = threading.Barrier(2, timeout=60)
    clocks = measure_clocks({name: Answering(name, asked, ahead) for name, ahead in (("a", 0), ("b", 100 * 10**9))})
    assert abs(clocks["a"].offset_ns) <= clocks["a"].error_ns
    assert abs(clocks["b"].offset_ns - 100 * 10**9) <= clocks["b"].error_ns
    with pytest.raises(ProvisionError, match="b: lost"):
        measure_clocks({"a": Answering("a", threading.Barrier(1), 0), "b": Answering("b", None, None)})
    quick = delay_elsewhere_ns(8, 1.0, 0.1)
    assert 0.5e9 < quick < 1.5e9
    assert delay_elsewhere_ns(64, 1.0, 0.1) > quick  # more connections,
    assert delay_elsewhere_ns(8, 0.1, 0.1) > quick  # a slow server,
    assert delay_elsewhere_ns(8, 1.0, 0.3) > quick  # or a busy host
    assert delay_elsewhere_ns(8, 0.1, 9.0) == start_ns(0, 8)


@pytest.fixture
def one_server(tmp_path, monkeypatch):
    """A directory with an installed server of one file."""
    home = tmp_path / "here/postgres-18.6"
    for part in ("lib", "share"):
        (home / part).mkdir(parents=True)
    executable(home / "bin/postgres", "")
    (home / "lib/libpq.so").symlink_to("libpq.so.5")
    for part in ("bin", "lib", "share"):
        keep_digest(home, part)
    (home / "complete").touch()
    monkeypatch.setenv("SCALE_SERVERS_DIR", str(tmp_path / "here"))
    return home


def test_a_copied_server_has_the_files_of_this_machine_and_is_found_beside_others(one_server, tmp_path, monkeypatch):
    copied = copied_servers(["postgres"])
    copied.write(tmp_path / "servers.tar.gz")
    there = tmp_path / "there"
    there.mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "servers.tar.gz", "-C", there], check=True)
    assert (there / "digest").read_text().strip() == copied.digest
    copy = there / "postgres-18.6"
    monkeypatch.setenv("SCALE_COPIED_SERVERS_DIR", str(there))
    assert set(installed("postgres")) == {str(copy), str(one_server)}
    assert corrupt_servers([str(copy), str(one_server)]) == []
    (copy / "bin/postgres").write_text("changed")
    (wrong,) = corrupt_servers([str(copy), str(one_server)])
    assert "bin" in wrong.sentence and wrong.command.endswith("--servers postgres")
    (one_server / "bin/initdb").touch()
    keep_digest(one_server, "bin")
    assert copied_servers(["postgres"]).digest != copied.digest


def test_servers_that_cannot_be_copied_or_are_missing_are_said(one_server, wording):
    for names, words in (("postgress", "postgres"), ("questdb", "not installed here"), ("postgres,", "is empty")):
        with pytest.raises(UsageError, match=f"--servers.*{words}"):
            copied_servers(names_of(names))
    refuse_other_machine("db1", "x86_64", "x86_64")
    with pytest.raises(UsageError, match="--servers: db1 is a aarch64"):
        refuse_other_machine("db1", "aarch64", "x86_64")
    targets = ("questdb", "influxdb", "timescaledb")
    wording(*(to_have_on("db1", Path("hosts.ini"), name, load_facts(name).to_install) for name in targets))


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
