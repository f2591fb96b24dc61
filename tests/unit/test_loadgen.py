"""The load generator's lines read, parts of a long answer joined, and several processes merged without averaging a
percentile."""

import json
import re
from collections import Counter
from dataclasses import asdict

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.judge.figures.resource_use import in_flight, workers_busy
from scale_sweep.loadgen import kept_files
from scale_sweep.loadgen.kept_files import ContentParts, content_of
from scale_sweep.loadgen.merge import merge_summaries, odd_window
from scale_sweep.loadgen.protocol import ContentPart, Phase, ReportedAnswer, parse_line
from scale_sweep.loadgen.spec import ceiling_spec, spec_text, trial_spec
from scale_sweep.model.loads import Latency, LoadSummary
from tests.unit.factories import make_sweep, make_trial
from tests.unit.raw_run import encoded


def latency(values_us):
    ends = {"min_us": min(values_us), "mean_us": sum(values_us) / len(values_us), "max_us": max(values_us)}
    unknown = dict.fromkeys(("p50_us", "p90_us", "p95_us", "p99_us", "p999_us"))
    return Latency(count=len(values_us), hdr=encoded(1, 3, Counter(values_us)), **ends, **unknown)


def summary(values_us, **fields):
    """Of a load with a window of 10 s."""
    base = {"outcome": "ok", "threads": 2, "cpu_window_s": 1.0, "send_s": 1.0, "make_s": 0.1}
    base |= {"window_s": 10.0, "window_start_ns": 0, "window_end_ns": 10**10, "last_ack_ns": 10**10}
    base |= {"rows_window": 1000, "rows_per_s": 100.0, "rows_acked": 1200, "partitions": (600, 600), "requests": 10}
    base |= {"offered_rows_per_s": None, "rows_failed": 0, "errors": 0, "retries": 0}
    base |= dict.fromkeys(("response", "service"), latency(values_us))
    return LoadSummary(**base | fields)


def test_summaries_of_processes_are_merged_without_averaging_a_percentile():
    slow, fast = [1000] * 50 + [50_000] * 50, [100] * 900
    merged = merge_summaries([summary(slow), summary(fast)]).response
    found = (merged.p50_us, merged.p90_us, merged.p95_us, merged.p99_us)
    assert found == pytest.approx((100, 100, 1000, 50_000), rel=0.01)
    assert (merged.count, merged.p999_us, merged.max_us) == (1000, None, 50_000)
    merged = merge_summaries([summary([1]), summary([1], outcome="errors", errors=3)])
    assert (merged.rows_window, merged.rows_acked, merged.threads, merged.errors) == (2000, 2400, 4, 3)
    assert (merged.outcome, merged.rows_per_s, merged.partitions) == ("errors", 200.0, (1200, 1200))
    unknown = dict.fromkeys(("rows_per_s", "cpu_window_s", "last_ack_ns"))

    def before_the_window(at_ns):
        times = {"window_s": 0.0, "window_start_ns": at_ns, "window_end_ns": at_ns}
        return summary([1], outcome="interrupted", rows_window=0, **times, **unknown)

    merged = merge_summaries([before_the_window(-5), summary([1])])
    assert (merged.window_s, merged.rows_per_s, merged.cpu_window_s, merged.last_ack_ns) == (10.0, 100.0, 1.0, 10**10)
    none = merge_summaries([before_the_window(-5), before_the_window(7)])
    assert (none.window_s, none.rows_per_s, none.cpu_window_s, none.last_ack_ns) == (0.0, None, None, None)


def test_lines_are_read_and_the_ceiling_has_the_same_rows_and_no_server():
    assert parse_line('{"event":"phase","phase":"measure","monotonic_ns":5}') == Phase(phase="measure", monotonic_ns=5)
    assert parse_line('{"event":"something new"}') is None
    for bad in ("", "text", "[]", '{"event":"phase"}', json.dumps({"event": "interval", "t_s": 1})):
        with pytest.raises(LoadError, match="protocol"):
            parse_line(bad)
    trial = make_trial(make_sweep(load__method="copy", workload__rows_per_request="500"))
    spec = trial_spec(trial, {"driver": "postgres", "host": "127.0.0.1"})
    ceiling = ceiling_spec(spec, 1.5)
    assert spec["duration_s"] == "60", "the window may grow by half of its 40 s"
    assert ceiling["driver"] == "null" and "host" not in ceiling
    assert all(ceiling[key] == spec[key] for key in ("threads", "tables", "columns", "rows_per_request"))
    assert spec_text({"a": "1", "b": ""}) == "a=1\n"


