"""One trial after its load: its figures from the raw facts, and the verdict whether they count. Pure.

Refuses to compare trials with each other: that is `analysis`.
"""
