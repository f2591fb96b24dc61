"""How certain the points are."""
