"""Tables, plots, Markdown and HTML of a stored run. Returns documents and does no I/O; the store writes them.

Refuses to compute a result: rates, verdicts and the fit come from the run. Texts from outside are escaped.
"""

from scale_sweep.report.article import article_table
from scale_sweep.report.console_table import console_table
from scale_sweep.report.markdown import markdown
from scale_sweep.report.page import html
from scale_sweep.report.reference import reference_table
from scale_sweep.report.table import Table
from scale_sweep.report.trials import trial_table

__all__ = ["Table", "article_table", "console_table", "html", "markdown", "reference_table", "trial_table"]
