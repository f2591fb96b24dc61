"""Where the missing part of a rate went, for servers that are simulated millisecond by millisecond with known causes."""

import json
import math
import random
from dataclasses import dataclass, replace

import pytest

from scale_sweep.analysis.account.of_levels import account_of
from scale_sweep.capacity.objective import parse_objective
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.measurement import measurement
from scale_sweep.judge.figures.window_bounds import with_summary
from scale_sweep.machine.sampling.processes import ThreadReader
from scale_sweep.model.account import LossPart
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.resources import Placement
from scale_sweep.report import html, markdown
from scale_sweep.report.figures import fit_again
from tests.unit.factories import amounts, make_result, make_trial
from tests.unit.raw_run import facts_of, load_lines, samples_of
from tests.unit.synthetic_run import synthetic_run

CORES = load_axis("cores")
WINDOW_S, TICKS_PER_S, WORK = 4, 1000, 1e-6  # CPU-seconds of a row


@dataclass(frozen=True)
class Causes:
    """Shares of a core's milliseconds, by what happens in them; and factors of a row's cost."""

    taken: float = 0.0
    load: float = 0.0
    held: float = 0.0
    asleep: float = 0.0
    idle_others: float = 0.0  # others run only while the server sleeps
    slower_user: float = 1.0
    slower_system: float = 1.0


def second(causes, cores, chance):
    """CPU-ms of a second by who had them, of all cores."""
    names = ("taken", "load", "held", "asleep")
    shares = [getattr(causes, name) for name in names]
    drawn = chance.choices([*names, "server"], [*shares, 1 - sum(shares)], k=round(TICKS_PER_S * cores))
    return {name: drawn.count(name) for name in (*names, "server")}


def simulated(level, causes, replicate, *, seed=1, noise=0.0, connections=8):
    """A trial of the simulated server, and its series."""
    cores = level
    chance = random.Random(f"{seed} {level} {replicate}")
    seconds = [second(causes, cores, chance) for _ in range(WINDOW_S)]
    ms = {name: sum(one[name] for one in seconds) / (WINDOW_S * TICKS_PER_S) for name in seconds[0]}  # cores
    user, system = (factor * (1 + noise * chance.gauss(0, 1)) for factor in (causes.slower_user, causes.slower_system))
    cost = WORK * (0.75 * user + 0.25 * system)
    used = ms["server"]
    shared = (0,) if causes.load else (9,)
    trial = make_trial(
        trial_id=f"cores-{level:g}-r{replicate}",
        level=level,
        cores=level,
        replicate=replicate,
        block=replicate,
        knobs={"connections": str(connections)},
        placement=Placement(server_cpus=tuple(range(max(1, round(cores)))), generator_cpus=shared),
    )
    measured = replace(
        make_result(level=level, rate=used / cost).measurement,
        window_s=float(WINDOW_S),
        server_cpu_cores=used,
        throttled_s=ms["held"] * WINDOW_S,
        generator_cpu_cores=ms["load"] if causes.load else 0.3,
        in_flight_percent=100.0,
        server_taken_cores=ms["taken"] + causes.idle_others * cores,
        server_queued_cores=ms["taken"] + ms["load"] + ms["held"],
        server_waits={"": 0.5, "IO: WALSync": 0.4, "lock: WALWrite": 0.1},
    )
    part = 0.25 * system / (0.75 * user + 0.25 * system)
    rows = [
        {"server_cpu_cores": one["server"] / 1e3, "server_system_cores": part * one["server"] / 1e3} for one in seconds
    ]
    result = replace(make_result(level=level), trial=trial, measurement=measured)
    return result, tuple((t + 1.0, values) for t, values in enumerate(rows))


def account(levels, replicates=3, axis=CORES, rate="rows_per_s", change=lambda r: r, **how):
    """levels: the causes at each."""
    made = [simulated(n, causes, r, **how) for r in range(1, replicates + 1) for n, causes in levels.items()]
    results = [change(replace(r, trial=replace(r.trial, order=at))) for at, (r, _) in enumerate(made)]
    return account_of(results, axis, rate, {r.trial.trial_id: series for r, series in made})


def percents(one, of=""):
    return {" + ".join(part.names): part.percent for part in one.within(of)}


CASES = {
    "throttled": (Causes(held=0.2), "not_used", 20.0),
    "others": (Causes(taken=0.2), "not_used", 20.0),
    "load": (Causes(load=0.2), "not_used", 20.0),
    "waiting": (Causes(asleep=0.2), "not_used", 20.0),
    "user": (Causes(slower_user=4 / 3), "more_work", 20.0),
    "system": (Causes(slower_system=2.0), "more_work", 20.0),
}


