"""`scale export --redacted` and `scale import`: a run as one file that names nobody, and back."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scale_sweep.base.errors import StoreError, UsageError
from scale_sweep.base.units import counted
from scale_sweep.cli.arguments import NEW_RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from scale_sweep.results.store.stored import Folder
    from scale_sweep.verify.digests import Verification

_MADE = ("fit", "report")  # begin the names of files that the receiver makes anew
_FILES = re.compile(
    r"(?:manifest\.json|plan\.json|SHA256SUMS|(?:points|timeseries|operations)\.csv)"
    r"|trials/[^/]+/(?:facts\.json|trial\.json|series\.csv|server\.log|(?:loadgen|samples|step-\d\d)\.jsonl)"
)


def register(app: typer.Typer) -> None:
    app.command("import", epilog="Example: scale import 20260102T030405Z-cores-postgres-1a2b3c.tar.gz")(import_run)


def export_redacted(run: Folder, out: Path | None) -> None:
    """Raises UsageError or StoreError for a run that cannot be redacted."""
    from scale_sweep.cli import console
    from scale_sweep.results.store.files import SUMS, RunFiles
    from scale_sweep.results.store.outside import write_outside
    from scale_sweep.results.store.stored import digest_of, names_of, new_folder
    from scale_sweep.verify.archive import packed
    from scale_sweep.verify.redact import FIELD, redacted

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
        file = out or Path(f"{name}.tar.gz")
        content = packed(copy.path, name)
        write_outside(file, content)
    console.show_line(str(file))
    trials = counted(checked.trials, "trial")
    console.say(f"{len(content) / 1e6:.2f} MB, {trials}, fingerprint {checked.fingerprint}")
    console.say("replaced or left out: " + ", ".join(f"{count} {field}" for field, count in manifest[FIELD].items()))


def _completed(run: Folder, manifest: Mapping[str, Any]) -> Verification:
    """With the tables, the fit and the reports, made here. Raises StoreError if it disagrees with its raw files."""
    from scale_sweep.measure.executing import execute
    from scale_sweep.results.store.reader import read_plan, read_results
    from scale_sweep.results.store.run_lock import FIELD, RunLock
    from scale_sweep.results.store.writer import RunWriter
    from scale_sweep.verify.run import verify_run

    plan = read_plan(run)
    known = {name: value for name, value in manifest.items() if name != "schema"}
    writer = RunWriter(RunLock(run), plan, known, read_results(run, plan))
    execute.report(writer)
    writer.update_manifest(**{FIELD: None})
    checked = verify_run(run)
    if not checked.agrees:
        first = checked.disagreements[0]
        raise StoreError(f"{manifest['run']} does not agree with its raw files: {first.file}: {first.sentence}")
    return checked


def import_run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `scale export --redacted` wrote.")],
    results: NEW_RESULTS = Path("results"),
) -> None:
    """Store a run that `scale export --redacted` wrote elsewhere, after it was verified.

    Nothing of it is executed, and it cannot be resumed.
    """
    from scale_sweep.cli import console
    from scale_sweep.results.store.reader import read_manifest
    from scale_sweep.results.store.stored import Folder, read_bytes
    from scale_sweep.verify.archive import unpacked

    checked: list[Verification] = []

    def accept(run: Folder) -> None:
        _refuse_others(run, file)
        checked.append(_completed(run, read_manifest(run)))

    try:
        content = read_bytes(Folder(file.parent), file.name)
    except FileNotFoundError:
        raise UsageError(f"FILE: there is no file {file}") from None
    console.show_line(str(unpacked(content, results, str(file), accept)))
    console.say(
        f"{counted(checked[0].trials, 'trial')} recomputed from raw files, fingerprint {checked[0].fingerprint}"
    )


def _refuse_others(run: Folder, file: Path) -> None:
    """Raises StoreError for files and names that no export has."""
    from scale_sweep.results.store.files import SUMS, read_sums
    from scale_sweep.results.store.outside import bundled_tables
    from scale_sweep.results.store.reader import read_manifest, read_plan
    from scale_sweep.results.store.stored import names_of
    from scale_sweep.verify.redact import FIELD

    manifest, plan = read_manifest(run), read_plan(run)
    listed = {SUMS, *(read_sums(run) or ())}
    odd = [name for name in names_of(run) if name not in listed or not _FILES.fullmatch(name)]
    if odd or not isinstance(manifest.get(FIELD), dict) or plan.sweep.reference not in ("", *bundled_tables()):
        raise StoreError(f"{file}: scale export --redacted did not make it", remedy="export the run with it")
