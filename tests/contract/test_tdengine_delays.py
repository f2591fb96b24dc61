"""The delay from a row's write to its delivery, with a live writer and subscribers on a real TDengine.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_delays.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from tests.contract.tdengine_contract import NEEDS_SERVER, PROGRAM

pytestmark = list(NEEDS_SERVER)


@pytest.mark.parametrize(("consumers", "age_ms"), [(1, 0), (2, 3000)])
def test_each_row_is_delivered_once_and_its_delay_is_in_the_histogram(server, tmp_path, consumers, age_ms):
    """Rows that claim to be older have delays that are longer by as much."""
    from measure import Programs
    from subscription_delay import live

    with_ = Programs(loadgen=Path(PROGRAM), tsdbperf=Path())
    seen = live(server, with_, tmp_path, rate=100, seconds=4, consumers=consumers, age_ms=age_ms)
    read, delay = seen.read, seen.read["delay"]
    assert read["rows"] == seen.written["rows_acked"] >= 399
    assert 1 <= read["messages"] == sum(one["messages"] for one in read["consumers"]) <= read["rows"]
    assert sum(step["messages"] for step in delay["histogram"]) == read["messages"]
    assert HdrHistogram.decode(delay["hdr"]).get_total_count() == read["messages"]
    assert age_ms < delay["min_ms"] < age_ms + 1000
    assert delay["min_ms"] <= delay["avg_ms"] <= delay["p99_ms"] <= delay["max_ms"]
    assert read["messages_per_s"] == pytest.approx(read["messages"] / read["spent_s"])
