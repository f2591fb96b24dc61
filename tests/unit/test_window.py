"""How long a window is: the default carries the claim, --quick and explicit durations do not, --soak is one trial. And
flags of a load that contradict each other."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.model.derived import marks
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_result, make_trial


def load(**flags):
    return resolve_sweep("cpu", {"axis.cores": "1", **{f"load.{k}": v for k, v in flags.items()}}).load


@pytest.mark.parametrize(
    ("flags", "duration_s", "window_max_s", "carries_claim"),
    [
        ({}, 40, 60, True),
        ({"quick": "1"}, 5, 10, False),
        ({"quick": "1", "duration": "8s"}, 8, 16, False),
        ({"duration": "10s"}, 10, 30, False),
        ({"duration": "10s", "window_max": "0"}, 10, None, False),
        ({"duration": "2s"}, 2, None, False),
        ({"duration": "60s"}, 60, 90, True),
        ({"duration": "60s", "window_max": "5m"}, 60, 300, True),
        ({"quick": "1", "window_max": "20s"}, 5, 20, False),
        ({"rows": "1M"}, None, None, True),
    ],
)
def test_the_window_that_is_asked_for(flags, duration_s, window_max_s, carries_claim):
    found = load(**flags)
    assert (found.duration_s, found.window_max_s, found.carries_claim) == (duration_s, window_max_s, carries_claim)
    assert not found.soak


def test_quick_has_a_short_window_seven_replicates_and_no_drift_check_unless_they_are_given(tmp_path):
    def method(file="", **flags):
        path = tmp_path / "s.toml"
        path.write_text(f'[axis]\ncores = "1..2"\n{file}')
        sweep = resolve_sweep(
            str(path) if file else "cpu", {"axis.cores": "1..2", **{k.replace("__", "."): v for k, v in flags.items()}}
        )
        return sweep.load.duration_s, sweep.replicates, sweep.drift_check

    quick, minute = {"load__quick": "1"}, '[load]\nduration = "60s"\n'
    for file, flags, expected in (
        ("", {}, (40, 3, True)),
        ("", quick, (5, 7, False)),
        ("", {**quick, "method__replicates": "2", "method__drift_check": "on"}, (5, 2, True)),
        ("[load]\nquick = true\n[method]\nreplicates = 4\n", {}, (5, 4, False)),
        ("[load]\nquick = false\n", {}, (40, 3, True)),
        (minute, {}, (60, 3, True)),
        (minute, quick, (5, 7, False)),
    ):
        assert method(file, **flags) == expected


def test_a_soak_is_one_trial_that_neither_grows_nor_discards_whatever_a_file_says(tmp_path):
    sweep = resolve_sweep("cpu", {"axis.cores": "2", "load.soak": "30m", "load.window_max": "50s"})
    assert (sweep.load.duration_s, sweep.load.window_max_s, sweep.load.may_discard) == (1800, None, False)
    assert (sweep.load.soak, sweep.load.carries_claim, sweep.replicates, sweep.drift_check) == (True, True, 1, False)
    path = tmp_path / "s.toml"
    path.write_text('[axis]\ncores = "1"\n[load]\nrows = "1M"\n[method]\nreplicates = 5\n')
    sweep = resolve_sweep(str(path), {"load.soak": "2m"})
    assert (sweep.load.rows, sweep.load.duration_s, sweep.replicates) == (None, 120, 1)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"load.window_max": "20s"}, "--window-max: is less than 40 s"),
        ({"load.quick": "1", "load.duration": "50s"}, "--quick and --duration 50s"),
        ({"load.soak": "10s"}, "--soak: at least 40 s"),
        ({"load.soak": "60s", "axis.cores": "1..2"}, "--soak: is one long trial at one level, and 2 levels"),
        ({"load.soak": "60s", "load.quick": "1"}, "--soak and --quick"),
        ({"load.soak": "60s", "load.rows": "1M"}, "--soak and --rows"),
        ({"load.soak": "60s", "load.duration": "50s"}, "--soak and --duration"),
        ({"load.soak": "60s", "method.replicates": "3"}, "leave out --replicates"),
        ({"load.rows": "10", "load.duration": "5s"}, "exclude"),
        ({"load.rows_per_level": "1M", "load.duration": "5s"}, "--rows-per-level and --duration"),
        ({"load.rows_per_level": "1M", "load.rows": "2M"}, "--rows and --rows-per-level"),
        ({"load.rows_per_level": "0"}, "--rows-per-level: '0' is too little: at least 1"),
        ({"load.trace": "0"}, "--trace: '0' is too little: at least 1"),
        ({"load.trace": "1", "load.trace_max": "200M"}, "--trace-max: 100,000,000 at most"),
        ({"load.trace": "1", "load.generator": "taosbenchmark", "load.rows": "10"}, "--trace: taosbenchmark does not"),
    ],
)
def test_what_contradicts_itself_is_refused_by_its_flag(flags, named):
    with pytest.raises(UsageError) as caught:
        resolve_sweep("cpu", {"axis.cores": "1", **flags})
    assert named in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("duration", "window_s", "commits", "expected"),
    [
        ("40s", 40.0, None, ()),
        ("40s", 39.5, 2, ()),
        ("40s", 40.0, 1, ("buffered rate",)),
        ("40s", 20.0, 2, ("quick",)),
        ("20s", 45.0, 0, ("quick", "buffered rate")),
        ("40s", None, None, ()),
    ],
)
def test_the_words_beside_a_number(duration, window_s, commits, expected):
    result = make_result(1.0, 1e6)
    measured = replace(result.measurement, window_s=window_s, commits=commits)
    result = replace(result, trial=replace(make_trial(), load=load(duration=duration)), measurement=measured)
    assert marks(result) == expected
    flushed = tuple(word for word in expected if word != "buffered rate")
    assert marks(result, "durable_rows_per_s") == flushed, "to the end of the flush nothing is only buffered"
