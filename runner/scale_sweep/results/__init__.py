"""Results on disk: the directory of a run (`store`), other programs' formats, SQL tables, and the tool's own
identity."""
