"""A disk sweep on PostgreSQL, end to end: loop devices made and capped for real; nothing left, whatever happens."""

import contextlib
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.cli import assert_measured, run, start, waited_for
from tests.integration.made_images import postgres_image, require_docker
from tests.integration.watching import free_port, prometheus, targets, values_of, watch
from tests.needs import need, needs

LIMITS = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
ROWS = ("--columns", "d:double,n:bigint,s:binary(400)", "--text", "random", "--rows-per-request", "500")
SERVER = "--target postgres --runtime process --replicates 1 --tables 24 --warmup 0s --window-max 0".split()
pytestmark = needs("root", "fio")


def is_of_other_tests(line: str) -> bool:
    """Whether a process of tests that runs beside this one made it: folders of tests end with its number. Those of a
    host of tools/hosts lie in that host's state."""
    named = re.search(r"/scale-test-[a-z-]+-(\d+)\b", line)
    return "/var/lib/scale/" in line or (named is not None and int(named[1]) != os.getpid())


def traces() -> set[str]:
    """Loop devices, mounts and limits of ours on this machine."""
    loops = subprocess.run(
        ["losetup", "-n", "-O", "NAME,MAJ:MIN,BACK-FILE"], capture_output=True, text=True, check=True
    )
    lines = [*loops.stdout.splitlines(), *Path("/proc/mounts").read_text().splitlines()]
    limits = LIMITS.read_text().splitlines() if LIMITS.exists() else []
    others = {line.split()[1] for line in loops.stdout.splitlines() if is_of_other_tests(line)}
    found = {line for line in lines if "scale" in line and not is_of_other_tests(line)}
    return found | {f"limit {line}" for line in limits if line.split()[0] not in others}