@pytest.mark.parametrize(
    ("starts_ms", "ends_ms", "ends", "words"),
    [
        ((0, 5), (1000, 1005), True, ""),
        ((0, 6), (1000, 1006), True, "2 2 began 0.006 after 1"),
        ((0, -1500), (1000, 0), False, "2 2 began 1.500 before 1"),
        ((0, 0), (1000, 2000), True, "2 2 ended 1.000 after 1"),
        ((0, 0), (1000, 2000), False, ""),
        ((0, 0, 20), (0, 1000, 1020), True, "3 3 began 0.020 after 2"),
    ],
)
def test_windows_that_differ_are_named(starts_ms, ends_ms, ends, words):
    """A process whose window is empty has none: it ended before."""
    times = zip(starts_ms, ends_ms, strict=True)
    parts = [summary([5], window_start_ns=a * 10**6, window_end_ns=b * 10**6) for a, b in times]
    told = re.findall(r"[\d.]+|began|ended|after|before", odd_window(parts, ends=ends))
    assert told[:6] == words.split()
    assert odd_window(parts, ends=ends, error_ns=2 * 10**9) == ""


@pytest.mark.parametrize(
    ("cores", "busy", "waiting"),
    [
        (None, None, 0.984),  # a load generator of before: all of a send counts as waiting
        (2 * 0.85, 0.85, 0.15),  # a client library that parses and encodes in the send
        (2 * 0.03, 0.03, 0.97),  # a server that makes it wait
        (2 * 0.01, 0.01, 0.984),  # rows were made on CPUs that others had: nothing of it was in a send
    ],
)
def test_the_threads_own_work_is_no_waiting(cores, busy, waiting):
    told = summary([5], threads=2, send_s=19.68, make_s=0.32, worker_cores=cores)
    assert workers_busy(told) == (None if busy is None else pytest.approx(busy))
    assert in_flight(told) == pytest.approx(waiting, abs=0.005)


@pytest.mark.parametrize(("name", "one", "other", "both"), [("worker_cores", 0.5, 0.25, 0.75), ("overdue", 3, 0, 3)])
def test_what_an_older_load_core_does_not_say_is_not_known_of_all_processes(name, one, other, both):
    told = [summary([5], **{name: value}) for value in (one, other)]
    assert getattr(merge_summaries(told), name) == both
    assert getattr(merge_summaries([told[0], summary([5])]), name) is None


@pytest.mark.parametrize(
    ("workers", "cores"),
    [([{"cpu_s": 2.5}, {"cpu_s": 1.5}], 0.4), ([{"cpu_s": 2.5}, {}], None), ([{"cpu_s": None}, {"cpu_s": 1.5}], None)],
)
def test_the_cpu_of_the_threads_is_read(workers, cores):
    plain = {**asdict(summary([5])), "event": "summary", "overdue": 7, "partitions": []}
    plain["workers"] = [{"send_s": 1.0, "make_s": 0.5, **worker} for worker in workers]
    read = parse_line(json.dumps(plain))
    assert isinstance(read, LoadSummary)
    assert (read.worker_cores, read.overdue) == (cores, 7)


def parsed(event, content, kind, **more):
    line = {"event": event, "worker": 1, **more, "content": content}
    found = parse_line(json.dumps(line, separators=(",", ":")))
    assert isinstance(found, kind)
    return found


def asked(parts, content):
    more = {"operation": "range", "request": 7, "devices": [0], "rows": 3, "in_window": True, "parts": parts}
    return parsed("asked", content, ReportedAnswer, **more)


def part(number, content, request=7):
    line = {"event": "content", "worker": 1, "request": request, "part": number, "content": content}
    parsed = parse_line(json.dumps(line, separators=(",", ":")))
    assert isinstance(parsed, ContentPart)
    return parsed


def joined(parts, answer):
    held = ContentParts()
    for one in parts:
        held.take(one)
    return held.whole(answer)


def test_rows_and_texts_are_joined_in_their_order():
    rows = joined([part(0, [[1, 2.5]]), part(1, [[2, None]])], asked(2, [[3, "x"]]))
    assert content_of(rows) == [(1, 2.5), (2, None), (3, "x")]
    assert content_of(joined([part(0, '{"a":"é')], asked(1, '"}'))) == '{"a":"é"}'
    assert content_of(joined([], asked(0, [[1]]))) == [(1,)]
    again = [part(0, [[1]]), part(1, [[2]]), part(0, [[8]])]
    assert content_of(joined(again, asked(1, [[9]]))) == [(8,), (9,)], "a request that was asked again"


def test_contents_that_are_more_than_the_memory_takes_are_kept_in_a_file(monkeypatch):
    monkeypatch.setattr(kept_files, "MEMORY_MAX", 4)
    held = ContentParts()
    answers = [held.whole(asked(0, [[number, "é"]])) for number in range(3)]
    assert [content_of(answer) for answer in answers[::-1]] == [[(2, "é")], [(1, "é")], [(0, "é")]]


def test_an_answer_without_one_of_its_parts_has_no_content():
    first, last = part(0, [[1]]), asked(1, [[3]])
    pairs = [
        (first, asked(2, [[3]])),
        (part(1, [[1]]), last),
        (part(0, [[1]], request=6), last),
        (first, asked(1, None)),
    ]
    assert [joined([one], answer).content for one, answer in pairs] == [()] * 4
