"""The smallest level that holds a rate, and the machines that have it."""
