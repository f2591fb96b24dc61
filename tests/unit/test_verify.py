"""scale verify: an untouched run agrees; whatever is edited, cut short, lost or added is named, also when the list of
digests was made good again."""

import csv
import json
import re
import shlex
import shutil
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.analysis.compare.pairs import window_rates
from scale_sweep.base.errors import EXIT_DISAGREES, StoreError
from scale_sweep.cli import app, compose
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.report.series import window_of
from scale_sweep.results.store import sums
from scale_sweep.results.store.reader import read_run
from scale_sweep.verify import verify_run
from scale_sweep.verify.result import differences
from tests.unit.raw_run import Shape, raw_run
from tests.unit.stored import reopened
from tests.unit.whole_commands import run as run_command

TRIAL = "trials/cores-2-r1"
RAW = ("loadgen.jsonl", "samples.jsonl", "facts.json", "server.log", "trial.json", "series.csv", "spec")
TOP = ("points.csv", "timeseries.csv", "fit.json", "report.md", "report.html", "manifest.json", "plan.json")
ALL = (*TOP, *(f"{TRIAL}/{name}" for name in RAW))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    return Path(raw_run(results).path)


@pytest.fixture
def run(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / original.name))


def named(run: Path) -> set[str]:
    return {d.file for d in verify_run(run).disagreements}


def bless(run: Path) -> None:
    """Makes the list of digests good again, as one who covers a track would."""
    names = [str(p.relative_to(run)) for p in run.rglob("*") if p.is_file() and p.name != sums.NAME]
    (run / sums.NAME).write_text(sums.sums_text({n: sums.digest((run / n).read_bytes()) for n in names}))


def test_an_untouched_run_agrees(run):
    checked = verify_run(run)
    assert checked.disagreements == ()
    assert checked.agrees
    assert checked.trials == 9
    assert checked.files == len(TOP) + 9 * (len(RAW) + 1)  # and the journal
    assert checked.figures > 500
    assert checked.fingerprint == sums.digest((run / sums.NAME).read_bytes())


def test_it_agrees_again_after_the_report_was_made_anew(run):
    compose.report(reopened(run))
    assert verify_run(run).disagreements == ()


@pytest.mark.parametrize("name", ALL)
def test_a_changed_byte_is_found(run, name):
    path = run / name
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(bytes(content))
    assert name in named(run)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("cut", ["half", "empty", "gone"])
def test_a_file_cut_short_or_lost_is_found(run, name, cut):
    path = run / name
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if cut == "half" else b"")
    if cut == "gone":
        path.unlink()
    assert name in named(run)


def scaled(text: str, pattern: str) -> str:
    """The first four numbers after the pattern, some 7 % larger."""
    return re.sub(f"({pattern})" + r"([\d.]+)", lambda m: m[1] + str(int(float(m[2]) * 1.07) + 1), text, count=4)


EDITS = {
    "trial.json": r'"rows_per_s": ',
    "loadgen.jsonl": r'"rows_window": ',
    "samples.jsonl": r'"memory_available_bytes": ',
    "facts.json": r'"flush_end_ns": ',
    "series.csv": r"2\.000,",
    "timeseries.csv": r"cores-2-r1,1\.000,",
    "fit.json": r'"rate_mean": ',
    "manifest.json": r'"replicates": ',
}


@pytest.mark.parametrize("name", ["trial.json", "loadgen.jsonl", "samples.jsonl", "facts.json", "series.csv"])
def test_a_figure_changed_in_a_trial_is_found_even_with_new_digests(run, name):
    path = run / TRIAL / name
    path.write_text(scaled(path.read_text(), EDITS[name]))
    bless(run)
    # A changed raw file shows in what was made from it: which of two files lies cannot be told without digests.
    made_from_it = {"trial.json": "trial.json", "samples.jsonl": "series.csv", "series.csv": "series.csv"}
    assert f"{TRIAL}/{made_from_it.get(name, 'trial.json')}" in named(run)


def test_a_figure_changed_in_a_table_is_found_even_with_new_digests(run):
    rows = (run / "points.csv").read_text().splitlines()
    at = rows[0].split(",").index("rows_per_s")
    cells = rows[3].split(",")
    cells[at] = str(float(cells[at]) * 1.01)
    rows[3] = ",".join(cells)
    (run / "points.csv").write_text("\n".join(rows) + "\n")
    bless(run)
    found = verify_run(run).disagreements
    assert [(d.file, d.figure) for d in found] == [("points.csv", f"{cells[0]}.rows_per_s")]


