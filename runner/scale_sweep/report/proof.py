"""The proof of the bottleneck: a sentence for each level, the resources, and the next level as predicted."""

from __future__ import annotations

from collections.abc import Iterator

from scale_sweep.analysis.proved import value_words
from scale_sweep.base.units import format_number, with_interval
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import BottleneckKind
from scale_sweep.model.proof import RESOURCES, Elasticity, LevelProof, NextLevel
from scale_sweep.report.bottlenecks import NAMES
from scale_sweep.report.figures import axis_facts, axis_name, fit_of
from scale_sweep.report.forms import Form
from scale_sweep.report.table import Table

_NOTE = (
    "e: the change of the rate for a change of the resource, both in percent; 1: the rate depends on it alone, 0: not "
    "at all. In parentheses: 95 % intervals, by blocks of disturbed and undisturbed seconds."
)


def proof_part(run: StoredRun, form: Form) -> str:
    if not fit_of(run).proofs:
        return ""
    return form.joined(form.bullets(proof_sentences(run)), form.table(proof_table(run)))


def proof_sentences(run: StoredRun) -> tuple[str, ...]:
    return tuple(sentence for one in fit_of(run).proofs for sentence in _sentences(run, one))


def _sentences(run: StoredRun, one: LevelProof) -> Iterator[str]:
    at = axis_facts(run).count(format_number(one.level))
    yield f"At {at}, {one.sentence}."
    if one.differs:
        yield f"At {at} the rules named: {NAMES[BottleneckKind(one.rules)]}. The proof differs, and counts."
    if one.next_level is not None:
        yield f"At {at}: {_next_words(run, one.next_level)}."


def _next_words(run: StoredRun, after: NextLevel) -> str:
    predicted = with_interval(after.predicted, after.predicted_low, after.predicted_high)
    measured = with_interval(after.measured, after.measured_low, after.measured_high)
    to = axis_facts(run).count(format_number(after.level))
    return (
        f"{to} would bring {predicted} times the rate, if nothing else became the limit; measured are {measured} times"
    )


def proof_table(run: StoredRun) -> Table:
    """The resources of each level, with what they bring."""
    proofs = fit_of(run).proofs
    rows = tuple(
        (
            format_number(one.level),
            RESOURCES[e.resource],
            value_words(e),
            _more(e),
        )
        for one in proofs
        for e in one.proof.elasticities
    )
    headers = (axis_name(run), "Resource", "e", "10 % more of it")
    return Table(title="Proof", headers=headers, rows=rows, notes=(_NOTE,), words=(1, 2, 3))


def _more(e: Elasticity) -> str:
    return with_interval(e.more_percent, e.more_low, e.more_high, " %")
