"""The findings of a check, by JSON values and by digests of files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from scale_sweep.base.errors import ScaleError, StoreError
from scale_sweep.base.units import counted
from scale_sweep.results.store import files, stored
from scale_sweep.results.store.reader import read_manifest

RELATIVE = 1e-6
SHOWN = 120
Difference = tuple[str, str, str]


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A file that is not what it should be."""

    file: str
    sentence: str
    figure: str = ""
    stored: str = ""
    recomputed: str = ""


@dataclass(frozen=True, kw_only=True)
class OtherMethod:
    """Verdicts, fits and texts of another method, which are no faults."""

    compared: int = 0
    differ: int = 0  # what today's method would make differently

    def __add__(self, other: OtherMethod) -> OtherMethod:
        return OtherMethod(compared=self.compared + other.compared, differ=self.differ + other.differ)


@dataclass(frozen=True, kw_only=True)
class Verification:
    run: str
    fingerprint: str  # SHA-256 of the list of digests, which represents the whole run
    files: int  # compared with their digests
    trials: int  # made again from raw files
    figures: int  # compared one by one
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return not self.disagreements


def unread(run: stored.Folder, file: str, error: ScaleError) -> Disagreement:
    """Without the path of the run."""
    return Disagreement(file=file, sentence=error.message.replace(f"{run}/", ""))


def figure_differs(
    file: str, difference: Difference, prefix: str = "", what: str = "the raw files give"
) -> Disagreement:
    figure, old, new = difference
    sentence = f"{prefix}{figure} is {old}, {what} {new}"
    return Disagreement(file=file, figure=f"{prefix}{figure}", stored=old, recomputed=new, sentence=sentence)


def differences(stored: Any, made: Any, name: str = "") -> Iterator[Difference]:
    """(figure, stored, recomputed) of each leaf that differs."""
    if isinstance(stored, Mapping) and isinstance(made, Mapping):
        for key in dict.fromkeys([*stored, *made]):
            inner = f"{name}.{key}" if name else str(key)
            if key not in stored or key not in made:
                yield (inner, show(stored.get(key, "absent")), show(made.get(key, "absent")))
            else:
                yield from differences(stored[key], made[key], inner)
    elif _listed(stored) and _listed(made) and len(stored) == len(made):
        for index, (a, b) in enumerate(zip(stored, made, strict=True)):
            yield from differences(a, b, f"{name}[{index}]")
    elif not same(stored, made):
        yield (name, show(stored), show(made))


def as_json(value: Any) -> Any:
    """A dataclass as its stored form."""
    return json.loads(json.dumps(asdict(value), default=str))


def leaves(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if _listed(value) else 1


def same(stored: Any, made: Any) -> bool:
    """Equal, or numbers that differ by rounding."""
    if any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in (stored, made)):
        return bool(stored == made)
    return math.isclose(stored, made, rel_tol=RELATIVE, abs_tol=1e-12) or (stored != stored and made != made)


def show(value: Any) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


LAST = "report.html"  # the last file of a run


@dataclass(frozen=True, kw_only=True)
class DigestCheck:
    fingerprint: str  # the list's own digest; "" without a list
    files: int
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...]


def check_digests(run: stored.Folder) -> DigestCheck:
    """Altered, missing and unlisted files. StoreError for a list that cannot be read."""
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
    """Whether a run is complete with every file as written. StoreError for an unreadable manifest."""
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
        return unread(run, name, error)
    sentence = "is empty now" if held == files.digest(b"") else "was changed: its SHA-256 differs"
    return Disagreement(file=name, sentence=sentence, stored=held[:12], recomputed=wanted[:12])
