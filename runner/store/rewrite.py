"""Rewrites a run of an older format in today's before anything is added, so that no run has two formats.

It rewrites plan, trials and manifest. The manifest is the last; it then has the new format, and `upgraded_from`. Raw
files and their digests stay unchanged. A kill in between leaves a run that can be read and rewritten again. Refuses to
hide that a document was altered: it keeps its old digest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.errors import StoreError
from runner.store.codec import SCHEMA
from runner.store.files import RunFiles
from runner.store.reader import done_of, read_manifest, read_plan, stored_format, upgraded_plan, upgraded_result
from runner.store.stored import MANIFEST, PLAN, is_there


def rewrite(path: Path) -> None:
    """Rewrites the run; does nothing for today's format. Raises StoreError for a document that cannot be read or
    written."""
    if stored_format(path) == SCHEMA:
        return
    files = RunFiles(path)
    try:
        for name, document in _documents(path).items():
            files.heed(name)
            files.write(name, json.dumps(document, indent=1, ensure_ascii=False), safely=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be rewritten in today's format: {error.strerror}") from None


def _documents(path: Path) -> dict[str, Any]:
    """All documents in today's format, by file name in the order of writing. All are read before the first is
    replaced."""
    names = [done_of(trial) for trial in read_plan(path).trials]
    trials = {name: upgraded_result(path, name) for name in names if is_there(path, name)}
    return {**trials, PLAN: upgraded_plan(path), MANIFEST: read_manifest(path)}
