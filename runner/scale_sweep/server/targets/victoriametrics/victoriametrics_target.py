"""VictoriaMetrics, one server, loaded with lines, samples or points: each column of a row is a sample of a series."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from scale_sweep.base.units import parse_bytes
from scale_sweep.model import Finding, ServerSpec, Site, Trial
from scale_sweep.server.targets import Address, Installation, Surroundings, Target, series
from scale_sweep.server.targets.installations import (
    home_of,
    installed,
    packaged,
    refused_flags,
    run_program,
    version_of,
)
from scale_sweep.server.targets.victoriametrics.victoriametrics_facts import IN_IMAGE
from scale_sweep.server.targets.victoriametrics.victoriametrics_session import DOORS, VictoriametricsSession

PROGRAM = "victoria-metrics"
# Samples are doubles: a whole number above 2^53 would be read back as another.
TYPES = ("bool", "tinyint", "smallint", "int", "utinyint", "usmallint", "uint", "float", "double")
_SPELLED = {"smallmergeconcurrency": "smallMergeConcurrency", "memory": "memory.allowedBytes"}
_NOT_FLAGS = {"connections", "gomaxprocs"}
_REFUSED = ("flag ", "invalid ")  # the starts of the messages of Go's flags
_DOUBTFUL = re.compile(  # samples that were not stored
    r"panic|fatal|no space left|out of memory|cannot (write|store|flush|merge|create|open)|drop|ignor|readonly mode",
    re.IGNORECASE,
)


def _in_bytes(value: str) -> str:
    """1000000000 of 1GB, which is 1024MB in other databases; any other value as it is."""
    return str(parse_bytes(value)) if re.fullmatch(r"[0-9]+(\.[0-9]+)?[KMGT]B", value) else value


class VictoriametricsTarget(Target):
    """One server for each trial."""

    doubtful = _DOUBTFUL

    def find(self, home: str) -> Installation | None:
        """victoria-metrics in `home`, else where `scale servers install` puts it, else on PATH. The program of Debian's
        package does not report its version."""
        for folder in () if home else installed(self.facts.name):
            return Installation(home=folder, version=_version(folder), source="scale servers")
        return packaged(PROGRAM, PROGRAM, home, _version(home_of(PROGRAM, home)[0]))

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        """Flags by their names, and the threads that Go may use. On a server that is not ours: none."""
        if not is_ours:
            return {}
        return {
            "gomaxprocs": str(max(1, math.ceil(trial.cores))),
            "retentionPeriod": "100y",
            **{_SPELLED.get(k, k): _in_bytes(v) for k, v in trial.knobs.items() if k != "connections"},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        """A finding for each column type that it does not have, and for rows that are closer than telnet has times."""
        data, findings = trial.work.data, series.refused_columns("VictoriaMetrics", trial, TYPES)
        if trial.subject.method != series.TELNET or (data.start_ms % 1000 == 0 and data.step_ms % 1000 == 0):
            return findings
        sentence = f"the method telnet has times in seconds, rows are {data.step_ms} ms apart: they would be ignored"
        return (*findings, Finding(blocking=True, subject="--step-ms", sentence=sentence, remedy="--step-ms 1000"))

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """Flags and values that it refuses, in its own words: it checks them all before it prints its version."""
        flags = _flags(self.settings(trial, is_ours=True))
        done = run_program((f"{home}/bin/{PROGRAM}", *flags, "-version"))
        return refused_flags("VictoriaMetrics", done, line_begins=_REFUSED)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
        """The single-node server on the given address."""
        settings = self.settings(trial, is_ours=True)
        flag = DOORS.get(trial.subject.method)
        more = (site.port + series.DOOR_OFFSET,) if flag else ()
        return ServerSpec(
            argv=(
                IN_IMAGE if site.in_image else f"{site.home}/bin/{PROGRAM}",
                *_flags(settings),
                f"-storageDataPath={site.data_dir}/victoriametrics",
                f"-httpListenAddr={site.bind_address}:{site.port}",
                *(f"-{flag}={site.bind_address}:{port}" for port in more),
                "-loggerLevel=WARN",
                "-search.maxSamplesPerQuery=100000000000",
                "-search.maxSamplesPerSeries=100000000000",
                "-search.maxQueryDuration=1h",
                "-search.disableCache",
            ),
            env={"GOMAXPROCS": settings["gomaxprocs"], "TZ": "UTC", "LC_ALL": "C.UTF-8"},
            ports=(site.port, *more),
            stop_timeout_s=30.0,
        )

    def session(self, trial: Trial, address: Address) -> VictoriametricsSession:
        return VictoriametricsSession(trial, address, self.settings(trial, is_ours=address.is_ours))


def _version(folder: str) -> str:
    """1.131.0 of `victoria-metrics-v1.131.0`; "" if there is no program, or no version in its output."""
    return version_of((f"{folder}/bin/{PROGRAM}", "-version"), r"v(\d+\.\d+\.\d+)") if folder else ""


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"-{name}={value}" for name, value in settings.items() if name not in _NOT_FLAGS)
