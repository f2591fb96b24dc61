"""Compares every file with the digest that the store recorded when it closed it. Refuses to judge the contents."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.base.errors import StoreError
from scale_sweep.base.units import counted
from scale_sweep.results.store import files, stored
from scale_sweep.results.store.reader import read_manifest
from scale_sweep.verify.result import Disagreement

LAST = "report.html"


@dataclass(frozen=True, kw_only=True)
class DigestCheck:
    """The result of comparing digests."""

    fingerprint: str  # the list's own digest; "" without a list
    files: int
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...]


def check_digests(run: stored.Folder) -> DigestCheck:
    """Altered, missing and unlisted files. Raises StoreError for a list that cannot be read."""
    listed = files.read_sums(run)
    if listed is None:
        absent = Disagreement(file=files.SUMS, sentence="is missing: the files cannot be checked")
        return DigestCheck(fingerprint="", files=0, disagreements=(absent,), notes=())
    against = [_against(run, name, wanted) for name, wanted in listed.items()]
    present = set(stored.names_of(run)) - {files.SUMS}
    extra = sorted(name for name in present - set(listed) if not name.endswith(stored.WAITING))
    notes = [f"{name} does not belong to the run: {files.SUMS} does not list it" for name in extra[:5]]
    if len(extra) > len(notes):
        notes.append(f"and {counted(len(extra) - len(notes), 'more file')} that {files.SUMS} does not list")
    return DigestCheck(
        fingerprint=stored.digest_of(run, files.SUMS),
        files=len(listed),
        disagreements=tuple(d for d in against if d is not None),
        notes=tuple(notes),
    )


def is_finished(run: stored.Folder) -> bool:
    """Whether the run is complete, with its report, and every file is as it was written, so that nothing is left to do.

    report.html is the last file of a run. Raises StoreError for a manifest that cannot be read.
    """
    if read_manifest(run).get("status") != "complete":
        return False
    try:
        return LAST in (files.read_sums(run) or {}) and not check_digests(run).disagreements
    except StoreError:
        return False


def _against(run: stored.Folder, name: str, wanted: str) -> Disagreement | None:
    try:
        held = stored.digest_of(run, name)
        if held == wanted or files.is_as_listed(run, name, wanted):
            return None
    except FileNotFoundError:
        return Disagreement(file=name, sentence="is missing")
    except StoreError as error:
        return Disagreement(file=name, sentence=error.message.replace(f"{run}/", ""))
    sentence = "is empty now" if held == files.digest(b"") else "was changed: its SHA-256 differs"
    return Disagreement(file=name, sentence=sentence, stored=held[:12], recomputed=wanted[:12])
