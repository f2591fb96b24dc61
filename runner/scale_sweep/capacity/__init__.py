"""The highest rate that holds an objective: the objective's text, the search by steps, and its answer with an
interval."""
