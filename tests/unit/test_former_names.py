"""Names that were others before are still read: keys of sweep files, flags, and fields of stored runs of format 2."""

import json

import pytest
from typer.testing import CliRunner

from runner.cli import app
from runner.errors import UsageError
from runner.model import FitReport, Plan, TrialResult
from runner.store import upgrade
from runner.store.codec import from_plain, to_json
from runner.sweep.ab import flags_of
from runner.sweep.file import read_sweep_file
from runner.sweep.resolve import resolve_sweep
from runner.sweep.settings import SETTINGS

OLD_FILE = """
[axis]
cores = "1..2"
[cpus]
client = "7"
[load]
loader = "scale"
[method]
anchors = "off"
bridge = true
"""


def test_an_old_sweep_file_is_read(tmp_path):
    file = tmp_path / "old.toml"
    file.write_text(OLD_FILE)
    sweep = resolve_sweep(str(file), {})
    assert (sweep.generator_cpus, sweep.load.generator, sweep.drift_check, sweep.ablation) == (
        (7,),
        "scale",
        False,
        True,
    )
    assert sweep.origin["method.drift_check"] == "file"


def test_a_key_under_both_of_its_names_is_refused(tmp_path):
    file = tmp_path / "both.toml"
    file.write_text('[method]\nanchors = "off"\ndrift_check = "on"\n')
    with pytest.raises(UsageError, match="drift_check"):
        read_sweep_file(file)


OLD_FLAGS = (
    "--target",
    "null",
    "--cores",
    "1",
    "--client-cpus",
    "0",
    "--anchors",
    "off",
    "--bridge",
    "--loader",
    "scale",
)


def test_old_flags_are_read():
    done = CliRunner().invoke(app, ["plan", "cpu", *OLD_FLAGS])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("flags", [("--anchors", "off", "--drift-check", "on"), ("--bridge", "--ablation")])
def test_a_flag_under_both_of_its_names_is_refused(flags):
    done = CliRunner().invoke(app, ["plan", "cpu", "--target", "null", "--cores", "1", *flags])
    assert isinstance(done.exception, UsageError)
    assert flags[0] in done.exception.message


def test_old_flags_of_a_variant_are_read():
    assert flags_of("--bridge --anchors off", "--b") == {"method.ablation": "1", "method.drift_check": "off"}


def test_help_shows_todays_names_only():
    shown = CliRunner().invoke(app, ["sweep", "--help-all"]).output
    renamed = [setting for setting in SETTINGS if setting.former_flag]
    assert renamed
    for setting in renamed:
        assert setting.flag in shown
        assert f"{setting.former_flag} " not in shown


PLACEMENT = {"server_cpus": [0, 1], "client_cpus": [2]}
LOAD = {
    "rows": None,
    "duration_s": 10.0,
    "warmup_s": 5.0,
    "rate": 0.0,
    "arrival": "constant",
    "loader": "taosbenchmark",
}
WORK = {
    "data": {
        "tables": 1,
        "columns": ["a"],
        "tags": [],
        "values": "random",
        "rows_per_request": 10,
        "interlace_rows": 0,
        "start_ms": 0,
        "step_ms": 1,
    }
}
SUBJECT = {"target": "null", "runtime": "process", "method": "sql", "variant": {"limit": "near"}}
TRIAL = {
    "trial_id": "cores-2-bridge-1-r1",
    "point_id": "cores-2-bridge-1",
    "order": 1,
    "level": 2.0,
    "replicate": 1,
    "resources": {"cores": 2.0, "placement": PLACEMENT},
    "work": WORK,
    "load": LOAD,
    "subject": SUBJECT,
    "knobs": {"bridge": "kept"},
    "seed": 1,
    "role": "bridge",
    "bridged_from": 1.0,
}
RESULT = {
    "schema": 2,
    "trial": TRIAL,
    "measurement": {"client_cpu_cores": 0.5, "passed_over_s": 3.0},
    "verdict": {"kind": "VALID", "limit": {"kind": "DISK", "sentence": "full"}},
    "method": 3,
}
FIT = {
    "schema": 2,
    "points": [],
    "chosen": "usl",
    "sentence": "",
    "near": ["amdahl"],
    "roof": {"value": 3.0, "std_err": None},
    "models": [{"model": "usl", "parameters": {}, "rss": 0.0, "aicc": None, "leave_last_out_error": 0.1}],
}


def test_a_trial_of_format_2_is_read(tmp_path):
    found = from_plain(
        upgrade.result_now(RESULT, {"schema": 2, "sweep": {}, "trials": []} | _plan()), TrialResult, tmp_path
    )
    assert (found.trial.role, found.trial.knobs_of_level) == ("ablation", 1.0)
    assert (found.trial.placement.generator_cpus, found.trial.load.generator) == ((2,), "taosbenchmark")
    assert (found.measurement.generator_cpu_cores, found.measurement.transient_s) == (0.5, 3.0)
    assert found.verdict.bottleneck is not None and found.verdict.bottleneck.kind == "DISK"
    assert (found.trial.variant, found.trial.knobs) == ({"limit": "near"}, {"bridge": "kept"}), "named by the user"
    assert found.trial.trial_id == TRIAL["trial_id"], "its directory has this name"


def _plan():
    plan = resolve_sweep("cpu", {"axis.cores": "1..2", "target.name": "null"})
    text = to_json(Plan(sweep=plan, trials=(), confounds=(), notes=(), seconds_estimated=0.0))
    document = upgrade.plan_now(json.loads(text))
    sweep = document["sweep"]
    for new, old in {"drift_check": "anchors", "ablation": "bridge", "generator_cpus": "client_cpus"}.items():
        sweep[old] = sweep.pop(new)
    sweep["load"]["loader"] = sweep["load"].pop("generator")
    return {**document, "schema": 2}


def test_a_plan_of_format_2_is_read(tmp_path):
    old = _plan()
    old["sweep"]["anchors"], old["sweep"]["origin"] = False, {"method.anchors": "flag"}
    sweep = from_plain(upgrade.plan_now({**old, "trials": [TRIAL]}), Plan, tmp_path).sweep
    assert (sweep.drift_check, sweep.origin) == (False, {"method.drift_check": "flag"})


def test_a_fit_of_format_2_is_read(tmp_path):
    found = from_plain(upgrade.fit_now(FIT), FitReport, tmp_path)
    assert (found.supported, found.models[0].holdout_error) == (("amdahl",), 0.1)
    assert found.maximum is not None and found.maximum.value == 3.0


def test_tables_of_format_2_get_todays_columns():
    assert upgrade.table_now("t_s,client_cpu_cores\n1,2\n") == "t_s,generator_cpu_cores\n1,2\n"
    row = upgrade.row_now({"role": "anchor", "limit": "DISK", "passed_over_s": "1", "vgroups": "4"})
    assert row == {"role": "drift_check", "bottleneck": "DISK", "transient_s": "1", "vgroups": "4"}
