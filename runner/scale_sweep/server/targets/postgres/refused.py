"""Asks an installed PostgreSQL whether it accepts settings, without a cluster and without starting it.

Refuses to know the settings itself: each version has its own.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

_QUESTION_S = 10


def refused(home: str, items: Mapping[str, str]) -> str:
    """The server's message about the first item that it refuses; "" if it accepts all, or cannot be asked."""
    options = [part for name, value in sorted(items.items()) for part in ("-c", f"{name}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "postgresql.conf").touch()
        try:
            done = subprocess.run(  # printing one setting makes it read all; then it ends
                [f"{home}/bin/postgres", "-C", "fsync", "-D", folder, *options],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_QUESTION_S,
                check=False,
                env={"LC_ALL": "C"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    found = re.search(r"FATAL:\s+(.+)", done.stderr)
    return found.group(1) if found and done.returncode else ""
