"""Several databases that were asked several operations: their response times side by side, and no word of rates of mixes
that differ."""

from dataclasses import replace

from scale_sweep.model.declared import Operation
from scale_sweep.model.questions import OperationFigures
from scale_sweep.report import several as shown
from scale_sweep.report.documents import documents
from scale_sweep.report.operations import mixes_words, several_operations_table
from tests.unit.test_several_databases import measured, several

MIX = tuple(Operation(name=name, kind="range", unit="requests") for name in ("hourly", "daily"))
MEDIANS = {"hourly": 2.0, "daily": 40.0}


def asked(run, *, only_first=()):
    """The run with both operations, or the first alone for some databases."""
    results = []
    for result in run.results:
        mix = MIX[:1] if result.trial.subject.target in only_first else MIX
        trial = replace(result.trial, work=replace(result.trial.work, operations=mix))
        figures = {o.name: OperationFigures(weight=1, response_ms={"p50": MEDIANS[o.name]}) for o in mix}
        rate = result.measurement.rows_per_s
        measurement = replace(result.measurement, operations=figures, requests_per_s=rate)
        results.append(replace(result, trial=trial, measurement=measurement))
    sweep = replace(run.plan.sweep, work=replace(run.plan.sweep.work, operations=MIX))
    return replace(run, plan=replace(run.plan, sweep=sweep), results=tuple(results))


def test_operations_of_several_databases_are_compared_where_their_mixes_are_equal(wording):
    table = several_operations_table(asked(measured(several(), wrong=("postgres",)), only_first=("victoriametrics",)))
    assert table.headers == ("operation", "cores", "questdb p50 ms", "victoriametrics p50 ms", "postgres p50 ms")
    assert table.rows[0] == ("hourly", "1", "2.00", "2.00", "2.00 †")
    assert table.rows[3] == ("daily", "2", "40.0", "cannot", "40.0 †")
    assert len(table.rows) == 4
    run = asked(measured(several()), only_first=("victoriametrics",))
    wording(mixes_words(run))
    assert not [note for note in shown.rates_table(run).notes if "interval" in note and "At 1 core" in note]
    for page in ("report.html", "report.md"):
        text = documents(run).pages[page]
        places = [text.index(words) for words in ("are VALID", "different operations", "speedup", "cannot")]
        assert places[:3] == sorted(places[:3])
    one = measured(several())
    assert several_operations_table(one).rows == ()
    assert mixes_words(asked(one)) == ""
    assert [note for note in shown.rates_table(asked(one)).notes if "interval" in note and "At 1 core" in note]
