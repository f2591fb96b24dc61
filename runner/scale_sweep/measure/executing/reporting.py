"""Makes fits and reports after the trials, and again on request."""

from __future__ import annotations

from scale_sweep.model import StoredRun
from scale_sweep.report.documents import documents
from scale_sweep.results.identity import identity
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.reference import read_reference
from scale_sweep.results.store.writer import RunWriter


def report(writer: RunWriter) -> StoredRun:
    """Fits the stored trials and writes fit.json, report.md and report.html. Raises StoreError."""
    writer.update_manifest(reported_by=identity())
    run = read_run(writer.path)
    made = documents(run, read_reference(run.plan.sweep.reference))
    for name, fit in made.fits.items():
        writer.write_fit(fit, name)
    for name, text in made.pages.items():
        writer.write_report(name, text)
    return made.run