@pytest.mark.parametrize("name", ["timeseries.csv", "fit.json", "manifest.json"])
def test_a_figure_changed_in_a_derived_file_is_found_even_with_new_digests(run, name):
    path = run / name
    path.write_text(scaled(path.read_text(), EDITS[name]))
    bless(run)
    assert name in named(run)


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_a_report_that_says_something_else_is_found_even_with_new_digests(run, name):
    path = run / name
    path.write_text(path.read_text().replace("speedup", "speed up", 1))
    bless(run)
    assert named(run) == {name}


def test_a_consistent_lie_about_one_trial_is_named_in_every_file_that_tells_it(run):
    """The rate of a trial is raised in trial.json, then everything else is made from that with the real tool."""
    path = run / TRIAL / "trial.json"
    document = json.loads(path.read_text())
    document["measurement"]["rows_per_s"] *= 1.3
    path.write_text(json.dumps(document, indent=1))
    compose.report(reopened(run))
    bless(run)
    assert {f"{TRIAL}/trial.json", "points.csv", "fit.json", "report.md", "report.html"} <= named(run)


def test_opening_a_run_anew_does_not_make_an_edited_manifest_good(run):
    path = run / "manifest.json"
    path.write_text(path.read_text().replace("synthetic-host", "another-host"))
    compose.report(reopened(run))
    assert "manifest.json" in named(run)


def test_a_trial_lost_whole_is_found(run):
    shutil.rmtree(run / TRIAL)
    bless(run)
    assert f"{TRIAL}/trial.json" in named(run)


def test_a_contradiction_inside_a_raw_file_is_found(run):
    path = run / TRIAL / "loadgen.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[3]["rows"] += 1000
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bless(run)
    assert f"{TRIAL}/loadgen.jsonl" in named(run)


@pytest.fixture(scope="module")
def original_ramped(tmp_path_factory):
    return Path(raw_run(tmp_path_factory.mktemp("ramped"), shape=Shape(levels=2, seconds=20, ramp_s=8)).path)


@pytest.fixture
def ramped(original_ramped, tmp_path):
    """Every trial's rate rises for 8 s after the warm-up; its window is the 10 s after these."""
    return Path(shutil.copytree(original_ramped, tmp_path / original_ramped.name))


def test_a_window_that_moved_is_found_again(ramped):
    assert verify_run(ramped).disagreements == ()
    rows = list(csv.DictReader((ramped / "points.csv").open()))
    assert {(r["transient_s"], r["window_s"]) for r in rows} == {("8.0", "10.0")}
    assert all("were discarded" in r["reasons"] and r["verdict"] == "VALID" for r in rows)


@pytest.mark.parametrize(("field", "value"), [("response_hdr", None), ("rows", 390_000), ("cpu_s", 0.9)])
def test_an_edited_second_of_a_window_that_moved_is_found(ramped, field, value):
    path = ramped / TRIAL / "loadgen.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    inside = next(line for line in lines if line["event"] == "interval" and line["t_s"] == 15.0)
    inside[field] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bless(ramped)
    assert f"{TRIAL}/trial.json" in named(ramped)


def test_what_is_drawn_and_compared_are_the_seconds_of_the_window(ramped):
    run = read_run(ramped)
    result = run.results[0]
    assert window_of(result) == (8.0, 18.0)
    rates = window_rates(run, result)
    assert len(rates) == 10
    assert sum(rates) == pytest.approx(result.measurement.rows, rel=1e-4)


def test_a_run_that_was_moved_under_another_name_agrees(run):
    moved = run.rename(run.parent / "sent by mail")
    assert verify_run(moved).disagreements == ()


def test_an_unfinished_run_is_said_and_is_no_fault(tmp_path):
    run = Path(raw_run(tmp_path, interrupted_after=4).path)
    checked = verify_run(run)
    assert checked.agrees, checked.disagreements
    assert checked.trials == 4
    assert any("interrupted: 5 of 9 trials not run" in note for note in checked.notes)


