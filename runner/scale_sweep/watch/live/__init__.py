"""The state of a running sweep, made from the campaign's events alone."""
