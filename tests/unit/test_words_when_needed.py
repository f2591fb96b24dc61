"""A message at the moment of need names the one thing to do: whole commands as people typed them, and what they saw."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from scale_sweep.cli.completion import knobs
from scale_sweep.cli.console import live
from scale_sweep.machine.disks.source import too_small
from scale_sweep.measure.trial.loads import step_words
from scale_sweep.model.declared_parts import LOADING
from scale_sweep.model.measured import Step, VerdictKind
from scale_sweep.model.samples import DiskSource
from scale_sweep.plan.preparing import assumed, choice
from scale_sweep.plan.preparing.assumed import without_unavailable
from scale_sweep.plan.preparing.choice import ServerChoice, chosen_arms
from scale_sweep.server.targets import Address, all_facts, load_facts, load_target
from tests.unit.factories import make_sweep, make_trial
from tests.unit.whole_commands import run

HERE = ("plan", "cpu", "--cores", "1", "--target", "postgres")
RUNNING = (*HERE, "--endpoint", "127.0.0.1:1")
AB = ("ab", "cpu", "--cores", "1", "--target", "postgres", "--runtime", "process", "--dry-run")
ELSEWHERE = ("--machine", "twelve.toml")

TWELVE = 'cores = 12\nthreads = 2\nmemory = "64GiB"\n'


def said(*words: str, cwd: Path, code: int = 2, **environment: str) -> str:
    ended = run(*words, cwd=cwd, **environment)
    assert ended.code == code, ended.stderr
    return re.sub(r"python \S* ?\S*scale (?=export)|^scale: ", "", ended.stderr).strip()  # without the program's name


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "a.toml"),
        ("disks", "create", "--loop", "1GiB", "--count", "0"),
        (*HERE, "--memory", "4"),
        (*HERE, "--memory", "512"),
        (*HERE, *ELSEWHERE, "--memory", "4TiB"),
        ("plan", "cpu", "--cores", "0", *ELSEWHERE),
        ("plan", "cpu", "--cores", "x", *ELSEWHERE),
        ("plan", "cpu", "--cores", "1..64", *ELSEWHERE),
        ("export", "last", "--what", "seconds", "--csv", "-"),
        (*AB, "--b", "--version 18.6"),
        (*HERE, "--home", "/usr", "--version", "18.6"),
        (*RUNNING, "--knob", "shared_buffers=1GB"),
        (*RUNNING, "--vary", "shared_buffers=1GB,2GB"),
        (*RUNNING, "--settings", LOADING, "--partitions", "2"),
        (*HERE, "--knob", "port=5"),
        (*HERE, "--vary", "port=5,6"),
        ("plan", "clients", "--clients", "0"),
    ],
    ids=lambda words: " ".join(words)[-60:],
)
def test_what_a_mistake_says(words, tmp_path, wording):
    (tmp_path / "a.toml").write_text("axis = 3\n")
    (tmp_path / "twelve.toml").write_text(TWELVE)
    wording(said(*words, cwd=tmp_path))


def test_true_is_no_number(tmp_path):
    for line, refused in (("replicates = true", True), ("ablation = true", False)):
        (tmp_path / "m.toml").write_text(f'[axis]\ncores = "1"\n[target]\nname = "null"\n[method]\n{line}\n')
        done = run("plan", "m.toml", cwd=tmp_path)
        assert ("method.replicates: a text, a number or a list" in done.stderr) == (done.code == 2) == refused


def test_no_message_ends_with_a_command_that_explains_every_flag(tmp_path):
    assert "--help" not in said(*HERE, "--tables", "0", cwd=tmp_path)
    assert said(*HERE, "--tables", "0", cwd=tmp_path).endswith("at least 1")


def loop(mib, cap_mib_per_s=None):
    cap = cap_mib_per_s and cap_mib_per_s << 20
    return DiskSource(kind="loop", loop_bytes=mib << 20, cap_bytes_per_s=cap)


def test_small_loop_devices_are_refused_for_a_window_without_a_number_of_rows(wording):
    (finding,) = too_small(loop(128), {}, 45.0)
    wording(finding.sentence, finding.remedy)
    assert finding.blocking and too_small(loop(128, 8), {}, 45.0) == (finding,)
    room = [(loop(128), 0.0), (loop(128, 8), 14.0), (loop(1024), 45.0), (loop(1024, 200), 45.0)]
    assert [one for one in room if too_small(one[0], {}, one[1])] == []


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        ("", "fe_sendauth: no password supplied"),
        ("x", 'password authentication failed for user "a"'),
        ("", "Connection reset by peer"),
    ],
)
def test_a_running_server_that_wants_a_password(secret, reason, monkeypatch, wording):
    target, trial = load_target("postgres"), make_trial(knobs={"connections": "4", "partitions": "4"})
    monkeypatch.setattr(target.session_type, "not_ready", lambda session: reason)
    (finding,) = target.check_endpoint(Address(host="h", port=1, secret=secret, is_ours=False), [trial])
    wording(finding.remedy)


def test_the_help_finds_the_password(tmp_path):
    found = run("sweep", "--help", "password", cwd=tmp_path).stdout
    assert "SCALE_TARGET_PASSWORD" in found and "--endpoint" in found


def test_what_is_installed_without_docker_is_named_before_an_image():
    assert load_facts("clickhouse").to_install.startswith("apt-get install clickhouse-server")
    assert [facts.name for facts in all_facts() if facts.to_install.startswith("docker")] == []


def test_one_of_several_databases_that_is_lacking_can_be_left_out(monkeypatch, wording, tmp_path):
    there = {"postgres", "questdb"}

    def found(request):
        if request.target not in there:
            return (f"no {request.target} server on this machine",)
        target = load_target(request.target)
        return ServerChoice(target=target, runtime="process", image="", home="/x", version="1", sentence="s")

    for module in (assumed, choice):
        monkeypatch.setattr(module, "search", found)
    names = ("postgres", "clickhouse", "questdb")
    sweep = make_sweep(target__name=",".join(names))
    with pytest.raises(choice.PreflightError) as refused:
        chosen_arms(sweep)
    left, words = without_unavailable(sweep)
    assert [arm.sweep.target for arm in chosen_arms(left)] == ["postgres", "questdb"]
    there.remove("questdb")
    one, _ = without_unavailable(sweep)
    assert (one.target, dict(one.vary)) == ("postgres", {})
    there.clear()
    assert without_unavailable(sweep) == (sweep, "")
    elsewhere = said("sweep", "cpu", "--cores", "1", "--hosts", "h.ini", "--skip-unavailable", cwd=tmp_path)
    wording(refused.value.message, refused.value.remedy, words, elsewhere)


def test_far_predictions_are_told_in_the_plan(tmp_path, wording):
    (tmp_path / "twelve.toml").write_text(TWELVE)

    def told(levels):
        ended = run(*HERE[:3], "1..4", "--target", "postgres", "--predict", levels, *ELSEWHERE, cwd=tmp_path)
        return [line for line in ended.stderr.splitlines() if "--predict" in line]

    assert told("6,8") == []
    wording(*told("8,16,1000"))


def test_every_number_of_the_live_line_has_its_unit(wording):
    times = (None, 0.4, 12.0, 999.4, 999.9, 12_345.0, 2_580_000.0, 1.234e9)
    values = {"p99": 2580.0, "range.p50": 1.25, "errors": 0.1}
    came = {"achieved_per_s": 2.9e4, "seconds": 10.0, "requests": 1000, "verdict": VerdictKind.VALID}
    step = Step(rate=3e4, values=values, excess=1.0, **came)
    wording(*map(live._ms, times), step_words(step))


OF_A_TRIAL = {
    "cassandra": "listen_address native_transport_port data_file_directories",
    "clickhouse": "server.http_port server.listen_host server.path",
    "cratedb": "http.port network.host path.data udc.enabled discovery.type",
    "influxdb": "http_bind_address data_dir",
    "influxdb2": "http_bind_address engine_path",
    "iotdb": "dn_rpc_port dn_data_dirs cn_internal_address",
    "kairosdb": "jetty.port queue_processor.queue_path cassandra.native_transport_port",
    "mariadb": "port bind-address datadir socket",
    "opentsdb": "tsd.network.port hbase.rootdir hbase.master.info.bindAddress",
    "postgres": "port listen_addresses hba_file data_directory",
    "prometheus": "web.listen-address storage.tsdb.path config.file",
    "questdb": "http_bind_to http.bind.to cairo_root",
    "tdengine": "serverPort fqdn dataDir firstEp",
    "timescaledb": "port",
    "victoriametrics": "httpListenAddr storageDataPath",
}


@pytest.mark.parametrize("facts", [one for one in all_facts() if one.any_knob], ids=lambda facts: facts.name)
def test_the_place_of_a_server_is_no_knob(facts):
    own = OF_A_TRIAL[facts.name].split()
    assert [name for name in own if not facts.fixes(name)] == []
    free = [*(knob.name for knob in facts.knobs), *facts.vendor_defaults, *facts.loading, *(facts.fsynced or ())]
    assert [name for name in free if facts.fixes(name)] == []


def test_a_running_server_keeps_the_knobs_of_the_trials_own_tables(tmp_path):
    ended = run(*RUNNING, "--partitions", "2", "--connections", "2", cwd=tmp_path)
    assert ended.code == 3 and "does not answer" in ended.stderr


@pytest.mark.parametrize(
    ("target", "start", "found"), [("postgres", "shared_b", ["shared_buffers="]), ("", "max_thr", ["max_threads="])]
)
def test_names_of_knobs_are_completed(target, start, found):
    assert knobs(SimpleNamespace(params={"target": target}), start) == found
