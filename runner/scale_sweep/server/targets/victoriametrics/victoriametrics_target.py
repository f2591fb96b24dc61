"""VictoriaMetrics: each column of a row is a sample of a series."""

from __future__ import annotations

import collections
import re
import time
from collections.abc import Mapping, Sequence, Set
from typing import Any

from scale_sweep.base.errors import TargetError
from scale_sweep.base.units import parse_bytes
from scale_sweep.experiment.work.sums import column_types
from scale_sweep.model.planned import Finding, Trial
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.server.targets import Counted, Installation, Surroundings, Target, series
from scale_sweep.server.targets.base import ENVIRONMENT, WITHIN_S, cores_of
from scale_sweep.server.targets.installations import home_of, packaged, refused_flags, run_program, version_in_changes
from scale_sweep.server.targets.promql import TYPES, PromqlSession
from scale_sweep.server.targets.records import ACKNOWLEDGED, COMPRESSION, IN_MEMORY, NOWHERE, wrong_input
from scale_sweep.server.targets.victoriametrics.victoriametrics_facts import IN_IMAGE
from scale_sweep.server.targets.victoriametrics.victoriametrics_queries import SumsQuery, completed, questions

PUT = "put"
DOORS = {  # flags of methods that have their own ports
    PUT: "opentsdbHTTPListenAddr",
    series.TCP: "influxListenAddr",
    series.TELNET: "opentsdbListenAddr",
}
SAMPLES = {"remote-write": "/api/v1/write", "import": "/api/v1/import"}  # where they post
_OF_THIS_TRIAL = ("httpListenAddr", "storageDataPath", *DOORS.values())
_LOST = ("vm_rows_ignored_total", "vm_rows_invalid_total")  # lines that it cannot read are acknowledged too
_KEPT_S = 1.1  # it answers with its last counters for a second
_VISIBLE_WITHIN_S = 20.0  # rows that it ignores or merges away never are
_OURS = f'{{__name__=~"{series.MEASUREMENT}_.+"}}'
_FLAG = re.compile(r'-([\w.]+)="(.*)"')


