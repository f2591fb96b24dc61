"""default < file < flag, and every mistake by its name."""

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.setting import readers
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


def test_every_mistake_of_a_file_at_once_by_key_with_the_near_one(tmp_path):
    path = write(tmp_path, '[axis]\ncroes = "1..2"\n[workload]\ntabels = 7\n[nonsense]\nx = 1\n')
    with pytest.raises(UsageError) as caught:
        resolve_sweep(path, {})
    for text in ("axis.croes: unknown key; did you mean axis.cores?", "did you mean workload.tables?", "nonsense"):
        assert text in caught.value.message


def test_every_mistake_of_the_flags_at_once():
    with pytest.raises(UsageError) as caught:
        resolve_sweep("cpu", {"axis.cores": "3..1", "workload.tables": "0", "cpus.server": "x"})
    assert all(flag in caught.value.message for flag in ("--cores", "--tables", "--server-cpus"))


def test_a_mistake_in_the_file_names_the_key_not_the_flag(tmp_path):
    with pytest.raises(UsageError, match=r"axis\.cores: .*above 0"):
        resolve_sweep(write(tmp_path, '[axis]\ncores = "0..3"\n'), {})


@pytest.mark.parametrize("what", ["nonsense", "missing.toml", "disk"])
def test_what_is_no_sweep_is_refused(what):
    with pytest.raises(UsageError):
        resolve_sweep(what, {"axis.cores": "1"})


def test_broken_toml_and_binary_files_are_refused(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        resolve_sweep(str(path), {})


def test_rows_and_duration_exclude_each_other():
    with pytest.raises(UsageError, match="exclude"):
        resolve_sweep("cpu", {"axis.cores": "1", "load.rows": "10", "load.duration": "5s"})


def test_fixed_work_has_no_window_and_no_warmup_unless_asked():
    sweep = resolve_sweep("cpu", {"axis.cores": "1", "load.rows": "100M"})
    assert (sweep.load.rows, sweep.load.duration_s, sweep.load.warmup_s) == (100_000_000, None, 0.0)


def test_knobs_of_a_file_that_are_no_known_knob_become_free_knobs(tmp_path):
    path = write(tmp_path, '[axis]\ncores = "1"\n[knobs]\nvgroups = "1..4=4,5..=12"\nbuffer = 64\n[tags]\nwho = "me"\n')
    sweep = resolve_sweep(path, {"knobs.other": ["walLevel=2"]})
    assert set(sweep.knobs) == {"vgroups", "buffer", "walLevel"}
    assert sweep.tags == {"who": "me"}


@pytest.mark.parametrize(("level", "value"), [(1, "4"), (4, "4"), (5, "12"), (99, "12")])
def test_rules(level, value):
    assert readers.rule_value(readers.rule("1..4=4,5..=12"), level) == value


def test_a_rule_survives_the_round_trip():
    for text in ("8", "1..4=4,5..=12", "1=2,2=4"):
        assert readers.rule_text(readers.rule(text)) == text


@pytest.mark.parametrize("text", ["1..4=", "=4,", "4..1=3", ""])
def test_rules_refused(text):
    with pytest.raises(ValueError, match=r"."):
        readers.rule(text)


def test_columns():
    assert readers.columns("a:float,b:binary(24)") == ("a:float", "b:binary(24)")
    assert readers.columns("3:double") == ("m1:double", "m2:double", "m3:double")
    for bad in ("a:flaot", "b:binary", "a:int,a:int", "", "a:int; drop table x"):
        with pytest.raises(ValueError, match=r"."):
            readers.columns(bad)


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


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ({"load.rows_per_level": "1M", "load.duration": "5s"}, "--rows-per-level and --duration"),
        ({"load.rows_per_level": "1M", "load.rows": "2M"}, "--rows and --rows-per-level"),
        ({"load.rows_per_level": "0"}, "--rows-per-level: '0' is below 1"),
    ],
)
def test_fixed_work_is_asked_for_in_one_way(flags, word):
    with pytest.raises(UsageError, match=word):
        resolve_sweep("cpu", {"axis.cores": "1..2", **flags})
