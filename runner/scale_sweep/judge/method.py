"""The number of the method by which trials are judged, and by which runs are fitted and described. Verdicts, fits and
texts are compared within one number; figures and digests must agree for all. Raise it after a change by which the same
raw files give another verdict, reason, bottleneck, fit or text of a report. After a change of a figure raise SCHEMA in
scale_sweep/results/store/codec.py instead."""

METHOD = 35
