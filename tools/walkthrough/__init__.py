"""The commands of README and the tutorial, run for real, and their outputs compared with the pages."""
