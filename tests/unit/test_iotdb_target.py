"""IoTDB without its server: what is started, what is refused, what is read of its log and of its answers."""

import re
import socket
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.loadgen.binary import loopback_path
from scale_sweep.loadgen.verbs import Answer
from scale_sweep.model.resources import Site
from scale_sweep.server.targets import Address, load_target
from scale_sweep.server.targets import statements as module
from scale_sweep.server.targets.iotdb.iotdb_target import script
from tests.unit.factories import make_sweep, make_trial

KNOBS = {
    "default_data_region_group_num_per_database": "4",
    "connections": "4",
    "aligned": "true",
    "heap": "256m",
    "config_heap": "128m",
}


@pytest.fixture(autouse=True)
def built(tmp_path, monkeypatch):
    """A load generator with the library beside it."""
    program = tmp_path / "bin" / "scale-loadgen"
    program.parent.mkdir()
    program.touch(mode=0o755)
    program.with_name("libscale-loopback.so").touch()
    monkeypatch.setenv("SCALE_LOADGEN", str(program))
    return program


def trial_of(cores=1.5, knobs=KNOBS, **flags):
    return replace(make_trial(make_sweep(**flags), cores=cores), knobs=knobs)


def spec_of(knobs=KNOBS, **site):
    place = Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h", **site)
    return load_target("iotdb").server(trial_of(knobs=knobs), place, "")


def items_of(spec):
    lines = spec.files["/d/iotdb/iotdb-system.properties"].splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_both_nodes_are_kept_on_loopback_in_the_trials_folder_and_at_its_level(built):
    spec = spec_of()
    items = items_of(spec)
    assert spec.env["LD_PRELOAD"] == str(built.with_name("libscale-loopback.so"))
    assert {value for name, value in items.items() if name.endswith("_address")} == {"127.0.0.1"}
    assert spec.ports == tuple(range(7001, 7008))
    assert {int(value) for name, value in items.items() if name.endswith("_port")} == set(spec.ports)
    folders = [value for name, value in items.items() if name.endswith(("_dir", "_dirs"))]
    assert len(folders) == 11
    assert all(path.startswith("/d/iotdb/") for path in folders)
    assert (items["cn_metric_level"], items["dn_metric_level"]) == ("OFF", "OFF")
    both = spec.files["/d/iotdb/both.sh"]
    assert both.count("-XX:ActiveProcessorCount=2") == 2
    assert "-Xmx256m" in both and "-Xmx128m" in both
    assert (items["flush_thread_count"], items["default_data_region_group_num_per_database"]) == ("2", "4")
    assert items_of(spec_of(knobs={**KNOBS, "flush_thread_count": "7"}))["flush_thread_count"] == "7"
    assert not {"heap", "aligned", "connections", "jvm_heap"} & set(items)
    for wal_disk, log in (("data", "/1/t/wal,/2/t/wal"), ("off-axis", "/d/iotdb/wal")):
        items = items_of(spec_of(disks=("/1/t", "/2/t"), disk_placement="dirs", wal_disk=wal_disk))
        assert (items["dn_data_dirs"], items["dn_wal_dirs"]) == ("/1/t/data,/2/t/data", log)
    built.with_name("libscale-loopback.so").unlink()
    (finding,) = load_target("iotdb").check_client("/h", "")
    assert finding.blocking and "libscale-loopback.so" in finding.sentence
    for starts in (loopback_path, spec_of):
        with pytest.raises(PreflightError):
            starts()


def test_knobs_that_the_trial_sets_and_items_that_its_template_does_not_name_are_refused(tmp_path):
    target = load_target("iotdb")
    assert target.check(trial_of(), None) == ()
    own = "dn_rpc_port dn_rpc_address dn_data_dirs cn_system_dir dn_rpc_thrift_compression_enable"
    for name in ("aligned", *own.split()):
        (finding,) = target.check(trial_of(knobs={**KNOBS, name: "1", "wal_mode": "SYNC"}), None)
        assert finding.blocking and name in finding.sentence
    (tmp_path / "lib").mkdir()
    text = "# Datatype: int\nflush_thread_count=0\n# default_x=3\ndefault_data_region_group_num_per_database=2\n"
    with zipfile.ZipFile(tmp_path / "lib" / "node-commons-2.0.1-beta.jar", "w") as jar:
        jar.writestr("iotdb-system.properties.template", text)
    asked = trial_of(knobs={**KNOBS, "flush_thread_count": "2", "default_x": "1", "no_such_item": "1"})
    (finding,) = target.check_installed(str(tmp_path), asked)
    assert "no_such_item" in finding.sentence
    assert target.check_installed("/nowhere", asked) == ()


UP = "os.write(1, b'up\\n')\ntime.sleep(60)"


def begun(tmp_path, config, data):
    """The script with these two commands of Python."""
    path = tmp_path / "both.sh"
    path.write_text(script(*[(sys.executable, "-c", f"import os, signal, sys, time\n{one}") for one in (config, data)]))
    return subprocess.Popen(["/bin/sh", str(path)], stdout=subprocess.PIPE, text=True)


def both_up(tmp_path, program):
    process = begun(tmp_path, program, program)
    assert [process.stdout.readline() for _ in range(2)] == ["up\n"] * 2
    return process


