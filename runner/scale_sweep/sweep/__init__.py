"""Makes a Sweep of a TOML file and flags."""
