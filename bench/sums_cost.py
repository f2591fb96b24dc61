"""What does the comparison of stored rows cost a trial, and how many values does one core of the database add in a
second? Whole trials that write a fixed number of rows on one core, on real servers.

Each trial is run twice: with all tables compared, however long that takes, and as it is. The first gives
`sums_per_core_s` of the target's facts: rows × (columns + 1), by the CPU seconds that the server used for its answer.

    python bench/sums_cost.py postgres questdb --rows 10M
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("runner", "")]
from scale_sweep.base.units import parse_count
from scale_sweep.measure.trial import stored_rows
from scale_sweep.server.targets import Address, load_target
from tests.integration.real_server import with_rows
from tests.unit.trial_orders import artifact_of, here, result_of, trial_order

COLUMNS = {"meters": "current:float,voltage:int,phase:float", "10 doubles": ",".join(f"d{i}:double" for i in range(10))}
HEAD = (
    "| target | columns | compared | rows compared | trial, s | comparison, s | share | in the database, s | values/s |"
)


def cpu_s() -> float:
    """Of all programs that this one started and that run."""
    found = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            found += sum(process.cpu_times()[:2])
    return found


@contextmanager
def timed(owner: Any, name: str, spent: list[float]) -> Iterator[None]:
    """Adds the CPU seconds that the programs of this process use while a function is called to a list."""
    function = getattr(owner, name)

    def measured(*given: Any, **named: Any) -> Any:
        begun = cpu_s()
        try:
            return function(*given, **named)
        finally:
            spent.append(cpu_s() - begun)

    setattr(owner, name, measured)
    try:
        yield
    finally:
        setattr(owner, name, function)


def line(target: str, columns: str, rows: int, *, is_whole: bool) -> str:
    """One trial."""
    spent: list[float] = []
    with tempfile.TemporaryDirectory(prefix="scale-sums-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        flags = {"workload__columns": COLUMNS[columns], "workload__tables": "1000", "load__warmup": "0s"}
        order = with_rows(trial_order(Path(folder), target, **flags), rows)
        nowhere = Address(host="127.0.0.1", port=1, secret="", home=order.home, data_dir=folder)
        session = type(load_target(target).session(order.trial, nowhere))
        begun = time.monotonic()
        with timed(session, "sums", spent):
            events = here(order)
        whole_s = time.monotonic() - begun
    result, found = result_of(events), json.loads(artifact_of(events, "facts.json"))["summed"]
    if found is None:
        sys.exit(f"{target}: the trial did not come to the comparison: {result.verdict.reasons}\n{result.log_tail}")
    if not found["rows"]:
        sys.exit(f"{target}: {found['note']}")
    per_s = found["rows"] * (len(order.trial.work.data.columns) + 1) / sum(spent)
    return (
        f"| {target} | {columns} | {'all' if is_whole else 'as it is'} | {found['rows']:,} | {whole_s:.1f} |"
        f" {found['seconds']:.1f} | {found['seconds'] / whole_s:.0%} | {sum(spent):.1f} | {per_s:.2g} |"
    )


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("targets", nargs="+")
    p.add_argument("--rows", default="10M")
    p.add_argument("--columns", choices=COLUMNS, default="meters")
    given = p.parse_args()
    print(HEAD + "\n" + "|---" * 9 + "|", flush=True)
    for target in given.targets:
        for is_whole in (True, False):
            least = stored_rows.LEAST_S
            stored_rows.LEAST_S = 1e9 if is_whole else least
            print(line(target, given.columns, int(parse_count(given.rows)), is_whole=is_whole), flush=True)
            stored_rows.LEAST_S = least


if __name__ == "__main__":
    main()
