"""Before anything starts: which server is measured and where, and what would go wrong."""
