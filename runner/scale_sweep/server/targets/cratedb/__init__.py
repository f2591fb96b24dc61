"""CrateDB."""
