"""The highest rate that holds an objective."""