@pytest.fixture(scope="module")
def data_dir():
    """On a disk, and open to the user that the server runs as."""
    path = Path(f"/var/tmp/scale-test-disks-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def nothing_left(data_dir):
    """Every test leaves the machine as it was."""
    before = traces()
    yield
    assert traces() <= before
    assert [p.name for p in data_dir.glob("*") if p.name != "programs"] == []


def sweep(data_dir, flags, *more):
    """The words of a sweep."""
    given = f"--results r --connections-check off --data-dir {data_dir} {flags}".split()
    return ("sweep", "disk", *SERVER, *ROWS, *given, *more)


def count_of(trial):
    return trial["trial"]["resources"]["amounts"]["disks"]["value"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory, data_dir):
    """One real sweep, looked at by several tests: its folder, and its trials by their numbers of disks."""
    folder, port = tmp_path_factory.mktemp("disks"), free_port()
    flags = f"--disks 1..3 --loop 512MiB --cap 6MiB/s --duration 15s --json --metrics-port {port}"
    with prometheus(folder, f"127.0.0.1:{port}") if shutil.which("prometheus") else contextlib.nullcontext():
        done = run(*sweep(data_dir, flags), cwd=folder)
    assert_measured(done)
    document = json.loads(done.stdout)
    return folder / document["path"], sorted(document["trials"], key=count_of)


def test_disks_that_were_used_fully_take_almost_their_number_of_times_as_much(swept):
    """On a machine that is too busy for three disks no trial claims that they were used fully."""
    trials = swept[1]
    assert list(map(count_of, trials)) == [1, 2, 3]
    for count, trial in enumerate(trials, 1):
        rate = trial["measurement"]["durable_rows_per_s"] / trials[0]["measurement"]["durable_rows_per_s"]
        assert rate > 0.8 * count or trial["verdict"]["kind"] != "VALID", trial["verdict"]


def test_the_dashboards_have_the_disks_against_their_limits(swept):
    need("prometheus")
    path, trials = swept
    with prometheus(path.parent.parent, data=path.parent.parent / "tsdb") as server:
        seen = watch(server.url, path)
        answers = {
            (board, title, t["refId"]): seen.instant(t["expr"], seen.at, values_of(seen))
            for board in ("live", "trial")
            for title, t in targets(board)
            if "scale_disk" in t["expr"]
        }
    assert len(answers) == 8
    assert [where for where, series in answers.items() if not series] == []
    count = next(count_of(trial) for trial in trials if trial["trial"]["trial_id"] == seen.trial)
    measured = json.loads((path / "manifest.json").read_text())["disk_ceilings"]
    own = {c["disks"][0]: pytest.approx(c["write_mb_per_s"] * 1e6) for c in measured if len(c["disks"]) == 1}
    names = [f"d{i + 1}" for i in range(int(count))]
    for board in ("live", "trial"):
        limits = {one["metric"]["disk"]: float(one["value"][1]) for one in answers[board, "Disks", "B"]}
        assert limits == {name: own[name] for name in names}
    (share,) = answers["live", "What is the bottleneck?", "D"]
    assert 0.2 < float(share["value"][1]) < 1.6


@pytest.mark.docker
def test_a_container_is_under_the_disks_limits_too(tmp_path, data_dir):
    require_docker()
    flags = f"--disks 1 --loop 512MiB --cap 12MiB/s --duration 5s --json --runtime docker --image {postgres_image()}"
    done = run(*sweep(data_dir, flags), cwd=tmp_path)
    assert_measured(done)
    (trial,) = json.loads(done.stdout)["trials"]
    disk = trial["measurement"]["disks"]["d1"]
    assert disk["used_percent"] > 60
    assert 6 < disk["write_mb_per_s"] < 12.6 * 1.2


def test_a_disk_about_to_fill_ends_the_trial_by_name(tmp_path, data_dir):
    flags = "--disks 1 --loop 1GiB --cap 200MiB/s --duration 30s --disk-free-min 800MiB --json"
    done = run(*sweep(data_dir, flags), cwd=tmp_path)
    assert done.returncode == 10, done.stderr
    verdict = json.loads(done.stdout)["trials"][0]["verdict"]
    assert verdict["kind"] == "ABORTED"
    assert "disk d1" in verdict["reasons"][0] and "fill" in verdict["reasons"][0]


def wait_for_load(process: subprocess.Popen[str], folder: Path) -> None:
    """Until the load generator writes: the trial's spec is there, newer than the process."""
    began = time.time()
    waited_for(lambda: any(p.stat().st_mtime > began for p in folder.glob("r/*/trials/*/spec")), process=process)
    time.sleep(1.0)


def ours(process: subprocess.Popen[str]) -> bool:
    return process.poll() is None and any("scale" in trace for trace in traces())


def test_ctrl_c_and_kill_9_leave_nothing_and_what_was_begun_goes_on(tmp_path, data_dir, only_cleaner):
    """Ctrl-C in a sweep, kill -9 in its continuation, which makes its disks anew."""
    before = traces()
    process = start(*sweep(data_dir, "--disks 1 --loop 1GiB --cap 30MiB/s --duration 60s"), cwd=tmp_path)
    wait_for_load(process, tmp_path)
    assert ours(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert process.returncode == 130, err
    assert "scale resume" in err
    assert traces() <= before

    again = start("resume", "last", "--results", "r", cwd=tmp_path)
    wait_for_load(again, tmp_path)
    assert ours(again)
    again.send_signal(signal.SIGKILL)
    again.wait()
    assert any("scale" in trace for trace in traces() - before)
    cleaned = run("clean", "--data-dir", str(data_dir), cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stderr


def test_figures_shares_and_verdicts_are_the_disks(swept):
    path, trials = swept
    for trial in trials:
        m, count = trial["measurement"], count_of(trial)
        parts = [int(n) for n in trial["effective"]["parts_per_disk"].split(",")]
        assert list(m["disks"]) == [f"d{i + 1}" for i in range(int(count))]
        assert len(set(parts)) == 1 and parts[0] > 0
        for disk in m["disks"].values():
            assert disk["share_percent"] == pytest.approx(100 / count, abs=5)
            assert disk["used_percent"] > 60
            assert disk["free_gb_min"] > 0.05
        assert m["rows_counted"] == m["rows_acked"] > 1000
        assert m["disk_ceiling_mb_per_s"] == pytest.approx(6.29 * count, rel=0.2)
        assert 1 < m["write_amplification"] < 4
        assert m["logical_bytes_per_row"] == 424
        kind, reasons = trial["verdict"]["kind"], " ".join(trial["verdict"]["reasons"])
        assert "used fully" in reasons
        assert (kind == "VALID") == ("not used fully" not in reasons and ", d" not in reasons.split(" (")[0])
    rows = list(csv.DictReader((path / "points.csv").open()))
    assert [r["d3_share_percent"] == "" for r in rows] == [True, True, False]
    manifest = json.loads((path / "manifest.json").read_text())
    assert [c["disks"] for c in manifest["disk_ceilings"]][-1] == ["d1", "d2", "d3"]
    assert manifest["disk_placement"].startswith("spread")
    page = (path / "report.html").read_text()
    assert "Each disk" in page and "off the axis" in page
