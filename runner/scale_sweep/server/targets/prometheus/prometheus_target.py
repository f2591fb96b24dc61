"""Prometheus as a database: one server without scrapes, loaded by its remote write receiver."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Installation, Surroundings, Target, series
from scale_sweep.server.targets.installations import home_of, installed, refused_flags, run_program, version_of
from scale_sweep.server.targets.prometheus.prometheus_facts import WINDOW
from scale_sweep.server.targets.prometheus.prometheus_session import ROOT, PrometheusSession

PROGRAM = "prometheus"
# Samples are doubles: a whole number above 2^53 would be read back as another.
TYPES = ("bool", "tinyint", "smallint", "int", "utinyint", "usmallint", "uint", "float", "double")
_NOT_FLAGS = {"connections", "gomaxprocs", WINDOW}
_REFUSED = "Error parsing"
_DOUBTFUL = re.compile(  # samples that were not stored, or a log that was not written
    r"level=error|panic|fatal error|no space left|out of (order|bounds|memory)|compaction failed|corrupt", re.IGNORECASE
)


class PrometheusTarget(Target):
    """One server for each trial."""

    doubtful = _DOUBTFUL

    def find(self, home: str) -> Installation | None:
        """prometheus in `home`, else where `scale servers install` puts it, else on PATH."""
        ours = [(folder, "scale servers") for folder in (() if home else installed(self.facts.name))]
        folder, source = ours[0] if ours else home_of(PROGRAM, home)
        version = version_of((f"{folder}/bin/{PROGRAM}", "--version"), r"version (\d+(?:\.\d+)*)") if folder else ""
        return Installation(home=folder, version=version, source=source) if version else None

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Flags by their names, the item of its file, and the threads that Go may use."""
        knobs = {name: value for name, value in trial.knobs.items() if name != "connections"}
        return {"gomaxprocs": str(max(1, math.ceil(trial.cores))), **knobs}

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have."""
        return series.refused_columns("Prometheus", trial, TYPES)

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Flags and values that it refuses, in its own words: it reads them all before it misses its file."""
        flags = _flags(self.settings(trial, is_ours=True))
        done = run_program((f"{home}/bin/{PROGRAM}", *flags, "--config.file=/dev/null/none"))
        is_refused = done is not None and _REFUSED in done.stderr
        return refused_flags("Prometheus", done, line_begins=_REFUSED) if is_refused else ()

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """The server on the given address. Its file has no scrapes and no rules."""
        settings = self.settings(trial, is_ours=True)
        root = f"{site.data_dir}/{ROOT}"
        return ServerSpec(
            argv=(
                f"{site.home.rstrip('/')}/bin/{PROGRAM}",
                *_flags(settings),
                f"--config.file={site.data_dir}/prometheus.yml",
                f"--storage.tsdb.path={root}",
                f"--web.listen-address={site.bind_address}:{site.port}",
                "--web.enable-remote-write-receiver",
                "--log.level=warn",
            ),
            folders=(root,),
            files={f"{site.data_dir}/prometheus.yml": f"storage:\n  tsdb:\n    {WINDOW}: {settings[WINDOW]}\n"},
            env={"GOMAXPROCS": settings["gomaxprocs"], "TZ": "UTC", "LC_ALL": "C.UTF-8"},
            ports=(site.port,),
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> PrometheusSession:
        return PrometheusSession(trial, address, self.settings(trial, is_ours=address.is_ours))


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in settings.items() if name not in _NOT_FLAGS)
