"""Makes a Sweep of a TOML file and flags: every setting is declared once, and every mistake is reported at once, by
name."""
