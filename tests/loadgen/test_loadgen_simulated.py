"""The simulated server of the null driver: its servers, laws and stops against a model, and what a load sees of it."""

from __future__ import annotations

import math
import random
import statistics
import struct
import subprocess
from itertools import pairwise

import pytest
from test_loadgen_trace import records_of

MS, US = 1_000_000, 1000
SOURCES = ("simulated.c", "spec.c", "spec_check.c", "mistakes.c", "first_row.c", "held.c")


@pytest.fixture(scope="module")
def answers(build):
    """answers(times, seed, key=value, ...): when requests that come at these times are answered, in ns."""
    program = build("simulated_probe.c", *SOURCES)

    def answers(times: list[int], seed: int = 1, **keys: object) -> list[int]:
        words = [str(word) for pair in keys.items() for word in pair]
        text = "\n".join(map(str, times))
        done = subprocess.run([program, str(seed), *words], input=text, capture_output=True, text=True, check=True)
        return [int(line) for line in done.stdout.split()]

    return answers


def arrivals(count: int, gap_ns: float) -> list[int]:
    """Random times from 1 s on."""
    chance, now, times = random.Random(5), 1e9, []
    for _ in range(count):
        times.append(int(now))
        now += chance.expovariate(1 / gap_ns)
    return times


@pytest.mark.parametrize("servers", [1, 4, 1024])
def test_a_request_goes_to_the_server_that_is_free_first(answers, servers):
    times = arrivals(4000, 4 * MS / servers)
    free, expected = [0] * servers, []
    for came in times:
        first = free.index(min(free))
        free[first] = max(free[first], came) + 4 * MS
        expected.append(free[first])
    assert answers(times, null_servers=servers, null_service_us=4000) == expected


def test_while_the_server_is_stopped_nothing_is_served(answers):
    """Each period of 50 ms from the first request ends with a stop of 20 ms, in the middle of a service or before."""
    times = arrivals(2000, 3 * MS)
    begin, period, works = times[0], 50 * MS, 30 * MS

    def served(at: int, service: int) -> int:
        """The end of so much service, step by step from one stop to the next."""
        while True:
            within = (at - begin) % period
            if within >= works:
                at += period - within
                continue
            if service < works - within:
                return at + service
            at, service = at + works - within, service - (works - within)

    free, expected = 0, []
    for came in times:
        free = served(max(free, came), MS)
        expected.append(free)
    got = answers(times, null_service_us=1000, null_stall_us=20_000, null_stall_every_ms=50)
    assert got == expected
    assert max(end - came for end, came in zip(got, times, strict=True)) > 20 * MS


def test_a_server_can_stop_without_times_of_service(answers):
    got = answers([10 * MS, 12 * MS, 18 * MS, 25 * MS], null_stall_us=5000, null_stall_every_ms=10)
    assert got == [10 * MS, 12 * MS, 20 * MS, 30 * MS]


def test_the_exponential_law_has_its_mean_and_its_tail(answers):
    times = [second * 1000 * MS for second in range(1, 40_001)]  # far apart, so that none waits
    answered = answers(times, null_service_us=1000, null_law="exponential")
    drawn = [end - came for end, came in zip(answered, times, strict=True)]
    assert statistics.mean(drawn) == pytest.approx(MS, rel=0.02)
    assert statistics.median(drawn) == pytest.approx(math.log(2) * MS, rel=0.03)
    assert statistics.quantiles(drawn, n=100)[98] == pytest.approx(math.log(100) * MS, rel=0.05)
    mean = statistics.mean(drawn)
    neighbours = statistics.mean((a - mean) * (b - mean) for a, b in pairwise(drawn)) / statistics.variance(drawn)
    assert abs(neighbours) < 0.02, "one draw does not show the next"


