"""From a TOML file and flags to a Sweep: every setting declared once, every mistake reported at once, by name."""
