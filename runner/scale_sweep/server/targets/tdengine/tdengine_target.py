"""TDengine 3.3: a supertable with subtables, spread evenly over vgroups."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Address, Installation, Surroundings, Target
from scale_sweep.server.targets.installations import version_of
from scale_sweep.server.targets.tdengine import admission, client, config
from scale_sweep.server.targets.tdengine.tdengine_session import TdengineSession

_DOUBTFUL = re.compile(  # lost or unwritten data
    r"vnodeCommitImpl failed|failed to commit|out of memory|No space left|start to crash|"
    r"assert|signal:?\s*(?:6|9|11)\b",
    re.IGNORECASE,
)


class TdengineTarget(Target):
    doubtful = _DOUBTFUL

    def find(self, home: str) -> Installation | None:
        taosd = Path(home) / "bin" / "taosd" if home else Path(shutil.which("taosd") or "/nonexistent")
        if not taosd.exists():
            return None
        where = str(Path(home).resolve()) if home else str(taosd.resolve().parent.parent)
        return Installation(home=where, version=_version(taosd), source="--home" if home else "PATH")

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        return {**(config.config_items(trial) if is_ours else {}), **config.database_options(trial)}

    def reserves(self, trial: Trial, memory_bytes: int) -> Mapping[str, str]:
        return admission.figures(trial, memory_bytes)

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        return admission.findings(trial, around)

    def check_client(self, home: str, server_version: str) -> tuple[Finding, ...]:
        return client.library_findings(client.library(home), server_version)

    def check_endpoint(self, address: Address, trials: Sequence[Trial]) -> tuple[Finding, ...]:
        vgroups = max(int(trial.knobs["vgroups"]) for trial in trials)
        through_adapter = any(trial.subject.method in config.THROUGH_ADAPTER for trial in trials)
        return (
            *client.endpoint_findings(address, client.library(address.home), vgroups),
            *(client.adapter_findings(address) if through_adapter else ()),
        )

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        return config.server_spec(trial, site, adapter=trial.subject.method in config.THROUGH_ADAPTER)

    def session(self, trial: Trial, address: Address) -> TdengineSession:
        """Through the load generator, so that libtaos never enters this process."""
        return TdengineSession(trial, address, client.library(address.home))


def _version(taosd: Path) -> str:
    return version_of((str(taosd), "-V"), r"(\d+\.\d+\.\d+\.\d+)")
