"""The spec of a trial before its server runs."""

from __future__ import annotations

from scale_sweep.experiment.work import queries_of
from scale_sweep.loadgen.spec import query_lines, trial_spec
from scale_sweep.model.planned import Trial
from scale_sweep.server.targets.base import Target
from scale_sweep.server.targets.records import Address
from scale_sweep.server.targets.target_facts import Facts


def planned_spec(trial: Trial, target: Target, home: str = "") -> dict[str, str]:
    """home: of the client library, "" if it does not matter."""
    nowhere = Address(host="", port=0, secret="", home=home)
    return trial_spec(
        trial, {**target.session(trial, nowhere).load_spec(), **query_lines(texts_of(trial, target.facts))}
    )


def texts_of(trial: Trial, facts: Facts) -> dict[str, str]:
    """Queries by operation. Raises CannotAsk."""
    data, method, parts = trial.work.data, trial.subject.method, trial.load.partitions
    return {name: facts.rendered(query, data, method, parts) for name, query in queries_of(trial.work).items()}