@pytest.mark.parametrize("name", CASES)
def test_a_single_cause_gets_the_whole_loss(name, wording):
    causes, main, lost = CASES[name]
    found = account({1.0: Causes(), 2.0: causes})
    (one,) = found.levels
    assert one.missing.percent == pytest.approx(lost, abs=1.5)
    assert percents(one)[main] == pytest.approx(one.missing.percent, abs=0.5)
    assert percents(one, main)[name] >= 0.95 * one.missing.percent
    assert sum(percents(one).values()) == pytest.approx(one.missing.percent, rel=1e-9)
    assert sum(percents(one, "not_used").values()) == pytest.approx(percents(one)["not_used"], rel=1e-9, abs=1e-9)
    assert "at 2 cores" in found.sentence
    wording(found.sentence)


def test_slower_cpus_are_no_fault_of_the_code():
    """At two cores each CPU-ms has a fifth less fixed work, and a row needs a quarter more CPU time."""

    def measured(result):
        speed = 800.0 if result.trial.level == 2.0 else 1000.0
        return replace(result, measurement=replace(result.measurement, cpu_speed=speed))

    found = account({1.0: Causes(), 2.0: Causes(slower_user=1.25, slower_system=1.25)}, change=measured)
    inside = percents(found.levels[0], "more_work")
    assert inside["speed"] >= 0.95 * found.levels[0].missing.percent and "speed" not in found.not_measured
    assert sum(inside.values()) == pytest.approx(percents(found.levels[0])["more_work"], rel=1e-9)


def test_two_causes_get_their_shares_of_the_loss():
    """A quarter of the time asleep, and rows that take a third longer: together 0.75 of 0.75."""
    (one,) = account({1.0: Causes(), 2.0: Causes(asleep=0.25, slower_user=1.25, slower_system=1.25)}).levels
    assert one.missing.percent == pytest.approx(100 * (1 - 0.75 * 0.8), abs=1.5)
    assert percents(one)["not_used"] / percents(one)["more_work"] == pytest.approx(0.2877 / 0.2231, rel=0.07)
    assert percents(one, "waiting")["wait: IO: WALSync"] == pytest.approx(0.8 * percents(one, "not_used")["waiting"])
    assert {part.origin for part in one.within("waiting")} == {"estimate"}


def test_programs_that_run_while_the_server_sleeps_take_nothing():
    (one,) = account({1.0: Causes(), 2.0: Causes(asleep=0.3, idle_others=0.3)}).levels
    inside = percents(one, "not_used")
    assert inside["waiting"] >= 0.95 * one.missing.percent and inside.get("others", 0.0) < 1


def test_a_quota_of_the_level_is_no_loss():
    def quota(result):
        placement = replace(result.trial.placement, quota_cores=result.trial.cores)
        return replace(
            result, trial=replace(result.trial, resources=replace(result.trial.resources, placement=placement))
        )

    (one,) = account({1.0: Causes(), 2.0: Causes(held=0.3)}, change=quota).levels
    assert "throttled" not in percents(one, "not_used")


def test_one_connection_on_two_cores_leaves_a_core_without_requests():
    (one,) = account({1.0: Causes(), 2.0: Causes(asleep=0.5)}, connections=1).levels
    assert percents(one, "not_used")["requests"] >= 0.95 * one.missing.percent
    (one,) = account({1.0: Causes(), 2.0: Causes(asleep=0.5)}, connections=8).levels
    assert percents(one, "not_used")["waiting"] >= 0.95 * one.missing.percent


def test_threads_that_could_run_beside_idle_cores_are_named():
    def woken_late(result):
        m = result.measurement
        return replace(result, measurement=replace(m, server_queued_cores=result.trial.cores - m.server_cpu_cores))

    (one,) = account({2.0: Causes(), 4.0: Causes(asleep=0.2)}, connections=4, change=woken_late).levels
    assert percents(one, "not_used")["runnable"] >= 0.95 * one.missing.percent
    (one,) = account({2.0: Causes(), 4.0: Causes(asleep=0.2)}, connections=64, change=woken_late).levels
    assert percents(one, "not_used").get("runnable", 0.0) < 0.5, "they queue behind each other"


def test_intervals_hold_the_truth_nearly_always():
    truth = {1.0: Causes(slower_user=1.0), 2.0: Causes(slower_user=4 / 3, asleep=0.1)}
    runs = [account(truth, noise=0.03, replicates=4, seed=seed).levels[0] for seed in range(60)]
    wanted = {"not_used": 0.1054, "more_work": 0.2231}
    scale = 100 * (1 - 0.9 * 0.8) / sum(wanted.values())
    for name, log in wanted.items():
        parts = [next(part for part in one.within("") if part.names == (name,)) for one in runs]
        held = sum(part.low <= scale * log * 1.02 and part.high >= scale * log * 0.98 for part in parts)
        assert held >= 54, name


