"""Files that come with the project, by name, so that they are found from any folder: sweeps and published tables."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOTS = (_PACKAGE.parents[1], _PACKAGE / "bundled")


def bundled(folder: str, ending: str) -> dict[str, Path]:
    """The paths of the files with this ending, by their names without it, in the order of the names. folder: in the
    checkout, like "sweeps"."""
    paths = [path for root in _ROOTS for path in (root / folder).glob(f"*{ending}")]
    return {path.stem: path for path in sorted(paths)}
