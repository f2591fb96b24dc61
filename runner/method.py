"""The number of the method by which trials are judged, and by which runs are fitted and put into words.

It is stored with every trial and every report, so that `scale verify` never takes a better rule for an edited file:
verdicts, fits and texts are compared within one number; figures and digests must agree whatever the number. Raise it by
one in the change after which the same raw files give another verdict, reason, limit, fit or text of a report, or
`points.csv` another column. Never raise it for a figure that comes out differently: files of before keep their reading.
"""

METHOD = 5
