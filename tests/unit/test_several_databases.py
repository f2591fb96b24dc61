"""Several databases in one plan: each in every block, and one page with what each rate cost and on which terms."""

import csv
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from scale_sweep.cli.sweeps import has_failed
from scale_sweep.model import Operation, StoredRun, VerdictKind
from scale_sweep.plan import complete
from scale_sweep.plan.make import PlannedArm, plan_arms
from scale_sweep.report import subjects
from scale_sweep.report.documents import documents
from scale_sweep.report.reference import reference_table, rows_of
from scale_sweep.report.run_facts import server_name
from scale_sweep.report.style import PLOT_CSS
from scale_sweep.report.subject_curves import _shape
from scale_sweep.server.targets import load_facts
from tests.unit.factories import make_result, make_sweep, reading
from tests.unit.test_plan import make_host

NAMES = ("questdb", "victoriametrics", "postgres")
ROOT = Path(__file__).resolve().parents[2]


def several(names=NAMES):
    """A plan of these databases."""
    arms = []
    for name in names:
        sweep = replace(make_sweep(cores="1,2"), target=name, runtime="process", vary={"target": names})
        facts = load_facts(name)
        arms.append(PlannedArm(variant={"target": name}, sweep=complete(sweep, facts), facts=facts))
    return plan_arms(arms[0].sweep, make_host(), arms)


def measured(plan, *, wrong=(), around=MappingProxyType({})):
    """A run in which a core of each brings its place in NAMES, in millions of rows; wrong: names whose trials do not
    count; around: by name and replicate, what a rate is multiplied by."""
    results = []
    for trial in plan.trials:
        name = trial.subject.target
        rate = 1e6 * trial.level * (1 + NAMES.index(name))
        kind = VerdictKind.GENERATOR_BOUND if name in wrong else VerdictKind.VALID
        one = make_result(trial.level, rate, kind=kind)
        figures = replace(
            one.measurement,
            rows_per_s=rate * around.get((name, trial.replicate), 1.0),
            durable_rows_per_s=rate / 2,
            server_cpu_cores=trial.level,
            generator_cpu_cores=trial.level / 2,
            disk_bytes_per_row=40.0,
            rows_counted=1000,
            data_gb=25e-6,
        )
        said = {"server_version": "1.0", "acknowledged": f"where {name} says"}
        results.append(replace(one, trial=trial, measurement=figures, effective=said))
    return StoredRun(path="", manifest={}, plan=plan, results=tuple(results), timeseries={})


def test_every_database_is_in_every_block():
    blocks: dict[int, set[str]] = {}
    for trial in several().trials:
        if trial.role == "point":
            blocks.setdefault(trial.block, set()).add(trial.subject.target)
    assert len(blocks) == 3
    assert all(found == set(NAMES) for found in blocks.values())


def test_what_a_rate_cost_is_told_by_level():
    rows = subjects.cost_table(measured(several())).rows
    assert [row[0] for row in rows[::2]] == list(NAMES), "in the order asked for"
    assert rows[3] == ("victoriametrics", "2", "2,000,000", "0.500", "0.250", "25.0", "40.0")


def test_the_rates_of_a_level_stand_below_each_other():
    rows = subjects.rates_table(measured(several())).rows
    assert [row[:2] for row in rows] == [(level, name) for level in "12" for name in NAMES]
    assert rows[4] == (
        "2",
        "victoriametrics",
        "4,000,000 (4,000,000 to 4,000,000) quick",
        "2,000,000",
        "2.00×",
        "–",
        "–",
        "3 VALID (short window)",
    )


def test_reads_are_compared_by_requests_and_not_by_rows():
    run = reading(measured(several()), Operation(name="latest", unit="requests"))
    rates, each, cost, terms = subjects.tables(run)
    assert {row[0] for row in each.rows} == {"range", "latest"}
    assert rates.headers[2:4] == ("requests/s", "speedup")
    assert rates.rows[4][2:4] == ("4,000,000 (4,000,000 to 4,000,000) quick", "2.00×")
    assert cost.headers[2:] == (
        "requests/s per core",
        "server CPU-s / M requests",
        "load generator CPU-s / M requests",
        "bytes in files / row",
    )
    assert cost.rows[3] == ("victoriametrics", "2", "2,000,000", "0.500", "0.250", "25.0")
    assert terms.headers == ("database", "server", "stored", "connections")
    assert {len(row) for table in (rates, cost, terms) for row in table.rows} == {7, 6, 4}
    page = documents(run).pages["report.html"]
    drawing = page[page.index('<svg xmlns="http://www.w3.org/2000/svg"') : page.index("</figure>")]
    assert "M requests/s" in drawing
    assert "rows/s" not in drawing
    assert "acknowledged" not in page[: page.index("</figure>")]


def test_a_mix_is_compared_by_requests_with_the_rows_that_it_wrote():
    rates, *_, terms = subjects.tables(reading(measured(several()), Operation(), rows_per_s=3_000_000.0))
    assert rates.headers[2:5] == ("requests/s", "rows/s", "speedup")
    assert rates.rows[4][2:4] == ("4,000,000 (4,000,000 to 4,000,000) quick", "3,000,000")
    assert "acknowledged when the rows are" in terms.headers


def test_levels_without_a_trial_that_counts_have_no_line_and_no_speedup():
    run = measured(several(), wrong=("postgres",))
    speedups = {row[:2]: row[4] for row in subjects.rates_table(run).rows}
    assert (speedups["2 †", "postgres"], speedups["2", "questdb"]) == ("–", "2.00×")
    wide = subjects.figure_html(run).partition('<div class="narrow">')[0]
    assert wide.count("<polyline") == 2 * 2, "two databases in two panels"
    valid = "questdb 6 of 6, victoriametrics 6 of 6, postgres 0 of 6."
    for page in ("report.html", "report.md"):
        text = documents(run).pages[page]
        assert "12 of 18 trials are VALID:" in text and valid in text
        assert "questdb 2.00×, victoriametrics 2.00×: 1 → 2 cores" in text
        assert text.count("Before you believe it") >= 1


