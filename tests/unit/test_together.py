"""Several load processes read as one load: no interval is lost, and what is recorded is read as it was seen."""

import json

import pytest
from hdrh.histogram import HdrHistogram

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.loadgen.protocol import parse_line
from scale_sweep.loadgen.split import LineSource, Seconds, marked, source_of
from scale_sweep.model.loads import Interval, LoadSummary


def interval(t_s: float, rows: int, rows_total: int, phase: str = "measure") -> str:
    figures = {"t_s": t_s, "monotonic_ns": int(t_s * 1e9), "phase": phase, "rows": rows, "rows_total": rows_total}
    figures |= {"requests": 1, "errors": 0, "retries": 0, "backlog_rows": None, "cpu_s": 0.5}
    figures |= {"response_us_p50": None, "response_us_p99": 1.0, "response_us_max": 2.0}
    return json.dumps({"event": "interval", **figures})


def summary(rows: int, end_s: float) -> str:
    end_ns = int(end_s * 1e9)
    empty = dict.fromkeys(f"{name}_us" for name in ("min", "mean", "p50", "p90", "p95", "p99", "p999", "max"))
    latency = {"count": 0, **empty, "hdr": HdrHistogram(1, 3_600_000_000, 3).encode().decode()}
    figures = {"outcome": "ok", "window_s": end_s, "window_start_ns": 0, "window_end_ns": end_ns, "last_ack_ns": end_ns}
    figures |= {"rows_window": rows, "rows_per_s": rows / end_s, "rows_acked": rows, "rows_failed": 0}
    figures |= {"requests": 1, "errors": 0, "retries": 0, "cpu_window_s": 1.0, "offered_rows_per_s": None}
    return json.dumps(
        {"event": "summary", **figures, "workers": [], "partitions": [], "response": latency, "service": latency}
    )


HELLO = json.dumps({"event": "hello", "version": "1", "driver": "null", "method": "discard"})
# Fixed work: the first process is through after 1.3 s, the second after 3.4 s.
FIRST = [HELLO, interval(1.001, 10, 10), interval(1.3, 3, 13), summary(13, 1.3)]
SECONDS = ((1.002, 10, 10), (2.0, 10, 20), (3.0, 10, 30), (3.4, 4, 34))
SECOND = [HELLO, *(interval(*figures) for figures in SECONDS), summary(34, 3.4)]
MERGED = [(1.002, 20, 20), (2.0, 13, 33), (3.0, 10, 43), (3.4, 4, 47)]


def recorded(*told: tuple[int, list[str]], processes: int = 2) -> str:
    """loadgen.jsonl: the lines of each process, one process after the other."""
    return "".join(
        marked(f"{line}\n", LineSource(process=p, processes=processes)) for p, lines in told for line in lines
    )


def merged(text: str) -> list[tuple[float, int, int]]:
    return [(i.t_s, i.rows, i.rows_total) for i in read_recorded(text).intervals]


def shuffled(text: str) -> str:
    """The same lines in the order of their times, as they came while the trial ran."""

    def said_s(line: str) -> float:
        raw = json.loads(line)
        return raw.get("t_s") or raw.get("window_s") or 0.0

    return "".join(sorted(text.splitlines(keepends=True), key=said_s))


@pytest.mark.parametrize("order", [lambda text: text, shuffled])
def test_a_process_that_ends_earlier_loses_no_interval_whatever_the_order(order):
    assert merged(order(recorded((0, FIRST), (1, SECOND)))) == MERGED
    assert merged(order(recorded((1, SECOND), (0, FIRST)))) == MERGED
    assert sum(rows for _, rows, _ in MERGED) == 13 + 34


def test_while_the_trial_runs_a_second_is_told_when_all_have_said_it_or_have_ended():
    seconds, told = Seconds(2), []
    first, second = ([parse_line(text) for text in lines[1:]] for lines in (FIRST, SECOND))
    order = [(0, first[0]), (0, first[1]), *((1, line) for line in second[:3]), (0, first[2])]
    for process, line in [*order, *((1, line) for line in second[3:])]:
        assert isinstance(line, Interval | LoadSummary)
        told.append([i.t_s for i in seconds.take(process, line)])
    assert told == [[], [], [1.002], [2.0], [], [3.0], [3.4], []]


def test_a_line_is_marked_with_its_process_if_there_are_several():
    source = LineSource(process=1, processes=3)
    assert source_of(marked('{"event":"hello"}\n', source)) == source
    assert marked("no JSON\n", source) == "no JSON\n"
    for text in ("", "[]", "{}", '{"process":1}', '{"process":"x","processes":2}'):
        assert source_of(text) is None
    whole = read_recorded("".join(f"{line}\n" for line in FIRST))
    assert whole == read_recorded("".join(marked(line, LineSource(process=0, processes=1)) for line in FIRST))
    assert whole.intervals and whole.summary is not None


def test_a_process_that_ends_early_skips_a_second_or_has_no_summary():
    early = [HELLO, interval(1.0, 5, 5), interval(1.02, 1, 6, "drain"), summary(6, 1.02)]
    later = [HELLO, interval(1.0, 5, 5), interval(2.0, 5, 10), summary(10, 2.0)]
    (_, second) = read_recorded(recorded((0, early), (1, later))).intervals
    assert (second.t_s, second.monotonic_ns, second.phase, second.rows) == (2.0, 2 * 10**9, "measure", 6)
    skipping = [HELLO, interval(1.0, 5, 5), interval(3.1, 10, 15), summary(15, 3.1)]
    regular = [HELLO, *(interval(float(n), 5, 5 * n) for n in (1, 2, 3)), summary(15, 3.0)]
    assert [i.rows for i in read_recorded(recorded((0, skipping), (1, regular))).intervals] == [10, 5, 15]
    text = recorded((0, FIRST[:2]), (1, SECOND))  # it is waited for, as while the trial ran, which ends as aborted
    assert merged(text) == MERGED[:1]
    assert read_recorded(text).summary is None


@pytest.mark.parametrize(("process", "processes"), [(2, 2), (-1, 2), (0, 3)])
def test_lines_that_cannot_be_of_one_load_are_refused(process, processes):
    with pytest.raises(LoadError, match="process"):
        read_recorded(recorded((0, FIRST)) + marked(HELLO, LineSource(process=process, processes=processes)))


def test_summaries_are_merged_in_the_order_of_the_processes_as_while_the_trial_ran():
    """Each has operations of its own, and the one that ends first is any of them."""
    own = {"unit": "rows", "weight": 1, **dict.fromkeys("requests errors retries units_acked units_window".split(), 1)}
    write, latest = (
        [HELLO, json.dumps(json.loads(summary(6, 2.0)) | {"operations": [{"name": name, **own}]})]
        for name in ("write", "latest")
    )
    for told in (((0, write), (1, latest)), ((1, latest), (0, write))):
        whole = read_recorded(recorded(*told)).summary
        assert [one.name for one in whole.operations] == ["write", "latest"]
