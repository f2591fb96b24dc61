"""The null target: a server that does nothing, for measuring the tool itself."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from scale_sweep.model.declared_parts import KnobRole
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Facts, Installation, Knob, Session, Target
from scale_sweep.server.targets.common_facts import connections_knob

# Also keys of the driver: docs/loadgen.md.
SIMULATED = ("null_servers", "null_service_us", "null_law", "null_stall_us", "null_stall_every_ms")

FACTS = Facts(
    name="null",
    title="null",
    implementation="scale_sweep.server.targets.null:NullTarget",
    methods=("discard",),
    iot_benchmark=("FakeDB",),
    stores_tags=True,
    remark="nothing is stored, only the load generator is measured",
    knobs=(
        Knob(name="partitions", role=KnobRole.PARTITIONS, kind="count", column="partitions", default="1"),
        connections_knob("1"),
        *(Knob(name=name) for name in SIMULATED),
    ),
    rows_per_core_s=1e8,
    has_files=False,
    stores_rows=False,
    overhead_s=1.0,
)


class NullSession(Session):
    def version(self) -> str:
        return "null 1"

    def load_spec(self) -> Mapping[str, str]:
        knobs = self._trial.knobs
        return {"driver": "null", "method": "discard", **{name: knobs[name] for name in SIMULATED if name in knobs}}


class NullTarget(Target):
    session_type = NullSession

    def find(self, home: str) -> Installation | None:
        return Installation(home="", version="1", source="built in")

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        return ServerSpec(argv=(shutil.which("sleep") or "/bin/sleep", "86400"), stop_timeout_s=5.0)
