"""scale verify: an untouched run agrees; whatever is edited, cut short, lost or added is named, also when the list of
digests was made good again."""

import csv
import json
import re
import shlex
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.analysis.compare.pairs import window_rates
from scale_sweep.base.errors import EXIT_DISAGREES, StoreError
from scale_sweep.cli import app, compose
from scale_sweep.judge.figures.operations import hidden
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.model.questions import AnswersChecked
from scale_sweep.report.series import window_of
from scale_sweep.results.store import files
from scale_sweep.results.store.reader import read_run
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.verify.digests import differences
from scale_sweep.verify.run import verify_run
from tests.unit.raw_run import Shape, raw_run
from tests.unit.stored import reopened
from tests.unit.test_method import bless
from tests.unit.whole_commands import run as run_command

TRIAL = "trials/cores-2-r1"
RAW = ("loadgen.jsonl", "samples.jsonl", "facts.json", "server.log", "trial.json", "series.csv", "spec")
TOP = ("points.csv", "timeseries.csv", "fit.json", "report.md", "report.html", "manifest.json", "plan.json")
ALL = (*TOP, *(f"{TRIAL}/{name}" for name in RAW))


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Runs by their names: of nine trials; of trials whose rate rises for 8 s after the warm-up; of reads."""
    given = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "100k", "workload.tables": "10"}
    work = resolve_sweep("cpu", {**given, "mix": "range"}).work
    kinds = {"plain": {}, "ramped": {"shape": Shape(levels=2, seconds=20, ramp_s=8)}}
    kinds["reads"] = {"work": work, "answers": (CHECKED,)}
    return {name: Path(raw_run(tmp_path_factory.mktemp(name), **kind).path) for name, kind in kinds.items()}


def copied(original, folder):
    return Path(shutil.copytree(original, folder / original.name))


@pytest.fixture
def run(originals, tmp_path):
    return copied(originals["plain"], tmp_path)


def named(run: Path) -> set[str]:
    return {d.file for d in verify_run(run).disagreements}


def test_an_untouched_run_agrees_also_when_reported_anew_and_moved_beside_a_file_that_is_not_of_it(run):
    checked = verify_run(run)
    assert checked.disagreements == ()
    assert checked.agrees
    assert checked.trials == 9
    assert checked.files == len(TOP) + 9 * (len(RAW) + 1)  # and the journal
    assert checked.figures > 500
    assert checked.fingerprint == files.digest((run / files.SUMS).read_bytes())
    compose.report(reopened(run))
    assert named(run) == set()
    (run / "remarks.txt").write_text("mine")
    noted = verify_run(run.rename(run.parent / "sent by mail"))
    assert noted.agrees and noted.disagreements == ()
    (note,) = set(noted.notes) - set(checked.notes)
    assert "remarks.txt" in note


def test_an_edited_manifest_a_raised_rate_a_lost_trial_and_a_contradiction_in_a_raw_file_are_found(run):
    manifest, trial = run / "manifest.json", run / TRIAL / "trial.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace("synthetic-host", "another-host"))
    compose.report(reopened(run))  # opening it anew does not make it good
    assert "manifest.json" in named(run)
    manifest.write_text(whole)
    change_line(run, 3, rows=lambda rows: rows + 1000)
    assert f"{TRIAL}/loadgen.jsonl" in named(run)
    (run / TRIAL).rename(run.parent / "lost")
    bless(run)
    assert f"{TRIAL}/trial.json" in named(run)
    (run.parent / "lost").rename(run / TRIAL)
    document = json.loads(trial.read_text())
    document["measurement"]["rows_per_s"] *= 1.3
    trial.write_text(json.dumps(document, indent=1))
    compose.report(reopened(run))  # with the real tool all others are made from the raised rate
    bless(run)
    assert {f"{TRIAL}/trial.json", "points.csv", "fit.json", "report.md", "report.html"} <= named(run)


def test_a_list_that_is_none_and_a_plan_that_would_lead_out_of_the_run_are_refused(run):
    plan = run / "plan.json"
    plan.write_text(plan.read_text().replace('"cores-2-r1"', '"../../x"'))
    assert "plan.json" in named(run)
    with pytest.raises(StoreError, match="names a trial"):
        read_run(run)
    for line in ("deadbeef  points.csv", f"{'0' * 64}  ../../etc/passwd", f"{'0' * 64}  /etc/passwd"):
        (run / files.SUMS).write_text(line + "\n")
        with pytest.raises(StoreError, match="line 1"):
            verify_run(run)


def test_the_command_says_it_and_ends_with_its_code_also_of_another_state_of_the_tool(run):
    def verify(*flags: str):
        return CliRunner().invoke(app, ["verify", str(run), *flags])

    good = verify("--json")
    assert (good.exit_code, json.loads(good.stdout)["agrees"]) == (0, True)
    notes = verify_run(run).notes
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["reported_by"]["code"] = "0" * 16
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert any("another state" in note and "fitted" in note for note in set(verify_run(run).notes) - set(notes))
    bless(run)
    (run / "points.csv").write_text("trial_id\n")
    bad = verify()
    assert bad.exit_code == EXIT_DISAGREES
    assert "points.csv" in bad.stdout
    document = json.loads(verify("--json").stdout)
    assert document["agrees"] is False
    assert {d["file"] for d in document["disagreements"]} == {"points.csv"}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("change", ["byte", "half", "empty", "gone"])
def test_a_file_changed_cut_short_or_lost_is_found(run, name, change):
    path = run / name
    content = bytearray(path.read_bytes())
    if change == "byte":
        content[-2] ^= 1
    path.write_bytes(content if change == "byte" else content[: len(content) // 2] if change == "half" else b"")
    if change == "gone":
        path.unlink()
    assert name in named(run)


@pytest.mark.parametrize(
    ("name", "pattern", "shown_in"),
    [
        (f"{TRIAL}/trial.json", r'"rows_per_s": ', f"{TRIAL}/trial.json"),
        # A changed raw file shows in what was made from it: which of two files lies cannot be told without digests.
        (f"{TRIAL}/loadgen.jsonl", r'"rows_window": ', f"{TRIAL}/trial.json"),
        (f"{TRIAL}/samples.jsonl", r'"memory_available_bytes": ', f"{TRIAL}/series.csv"),
        (f"{TRIAL}/facts.json", r'"flush_end_ns": ', f"{TRIAL}/trial.json"),
        (f"{TRIAL}/series.csv", r"2\.000,", f"{TRIAL}/series.csv"),
        ("timeseries.csv", r"cores-2-r1,1\.000,", "timeseries.csv"),
        ("fit.json", r'"rate_mean": ', "fit.json"),
        ("manifest.json", r'"replicates": ', "manifest.json"),
        ("report.md", "speedup", "report.md"),
        ("report.html", "speedup", "report.html"),
    ],
)
def test_a_changed_figure_or_word_is_found_even_with_new_digests(run, name, pattern, shown_in):
    text = (run / name).read_text()
    changed = text.replace("speedup", "speed up", 1) if pattern == "speedup" else scaled(text, pattern)
    (run / name).write_text(changed)
    bless(run)
    assert shown_in in named(run)
    if name.startswith("report"):
        assert named(run) == {name}


def change_line(run: Path, number: int, **changes: Callable[[float], float | None]) -> None:
    """Changes a line of the first trial's load generator, and makes the digests good."""
    path = run / TRIAL / "loadgen.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[number] |= {name: change(lines[number][name]) for name, change in changes.items()}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bless(run)


