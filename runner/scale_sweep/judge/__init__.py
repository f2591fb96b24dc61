"""One trial after its load: its figures from the raw facts, and the verdict whether they count."""
