"""A run as one file that names nobody, and back: the work of `scale export --redacted` and `scale import`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import ScaleError, StoreError, UsageError
from scale_sweep.base.units import counted
from scale_sweep.cli import console
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.measure.executing import execute
from scale_sweep.results.store import run_lock
from scale_sweep.results.store.codec import from_json
from scale_sweep.results.store.files import SUMS, RunFiles, read_sums
from scale_sweep.results.store.outside import bundled_tables, write_outside
from scale_sweep.results.store.reader import read_manifest, read_plan, read_results
from scale_sweep.results.store.stored import Folder, digest_of, names_of, new_folder, read_bytes, read_text
from scale_sweep.results.store.writer import RunWriter
from scale_sweep.verify.archive import GET_AGAIN, packed, unpacked
from scale_sweep.verify.digests import Verification
from scale_sweep.verify.redact import FIELD, Redaction, redacted, refuse_unknown, tool_of
from scale_sweep.verify.run import verify_run

_MADE = ("fit", "report")  # begin the names of files that the receiver makes anew
_FILES = re.compile(
    r"(?:manifest\.json|plan\.json|SHA256SUMS|(?:points|timeseries|operations)\.csv)"
    r"|trials/[^/]+/(?:facts\.json|trial\.json|series\.csv|server\.log)"
    r"|trials/[^/]+/(?:loadgen|samples|disturbances|step-\d\d)\.jsonl"
)


def export_redacted(run: Folder, out: Path | None) -> None:
    """Raises UsageError or StoreError for a run that cannot be redacted."""
    with tempfile.TemporaryDirectory(prefix="scale-redacted-") as place:
        copy = new_folder(Path(place, "run"))
        manifest = redacted(run, copy)
        sweep, begun = manifest["sweep"], re.sub(r"[-:]|\+.*", "", manifest["created_utc"])
        name = f"{begun}Z-{sweep['axis']}-{sweep['target'].replace(',', '-')}-{digest_of(run, SUMS)[:6]}"
        checked = _completed(copy, {"run": name, **manifest})
        files = RunFiles(copy)
        for made in [one for one in names_of(copy) if one.startswith(_MADE)]:
            (copy / made).unlink()
            files.forget(made)
        files.write_sums()
        file, content = out or Path(f"{name}.tar.gz"), packed(copy.path, name)
        write_outside(file, content)
    console.show_line(str(file))
    trials = counted(checked.trials, "trial")
    console.say(f"{len(content) / 1e6:.2f} MB, {trials}, fingerprint {checked.fingerprint}")
    console.say("replaced or left out: " + ", ".join(f"{count} {field}" for field, count in manifest[FIELD].items()))


def import_redacted(file: Path, results: Path) -> None:
    """Raises UsageError or StoreError for another file."""
    checked: list[Verification] = []

    def accept(run: Folder) -> None:
        try:
            _refuse_others(run, file)
            checked.append(_completed(run, read_manifest(run)))
        except ScaleError:
            raise
        except Exception as error:  # values that no sweep makes
            raise StoreError(f"{file}: its run cannot be verified: {error}", remedy=GET_AGAIN) from None

    try:
        content = read_bytes(Folder(file.parent), file.name)
    except FileNotFoundError:
        raise UsageError(f"FILE: there is no file {file}") from None
    console.show_line(str(unpacked(content, results, str(file), accept)))
    console.say(
        f"{counted(checked[0].trials, 'trial')} recomputed from raw files, fingerprint {checked[0].fingerprint}"
    )


def _completed(run: Folder, manifest: Mapping[str, Any]) -> Verification:
    """With the tables, the fit and the reports, made here. Raises StoreError if it disagrees with its raw files."""
    plan = read_plan(run)
    known = {name: value for name, value in manifest.items() if name != "schema"}
    writer = RunWriter(run_lock.RunLock(run), plan, known, read_results(run, plan))
    execute.report(writer)
    writer.update_manifest(**{run_lock.FIELD: None})
    checked = verify_run(run)
    if not checked.agrees:
        first = checked.disagreements[0]
        words = f"{manifest.get('run')} does not agree with its raw files: {first.file}: {first.sentence}"
        raise StoreError(words, remedy="give another run")
    return checked


def _refuse_others(run: Folder, file: Path) -> None:
    """Raises StoreError or UsageError for files, names and expressions that no export has."""
    manifest, plan, names = read_manifest(run), read_plan(run), list(names_of(run))
    listed = {SUMS, *(read_sums(run) or ())}
    odd = [name for name in names if name not in listed or not _FILES.fullmatch(name)]
    if odd or not isinstance(manifest.get(FIELD), dict) or plan.sweep.reference not in ("", *bundled_tables()):
        raise StoreError(f"{file}: scale export --redacted did not make it", remedy="export the run with it")
    refuse_unknown(plan, str(file))
    for name in (name for name in names if name.endswith("facts.json")):
        tool_of(from_json(read_text(run, name), TrialFacts, run / name).tool, Redaction())