def test_the_end_of_each_service_needs_the_lock(answers):
    """Four servers of 4 ms, of which 2 ms are under the lock: no more than one request each 2 ms."""
    times = arrivals(2000, MS)
    free, lock_free, expected = [0] * 4, 0, []
    for came in times:
        first = free.index(min(free))
        lock_free = max(max(free[first], came) + 2 * MS, lock_free) + 2 * MS
        free[first] = lock_free
        expected.append(lock_free)
    got = answers(times, null_servers=4, null_service_us=4000, null_lock_us=2000)
    assert got == expected
    assert got[-1] - times[0] > 2000 * 2 * MS


def test_a_quota_stops_all_servers_for_the_rest_of_each_tenth_of_a_second(answers):
    quota = {"null_servers": 4, "null_quota_milli": 1500, "null_service_us": 1000}
    stops = {"null_servers": 4, "null_stall_us": 62_500, "null_stall_every_ms": 100, "null_service_us": 1000}
    times = arrivals(2000, MS)
    assert answers(times, **quota) == answers(times, **stops)
    enough = {**quota, "null_quota_milli": 4000}
    assert answers(times, **enough) == answers(times, null_servers=4, null_service_us=1000)


def alone(answers, seconds: list[float], **keys: object) -> list[float]:
    """The time of each service in ms, of requests that do not wait."""
    times = [round(second * 1000 * MS) for second in seconds]
    return [(end - came) / MS for end, came in zip(answers(times, **keys), times, strict=True)]


def test_a_cold_server_reaches_full_speed_in_a_line(answers):
    served = alone(answers, [1, 2, 3, 4, 5, 9], null_service_us=1000, null_warm_ms=4000, null_warm_percent=50)
    assert served == pytest.approx([1 / 0.5, 1 / 0.625, 1 / 0.75, 1 / 0.875, 1, 1], rel=1e-4)


def test_drift_is_a_wave_around_full_speed(answers):
    served = alone(answers, [40, 50, 60, 70, 80], null_service_us=1000, null_drift_ms=40_000, null_drift_percent=20)
    assert served == pytest.approx([1, 1 / 1.2, 1, 1 / 0.8, 1], rel=1e-4)


def test_a_server_has_two_states_each_for_a_while(answers):
    keys = {"null_service_us": 1000, "null_states_ms": 10_000, "null_states_percent": 50}
    stretches = [alone(answers, [10 * n + 1, 10 * n + 5, 10 * n + 9], **keys) for n in range(1, 60)]
    assert all(stretch in ([1, 1, 1], [2, 2, 2]) for stretch in stretches)
    slow = sum(stretch == [2, 2, 2] for stretch in stretches)
    assert 15 < slow < 45
    assert [alone(answers, [10 * n + 1], seed=2, **keys)[0] for n in range(1, 60)] != [s[0] for s in stretches]


COUNTS = struct.Struct("=5Q")  # of simulated.h
SLOW = {"null_servers": 2, "null_service_us": 4000}


def test_processes_share_the_servers_of_a_file(answers, tmp_path):
    path = tmp_path / "servers"
    first = answers([1000 * MS, 1000 * MS, 1000 * MS], null_shared=path, **SLOW)
    assert first == [1004 * MS, 1004 * MS, 1008 * MS]
    assert answers([1000 * MS, 1020 * MS], null_shared=path, **SLOW) == [1008 * MS, 1024 * MS]
    assert COUNTS.unpack(path.read_bytes()[: COUNTS.size]) == (16 * MS, 0, 0, 50, 5)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_counts_are_those_of_now_and_not_of_what_is_ahead(answers, tmp_path):
    answers([1000 * MS] * 6 + [1001 * MS], null_shared=tmp_path / "a", **SLOW)
    assert COUNTS.unpack((tmp_path / "a").read_bytes()[: COUNTS.size])[0] == 2 * MS
    answers([1000 * MS] * 3, null_shared=tmp_path / "b", null_lock_us=3000, **SLOW)
    assert COUNTS.unpack((tmp_path / "b").read_bytes()[: COUNTS.size])[2] == 5 * MS