def test_noise_that_moves_cpu_time_between_two_parts_is_one_part():
    made = [simulated(n, Causes(), r) for r in range(1, 5) for n in (1.0, 2.0)]
    series = {}
    for at, (result, rows) in enumerate(made):
        share = 0.25 * (1.3 if at % 2 == result.trial.replicate % 2 else 0.7)
        series[result.trial.trial_id] = [
            (t, {**v, "server_system_cores": share * v["server_cpu_cores"]}) for t, v in rows
        ]
    (one,) = account_of([r for r, _ in made], CORES, "rows_per_s", series).levels
    assert list(percents(one, "more_work")) == ["user + system"]


def test_only_trials_that_count_are_in_it():
    def rejected(result):
        if result.trial.level == 3.0 or result.trial.replicate == 1:
            return replace(result, verdict=replace(result.verdict, kind=VerdictKind.UNSTEADY))
        return result

    found = account({1.0: Causes(), 2.0: Causes(asleep=0.2), 3.0: Causes()}, change=rejected)
    assert [(one.level, one.trials) for one in found.levels] == [(2.0, 2)]
    without = account(
        {1.0: Causes(), 2.0: Causes()}, change=lambda r: replace(r, verdict=replace(r.verdict, kind=VerdictKind.ERRORS))
    )
    assert without is None


def test_a_single_trial_a_level_has_no_intervals():
    found = account({1.0: Causes(), 2.0: Causes(asleep=0.2)}, replicates=1)
    assert found.levels[0].missing.low is None and "Without replicates" in found.sentence


def test_an_older_run_says_what_it_lacks():
    def older(result):
        names = "server_taken_cores server_queued_cores".split()
        return replace(result, measurement=replace(result.measurement, server_waits={}, **dict.fromkeys(names)))

    found = account({1.0: Causes(), 2.0: Causes(asleep=0.2)}, change=older)
    assert {"others", "runnable", "waits", "counters"} <= set(found.not_measured)
    assert percents(found.levels[0], "not_used")["rest"] >= 0.95 * found.levels[0].missing.percent


def test_hardware_counters_divide_the_cost_of_a_row():
    def counted(result):
        m, slow = result.measurement, 1.25 if result.trial.level == 2.0 else 1.0
        cycles = 3e9 * m.server_cpu_cores
        return replace(
            result, measurement=replace(m, server_cycles_per_s=cycles, server_instructions_per_s=cycles / slow)
        )

    found = account({1.0: Causes(), 2.0: Causes(slower_user=1.25, slower_system=1.25)}, change=counted)
    inside = percents(found.levels[0], "more_work by counters")
    assert inside["per_cycle"] == pytest.approx(found.levels[0].missing.percent, abs=0.5)
    assert "counters" not in found.not_measured


def test_disks_have_an_account_of_busy_shares_ceilings_and_bytes():
    disks = load_axis("disks")

    def on_disks(result):
        many = round(result.trial.level)
        used, ceiling, size = (90.0, 100.0, 100.0) if many == 1 else (72.0, 180.0, 125.0)
        rate = used / 100 * ceiling * 1e6 / size
        m = replace(result.measurement, durable_rows_per_s=rate, disk_used_percent=used)
        m = replace(m, disk_ceiling_mb_per_s=ceiling, disk_bytes_per_row=size)
        resources = replace(result.trial.resources, amounts=amounts(1.0, disks=many))
        return replace(result, measurement=m, trial=replace(result.trial, resources=resources))

    (one,) = account({1.0: Causes(), 2.0: Causes()}, axis=disks, rate="durable_rows_per_s", change=on_disks).levels
    assert one.missing.percent == pytest.approx(100 * (1 - 0.8 * 0.9 * 0.8))
    parts = percents(one)
    assert parts["not_busy"] == pytest.approx(parts["bytes"]) and parts["together"] < parts["bytes"]
    assert sum(parts.values()) == pytest.approx(one.missing.percent)


def test_clients_have_an_account_of_time():
    """Two clients wait twice as long for answers, and need the same time for themselves."""
    clients = load_axis("clients")

    def of_clients(result):
        answer = 9e-6 if result.trial.level == 1 else 19e-6
        rate = result.trial.level / (answer + 1e-6)
        m = replace(result.measurement, rows_per_s=rate, in_flight_percent=100 * answer / (answer + 1e-6))
        return replace(result, measurement=m)

    (one,) = account({1.0: Causes(), 2.0: Causes()}, axis=clients, change=of_clients).levels
    assert percents(one) == pytest.approx({"answers": 50.0, "own": 0.0}, abs=1e-9)


