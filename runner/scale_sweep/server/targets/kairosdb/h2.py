"""KairosDB's own H2 database, which is one file: its place, its commits, and a flush that watches the file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scale_sweep.base.errors import TargetError
from scale_sweep.model import Site
from scale_sweep.server.targets.kairosdb.store import KairosdbStart, Store
from scale_sweep.server.targets.records import IN_MEMORY, Address

DATABASE = "kairosdb/h2"  # in the trial's directory


class H2(Store):
    """In the process of KairosDB."""

    name = "h2"
    acknowledged = IN_MEMORY
    compression = "rows of H2, not compressed"

    def started(self, site: Site, root: str, kairosdb: Sequence[str], settings: Mapping[str, str]) -> KairosdbStart:
        return KairosdbStart(
            items={"datastore.h2.database_path": f'"{site.data_dir}/{DATABASE}"'}, argv=tuple(kairosdb), ports=()
        )

    def effective(self, address: Address, within_s: float) -> Mapping[str, str]:
        """Its name, where its file is there."""
        return {"datastore": self.name} if _files(address) else {}

    def commit_cycles(self, address: Address, within_s: float) -> int | None:
        """Chunks that H2 has written into its file, by the file's header, which may be some chunks behind."""
        files = _files(address)
        if not files:
            return None
        with files[0].open("rb") as file:
            chunk = re.search(rb"\bchunk:([0-9a-f]+)", file.read(4096))
        return int(chunk.group(1), 16) if chunk else 0

    def flush(self, address: Address, store_point: Callable[[], None], within_s: float) -> None:
        """Returns when every commit is in the database's file, and the file is fsynced.

        H2 writes commits every half second, and has no command for it over HTTP. So this writes a point and watches the
        file until it changes, twice: the first change may have started before the point, the second has not.
        """
        files = _files(address)
        for _ in range(2 if files else 0):
            before = files[0].stat().st_mtime_ns
            store_point()
            deadline = time.monotonic() + min(within_s, 60)
            while files[0].stat().st_mtime_ns == before:
                if time.monotonic() > deadline:
                    raise TargetError("H2 did not write its file within a minute of a commit")
                time.sleep(0.02)
        for path in files:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _files(address: Address) -> list[Path]:
    """The files of the database; none if the server is not ours."""
    return list(Path(address.data_dir, DATABASE).glob("*.mv.db")) if address.data_dir else []
