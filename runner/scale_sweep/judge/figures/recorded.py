"""facts.json: the facts of a trial that its raw files lack, so that figures and verdict can be made again from disk.

Refuses what a raw file already holds (loadgen.jsonl, samples.jsonl, server.log), because two copies could differ.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields, is_dataclass

from scale_sweep.judge.figures.facts import TrialFacts

IN_RAW_FILES = ("summary", "intervals", "samples", "log_tail", "generator_log", "transient")


def facts_text(facts: TrialFacts, *, with_summary: bool) -> str:
    """The facts as JSON. with_summary: for a foreign load generator, whose raw output does not hold those figures."""
    left_out = set(IN_RAW_FILES) - ({"summary"} if with_summary else set())
    kept = {f.name: getattr(facts, f.name) for f in fields(facts) if f.name not in left_out}
    plain = {name: _plain(value) for name, value in kept.items()}
    return json.dumps(plain, indent=1, ensure_ascii=False, default=dict)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
