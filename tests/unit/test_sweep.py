"""Settings: default < file < flag, and every mistake by its name. The schema of sweep files accepts what the reader does."""

import json
import re
import tomllib

import pytest
from jsonschema import Draft7Validator

from scale_sweep.base.errors import UsageError
from scale_sweep.cli.commands import load_command
from scale_sweep.experiment.axes import all_axes
from scale_sweep.experiment.setting import readers, workload_readers
from scale_sweep.machine.host.host_facts import read_host
from scale_sweep.sweep.file import SCHEMA_FILE, bundled_sweeps, first_file, sweep_schema
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.sweep.settings import SETTINGS
from tests.unit.test_plan import planned


def write(tmp_path, text):
    path = tmp_path / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_flag_beats_file_beats_default(tmp_path):
    path = write(tmp_path, '[axis]\ncores = "1..2"\n[workload]\ntables = 7\nstep_ms = 5\n')
    sweep = resolve_sweep(path, {"workload.tables": "9"})
    assert (sweep.work.data.tables, sweep.work.data.step_ms) == (9, 5)
    assert sweep.origin["workload.tables"] == "flag"
    assert sweep.origin["workload.step_ms"] == "file"
    assert sweep.origin["workload.values"] == "default"


def test_every_mistake_at_once_by_its_key_or_flag_with_the_near_one(tmp_path):
    def refused(what, flags=()):
        with pytest.raises(UsageError) as caught:
            resolve_sweep(what, dict(flags))
        return caught.value.message

    path = write(tmp_path, '[axis]\ncroes = "1..2"\n[workload]\ntabels = 7\n[nonsense]\nx = 1\n')
    for text in ("axis.croes", "mean axis.cores?", "mean workload.tables?", "nonsense"):
        assert text in refused(path)
    said = refused("cpu", {"axis.cores": "3..1", "workload.tables": "0", "cpus.server": "x"})
    assert all(flag in said for flag in ("--cores", "--tables", "--server-cpus"))
    assert re.search(r"axis\.cores: .*above 0", refused(write(tmp_path, '[axis]\ncores = "0..3"\n')))
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(str(tmp_path / "x.toml"))
    assert all(refused(what, {"axis.cores": "1"}) for what in ("nonsense", "missing.toml", "disk"))


def test_rules_of_levels_and_columns_are_read_written_and_refused():
    rule = readers.rule("1..4=4,5..=12")
    assert [readers.rule_value(rule, level) for level in (1, 4, 5, 99)] == ["4", "4", "12", "12"]
    for text in ("8", "1..4=4,5..=12", "1=2,2=4"):
        assert readers.rule_text(readers.rule(text)) == text
    assert workload_readers.columns("a:float,b:binary(24)") == ("a:float", "b:binary(24)")
    assert workload_readers.columns("3:double") == ("m1:double", "m2:double", "m3:double")
    bad_rules = [(readers.rule, text) for text in ("1..4=", "=4,", "4..1=3", "")]
    bad_columns = ("a:flaot", "b:binary", "a:int,a:int", "", "a:int; drop table x")
    for read, text in (*bad_rules, *((workload_readers.columns, text) for text in bad_columns)):
        with pytest.raises(ValueError, match=r"."):
            read(text)


def test_the_schema_has_every_key_and_names_a_mistake_and_the_sweeps_of_the_project_follow_it(capfd):
    Draft7Validator.check_schema(sweep_schema())
    sections = sweep_schema()["properties"]
    for setting in SETTINGS:
        section, dot, name = setting.key.partition(".")
        if dot and setting.key != "knobs.other":
            assert name in sections[section]["properties"], setting.key
        elif not dot:
            assert section in sections, setting.key
    for path in bundled_sweeps().values():
        assert not mistakes(path.read_text(encoding="utf-8")), path.name
    assert not mistakes("[knobs]\nwal_level = 2\n[tags]\nrack = 'a'\n[vary]\nconnections = [4, 8]")
    for text, named in (
        ("[load]\ndurations = '4s'", "durations"),
        ("[loads]\nduration = '4s'", "loads"),
        ("[load]\narrival = 'burst'", "burst"),
        ("[load]\nquick = 'yes'", "yes"),
        ("name = 4", "4"),
        ("[mix]\nwrite = 'nine'", "nine"),
    ):
        (mistake,) = mistakes(text)
        assert named in mistake
    load_command("schema").main([], standalone_mode=False)
    assert json.loads(capfd.readouterr().out) == sweep_schema()
    load_command("init").main(["cpu", "--target", "postgres"], standalone_mode=False)
    assert '"postgres"' in capfd.readouterr().out


def test_knobs_of_a_file_that_are_no_known_knob_become_free_knobs(tmp_path):
    path = write(tmp_path, '[axis]\ncores = "1"\n[knobs]\nvgroups = "1..4=4,5..=12"\nbuffer = 64\n[tags]\nwho = "me"\n')
    sweep = resolve_sweep(path, {"knobs.other": ["walLevel=2"]})
    assert set(sweep.knobs) == {"vgroups", "buffer", "walLevel"}
    assert sweep.tags == {"who": "me"}


def test_settings_have_unique_keys_and_flags_and_readable_defaults():
    assert len({s.key for s in SETTINGS}) == len({s.flag for s in SETTINGS}) == len(SETTINGS)
    for setting in SETTINGS:
        assert setting.help.endswith(".")
        if setting.default:
            setting.read(setting.default)


def test_work_in_proportion_to_the_level_is_counted_out_for_each_trial():
    plan = planned(cores="1,2,4", load__rows_per_level="1M")
    assert {t.level: t.load.rows for t in plan.trials} == {1: 10**6, 2: 2 * 10**6, 4: 4 * 10**6}
    assert not any(t.load.rows_by_level for t in plan.trials)
    assert {t.load.rows for t in planned(cores="1,2", load__rows="5M").trials} == {5 * 10**6}
    assert next(t.load.rows for t in planned(cores="0.5", load__rows_per_level="3").trials) == 2
    load = resolve_sweep("cpu", {"axis.cores": "1", "load.rows": "100M"}).load
    assert (load.rows, load.duration_s, load.warmup_s) == (100_000_000, None, 0.0)


CHECK = Draft7Validator(sweep_schema())


def mistakes(text: str) -> list[str]:
    return [error.message for error in CHECK.iter_errors(tomllib.loads(text))]


@pytest.mark.parametrize("axis", all_axes(), ids=lambda axis: axis.facts.command)
def test_a_first_file_is_a_sweep_and_so_is_each_of_its_comments(axis, tmp_path):
    text = first_file(axis, "null")
    assert text.startswith(f"#:schema {SCHEMA_FILE}\n")
    path = tmp_path / "first.toml"
    path.write_text(text, encoding="utf-8")
    assert resolve_sweep(str(path), {}, read_host()).axis == axis.facts.name
    path.write_text(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE), encoding="utf-8")
    assert not mistakes(path.read_text(encoding="utf-8"))
    assert resolve_sweep(str(path), {}, read_host()).target == "null"
