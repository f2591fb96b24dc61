"""What does a row cost us, beside another build of ourselves? CPU of making and encoding rows, without a server.

The two programs run in turn, case by case. For the cases with a client library that library is a stub which takes all
and does nothing (`discarding_library.c`), so what is counted is our part: making rows and encoding them.

    python bench/versions.py --before PATH --after PATH --runs 9 [--cases text,copy]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import doubles, run, say, spread, table

IN_TURN = {"driver": "null", "interlace_rows": 1}
TEXT = {"driver": "tdengine", "method": "sql", "database": "test", "partitions": 10}
COPY = {"driver": "postgres"}
CASES: dict[str, tuple[int, dict[str, object]]] = {  # rows, and what is loaded
    "make: meters, a table a request": (100_000_000, {"driver": "null"}),
    "make: meters, rows in turn, 10 tables": (20_000_000, IN_TURN),
    "make: meters, rows in turn, 1,000 tables": (20_000_000, IN_TURN | {"tables": 1000}),
    "make: meters, rows in turn, 100,000 tables": (20_000_000, IN_TURN | {"tables": 100_000}),
    "make: 10 doubles, rows in turn, 1,000 tables": (10_000_000, IN_TURN | {"tables": 1000, "columns": doubles(10)}),
    "text: meters": (10_000_000, TEXT),
    "text: meters, rows in turn": (5_000_000, TEXT | {"interlace_rows": 1}),
    "text: 10 doubles": (4_000_000, TEXT | {"columns": doubles(10)}),
    "copy: meters": (30_000_000, COPY),
    "copy: 10 doubles": (20_000_000, COPY | {"columns": doubles(10)}),
    "copy: 10 doubles, rows in turn": (10_000_000, COPY | {"columns": doubles(10), "interlace_rows": 1}),
}


def stub(folder: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("no C compiler for the stub library")
    library = folder / "libdiscarding.so"
    source = Path(__file__).with_name("discarding_library.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", source, "-o", library], check=True)
    return library


def cost(program: Path, library: Path, rows: int, more: dict[str, object]) -> tuple[float, float, float]:
    """Nanoseconds a row: CPU of all, wall clock of making, wall clock inside the driver."""
    spec: dict[str, object] = {"tables": 10, "rows": rows, "rows_per_request": 10_000, **more}
    if spec["driver"] != "null":
        spec["library"] = library
    text = "".join(f"{key}={value}\n" for key, value in spec.items())
    done = run([program, "load", "-"], text)
    summary = json.loads(done.output.splitlines()[-1])
    assert summary["rows_acked"] == rows, summary
    (worker,) = summary["workers"]
    return done.cpu_s / rows * 1e9, worker["make_s"] / rows * 1e9, worker["send_s"] / rows * 1e9


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--before", type=Path, required=True)
    p.add_argument("--after", type=Path, required=True)
    p.add_argument("--runs", type=int, default=9)
    p.add_argument("--cases", default="make,text,copy")
    a = p.parse_args()
    os.environ["DISCARD_ROWS"] = "10000"
    cases = [name for name in CASES if name.split(":")[0] in a.cases.split(",")]
    seen: dict[tuple[str, Path], list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="scale-bench-") as folder:
        library = stub(Path(folder))
        for _ in range(a.runs):
            for name in cases:
                for program in (a.before, a.after):
                    seen.setdefault((name, program), []).append(cost(program.resolve(), library, *CASES[name]))
    say(f"ns a row, medians (least..greatest) of {a.runs} alternating runs\n")
    rows = []
    for name in cases:
        before, after = (list(zip(*seen[name, program], strict=True)) for program in (a.before, a.after))
        ratios = [statistics.median(y) / statistics.median(x) for x, y in zip(before, after, strict=True)]
        rows.append(
            [
                name,
                spread(before[0], ".1f"),
                spread(after[0], ".1f"),
                f"{ratios[0]:.2f}",
                f"{statistics.median(before[1]):.1f}",
                f"{statistics.median(after[1]):.1f}",
                f"{statistics.median(before[2]):.1f}",
                f"{statistics.median(after[2]):.1f}",
            ]
        )
    table(["case", "CPU before", "CPU after", "of before", "making before", "after", "driver before", "after"], rows)


if __name__ == "__main__":
    main()
