"""Plans and verdicts as they were before the axes got a package of their own: none of them may change by moving code.

python -m tests.unit.test_golden      writes them anew; only for a change of the method that is meant
"""

import gzip
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.model.planned import Trial
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.summary import plan_sentence
from scale_sweep.plan.target_defaults import complete
from scale_sweep.results.store.reader import read_plan, read_result
from scale_sweep.results.store.stored import Folder
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.resolve import resolve_sweep
from scale_sweep.verify.trial import trial_again
from tests.unit.test_plan import make_host
from tests.unit.test_recorded_limits import RECORDED, as_run

GOLDEN = Path(__file__).parent / "golden"
MOVES = {"axis.cores": "1..6", "knobs.partitions": "1..4=4,5..=12", "method.ablation": "1"}
DIRS = {"axis.disks": "1..3", "disks.dir": "/mnt/a,/mnt/b,/mnt/c"}
SWEEPS = {
    "cores": ("cpu", "postgres", 12, {"axis.cores": "1..4"}),
    "cores, shared CPUs": ("cpu", "postgres", 2, {"axis.cores": "1..2"}),
    "parts of a core": ("cpu", "postgres", 2, {"axis.cores": "0.5,1"}),
    "a knob that moves, with ablation trials": ("cpu", "postgres", 12, MOVES),
    "variants": ("cpu", "tdengine", 12, {"axis.cores": "1..2", "vary": ["method=stmt,sql", "connections=1,4"]}),
    "fixed work": ("cpu", "tdengine", 12, {"axis.cores": "1..6", "load.rows": "1M"}),
    "one replicate": ("cpu", "tdengine", 4, {"axis.cores": "1..3", "method.replicates": "1"}),
    "another seed": ("cpu", "postgres", 4, {"axis.cores": "1..3", "method.seed": "7"}),
    "until an interval is met": ("cpu", "postgres", 4, {"axis.cores": "1..3", "method.until_ci": "5%"}),
    "named CPUs": ("cpu", "postgres", 8, {"axis.cores": "1..3", "cpus.server": "5,3,1", "cpus.generator": "7"}),
    "quick": ("cpu", "postgres", 4, {"axis.cores": "1..2", "load.quick": "1"}),
    "null": ("cpu", "null", 4, {"axis.cores": "1..2"}),
    "disks of TDengine": ("disk", "tdengine", 4, DIRS),
    "disks of PostgreSQL": ("disk", "postgres", 4, {**DIRS, "axis.cores": "2", "load.rows": "2M"}),
    "loop devices": ("disk", "postgres", 2, {"axis.disks": "1..2", "disks.loop": "1GiB", "disks.cap": "20MiB/s"}),
}


def planned(name: str) -> dict[str, object]:
    what, target, cpus, flags = SWEEPS[name]
    module = load_target(target)
    window = {} if {"load.rows", "load.quick"} & flags.keys() else {"load.duration": "10s"}
    sweep = replace(resolve_sweep(what, {**window, **flags}), target=target, runtime="process")
    plan = make_plan(complete(sweep, module.facts), make_host(cpus), module.facts)
    return {
        "sentence": plan_sentence(plan),
        "seconds": round(plan.seconds_estimated, 6),  # Python 3.12 adds floats more exactly
        "notes": list(plan.notes),
        "confounds": [c.sentence for c in plan.confounds],
        "trials": [row_of(t) for t in plan.trials],
    }


def row_of(t: Trial) -> list[object]:
    named = [t.trial_id, t.order, t.level, t.replicate, t.role, t.knobs_of_level, t.cores, t.disks]
    cpus = [list(t.placement.server_cpus), list(t.placement.generator_cpus), t.placement.quota_cores]
    return [*named, *cpus, dict(t.knobs), dict(t.variant), t.seed]


def judged(path: Path, folder: Path) -> dict[str, object]:
    told = json.loads(gzip.decompress(path.read_bytes()))
    trial = as_run(told, folder)
    run = Folder(folder)
    verdict = trial_again(run, read_plan(run), read_result(run, f"trials/{trial.name}/trial.json")).judged
    return {
        "kind": verdict.kind.value,
        "reasons": list(verdict.reasons),
        "limit": verdict.bottleneck.kind.value if verdict.bottleneck else None,
    }


def read(name: str) -> dict[str, object]:
    return json.loads((GOLDEN / name).read_text())


@pytest.mark.parametrize("name", SWEEPS)
def test_a_plan_is_what_it_was(name):
    assert json.loads(json.dumps(planned(name))) == read("plans.json")[name]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_verdict_is_what_it_was(path, tmp_path):
    name, known = path.name.removesuffix(".json.gz"), read("verdicts.json")
    assert name in known, "a new recording: python -m tests.unit.test_golden adds it"
    assert judged(path, tmp_path) == known[name]


def _write() -> None:
    plans = (f"{json.dumps(name)}: {json.dumps(planned(name))}" for name in SWEEPS)
    (GOLDEN / "plans.json").write_text("{\n" + ",\n".join(plans) + "\n}\n")
    verdicts = {}
    for path in RECORDED:
        with tempfile.TemporaryDirectory() as folder:
            verdicts[path.name.removesuffix(".json.gz")] = judged(path, Path(folder))
    (GOLDEN / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n")


if __name__ == "__main__":
    _write()
