"""The tables of a plan: every setting that a user gave is there with its origin; variants that differ have two rows."""

from scale_sweep.cli.plan_views import set_rows, setting_rows, settings_title
from scale_sweep.plan.preparing.prepared import prepare_ab, prepare_plan
from scale_sweep.sweep.resolve import resolve_sweep


def settings_of(tmp_path, **flags):
    """The rows of the table, by key: the value and its origin."""
    wanted = {"axis.cores": "1", "target.name": "postgres", "target.data_dir": str(tmp_path), **flags}
    _, rows = setting_rows(prepare_plan(resolve_sweep("cpu", wanted), tmp_path).plan.sweep)
    return {key: (value, origin) for key, value, origin in rows}


def test_the_plan_shows_each_setting_with_its_origin(tmp_path):
    shown = settings_of(tmp_path, **{"workload.name": "iot-mixed", "operation": ["range.span=2h"]})
    assert shown["workload.name"] == ("iot-mixed", "flag")
    assert shown["mix"][0] == "write=9,range=1" and shown["mix"][1].endswith(" iot-mixed")
    assert shown["operation.range"] == ("span=2h", "flag")
    assert shown["preload.rows"] == ("1000000", shown["mix"][1])
    assert shown["method.replicates"] == ("3", "default")
    shown = settings_of(tmp_path, **{"load.slo": "p99 < 50 ms"})
    assert (shown["load.slo"][1], shown["load.duration"]) == ("flag", ("10 s", "--slo"))
    assert shown["method.connections_check"] == ("off", "--slo")
    assert "load.rate" not in shown
    shown = settings_of(tmp_path, **{"load.quick": "1"})
    assert (shown["load.duration"], shown["method.replicates"][1]) == (("5 s", "--quick"), "--quick")
    assert settings_of(tmp_path, **{"load.quick": "1", "load.duration": "7s"})["load.duration"] == ("7 s", "flag")


def test_a_setting_that_differs_between_two_variants_has_a_row_for_each(tmp_path):
    flags = {"axis.cores": "1", "target.name": "postgres", "target.data_dir": str(tmp_path)}
    a, b = (resolve_sweep("cpu", {**flags, **more}) for more in ({}, {"knobs.other": ["shared_buffers=2GB"]}))
    prepared = prepare_ab(a, b, (2,), tmp_path)
    _, rows = set_rows(prepared)
    own = [(name.rpartition(" ")[2], value) for name, value in rows if name.startswith("shared_buffers")]
    assert sorted(own) == [("A)", "not sent"), ("B)", "2GB")]
    assert settings_title(prepared.plan).endswith(" A")
