"""The curve through observations, and its uncertainty."""
