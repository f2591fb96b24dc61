"""The data classes of the project, frozen: requests, plans, measurements, results."""
