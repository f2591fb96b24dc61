"""Asks an installed PostgreSQL whether it accepts settings, without a cluster and without starting it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from scale_sweep.server.targets.installations import run_program


def refused(home: str, items: Mapping[str, str]) -> str:
    """The server's message about the first item that it refuses; "" if it accepts all, or cannot be asked."""
    options = [part for name, value in sorted(items.items()) for part in ("-c", f"{name}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "postgresql.conf").touch()
        os.chmod(folder, 0o755)  # the program runs as the server's user
        # Printing one setting makes it read all; then it ends.
        question = (f"{home}/bin/postgres", "-C", "fsync", "-D", folder, *options)
        done = run_program(question, environment={"LC_ALL": "C"})
    message = re.search(r"FATAL:\s+(.+)", done.stderr) if done and done.returncode else None
    return message.group(1) if message else ""