@pytest.mark.parametrize("content", [b"", b"1234", None])
def test_a_file_of_another_server_is_refused(run, tmp_path, content):
    path, spec = tmp_path / "servers", {"driver": "null", "rows": 10, "null_shared": tmp_path / "servers"}
    if content is None:
        run({**spec, "null_service_us": 1000, "null_servers": 4})
    else:
        path.write_bytes(content)
    outcome = run({**spec, "null_service_us": 1000, "null_servers": 5})
    assert outcome.code == (0 if content == b"" else 2)
    assert content == b"" or "is not the file of such a server" in outcome.stderr


def test_a_load_counts_its_rows_in_the_file(load, tmp_path):
    spec = {"threads": 8, "tables": 8, "rows_per_request": 10, "duration_s": 0.5, "null_shared": tmp_path / "servers"}
    summary = load(**spec, null_servers=2, null_service_us=20_000).summary
    busy_ns, _, _, rows, requests = COUNTS.unpack((tmp_path / "servers").read_bytes()[: COUNTS.size])
    assert (rows, requests) == (summary["rows_acked"], summary["requests"])
    assert busy_ns == pytest.approx(20 * MS * requests, abs=40 * MS)


def test_the_seed_alone_decides_the_draws(answers):
    times, law = arrivals(1000, MS), {"null_service_us": 500, "null_law": "exponential"}
    first = answers(times, seed=1, **law)
    assert answers(times, seed=1, **law) == first
    assert answers(times, seed=2, **law) != first


def test_a_load_gets_no_more_than_the_servers_can_do(load):
    """In half a second, a server with 20 ms serves 25 requests, and each connection has at most one more in flight."""
    spec = {"threads": 8, "tables": 8, "rows_per_request": 10, "duration_s": 0.5, "null_service_us": 20_000}
    queries = {"operations": "point", "ask.point.text": "{device} {at}", "rows_present": 10}
    for more, most in (({}, 26), ({"null_servers": 4}, 104), (queries, 26)):
        summary = load(**spec, **more).summary
        assert 0 < summary["requests_window"] <= most
        assert summary["service"]["min_us"] >= 20_000


def test_an_open_loop_shows_a_stop_and_a_closed_loop_hides_it(load):
    """Coordinated omission: for 0.4 s the server answers nothing. Of a closed loop one request per connection waits
    for it; of an open loop all that were due."""
    server = {"null_service_us": 200, "null_stall_us": 400_000, "null_stall_every_ms": 1200}
    spec = {"threads": 4, "tables": 4, "rows_per_request": 1, "duration_s": 1.28, **server}
    opened, closed = load(**spec, rate=1000, arrival="poisson").summary, load(**spec).summary
    assert opened["response"]["p99_us"] > 320_000 and opened["response"]["max_us"] > 360_000
    assert closed["response"]["p99_us"] < 120_000 < closed["response"]["max_us"]


def test_the_deadline_of_a_request_ends_its_wait(run):
    spec = {"driver": "null", "rows": 10, "rows_per_request": 10, "null_service_us": 20_000_000}
    outcome = run({**spec, "request_timeout_s": 0.2})
    assert outcome.code == 5
    assert "the simulated server has not served it" in outcome.of("error")[0]["message"]


def test_random_arrivals_have_a_seed_of_their_own(load, tmp_path):
    """The same rows at other times."""

    def dues(name: str, **more: object) -> list[int]:
        done = load(rate=2000, arrival="poisson", rows_per_request=1, rows=200, trace=tmp_path / name, **more)
        return [due - done.summary["window_start_ns"] for due, *_ in records_of(tmp_path / name)]

    usual = dues("a")
    assert dues("b", arrival_seed=1) == usual, "the seed is 1 by default"
    assert dues("c", arrival_seed=2) != usual
    assert dues("d", seed=2) != usual and dues("e", seed=2, arrival_seed=1) == usual
