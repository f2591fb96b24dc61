"""Any server: one that runs already, or the command that starts it."""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.errors import TargetError
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Facts, Session, Target
from scale_sweep.server.targets.common_facts import connections_knob

FACTS = Facts(
    name="command",
    title="server",
    implementation="scale_sweep.server.targets.command:CommandTarget",
    methods=("command",),
    knobs=(connections_knob("1"),),
)


class CommandSession(Session):
    def version(self) -> str:
        return ""

    def load_spec(self) -> Mapping[str, str]:
        raise TargetError("scale-loadgen has no driver for this server", remedy="give --load CMD")


class CommandTarget(Target):
    session_type = CommandSession

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        raise TargetError("no command starts this server", remedy="give --server CMD")