def test_a_search_says_why_it_has_none():
    def searched(result):
        load = replace(result.trial.load, objective=parse_objective("p99 < 20ms"))
        long = replace(result.measurement, window_s=60.0)
        return replace(result, trial=replace(result.trial, load=load), measurement=long)

    found = account({1.0: Causes(), 2.0: Causes()}, change=searched)
    assert found.levels == () and "capacities" in found.reason
    assert account({1.0: Causes()}).reason == "it needs trials that count at two levels"


def test_the_report_has_the_section_with_a_bar_for_each_level(wording):
    run = replace(synthetic_run(), fit=None)
    fit = fit_again(run)
    assert [one.level for one in fit.account.levels] == [p.level for p in fit.points[1:]]
    page, text = html(run), markdown(run)
    assert 'id="account"' in page and page.count('data-name="account"') == 1
    assert fit.account.sentence in text and "## Why a part of the rate is missing" in text
    wording(fit.account.sentence)


def test_time_in_which_threads_could_run_and_did_not_is_added_up_from_the_kernels_files(tmp_path):
    folder = tmp_path / "7/task"

    def read(reader, **queued_s):
        for name, seconds in queued_s.items():
            (folder / name[1:]).mkdir(parents=True, exist_ok=True)
            (folder / name[1:] / "stat").write_text(f"{name[1:]} (worker) S {' '.join(['0'] * 20)}")
            if seconds is not None:
                (folder / name[1:] / "schedstat").write_text(f"5000000000 {round(seconds * 1e9)} 12\n")
        return reader.read([7]).queued_s_total

    reader = ThreadReader(tmp_path)
    assert read(reader, t1=3.0) == 0, "what was before the first reading is not of the trial"
    assert read(reader, t1=3.5) == pytest.approx(0.5)
    assert read(reader, t1=4.0, t2=0.0) == pytest.approx(1.0)
    assert read(reader, t1=4.0, t2=0.25) == pytest.approx(1.25)
    assert read(ThreadReader(tmp_path / "none")) is None


def test_raw_files_of_older_versions_give_the_figures_that_they_gave():
    """verify compares figures of all methods: those of the account are made only of samples with its new counter."""
    trial, rows = make_trial(cores=1.0), [1000] * 12
    log = "".join(f"{json.dumps(line)}\n" for line in load_lines(rows, 2, 10**12))
    old = facts_of(log, 10**12, 10**12 + 2 * 10**9, samples_of(trial, rows, 10**12))
    old = with_summary(old, old.summary, trial.load, trial.work)
    new = replace(old, samples=tuple(replace(s, thread_queued_s_total=0.1 * at) for at, s in enumerate(old.samples)))
    without, having = measurement(trial, old), measurement(trial, new)
    assert without.server_queued_cores is without.server_taken_cores is without.disk_read_mb_per_s is None
    assert without.server_waits == {}
    assert having.server_queued_cores == pytest.approx(0.1, rel=0.2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, -1.0, 5e-324, 1e-99, 1e99, 1e308])
@pytest.mark.parametrize(
    "name",
    "server_cpu_cores throttled_s generator_cpu_cores server_taken_cores server_queued_cores in_flight_percent rows_per_s "
    "server_cycles_per_s server_instructions_per_s disk_used_percent cpu_speed joules_per_million_rows".split(),
)
def test_any_number_of_a_stored_file_has_an_account_or_none(name, value):
    def odd(result):
        return replace(result, measurement=replace(result.measurement, **{name: value}))

    def odd_once(result):
        return odd(result) if (result.trial.level, result.trial.replicate) == (2.0, 1) else result

    for change in (odd, odd_once):
        found = account({1.0: Causes(load=0.1), 2.0: Causes(asleep=0.2)}, change=change)
        percent = [part.percent for one in found.levels for part in one.parts] if found else []
        assert all(math.isfinite(one) for one in percent)


def test_a_stored_account_of_somebody_else_is_shown_as_text():
    run = replace(synthetic_run(), fit=None)
    fit = fit_again(run)
    odd = ("<script>", '"><i>')
    parts = (
        LossPart(names=odd, percent=5.0),
        LossPart(names=("a",), percent=1e308, of="a"),
        LossPart(names=("a",), percent=3.0),
        LossPart(names=(), percent=-1e308, of="a"),
    )
    levels = tuple(replace(one, parts=parts, ratios={}) for one in fit.account.levels)
    page = html(replace(run, fit=replace(fit, account=replace(fit.account, levels=levels, not_measured=("{0}",)))))
    assert page.count("<script>") == html(run).count("<script>") and '"><i>' not in page
