"""Several databases in one plan: each in every block, and one page with what each rate cost and on which terms."""

import csv
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from scale_sweep.cli.running import has_failed
from scale_sweep.model.declared import Operation
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.plan.make import PlannedArm, plan_arms
from scale_sweep.plan.target_defaults import complete
from scale_sweep.report import several as shown
from scale_sweep.report.documents import documents
from scale_sweep.report.reference import reference_table, rows_of
from scale_sweep.report.run_facts import server_name
from scale_sweep.report.several_curves import _shape
from scale_sweep.report.style import PLOT_CSS
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


def test_the_tables_have_rates_by_level_their_cost_and_their_terms(wording):
    run = measured(several())
    rates, cost, terms = shown.tables(run)
    assert [row[:2] for row in rates.rows] == [(level, name) for level in "12" for name in NAMES]
    around = "4 M quick"
    assert rates.rows[4] == ("2", NAMES[1], "3 VALID (short window)", around, "2 M", "2.00×", "–", "–")
    assert [row[0] for row in cost.rows[::2]] == list(NAMES), "in the order asked for"
    assert cost.rows[3] == ("victoriametrics", "2", "2 M", "0.500", "0.250", "25.0", "40.0")
    assert terms.rows[0][:5] == ("questdb", "1.0", "where questdb says", "not said", "http")
    assert [row[-1] for row in terms.rows] == ["4", "4", "4"]
    wording(rates.notes[0], " | ".join(cost.headers), " | ".join(terms.headers))
    assert "logarithmic" not in shown.figure_html(run)
    assert sorted(server_name(run).split(", ")) == sorted(f"{name} 1.0" for name in NAMES)
    assert server_name(replace(run, results=run.results[:1])) == f"{run.results[0].trial.subject.target} 1.0"
    assert not has_failed(run)
    pages = documents(run).pages
    assert all(
        header in pages[name] for name in ("report.md", "report.html") for header in (cost.headers[3], terms.headers[2])
    )
    (table,) = shown.tables(measured(several(("questdb",))))
    assert table.title == "The variants side by side"


def first_drawing(page):
    """The first picture of a page, as it is drawn on a wide screen."""
    drawing = page[page.index('<svg xmlns="http://www.w3.org/2000/svg"') : page.index("</figure>")]
    return drawing.partition('<div class="narrow">')[0]


def test_reads_are_compared_by_requests_and_not_by_rows(wording):
    run = reading(measured(several()), Operation(name="latest", unit="requests"))
    rates, each, cost, terms = shown.tables(run)
    assert {row[0] for row in each.rows} == {"range", "latest"}
    assert rates.rows[4][3:5] == ("4 M quick", "2.00×")
    assert cost.rows[3] == ("victoriametrics", "2", "2 M", "0.500", "0.250", "25.0")
    assert {len(row) for table in (rates, cost, terms) for row in table.rows} == {7, 6, 4}
    wording(*(" | ".join(table.headers) for table in (rates, cost, terms)))
    drawing = first_drawing(documents(run).pages["report.html"])
    assert "requests/s" in drawing
    assert "rows/s" not in drawing and "acknowledged" not in drawing


def test_a_mix_is_compared_by_requests_with_the_rows_that_it_wrote_and_disks_by_durable_rows(wording):
    mix, *_, terms = shown.tables(reading(measured(several()), Operation(), rows_per_s=3_000_000.0))
    assert mix.rows[4][3:5] == ("4 M quick", "3 M")
    run = measured(several())
    run = replace(run, plan=replace(run.plan, sweep=replace(run.plan.sweep, axis="disks")))
    disks, cost, _ = shown.tables(run)
    assert disks.rows[4][3:5] == ("2 M quick", "4 M")
    wording(*(" | ".join(table.headers) for table in (mix, terms, disks, cost)))


def test_a_database_without_a_trial_that_counts_has_no_line_and_is_compared_with_nothing(wording):
    run = measured(several(), wrong=("postgres",))
    assert has_failed(run)
    rates, cost, _ = shown.tables(run)
    speedups = {row[:2]: row[5] for row in rates.rows}
    assert (speedups["2 †", "postgres"], speedups["2", "questdb"]) == ("–", "2.00×")
    assert [row[1] for row in cost.rows] == ["1", "2", "1", "2", "1 †", "2 †"]
    pages = documents(run).pages
    drawing = first_drawing(pages["report.html"])
    assert drawing.count("<polyline") == 2 * 2, "two databases in two panels"
    assert all(f"{name}: where {name} says" in drawing for name in NAMES)
    assert drawing.count(" counted") == 4 * 2 + 2, "two databases, two levels, two panels, filled; and their keys"
    for name in ("report.html", "report.md"):
        assert "questdb 6 of 6, victoriametrics 6 of 6, postgres 0 of 6." in pages[name]
        assert "questdb 2.00×, victoriametrics 2.00×: 1 → 2 cores" in pages[name]
    wording(*(note for note in rates.notes if note.startswith("At 2 cores: ")))


def test_no_order_is_stated_where_intervals_overlap_and_a_wide_axis_is_logarithmic(wording):
    noisy = {(name, at): factor for name in NAMES for at, factor in enumerate((0.8, 1.0, 1.25))}
    run = measured(several(), around=noisy)
    wording(*(note for note in shown.rates_table(run).notes if note.startswith("At 1 core: ")))
    slow = {("questdb", n): 0.02 for n in (1, 2, 3)}
    assert "logarithmic" in shown.figure_html(measured(several(), around=slow))


def test_each_variant_stands_beside_its_own_published_rows():
    """A table of several databases and sizes of requests: another variant's rows must not be taken for ours."""
    with Path(ROOT, "results", "reference", "tdengine-cassandra.csv").open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    sweep = replace(make_sweep(cores="1,2"), axis="clients")
    for name, size, rates in (("cassandra", "100", {"38.3 k", "50.4 k"}), ("tdengine", "1000", {"501 k", "914 k"})):
        results = []
        for level in (1.0, 2.0):
            one = make_result(level, 1e5 * level)
            subject = replace(one.trial.subject, target=name, variant={"target": name, "rows_per_request": size})
            results.append(replace(one, trial=replace(one.trial, subject=subject)))
        plan = replace(several(), sweep=sweep, trials=tuple(r.trial for r in results))
        run = StoredRun(path="", manifest={}, plan=plan, results=tuple(results), timeseries={})
        table = reference_table(run, published)
        assert {row[1] for row in table.rows[:2]} == rates
        assert len(table.rows) == 7
        assert any("bytes on disk" in note for note in table.notes)
    assert rows_of(run, [{"cores": "1", "rows_per_s": "5"}]), "a table of one database has no such columns"


def test_ten_databases_can_be_told_apart_without_colour():
    shapes = [re.search(r' d="([^"]+)"', _shape(0, 0, index, True)).group(1) for index in range(10)]
    styles = [f".s{index}.curve-line" for index in range(1, 10)]
    dashes = [re.search(re.escape(style) + r"\{stroke-dasharray:([^}]+)\}", PLOT_CSS).group(1) for style in styles]
    assert len(set(shapes)) == 10 and len(set(dashes)) == 9  # the first line has no dash
    assert all(f".plot .s{index}{{stroke:" in PLOT_CSS for index in range(10))
