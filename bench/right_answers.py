"""Measures the CPU time and the memory of the check of one large answer: the rows are made by the load generator, the
right answer is computed, and an equal answer is compared with it.

    python bench/right_answers.py [ROWS] [COLUMNS]

The answer itself is made before, in Python objects as a session returns it; its memory is printed apart.
"""

from __future__ import annotations

import resource
import sys

from scale_sweep.experiment.work.answers import difference, right_answer
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.loadgen.verbs import rows_of
from scale_sweep.model.questions import Drawn, Query


def cpu_s() -> float:
    """Of this process and its children that ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def peak_mb() -> float:
    """The largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(rows: int, columns: int) -> None:
    names = tuple(f"c{number}" for number in range(columns))
    spec = {"driver": "null", "columns": ",".join(f"{name}:double" for name in names), "tables": "1", "seed": "1"}
    query, drawn = Query(columns=names), Drawn(devices=(0,))
    begun_s, begun_mb = cpu_s(), peak_mb()
    right = right_answer(query, drawn, {0: rows_of(loadgen_path(), spec, [(0, 0, rows)])[0]})
    made_s, made_mb = cpu_s() - begun_s, peak_mb() - begun_mb
    came = list(zip(*(column.values.tolist() for column in right.columns), strict=True))
    with_answer_mb, before_s = peak_mb(), cpu_s()
    assert difference(query, right, came) == ""
    print(f"{rows:,} rows x {columns} doubles")
    print(f"right answer: {made_s:.1f} CPU-s, {made_mb:.0f} MB more at its peak")
    print(f"comparison: {cpu_s() - before_s:.1f} CPU-s, {peak_mb() - with_answer_mb:.0f} MB more at its peak")
    print(f"the whole process with the answer that came: {peak_mb():.0f} MB")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(500_000, 10)[len(given) :])
