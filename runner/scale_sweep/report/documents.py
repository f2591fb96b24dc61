"""All documents of a run, by file name, with their fits: one set, or one for each variant and an index.

Pure. Only this module decides which documents a run has: the store writes them, `scale verify` makes them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scale_sweep.model import FitReport, StoredRun
from scale_sweep.report.figures import fit_again
from scale_sweep.report.markdown import markdown
from scale_sweep.report.page import body_html, html
from scale_sweep.report.reference import Reference
from scale_sweep.report.variants import index_html, index_markdown, labels_of, only


@dataclass(frozen=True, kw_only=True)
class Documents:
    """fits and pages: by file name. run: with its fit, if it has a single one."""

    run: StoredRun
    fits: Mapping[str, FitReport]
    pages: Mapping[str, str]


def documents(run: StoredRun, reference: Reference | None = None) -> Documents:
    """Fits the run and makes its documents. reference: rows of a published table."""
    labels = labels_of(run)
    if len(labels) < 2:
        return _single(run, "", reference)
    fits: dict[str, FitReport] = {}
    pages: dict[str, str] = {}
    bodies: dict[str, str] = {}
    for name in labels:
        one = _single(only(run, name), f"-{name}", reference)
        fits |= one.fits
        pages |= one.pages
        bodies[name] = body_html(one.run, reference)
    pages |= {"report.md": index_markdown(run), "report.html": index_html(run, bodies)}
    return Documents(run=run, fits=fits, pages=pages)


def _single(run: StoredRun, suffix: str, reference: Reference | None) -> Documents:
    fit = fit_again(run)
    fitted = replace(run, fit=fit)
    pages = {f"report{suffix}.md": markdown(fitted, reference), f"report{suffix}.html": html(fitted, reference)}
    return Documents(run=fitted, fits={f"fit{suffix}.json": fit}, pages=pages)
