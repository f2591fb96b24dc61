"""KairosDB's datastores by the names of the knob `datastore`. Refuses to know more of them."""

from __future__ import annotations

from scale_sweep.model import Trial
from scale_sweep.server.targets.kairosdb.h2 import H2
from scale_sweep.server.targets.kairosdb.on_cassandra import OnCassandra
from scale_sweep.server.targets.kairosdb.store import Store

STORES: dict[str, Store] = {store.name: store for store in (OnCassandra(), H2())}


def store_of(trial: Trial) -> Store:
    """That of the trial; the first one for a name that is none, which `Target.check` refuses."""
    return STORES.get(trial.knobs.get("datastore", ""), next(iter(STORES.values())))
