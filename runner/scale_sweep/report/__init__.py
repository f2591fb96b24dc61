"""Tables, plots, Markdown and HTML of a stored run. It computes no result and does no I/O."""

from scale_sweep.report.article import article_table
from scale_sweep.report.level_tables import console_table
from scale_sweep.report.reference import reference_table
from scale_sweep.report.sections import html, markdown
from scale_sweep.report.table import Table
from scale_sweep.report.trials import trial_table

__all__ = ["Table", "article_table", "console_table", "html", "markdown", "reference_table", "trial_table"]
