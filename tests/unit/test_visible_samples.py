"""The count of VictoriaMetrics waits for samples that the server already makes into a part: a flush does not."""

from dataclasses import replace

from scale_sweep.server.targets import Address, load_target
from scale_sweep.server.targets.victoriametrics import victoriametrics_target as module
from tests.unit.factories import make_sweep, make_trial
from tests.unit.web_server import Answer, web_server

SWEEP = make_sweep(target__name="victoriametrics", workload__columns="v:double", workload__start_ms="60000")
TRIAL = replace(make_trial(SWEEP), knobs={})


def counters(added, parts):
    return Answer(
        body=f'vm_rows_added_to_storage_total {added}\nvm_rows{{type="storage/inmemory"}} {parts}\n'
        f'vm_rows{{type="storage/small"}} 5\nvm_rows{{type="indexdb/file"}} 99\n'
    )


def counted_with(pages, monkeypatch):
    """The count, and how often the counters were read; the last page stays."""
    monkeypatch.setattr(module, "_KEPT_S", 0.01)
    monkeypatch.setattr(module, "_VISIBLE_WITHIN_S", 0.2)
    values = {b"count_over_time": "3", b"tfirst_over_time": "60", b"tlast_over_time": "60.002"}

    def answer(request):
        if request.path == "/metrics":
            return pages.pop(0) if len(pages) > 1 else pages[0]
        if request.path == "/api/v1/query":
            value = next(value for name, value in values.items() if name in request.body)
            result = [{"metric": {"device": "d0"}, "value": [0, value]}]
            return Answer(body={"status": "success", "data": {"result": result}})
        return Answer()

    with web_server(answer) as web:
        session = load_target("victoriametrics").session(TRIAL, Address(host="127.0.0.1", port=web.port, secret=""))
        session.create_schema()
        counted = session.count()
    asked = [request.path for request in web.requests]
    return counted, asked.index("/api/v1/query") - asked.index("/internal/force_flush") - 1


def test_it_counts_when_all_added_samples_are_in_parts_and_after_some_time_although_they_are_not(monkeypatch):
    before, hidden, all_visible = counters(7, 2), counters(10, 3), counters(10, 5)
    counted, reads = counted_with([before, hidden, hidden, all_visible], monkeypatch)
    assert (counted.rows, counted.gaps, reads) == (3, (), 3)
    counted, reads = counted_with([counters(5, 0), hidden], monkeypatch)
    assert counted.rows == 3 and reads > 3
