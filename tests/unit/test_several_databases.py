"""Several databases in one plan: each in every block, and one page with what each rate cost and on which terms."""

from dataclasses import replace

from runner.model import StoredRun, VerdictKind
from runner.plan import complete
from runner.plan.arms import Arm
from runner.plan.make import plan_arms
from runner.report import subjects
from runner.report.documents import documents
from runner.targets import load_facts
from tests.unit.factories import make_result, make_sweep
from tests.unit.test_plan import make_host

NAMES = ("questdb", "victoriametrics", "postgres")


def several(names=NAMES):
    """A plan of these databases."""
    arms = []
    for name in names:
        sweep = replace(make_sweep(cores="1,2"), target=name, runtime="process", vary={"target": names})
        facts = load_facts(name)
        arms.append(Arm(variant={"target": name}, sweep=complete(sweep, facts), facts=facts))
    return plan_arms(arms[0].sweep, make_host(), arms)


def measured(plan, *, wrong=()):
    """A run in which a core of each brings its place in NAMES, in millions of rows; wrong: names without a result."""
    results = []
    for trial in plan.trials:
        name = trial.subject.target
        rate = 1e6 * trial.level * (1 + NAMES.index(name))
        kind = VerdictKind.GENERATOR_BOUND if name in wrong else VerdictKind.VALID
        one = make_result(trial.level, rate, kind=kind)
        figures = replace(
            one.measurement, durable_rows_per_s=rate / 2, server_cpu_cores=trial.level, disk_bytes_per_row=40.0
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
    assert [row[0] for row in rows[::2]] == [f"target {name}" for name in NAMES], "in the order asked for"
    assert rows[3] == (
        "target victoriametrics",
        "2",
        "4,000,000",
        "2,000,000",
        "2.00×",
        "2,000,000",
        "0.500",
        "40.0",
        "–",
        "–",
    )


def test_a_rate_that_does_not_count_is_marked():
    rows = subjects.cost_table(measured(several(), wrong=("postgres",))).rows
    assert [row[1] for row in rows] == ["1", "2", "1", "2", "1 †", "2 †"]


def test_the_terms_are_what_the_database_said():
    rows = subjects.terms_table(measured(several())).rows
    assert rows[0][:5] == ("target questdb", "1.0", "where questdb says", "not said", "http")
    assert [row[-1] for row in rows] == ["8", "4", "4"]


def test_the_page_of_one_database_has_no_such_tables():
    run = measured(several(("questdb",)))
    assert subjects.tables(run) == ()
    pages = documents(measured(several())).pages
    for name in ("report.md", "report.html"):
        assert "acknowledged when the rows are" in pages[name]
        assert "server CPU-s / M rows" in pages[name]
