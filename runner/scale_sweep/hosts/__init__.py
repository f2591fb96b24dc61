"""The controller's side of a sweep on several hosts: the server on one, its load on others."""
