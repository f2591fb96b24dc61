"""A sweep while it runs, for those who watch it."""