def test_a_window_that_moved_is_found_again_drawn_and_compared(ramped):
    assert named(ramped) == set()
    rows = list(csv.DictReader((ramped / "points.csv").open()))
    assert {(r["transient_s"], r["window_s"]) for r in rows} == {("8.0", "10.0")}
    assert all("were discarded" in r["reasons"] and r["verdict"] == "VALID" for r in rows)
    run = read_run(ramped)
    result = run.results[0]
    assert window_of(result) == (8.0, 18.0)
    rates = window_rates(run, result)
    assert len(rates) == 10
    assert sum(rates) == pytest.approx(result.measurement.rows, rel=1e-4)


def scaled(text: str, pattern: str) -> str:
    """The first four numbers after the pattern, some 7 % larger."""
    return re.sub(f"({pattern})" + r"([\d.]+)", lambda m: m[1] + str(int(float(m[2]) * 1.07) + 1), text, count=4)


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


def test_a_column_that_earlier_versions_of_the_method_wrote_is_no_fault(run):
    rows = (run / "points.csv").read_text().splitlines()
    cells = ("psi_io_percent", *["1.5"] * (len(rows) - 1))
    (run / "points.csv").write_text("".join(f"{row},{cell}\n" for row, cell in zip(rows, cells, strict=True)))
    bless(run)
    found = verify_run(run)
    assert found.agrees and any("compared without psi_io_percent" in note for note in found.notes)


@pytest.fixture
def ramped(originals, tmp_path):
    """The window of each trial is the 10 s after those in which the rate rises."""
    return copied(originals["ramped"], tmp_path)