class VictoriametricsSession(PromqlSession):
    who = "VictoriaMetrics"
    ready_path = "/health"
    _lost_before: Mapping[str, float] = {}  # by counters
    _hidden_before = 0.0

    def version(self) -> str:
        """Debian's build reports none; then it is the package's."""
        match = re.search(r'vm_app_version\{version="([^"]*)", short_version="([^"]*)"', self._page("/metrics"))
        reported = match and (match.group(2) or match.group(1)).removeprefix("v")
        return reported or version_in_changes(home_of(PROGRAM, self._address.home)[0], PROGRAM)

    def in_the_way(self) -> str:
        self.asking = "/api/v1/series"
        names = {"match[]": _OURS, "start": "1", "limit": "1"}
        there = self._web.get_json(self.asking, self.left_s(WITHIN_S), **names)["data"]
        return f"VictoriaMetrics has a series {there[0]['__name__']}, which a trial would remove" if there else ""

    def _page(self, path: str) -> str:
        self.asking = path
        return self._web.get(path, self.left_s(WITHIN_S))

    def create_schema(self) -> None:
        """Creates nothing. What a server lost before is not this trial's."""
        counters = self._metrics()
        self._lost_before, self._hidden_before = _lost(counters), _hidden(counters)

    def drop_schema(self) -> None:
        """Their space is freed by the next merge."""
        self.asking = "/api/v1/admin/tsdb/delete_series"
        self._web.post(self.asking, self.left_s(WITHIN_S), **{"match[]": _OURS})

    def effective(self) -> Mapping[str, str]:
        flags = {match.group(1): match.group(2) for match in _FLAG.finditer(self._page("/flags"))}
        flags = {name: value for name, value in flags.items() if name not in _OF_THIS_TRIAL}
        is_answered = self._trial.subject.method not in (series.TCP, series.TELNET)
        return {
            **flags,
            "gomaxprocs": f"{self._metrics().get('go_gomaxprocs', 0):.0f}",
            ACKNOWLEDGED: IN_MEMORY if is_answered else NOWHERE,
            COMPRESSION: "columns by series, compressed by type, then ZSTD",
        }

    def load_spec(self) -> Mapping[str, str]:
        """InfluxDB's lines, Prometheus' samples, or OpenTSDB's points."""
        method, table = self._trial.subject.method, {"table": series.MEASUREMENT}
        if method in DOORS:
            table["port"] = str(self._address.port + series.DOOR_OFFSET)
        if method == series.TCP:
            return self.spec_of(series.DRIVER, **table, precision="ns")
        if method == series.TELNET:
            return self.spec_of(series.POINTS_DRIVER, **table, write_path="", in_seconds="1")
        if method == PUT:
            return self.spec_of(series.POINTS_DRIVER, **table, write_path="/api/put")
        driver = series.SAMPLES_DRIVER if method in SAMPLES else series.DRIVER
        return self._spec(driver, **table, write_path=SAMPLES.get(method, "/write?precision=ms"))

    def commit_cycles(self) -> int | None:
        """Finished merges of stored parts."""
        counters = self._metrics()
        return int(sum(counters.get(f'vm_merges_total{{type="storage/{size}"}}', 0) for size in ("small", "big")))

    def flush(self) -> None:
        """A snapshot writes, syncs and links all parts in memory. Then the links go."""
        made = self._get("/snapshot/create")
        if made.get("status") != "ok":
            raise TargetError(f"VictoriaMetrics made no snapshot: {made}")
        self._page(f"/snapshot/delete?snapshot={made['snapshot']}")

    def count(self) -> Counted | None:
        """By column and device: equal for all columns, consecutive from the first timestamp on."""
        counters = self._all_visible()
        data = self._trial.work.data
        rows = {name: self._by_device("count", name) for name in column_types(data)}
        column, of_first = next(iter(rows.items()))
        first, last = (self._by_device(which, column) for which in ("tfirst", "tlast"))
        by_device = {device: (int(n), first[device] * 1000, last[device] * 1000) for device, n in of_first.items()}
        lost = {name: n for name, n in _lost(counters).items() if n != self._lost_before.get(name)}
        gaps = (f"VictoriaMetrics acknowledged samples that it ignored: {lost}",) if lost else ()
        return series.counted_by_column(by_device, rows, data, *gaps)

    def _all_visible(self) -> Mapping[str, float]:
        """The counters when all samples are visible, or after some seconds: a flush does not wait for those that the
        server already makes into a part."""
        self._page("/internal/force_flush")
        until = time.monotonic() + _VISIBLE_WITHIN_S
        while True:
            time.sleep(_KEPT_S)
            counters = self._metrics()
            if _hidden(counters) <= self._hidden_before or time.monotonic() > until:
                return counters

    def sums(self, devices: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        by_device: dict[str, dict[str, float]] = {}
        for query in questions(self._trial.work.data, devices):
            for device, value in self._over_time(query).items():
                by_device.setdefault(device, {})[query.figure] = value
        return {device: completed(figures, self._trial.work.data) for device, figures in by_device.items()}

    def stored_tags(self, names: Sequence[str]) -> Mapping[str, Set[tuple[str, ...]]] | None:
        """The labels of all series. Points over HTTP or TCP have other characters in place of some."""
        if self._trial.subject.method in ("put", series.TELNET):
            return None
        labels, tags_of = ", ".join((series.DEVICE, *names)), collections.defaultdict(set)
        for column in column_types(self._trial.work.data):
            query = SumsQuery(figure="tags", column=column, rollup="count_over_time")
            for one in self._answered(query, f" by ({labels})"):
                tags = tuple(str(one["metric"].get(name, "")) for name in names)
                tags_of[one["metric"].get(series.DEVICE, "")].add(tags)
        return tags_of

    def _by_device(self, what: str, column: str) -> dict[str, float]:
        return self._over_time(SumsQuery(figure=what, column=column, rollup=f"{what}_over_time"))

    def _over_time(self, question: SumsQuery) -> dict[str, float]:
        grouped = f" by ({series.DEVICE})" if question.by_device else ""
        return {
            one["metric"].get(series.DEVICE, ""): float(one["value"][1]) for one in self._answered(question, grouped)
        }

    def _answered(self, question: SumsQuery, grouped: str) -> list[Mapping[str, Any]]:
        """Over ten years from a day before the first timestamp. VictoriaMetrics remembers for ten seconds which series
        a selector has, even without caches, and would repeat the count of the empty database after the load. A label
        that no series has makes each selector a new one."""
        span = 3650 * 86400
        end = self._trial.work.data.start_ms // 1000 + span - 86400
        labels = ",".join(filter(None, (f'question!="{time.monotonic_ns()}"', question.labels)))
        query = f"{question.rollup}({series.MEASUREMENT}_{question.column}{{{labels}}}[{span}s]{question.more})"
        return self._at(f"{question.outer}{grouped} ({query})", str(end))


def _lost(counters: Mapping[str, float]) -> dict[str, float]:
    return {name: n for name, n in counters.items() if name.startswith(_LOST) and n}


def _hidden(counters: Mapping[str, float]) -> float:
    """Samples in no part, which no query sees."""
    visible = sum(n for name, n in counters.items() if name.startswith('vm_rows{type="storage/'))
    return counters.get("vm_rows_added_to_storage_total", 0.0) - visible


PROGRAM = "victoria-metrics"
_SPELLED = {"smallmergeconcurrency": "smallMergeConcurrency", "memory": "memory.allowedBytes"}
_NOT_FLAGS = {"connections", "gomaxprocs"}
_REFUSED = ("flag ", "invalid ")  # of Go's flags
_DOUBTFUL = re.compile(  # samples that were not stored
    r"panic|fatal|no space left|out of memory|cannot (write|store|flush|merge|create|open)|drop|ignor|readonly mode",
    re.IGNORECASE,
)


def _in_bytes(value: str) -> str:
    """1000000000 of 1GB, which is 1024MB elsewhere; other values as they are."""
    return str(parse_bytes(value)) if re.fullmatch(r"[0-9]+(\.[0-9]+)?[KMGT]B", value) else value


class VictoriametricsTarget(Target):
    doubtful = _DOUBTFUL
    types = TYPES
    session_type = VictoriametricsSession

    def find(self, home: str) -> Installation | None:
        return packaged(self.facts.name, PROGRAM, home, "-version", r"v(\d+\.\d+\.\d+)")

    def settings(self, trial: Trial, *, is_ours: bool) -> Mapping[str, str]:
        if not is_ours:
            return {}
        return {
            "gomaxprocs": cores_of(trial),
            "retentionPeriod": "100y",
            **{_SPELLED.get(k, k): _in_bytes(v) for k, v in trial.knobs.items() if k != "connections"},
        }

    def check(self, trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
        data, findings = trial.work.data, super().check(trial, around)
        if trial.subject.method != series.TELNET or (data.start_ms % 1000 == 0 and data.step_ms % 1000 == 0):
            return findings
        sentence = f"the method telnet has times in seconds, rows are {data.step_ms} ms apart: they would be ignored"
        return (*findings, wrong_input("--step-ms", sentence, "--step-ms 1000"))

    def check_installed(self, home: str, trial: Trial) -> tuple[Finding, ...]:
        """In its own words: it checks all flags before it prints its version."""
        flags = _flags(self.settings(trial, is_ours=True))
        done = run_program((f"{home}/bin/{PROGRAM}", *flags, "-version"))
        return refused_flags("VictoriaMetrics", done, line_begins=_REFUSED)

    def server(self, trial: Trial, site: Site, secret: str) -> ServerSpec:
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
            env={"GOMAXPROCS": settings["gomaxprocs"], **ENVIRONMENT},
            ports=(site.port, *more),
            stop_timeout_s=30.0,
        )


def _flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"-{name}={value}" for name, value in settings.items() if name not in _NOT_FLAGS)
