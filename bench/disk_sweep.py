"""The disk sweep of docs/performance.md: its table as Markdown on standard output, its curve as an SVG file.

    python bench/disk_sweep.py --scale scale --home DIR --picture docs/disk-sweep.svg     (as root, about 10 min)
    python bench/disk_sweep.py --run results/<run> --picture docs/disk-sweep.svg          (of a stored run)

Runs the sweep tdengine-disk on three capped loop devices; says whether the goals are met: durable speedup at least 2.8
on three disks, each disk's share within 5 % of an even one. Refuses to count trials that are not VALID.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "runner"))
from scale_sweep.report.curve import curve_svg_bytes  # noqa: E402
from scale_sweep.results.store.reader import read_run  # noqa: E402

SPEEDUP_GOAL, SHARE_GOAL = 2.8, 0.05


def swept(scale: str, home: str, more: list[str]) -> Path:
    """Runs the sweep; the run's directory."""
    words = [scale, "sweep", "tdengine-disk", "--runtime", "process", "--home", home, "-y", "--json"]
    done = subprocess.run([*words, *more], stdout=subprocess.PIPE, text=True, check=True)
    return Path(json.loads(done.stdout)["path"])


def main() -> None:
    """Sweep, or read; then table, goals and picture."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--scale", default="scale")
    options.add_argument("--home", default="")
    options.add_argument("--run", type=Path)
    options.add_argument("--picture", type=Path)
    given, more = options.parse_known_args()
    run = read_run(given.run or swept(given.scale, given.home, more))
    results = [r for r in run.results if r.trial.role == "point"]
    levels = sorted({r.trial.level for r in results})
    valid = {n: [r for r in results if r.trial.level == n and r.verdict.kind == "VALID"] for n in levels}
    headers = (
        "disks",
        "valid trials",
        "acknowledged rows/s",
        "durable rows/s",
        "speedup",
        "MB/s of each disk",
        "shares (%)",
        "of their ceiling (%)",
        "write amplification",
    )
    lines = [f"| {' | '.join(headers)} |", "|" + "---|" * len(headers)]
    first, worst, speedup = None, 0.0, 0.0
    for level, trials in valid.items():
        if not trials:
            lines.append(f"| {level:g} | 0 | | | | | | | |")
            continue
        m = [r.measurement for r in trials]
        durable = median(x.durable_rows_per_s or 0.0 for x in m)
        first = first or durable / level
        speedup = durable / first
        names = list(m[0].disks)
        rates = [median(x.disks[n].write_mb_per_s or 0.0 for x in m) for n in names]
        shares = [median(x.disks[n].share_percent or 0.0 for x in m) for n in names]
        worst = max(worst, *(abs(s * level / 100 - 1) for s in shares))
        spread = f"{min(x.durable_rows_per_s or 0 for x in m):.0f}..{max(x.durable_rows_per_s or 0 for x in m):.0f}"
        used = median(x.disk_used_percent or 0.0 for x in m)
        amplified = median(x.write_amplification or 0.0 for x in m)
        lines.append(
            f"| {level:g} | {len(m)} of {sum(r.trial.level == level for r in results)} | "
            f"{median(x.rows_per_s or 0.0 for x in m):.0f} | {durable:.0f} ({spread}) | {speedup:.2f} | "
            f"{' / '.join(f'{r:.1f}' for r in rates)} | {' / '.join(f'{s:.1f}' for s in shares)} | "
            f"{used:.0f} | {amplified:.2f} |"
        )
    met = "met" if speedup >= SPEEDUP_GOAL and worst <= SHARE_GOAL else "missed"
    print("\n".join(lines))
    print(
        f"\nspeed-up on {levels[-1]:g} disks {speedup:.2f} (goal {SPEEDUP_GOAL}), a share is at most "
        f"{100 * worst:.1f} % off an even one (goal {100 * SHARE_GOAL:.0f} %): {met}"
    )
    if given.picture:
        given.picture.write_bytes(curve_svg_bytes(run))


if __name__ == "__main__":
    main()
