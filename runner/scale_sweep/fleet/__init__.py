"""The same sweep on several servers: one whole run for each, side by side."""
