"""A target that is no database: servers that sleep, whose law of scaling the user chooses."""