def test_a_run_killed_before_its_first_trial_agrees_and_is_interrupted(tmp_path):
    killing = tmp_path / "scale-loadgen"  # the real one; it kills the sweep when the ceiling is to be measured
    killing.write_text(
        f'#!/bin/sh\n[ "$1" != load ] || {{ kill -9 $PPID; exit; }}\nexec {shlex.quote(loadgen_path())} "$@"\n'
    )
    killing.chmod(0o755)
    begun = run_command("sweep", "cpu", "--target", "null", "--cores", "1", cwd=tmp_path, SCALE_LOADGEN=str(killing))
    assert begun.code == -signal.SIGKILL, begun.stderr
    done = run_command("verify", "last", cwd=tmp_path)
    assert (done.code, "it agrees" in done.stdout) == (0, True), done.stdout
    assert "the run is interrupted: all 3 trials not run" in done.stdout
    assert run_command("list", cwd=tmp_path).stdout.rstrip().endswith("interrupted")
    (path,) = (tmp_path / "results").iterdir()
    (path / "points.csv").unlink()
    assert named(path) == {"points.csv"}, "a file that was written is missed"


@pytest.mark.parametrize("name", ["manifest.json", "points.csv"])
def test_a_kill_between_a_file_and_its_digest_is_no_edit(tmp_path, name):
    run = Path(raw_run(tmp_path, interrupted_after=4).path)
    whole = (run / name).read_bytes()
    if name == "manifest.json":  # the digest is new, the file is old, its next content waits beside it
        (run / f"{name}.partial").write_bytes(whole)
        (run / name).write_text((run / name).read_text().replace("interrupted", "running"))
    else:  # the file is new, the digest is old
        listed = (run / sums.NAME).read_text()
        (run / sums.NAME).write_text(listed.replace(sums.digest(whole), "0" * 64))
    assert name not in named(run)
    reopened(run)
    assert name not in named(run)


def test_a_file_that_is_not_of_the_run_is_said_and_is_no_fault(run):
    (run / "remarks.txt").write_text("mine")
    checked = verify_run(run)
    assert checked.agrees
    assert any("remarks.txt" in note for note in checked.notes)


@pytest.mark.parametrize("line", ["deadbeef  points.csv", f"{'0' * 64}  ../../etc/passwd", f"{'0' * 64}  /etc/passwd"])
def test_a_list_that_is_none_is_refused(run, line):
    (run / sums.NAME).write_text(line + "\n")
    with pytest.raises(StoreError, match="line 1"):
        verify_run(run)


def test_a_plan_that_would_lead_out_of_the_run_is_refused(run):
    path = run / "plan.json"
    path.write_text(path.read_text().replace('"cores-2-r1"', '"../../x"'))
    assert "plan.json" in named(run)
    with pytest.raises(StoreError, match="names a trial"):
        read_run(run)


def test_a_run_of_another_state_of_the_tool_is_said(tmp_path):
    run = Path(raw_run(tmp_path).path)
    assert not any("another state" in note and "fitted" in note for note in verify_run(run).notes)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["reported_by"]["code"] = "0" * 16
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert any("another state" in note and "fitted" in note for note in verify_run(run).notes)


def test_the_command_says_it_and_ends_with_its_code(run):
    good = CliRunner().invoke(app, ["verify", str(run), "--json"])
    assert good.exit_code == 0, good.output
    assert json.loads(good.stdout)["agrees"] is True
    (run / "points.csv").write_text("trial_id\n")
    bad = CliRunner().invoke(app, ["verify", str(run)])
    assert bad.exit_code == EXIT_DISAGREES
    assert "points.csv" in bad.stdout
    document = json.loads(CliRunner().invoke(app, ["verify", str(run), "--json"]).stdout)
    assert document["agrees"] is False
    assert {d["file"] for d in document["disagreements"]} == {"points.csv"}


def test_differences_name_the_figure_and_forgive_rounding():
    assert list(differences({"a": [1.0, 2.0]}, {"a": [1.0 + 1e-9, 2.1]})) == [("a[1]", "2", "2.1")]
    assert list(differences({"a": 1}, {"b": 1})) == [("a", "1", "absent"), ("b", "absent", "1")]
    assert list(differences({"a": None}, {"a": 0.0})) == [("a", "None", "0")]
    assert list(differences({"a": True}, {"a": 1})) == []