def test_both_nodes_end_with_one_of_them_a_signal_or_the_shell(tmp_path):
    assert begun(tmp_path, "sys.exit(3)", UP).wait(50) == 128 + 15
    assert begun(tmp_path, UP, "sys.exit(4)").wait(50) == 4
    process = both_up(tmp_path, "signal.signal(15, lambda *_: (os.write(1, b'ended\\n'), sys.exit(0)))\n" + UP)
    process.terminate()
    assert process.wait(50) == 0
    assert process.stdout.read().split() == ["ended"] * 2
    process = both_up(tmp_path, UP)
    process.kill()
    process.wait(50)
    assert process.stdout.read() == "", "it ends when no process holds it any more"


class Asked:
    """Answers to statements by how they begin."""

    def __init__(self, monkeypatch, answers):
        self.statements = []
        self.answers = answers
        monkeypatch.setattr(module, "run_statements", self.run)

    def run(self, _program, spec, statements, secret, *_):
        self.statements.append((statements[0], secret))
        rows = next((rows for begin, rows in self.answers.items() if statements[0].startswith(begin)), ())
        return (Answer(ok=True, rows=tuple(rows), affected=None, code="", message=""),)


def session_of(tmp_path, **more):
    address = Address(host="127.0.0.1", port=1, secret="s", data_dir=str(tmp_path), **more)
    trial = trial_of(workload__start_ms="60000", workload__step_ms="10", workload__columns="f:float,i:int")
    return load_target("iotdb").session(trial, address)


@pytest.mark.parametrize(
    ("times", "rows", "gaps"),
    [((60000, None, 60020, 60010), 3, 0), ((60000, 60000, 60030, 60020), 3, 1), ((60010, 60010, 60030, 60030), 3, 1)],
)
def test_rows_are_counted_device_by_device_over_all_columns(tmp_path, monkeypatch, times, rows, gaps):
    answers = {"SELECT count_time": [("root.scale.d0", rows)], "SELECT min_time": [("root.scale.d0", *times)]}
    asked = Asked(monkeypatch, answers)
    counted = session_of(tmp_path).count()
    assert (counted.rows, len(counted.gaps)) == (rows, gaps)
    extremes = ["min_time(f)", "min_time(i)", "max_time(f)", "max_time(i)"]
    assert re.findall(r"m.._time\(.\)", asked.statements[1][0]) == extremes


def test_settings_are_read_back_from_what_both_nodes_wrote(tmp_path, monkeypatch):
    asked = {"SHOW DEVICES": [("root.scale.d0", "true", "measurement", "INF")], "SHOW DATA REGIONS": [(1,), (2,)] * 2}
    Asked(monkeypatch, asked)
    (tmp_path / "iotdb").mkdir()
    (tmp_path / "jvm.log").write_text("[gc,init] CPUs: 2 total, 2 available\n[gc,init] Heap Max Capacity: 256M\n")
    (tmp_path / "iotdb" / "config.log").write_text("IoTDB configuration: \n\tx=1;\n")
    (tmp_path / "iotdb" / "data.log").write_text("\tflushThreadCount=9;\n\twalMode=ASYNC;\n\tflushThreadCount=2;\n")
    session = session_of(tmp_path)
    effective = session.effective()
    assert {name: effective[name] for name in session.expected()} == session.expected()
    assert effective["acknowledged"] == "in memory"
    (tmp_path / "iotdb" / "data.log").write_text("\twalMode=SYNC;\n")
    assert session.effective()["acknowledged"].startswith("on disk")
    assert "flush_thread_count" not in session.effective()


def test_a_server_is_ready_when_its_regions_are(tmp_path, monkeypatch):
    region = [0, "DataRegion", "Running", "root.scale", 50, 50, 1, "127.0.0.1", 1, "127.0.0.1", "Leader", "2026", 0]
    asked = Asked(monkeypatch, {"SHOW REGIONS": [region]})
    session = session_of(tmp_path)
    assert "does not listen" in session.not_ready() and asked.statements == []
    monkeypatch.setattr(module.socket, "create_connection", lambda *_, **__: socket.socket())
    assert session.not_ready() == ""
    assert asked.statements == [("ALTER USER root SET PASSWORD 's'", "root"), ("SHOW REGIONS", "s")]
    asked.answers["SHOW REGIONS"] = [[*region[:2], "Unknown", *region[3:]]]
    assert session.not_ready().endswith("Unknown, Leader")
    asked.answers["SHOW REGIONS"] = [[*region[:10], "Follower", *region[11:]]]
    assert session.not_ready().endswith("Running, Follower")
    assert len(asked.statements) == 4, "the password is set once"


def test_the_columns_make_a_template_of_the_database_and_rows_are_inserted_as_devices_are(
    tmp_path, monkeypatch, wording
):
    asked = Asked(monkeypatch, {})
    session_of(tmp_path).create_schema()
    wording(*(statement for statement, _ in asked.statements))
    for aligned, column in (("true", "f:float"), ("false", "b:bool"), ("false", "t:nchar(8)")):
        trial = trial_of(knobs={**KNOBS, "aligned": aligned}, workload__columns=column)
        session = load_target("iotdb").session(trial, Address(host="h", port=1, secret=""))
        wording(session.insertion("root.x.d", 5))
