"""The job of a configuration of IoT-benchmark: a trial of its target, and lines of a spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import queries_of
from scale_sweep.loadgen.spec import query_lines, trial_spec
from scale_sweep.model.declared import Subject, Work
from scale_sweep.model.declared_parts import KnobRole, Load
from scale_sweep.model.planned import Trial
from scale_sweep.model.resources import Placement, ResourceRange, on_cores
from scale_sweep.server.targets import Facts


@dataclass(frozen=True, kw_only=True)
class ResultStore:
    url: str  # without a password
    password: str = field(repr=False)
    project: str  # the name of this load there
    settings: Mapping[str, str]  # keys of the file with their values, without passwords


@dataclass(frozen=True, kw_only=True)
class IotJob:
    database: str  # its name in the file
    target: str  # here
    method: str  # how rows are written
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    database_name: str
    drops: bool  # the schema before the load
    creates: bool
    clients: int  # connections
    work: Work  # without what is there before
    rows: int  # fixed work of the whole load, or 0
    requests: int  # the same; a load that reads has these
    duration_s: float  # at most so long, 0: no limit
    rate: float  # rows or requests per second, 0: as fast as they are answered
    timeout_s: float  # for one answer, 0: none
    seed: int
    read_seed: int
    rows_expected: int  # of each device in the end
    within_ms: int  # queries of a load that writes begin within the first time
    follows: bool  # or they end with the newest row of their client
    sensors: Mapping[str, tuple[str, ...]]  # those of each kind of query
    time_function: str = ""  # the aggregate of all, if it is one of times
    store: ResultStore | None = None  # where the results are stored besides, None: nowhere
    notes: tuple[str, ...] = ()  # sentences about keys that have no effect

    @property
    def reads(self) -> bool:
        return self.work.counts_requests

    @property
    def writes(self) -> bool:
        return any(operation.unit == "rows" for operation in self.work.operations)

    def sensors_of(self, kind: str) -> int:
        return len(self.sensors.get(kind, ())) or 1

    @property
    def values_per_row(self) -> int:
        return len(self.work.data.columns)


GO_ON = 10**15
RUNTIME = "endpoint"
DRAIN_S = 30.0


def trial_of(job: IotJob, facts: Facts, cpus: tuple[int, ...]) -> Trial:
    """On a server that already runs. cpus: of the load generator."""
    resources = ResourceRange(cores=(float(len(cpus)),))
    knobs = {name: rule.pieces[0].value for name, rule in facts.default_knobs(resources).items()}
    parts = next((knob.name for knob in facts.knobs if knob.role is KnobRole.PARTITIONS), "")
    partitions = min(int(knobs.get(parts, "1")), job.work.data.tables)
    if parts:
        knobs[parts] = str(partitions)
    placement = Placement(server_cpus=(), generator_cpus=cpus)
    load = Load(
        rows=job.rows or 1,
        duration_s=None,
        warmup_s=0.0,
        rate=job.rate,
        arrival="constant",
        connections=job.clients,
        partitions=partitions,
        request_timeout_s=job.timeout_s,
        drain_s=max(DRAIN_S, job.timeout_s),
    )
    return Trial(
        trial_id="iot",
        point_id="iot",
        order=1,
        level=1,
        replicate=1,
        resources=on_cores(len(cpus), placement),
        work=long_enough(job),
        load=load,
        subject=Subject(target=facts.name, runtime=RUNTIME, method=job.method, endpoint=f"{job.host}:{job.port}"),
        knobs=knobs,
        seed=job.seed,
    )


def long_enough(job: IotJob) -> Work:
    """As if so many rows were there that every query fits: its texts do not depend on them."""
    data = job.work.data
    spans = (query.span_ms for query in queries_of(replace(job.work, preload_rows=10**15)).values())
    return replace(job.work, preload_rows=(max(spans, default=0) // data.step_ms + 2) * data.tables)


def texts_of(job: IotJob, facts: Facts, method: str) -> dict[str, str]:
    """Each of all its sensors. The answers are counted and not compared. Raises CannotAsk."""
    texts = {}
    for name, of_one in queries_of(long_enough(job)).items():
        sensors, function = job.sensors[name], job.time_function if of_one.function else ""
        bounds = sensors[1:] if of_one.bound_column else ()
        query = replace(
            of_one, columns=sensors, is_loose=True, more_bounds=bounds, function=function or of_one.function
        )
        try:
            texts[name] = facts.rendered(query, job.work.data, method)
        except CannotAsk as error:
            raise CannotAsk(f"OPERATION_PROPORTION: {name}: {error.message}", remedy=error.remedy) from None
        except KeyError:
            raise CannotAsk(f"QUERY_AGGREGATE_FUN: {facts.title} has no {query.function}") from None
    return texts


def load_spec(
    job: IotJob, trial: Trial, from_target: Mapping[str, str], texts: Mapping[str, str], rows_present: int
) -> dict[str, str]:
    """rows_present: of each device before the load."""
    spec = trial_spec(trial, {**from_target, **query_lines(texts)})
    for name in ("rows", "rows_present", "arrival"):
        spec.pop(name, None)
    begin = ("follows", "1") if job.follows else ("within_ms", str(job.within_ms))
    spec |= {f"ask.{name}.{begin[0]}": begin[1] for name in texts}
    if job.rows:
        spec["rows"] = str(job.rows)
    if job.requests:
        spec["requests"] = str(job.requests)
    if job.duration_s:
        spec["duration_s"] = f"{job.duration_s:g}"
    if rows_present:
        spec["rows_present"] = str(rows_present)
    if texts:
        spec |= {"read_seed": str(job.read_seed), "check_every": "0"}
    return {**spec, "rate": f"{job.rate:.9g}", "max_errors": str(GO_ON)}
