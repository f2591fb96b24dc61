"""Runs that a version of before stored (tests/fixtures/runs), unpacked for a test byte for byte."""

from __future__ import annotations

import tarfile
from pathlib import Path

RUNS = Path(__file__).resolve().parents[1] / "fixtures" / "runs"
NAMES = tuple(sorted(path.name.removesuffix(".tar.gz") for path in RUNS.glob("*.tar.gz")))


def unpacked(name: str, results: Path) -> Path:
    """The run's directory under results."""
    with tarfile.open(RUNS / f"{name}.tar.gz") as archive:
        (top,) = {member.name.partition("/")[0] for member in archive}
        archive.extractall(results, filter="data")
    return results / top