@pytest.mark.parametrize(("field", "value"), [("response_hdr", None), ("rows", 390_000), ("cpu_s", 0.9)])
def test_an_edited_second_of_a_window_that_moved_is_found(ramped, field, value):
    lines = [json.loads(line) for line in (ramped / TRIAL / "loadgen.jsonl").read_text().splitlines()]
    inside = next(n for n, line in enumerate(lines) if line["event"] == "interval" and line["t_s"] == 15.0)
    change_line(ramped, inside, **{field: lambda _: value})
    assert f"{TRIAL}/trial.json" in named(ramped)


def test_a_run_killed_before_its_first_trial_agrees_and_is_interrupted(tmp_path):
    killing = tmp_path / "scale-loadgen"  # the real one; it kills the sweep when the ceiling is to be measured
    killing.write_text(
        f'#!/bin/sh\n[ "$1" != load ] || {{ kill -9 $PPID; exit; }}\nexec {shlex.quote(loadgen_path())} "$@"\n'
    )
    killing.chmod(0o755)
    begun = run_command("sweep", "cpu", "--target", "null", "--cores", "1", cwd=tmp_path, SCALE_LOADGEN=str(killing))
    assert begun.code == -signal.SIGKILL, begun.stderr
    done = run_command("verify", "last", cwd=tmp_path)
    assert (done.code, "all 3 trials" in done.stdout) == (0, True), done.stdout
    assert run_command("list", cwd=tmp_path).stdout.rstrip().endswith("interrupted")
    (path,) = (tmp_path / "results").iterdir()
    (path / "points.csv").unlink()
    assert named(path) == {"points.csv"}, "a file that was written is missed"


@pytest.mark.parametrize("name", ["manifest.json", "points.csv"])
def test_a_kill_is_no_fault_nor_an_edit_between_a_file_and_its_digest(tmp_path, name):
    run = Path(raw_run(tmp_path, interrupted_after=4).path)
    checked = verify_run(run)
    assert (checked.agrees, checked.trials) == (True, 4), checked.disagreements
    assert any("5 of 9" in note for note in checked.notes)
    whole = (run / name).read_bytes()
    if name == "manifest.json":  # the digest is new, the file is old, its next content waits beside it
        (run / f"{name}.partial").write_bytes(whole)
        (run / name).write_text((run / name).read_text().replace("interrupted", "running"))
    else:  # the file is new, the digest is old
        listed = (run / files.SUMS).read_text()
        (run / files.SUMS).write_text(listed.replace(files.digest(whole), "0" * 64))
    assert name not in named(run)
    reopened(run)
    assert name not in named(run)


def test_differences_name_the_figure_and_forgive_rounding():
    assert list(differences({"a": [1.0, 2.0]}, {"a": [1.0 + 1e-9, 2.1]})) == [("a[1]", "2", "2.1")]
    assert list(differences({"a": 1}, {"b": 1})) == [("a", "1", "absent"), ("b", "absent", "1")]
    assert list(differences({"a": None}, {"a": 0.0})) == [("a", "None", "0")]
    assert list(differences({"a": True}, {"a": 1})) == []


CHECKED = AnswersChecked(operation="range", whole=20, counted=9, compared=7, within=5, devices="0-6")


@pytest.fixture
def reads(originals, tmp_path):
    return copied(originals["reads"], tmp_path)


def test_a_trial_of_few_compared_answers_is_cautioned(originals, wording):
    def cautions(within):
        return hidden(TrialFacts(answers=(replace(CHECKED, within=within),)))

    wording(*(caution for within in (0, 1, 5, 19) for caution in cautions(within)))
    assert cautions(20) == cautions(None) == ()
    verdict = json.loads((originals["reads"] / TRIAL / "trial.json").read_text())["verdict"]
    assert cautions(5)[0] in verdict["reasons"]


def test_an_untouched_run_of_reads_agrees_and_edited_counts_of_checked_answers_are_named(reads):
    assert verify_run(reads).disagreements == ()
    whole = (reads / "operations.csv").read_text()
    rows = list(csv.DictReader(whole.splitlines()))
    counts = {(row["checked_before"], row["checked_within"], row["checked_rows"]) for row in rows}
    assert counts == {("20", "7", "2")}
    for name in ("checked_before", "checked_within", "checked_rows", "checked_devices"):
        with (reads / "operations.csv").open("w", newline="") as table:
            out = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows([*rows[:3], rows[3] | {name: "21"}, *rows[4:]])
        bless(reads)
        assert named(reads) == {"operations.csv"}
    (reads / "operations.csv").write_text(whole)
    path = reads / TRIAL / "facts.json"
    document = json.loads(path.read_text())
    document["answers"][0]["compared"] += 1
    path.write_text(json.dumps(document))
    bless(reads)
    assert {f"{TRIAL}/trial.json", "operations.csv"} <= named(reads)
