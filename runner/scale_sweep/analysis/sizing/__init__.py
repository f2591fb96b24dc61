"""Sizes: the smallest level of a run that holds a rate, and the machines of a price list that have it."""
