"""The number of the method by which trials are judged, and by which runs are fitted and described."""

METHOD = 31
