"""The number of the method by which trials are judged, and by which runs are fitted and described.

It is stored with every trial and every report, so that `scale verify` does not mistake an improved rule for an edited
file. Verdicts, fits and texts are compared within one number; figures and digests must agree for all numbers. Raise it
by one in the change after which the same raw files give another verdict, reason, bottleneck, fit or text of a report.
A figure that comes out differently is a change of the format: raise SCHEMA in scale_sweep/results/store/codec.py
instead. For a new column of points.csv raise METHOD: `scale verify` then compares the columns that both versions have.
"""

METHOD = 31
