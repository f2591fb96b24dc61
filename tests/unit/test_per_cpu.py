"""The rate for each CPU-second: which trials have it, its curve, and where the sentence of a run has an estimate."""

from dataclasses import replace

import pytest

from scale_sweep.cli.console.live import finished_line
from scale_sweep.model.derived import rate_alone_per_s, rate_per_cpu_s
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Verdict, VerdictKind
from scale_sweep.report import html, markdown
from scale_sweep.report.figures import fit_again
from scale_sweep.report.level_tables import console_table
from scale_sweep.results.store.texts import point_row
from tests.unit.factories import amounts
from tests.unit.synthetic_run import synthetic_run

B, K = BottleneckKind, VerdictKind
NOISE = (0.005, -0.01, 0.005)  # without a trend
RUN = synthetic_run()
POINT = next(r for r in RUN.on_curve if r.verdict.kind is K.VALID)


def judged(result, kind, bottleneck, *, cores=None, rate=None, others=None):
    changed = {"server_cpu_cores": cores, "rows_per_s": rate, "other_cpu_cores": others}
    m = replace(result.measurement, **{name: value for name, value in changed.items() if value is not None})
    found = Bottleneck(kind=bottleneck, sentence="as a test says")
    return replace(result, measurement=m, verdict=Verdict(kind=kind, bottleneck=found, reasons=("as a test says",)))


def disturbed(levels, per_cpu=500_000.0, taken=0.3):
    """A run whose server makes per_cpu rows for each CPU-second, without contention. At these levels a neighbour took
    `taken` of a core; The replicates differ by one percent."""
    results = []
    for r in RUN.on_curve:
        level, others = r.trial.level, r.trial.level in levels
        cores = level - taken if others else level
        rate = per_cpu * cores * (1 + NOISE[r.trial.replicate - 1])
        kind, why = (K.RESOURCE_NOT_SATURATED, B.OTHER_PROCESSES) if others else (K.VALID, B.SERVER_CPU)
        results.append(judged(r, kind, why, cores=cores, rate=rate, others=taken if others else 0.0))
    return replace(RUN, results=tuple(results), fit=None)


@pytest.mark.parametrize(
    ("kind", "bottleneck", "has"),
    [
        (K.VALID, B.SERVER_CPU, True),
        (K.VALID, B.QUOTA, True),
        (K.RESOURCE_NOT_SATURATED, B.OTHER_PROCESSES, True),
        (K.RESOURCE_NOT_SATURATED, B.HYPERVISOR, True),
        (K.RESOURCE_NOT_SATURATED, B.DISK, False),
        (K.SOFTWARE_BOTTLENECK, B.LOCKS, False),
        (K.GENERATOR_BOUND, B.GENERATOR_CPU, False),
        (K.UNSTEADY, B.SERVER_CPU, False),
        (K.LOST_ROWS, B.SERVER_CPU, False),
    ],
)
def test_trials_bound_by_cpus_have_it(kind, bottleneck, has):
    result = judged(POINT, kind, bottleneck, cores=0.5, rate=200_000.0)
    assert rate_per_cpu_s(result) == (400_000.0 if has else None)
    assert point_row(RUN.plan, result)["rate_per_cpu_s"] == (400_000.0 if has else None)
    assert ("(400 k a CPU-second)" in finished_line("", result, 10)[0]) == has


def test_a_server_whose_cpu_was_not_read_or_whose_pages_got_dearer_has_none():
    result = judged(POINT, K.VALID, B.SERVER_CPU)
    assert rate_per_cpu_s(result) is not None
    assert rate_per_cpu_s(replace(result, measurement=replace(result.measurement, server_cpu_cores=None))) is None
    dearer = ("NEW_PAGES: the server's system time per page fault rose from 6.0 to 18.0 µs",)
    assert rate_per_cpu_s(replace(result, verdict=replace(result.verdict, reasons=dearer))) is None


@pytest.mark.parametrize(
    ("used", "others", "generator_cpus", "generator", "cores_alone"),
    [
        (0.7, 0.3, (1,), 0.5, 1.0),  # all that it lacked
        (0.7, 0.2, (1,), 0.5, 0.9),  # it leaves a tenth of a core idle
        (0.7, 0.9, (1,), 0.5, 1.0),  # others ran on CPUs that are not the server's
        (0.6, 0.2, (0,), 0.2, 0.75),  # the load generator beside it would have had a quarter of it
        (0.8, 0.0, (0,), 0.2, 0.8),
    ],
)
def test_what_others_took_would_have_been_the_servers(used, others, generator_cpus, generator, cores_alone):
    result = judged(POINT, K.RESOURCE_NOT_SATURATED, B.OTHER_PROCESSES, cores=used, rate=used * 1000, others=others)
    placement = replace(result.trial.placement, server_cpus=(0,), generator_cpus=generator_cpus)
    resources = replace(result.trial.resources, amounts=amounts(1.0), placement=placement)
    measurement = replace(result.measurement, generator_cpu_cores=generator, stolen_cpu_cores=None)
    result = replace(result, trial=replace(result.trial, resources=resources), measurement=measurement)
    assert rate_alone_per_s(result) == pytest.approx(1000 * cores_alone)


def test_a_neighbour_changes_the_rate_and_not_the_rate_for_each_cpu_second(wording):
    """30 % of one core at all levels of a server that scales linearly: the rates say more, the estimate does not."""
    fit = fit_again(disturbed({1, 2, 3, 4}))
    assert not fit.points
    assert [p.speedup for p in fit.per_cpu] == pytest.approx([1, 2, 3, 4], rel=1e-6)
    last = fit.per_cpu[-1]
    assert last.low < 4 < last.high and last.high - last.low < 0.2
    wording(fit.sentence)
    assert f"4.00 ({last.low:.2f} to {last.high:.2f})" in html(disturbed({1, 2, 3, 4}))
    for levels in (set(), {2}, {4}):
        fit = fit_again(disturbed(levels))
        assert [p.level for p in fit.per_cpu] == [1, 2, 3, 4] and "No VALID" not in fit.sentence
        assert "CPU-second" not in fit.sentence, "an estimate is not in the sentence"
    run = disturbed({1, 2, 3, 4})
    results = [judged(r, K.GENERATOR_BOUND, B.GENERATOR_CPU) if r.trial.level == 4 else r for r in run.results]
    fit = fit_again(replace(run, results=tuple(results)))
    assert [p.level for p in fit.per_cpu] == [1, 2, 3] and "GENERATOR_BOUND" in fit.sentence
    run = disturbed({4})
    for page in (markdown(run), html(run)):
        assert "per CPU-second" in page
    table = console_table(run)
    at = table.headers.index("per CPU-second")
    assert {row[at] for row in table.rows} == {"500 k"}
