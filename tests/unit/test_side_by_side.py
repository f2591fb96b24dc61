"""Runs of several servers on one page: ratios to the first with intervals, prices, every verdict, and what is refused."""

from dataclasses import replace

import pytest

from scale_sweep.analysis.compare import compare_with_first
from scale_sweep.base.errors import UsageError
from scale_sweep.model.measured import VerdictKind
from scale_sweep.report.several import host_runs, money_table, ratio_table, side_by_side_html
from tests.unit.synthetic_run import synthetic_run, synthetic_sweep

GAMMAS = {"slow": 4e5, "same": 4e5, "fast": 5e5}


def on_host(name, number, **changes):
    run = synthetic_run(seed=number, gamma=GAMMAS.get(name, 4e5), alpha=0.03, **changes)
    manifest = {**run.manifest, "fleet": {"host": name}, "hosts": {"load": [f"load-{name}"]}}
    return replace(run, path=f"/results/run-{number}", manifest=manifest)


def hosts_of(runs, prices=None):
    return host_runs(runs, compare_with_first(runs), prices or {})


@pytest.fixture(scope="module")
def three():
    return [on_host(name, number) for number, name in enumerate(GAMMAS, start=1)]


def test_the_page_has_every_host_every_trial_and_no_foreign_address(three):
    slow, same, fast = hosts_of(three)
    assert slow.comparison is None
    assert same.comparison.overall.low < 1 < same.comparison.overall.high
    assert fast.comparison.overall.low > 1.15 and fast.comparison.overall.high < 1.35
    page = side_by_side_html((slow, same, fast), "EUR")
    assert all(page.count(name) > 3 for name in GAMMAS)
    assert all(f"load-{name}" in page for name in GAMMAS)
    assert page.count("cores-1-r1") >= 3
    assert page.count("<svg") >= 1 and "src=" not in page
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    identities = [part.partition('"')[0] for part in page.split(' id="')[1:]]
    assert len(identities) == len(set(identities))
    assert "for the money" not in page
    worse = on_host("fast", 2, verdicts={(4, 2): VerdictKind.UNSTEADY})
    assert "UNSTEADY" in side_by_side_html(hosts_of([on_host("slow", 1), worse]), "EUR")


def test_two_runs_of_one_host_and_a_level_that_one_lacks():
    hosts = hosts_of([on_host("a", 1), on_host("a", 2, levels=(1, 2))])
    assert [host.name for host in hosts] == ["a (1)", "a (2)"]
    table = ratio_table(hosts)
    assert table.headers[1:] == ("1", "2", "3", "4", "all")
    assert table.rows[1][3:5] == ("–", "–") and "to" in table.rows[1][5]


def test_the_rate_for_the_money_is_of_hosts_with_a_price(three):
    table = money_table(hosts_of(three, {"slow": 0.5, "fast": 2.0}), "EUR")
    assert [row[0] for row in table.rows] == ["slow", "fast"]
    rate, of_money = (float(table.rows[0][at].split(" ")[0].replace(",", "")) for at in (3, 4))
    assert of_money == pytest.approx(rate / 0.5, rel=1e-3)
    assert "to" in table.rows[0][4]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run: replace(run, path="/results/run-1"), "named twice"),
        (lambda run: of_sweep(run, axis="clients"), "the same axis"),
        (lambda run: of_sweep(run, method="insert"), "two methods"),
    ],
)
def test_runs_that_are_not_of_one_kind_are_refused(change, words):
    with pytest.raises(UsageError, match=words):
        compare_with_first([on_host("slow", 1), change(on_host("fast", 2))])
    with pytest.raises(UsageError, match="one run"):
        compare_with_first([on_host("slow", 1)])


def of_sweep(run, **changes):
    return replace(run, plan=replace(run.plan, sweep=replace(synthetic_sweep(), **changes)))
