"""The facts of a trial whose load another program made: from its output, now and when a run is verified."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.loadgen.readers import from_plain, to_plain
from scale_sweep.loadgen.tool_output import (
    ToolLine,
    ToolRun,
    intervals_of,
    last_words,
    line_text,
    lines_from,
    summary_of,
)
from scale_sweep.model.loads import LoadProgram


def tool_facts(facts: TrialFacts, run: ToolRun, lines: Sequence[ToolLine]) -> TrialFacts:
    """With the program's intervals and summary, and all that is needed to read them again."""
    intervals = intervals_of(run, lines, facts.measure_start_ns)
    summary = summary_of(run, lines, intervals)
    cores = measure_window(facts.samples, summary.window_start_ns, summary.window_end_ns).generator_cpu_cores
    summary = replace(summary, cpu_window_s=cores * summary.window_s if cores is not None else summary.cpu_window_s)
    missing = f"{run.program.name} printed no result: {last_words(lines) or 'nothing'}"
    has_none = run.reader is not None and not summary.is_counted
    return replace(
        facts,
        aborted=facts.aborted or (missing if has_none else ""),
        summary=summary,
        intervals=intervals,
        generator_log="".join(map(line_text, lines)),
        tool=_text(run),
    )


def read_again(facts: TrialFacts, stored: Sequence[str]) -> TrialFacts:
    """stored: the lines of loadgen.jsonl. Raises ValueError."""
    known = json.loads(facts.tool)
    reader, program = known.pop("reader"), LoadProgram(**known.pop("program"))
    run = ToolRun(reader=from_plain(reader) if reader else None, program=program, **known)
    return tool_facts(facts, run, tuple(lines_from(stored)))


def _text(run: ToolRun) -> str:
    own = asdict(replace(run, reader=None))
    return json.dumps({**own, "reader": to_plain(run.reader) if run.reader else None})