def test_rates_that_differ_by_more_than_ten_times_have_a_logarithmic_axis():
    assert "logarithmic" not in subjects.figure_html(measured(several()))
    slow = {("questdb", n): 0.02 for n in (1, 2, 3)}
    assert "M rows/s, logarithmic" in subjects.figure_html(measured(several(), around=slow))


def test_disks_are_compared_by_durable_rows():
    run = measured(several())
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, axis="disks")))
    rates, cost, _ = subjects.tables(run)
    assert rates.headers[2:4] == ("durable rows/s", "rows/s")
    assert rates.rows[4][2:4] == ("2,000,000 (2,000,000 to 2,000,000) quick", "4,000,000")
    assert cost.headers[2] == "durable rows/s per core"


def test_a_rate_that_does_not_count_is_marked():
    rows = subjects.cost_table(measured(several(), wrong=("postgres",))).rows
    assert [row[1] for row in rows] == ["1", "2", "1", "2", "1 †", "2 †"]


def test_the_terms_are_what_the_database_said():
    rows = subjects.terms_table(measured(several())).rows
    assert rows[0][:5] == ("questdb", "1.0", "where questdb says", "not said", "http")
    assert [row[-1] for row in rows] == ["4", "4", "4"]


def test_the_page_of_one_database_has_no_such_tables():
    run = measured(several(("questdb",)))
    assert subjects.tables(run) == ()
    pages = documents(measured(several())).pages
    for name in ("report.md", "report.html"):
        assert "acknowledged when the rows are" in pages[name]
        assert "server CPU-s / M rows" in pages[name]


def test_no_order_is_stated_where_intervals_overlap():
    noisy = {(name, at): factor for name in NAMES for at, factor in enumerate((0.8, 1.0, 1.25))}
    run = measured(several(), around=noisy)
    (one,) = [note for note in subjects.rates_table(run).notes if note.startswith("at 1 core: ")]
    assert "no difference is shown between" in one
    assert "victoriametrics and postgres" in one
    still = subjects.rates_table(measured(several())).notes
    assert "at 1 core: no two of the intervals overlap" in still
    assert "winner" not in "".join(documents(run).pages.values())


def test_a_database_without_a_trial_that_counts_is_compared_with_nothing():
    notes = subjects.rates_table(measured(several(), wrong=("postgres",))).notes
    assert "at 2 cores: postgres not compared: fewer than two trials that count" in notes


def test_the_command_fails_if_one_of_the_databases_has_no_valid_trial():
    assert not has_failed(measured(several()))
    assert has_failed(measured(several(), wrong=("postgres",)))


def test_the_durability_stands_beside_every_curve():
    page = documents(measured(several(), wrong=("postgres",))).pages["report.html"]
    drawing = page[page.index('<svg xmlns="http://www.w3.org/2000/svg"') :]
    drawing = drawing[: drawing.index('<div class="narrow">')]
    for name in NAMES:
        assert f"{name}: where {name} says" in drawing
    assert "durable rows/s" in drawing
    assert drawing.count(" counted") == 4 * 2 + 3, "two databases, two levels, two panels, filled; and the keys"


def test_each_variant_stands_beside_its_own_published_rows():
    """A table of several databases and sizes of requests: another variant's rows must not be taken for ours."""
    with Path(ROOT, "results", "reference", "tdengine-cassandra.csv").open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    sweep = make_sweep(cores="1,2")
    for name, size, rates in (("cassandra", "100", {"38,330", "50,390"}), ("tdengine", "1000", {"500,800", "914,500"})):
        variant = {"target": name, "rows_per_request": size}
        results = []
        for level in (1.0, 2.0):
            one = make_result(level, 1e5 * level)
            subject = replace(one.trial.subject, target=name, variant=variant)
            results.append(replace(one, trial=replace(one.trial, subject=subject)))
        plan = replace(several(), sweep=replace(sweep, axis="clients"), trials=tuple(r.trial for r in results))
        run = StoredRun(path="", manifest={}, plan=plan, results=tuple(results), timeseries={})
        table = reference_table(run, published)
        assert {row[1] for row in table.rows[:2]} == rates
        assert len(table.rows) == 7
        assert any(note.startswith("bytes on disk for a row: ") for note in table.notes)
    assert rows_of(run, [{"cores": "1", "rows_per_s": "5"}]), "a table of one database has no such columns"


def test_the_head_names_each_target_with_the_version_that_it_said():
    run = measured(several())
    assert sorted(server_name(run).split(", ")) == sorted(f"{name} 1.0" for name in NAMES)
    assert server_name(replace(run, results=run.results[:1])) == f"{run.results[0].trial.subject.target} 1.0"


def test_ten_databases_can_be_told_apart_without_colour():
    shapes = [re.search(r' d="([^"]+)"', _shape(0, 0, index, True)).group(1) for index in range(10)]
    styles = [f".s{index}.curve-line" for index in range(1, 10)]
    dashes = [re.search(re.escape(style) + r"\{stroke-dasharray:([^}]+)\}", PLOT_CSS).group(1) for style in styles]
    assert len(set(shapes)) == 10 and len(set(dashes)) == 9  # the first line has no dash
    assert all(f".plot .s{index}{{stroke:" in PLOT_CSS for index in range(10))
