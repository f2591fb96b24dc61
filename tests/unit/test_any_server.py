"""Commands of a sweep: their placeholders, what is refused before anything starts, and whose runs may start them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.setting import readers
from scale_sweep.loadgen.placeholders import filled, mistake, names_in, values_of
from scale_sweep.model.declared_parts import LoadCommand
from scale_sweep.plan.commands import as_tool, tool_sentence
from scale_sweep.plan.extra_trials import check_of
from scale_sweep.plan.preparing.own_runs import named, refuse_strange
from scale_sweep.results.store.reader import read_run
from scale_sweep.server.targets import Address, load_target
from scale_sweep.sweep.file import first_command_file
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.sweep.vary import slug
from tests.unit.factories import KNOB_COLUMNS, make_sweep, make_trial
from tests.unit.stored_runs import unpacked
from tests.unit.test_words_when_needed import said

SERVER, LOAD = "sh -c 'sleep {port}'", "sh -c 'echo {seconds}'"
HERE = ("plan", "cpu", "--cores", "1", "--server", SERVER, "--load", LOAD)
FLAGS = {"target.command": SERVER, "load.command": LOAD}


@pytest.mark.parametrize(
    "words",
    [
        (*HERE, "--load", "sh {prot}"),
        (*HERE, "--load", "sh {clients}"),
        (*HERE, "--load", "sh {data2}"),
        (*HERE, "--load", "sh 'x"),
        (*HERE, "--load", "no-such-load"),
        (*HERE, "--load", "nice -n 5 no-such-load"),
        (*HERE, "--load", "sh", "--duration", "5s"),
        (*HERE, "--server", "no-such-server"),
        (*HERE, "--server", "sh {memory_mb}"),
        (*HERE, "--prepare", "no-such-step"),
        (*HERE, "--count", " "),
        (*HERE, "--ready", "soon"),
        (*HERE, "--ready", "log:("),
        (*HERE, "--ready", "http:health"),
        (*HERE, "--rate-from", "rate [0-9]+"),
        (*HERE, "--rate-from", "("),
        (*HERE, "--target", "postgres"),
        (*HERE, "--slo", "p99 < 20ms"),
        (*HERE, "--rate", "10", "--mix", "write=1", "--tables", "4", "--rows", "1M", "--preload", "1M", "--trace", "2"),
        (*HERE, "--soak", "60s"),
        ("plan", "cpu", "--cores", "1", "--server", SERVER),
        ("plan", "cpu", "--cores", "1", "--load", LOAD),
        ("plan", "cpu", "--cores", "1", "--target", "command", "--load", LOAD),
        ("plan", "cpu", "--cores", "1", "--target", "postgres", "--prepare", "sh", "--ready", "log:x"),
    ],
    ids=lambda words: " ".join(words)[-40:],
)
def test_what_cannot_be_is_refused_before_anything_starts(words, tmp_path, wording):
    wording(said(*words, cwd=tmp_path))


def test_a_plan_names_the_commands_and_none_of_the_settings_of_our_load(tmp_path):
    (tmp_path / "own.toml").write_text(
        first_command_file().replace("redis-server", "sh").replace("redis-benchmark", "sh")
    )
    from tests.unit.whole_commands import run

    plan = run("plan", "own.toml", "--cores", "1", cwd=tmp_path)
    assert plan.code == 0 and "load.command" in plan.stdout and "target.command" in plan.stdout
    assert "workload." not in plan.stdout and "load.rate " not in plan.stdout and "load.slo" not in plan.stdout


@pytest.mark.parametrize("words", ["script.py --load", "-m http.server"])
def test_what_python_runs_need_not_be_a_program(words, tmp_path):
    (tmp_path / "script.py").touch(0o644)
    from tests.unit.whole_commands import run

    plan = run(*HERE, "--server", f"python3 {words}", "--load", f"nice python3 {words}", cwd=tmp_path)
    assert plan.code == 0, plan.stderr


def test_placeholders_are_filled_and_braces_stay():
    trial = make_trial(make_sweep(), knobs={"connections": "8"}, disks=2)
    values = values_of(trial, "127.0.0.1", 7000, "/d", ("/a", "/b"))
    words = ("-p{port}", "{address}:{clients}", "{data}/{data2}", "{{port}}", '{"a": 1}', "{cores}", "{seed}")
    assert filled(words, values) == ("-p7000", "127.0.0.1:8", "/d//b", "{port}", '{"a": 1}', "1", "1")
    assert names_in(words) == ("port", "address", "clients", "data", "data2", "cores", "seed")
    assert not any(mistake(words, values)) and mistake(["{seconds2}"], values)[0]


def test_the_seconds_are_the_longest_warm_up_and_the_window():
    trial = make_trial(make_sweep(load__duration="4s", load__warmup="1s..6.5s"))
    assert values_of(trial)["seconds"] == "11"
    assert "seconds" not in values_of(replace(trial, load=replace(trial.load, duration_s=None)))
    assert not {"clients", "memory_mb"} & {*values_of(replace(trial, knobs={}))}
    assert values_of(make_trial(make_sweep(target__memory="1GiB")))["memory_mb"] == "1024"


@pytest.mark.parametrize(
    ("load", "rate_from", "warmup_s", "duration_s"),
    [
        ("pgbench -T {seconds}", "", 30.0, 40.0),  # it reports progress
        ("pgbench -t 100", "", 0.0, None),
        ("sh {seconds}", "x (.*)", 0.0, 40.0),
    ],
)
def test_a_warm_up_needs_progress_and_a_window_needs_seconds(load, rate_from, warmup_s, duration_s):
    sweep = resolve_sweep("cpu", {"axis.cores": "1", **FLAGS, "load.command": load, "load.rate_from": rate_from})
    made = as_tool(sweep.load, sweep.origin)
    assert (made.warmup_s, made.duration_s, made.window_max_s) == (warmup_s, duration_s, None)
    assert bool(tool_sentence(replace(sweep, load=made))) == (warmup_s == 0.0)
    assert as_tool(made, sweep.origin) == made
    assert made.command.argv[1:3] == ("-P", "1") or not load.startswith("pgbench")


def test_an_image_or_a_command_means_any_server():
    for place in ({"target.image": "nginx"}, {"target.endpoint": "h:1"}, {"target.command": "sh"}):
        assert resolve_sweep("cpu", {"axis.cores": "1", "load.command": "sh", **place}).target == "command"
    assert resolve_sweep("cpu", {"axis.cores": "1", "target.image": "nginx"}).target == "auto"


@pytest.mark.parametrize("text", ["log:Ready", "http:/health", "command:sh -c true"])
def test_a_way_to_be_ready_is_read(text):
    assert readers.ready(text) == text


def test_a_server_is_ready_by_its_port_its_log_or_a_command():
    unused_port = 9
    trial = make_trial(make_sweep())
    session = load_target("command").session(trial, Address(host="127.0.0.1", port=unused_port, secret=""))
    assert "port 9" in session.not_ready()
    for ready, is_ready in {
        "log:Ready": True,
        "log:never": False,
        "command:true": True,
        "command:false": False,
    }.items():
        asked = replace(trial, subject=replace(trial.subject, ready=ready))
        session = load_target("command").session(asked, Address(host="127.0.0.1", port=unused_port, secret=""))
        session.log_tail = lambda lines: "begin\nReady to accept"
        assert (session.not_ready() == "") == is_ready, ready


def test_commands_of_somebody_elses_run_start_nothing(tmp_path):
    run = read_run(unpacked("killed", tmp_path))
    command = LoadCommand(argv=("load", "{port}"), prepare=("make", "x"), count=("count",))
    trials = tuple(
        replace(t, load=replace(t.load, command=command), subject=replace(t.subject, command="serve me"))
        for t in run.plan.trials
    )
    strange = replace(run, plan=replace(run.plan, trials=trials), results=())
    has = named(strange)
    assert (has["--server"], has["--load"]) == (("serve me",), ("load {port}",))
    assert (has["--prepare"], has["--count"]) == (("make x",), ("count",))
    with pytest.raises(UsageError, match="--server 'serve me'"):
        refuse_strange(strange, {"--load": has["--load"]})


def test_two_long_commands_have_two_names():
    names = {slug({"command": "serve " * 40 + end}) for end in "ab"}
    assert len(names) == 2 and max(map(len, names)) < 80


@pytest.mark.parametrize(("load", "connections"), [("sh -c {clients}", 16), ("sh -c 8", None)])
def test_a_connections_check_needs_the_number_in_the_command(load, connections):
    sweep = resolve_sweep("cpu", {"axis.cores": "1", **FLAGS, "load.command": load})
    trial = make_trial(sweep, knobs={"connections": "8"})
    check = check_of(trial, 1, KNOB_COLUMNS)
    assert (check.load.connections if check else None) == connections
    assert check is None or values_of(check)["clients"] == "16"
