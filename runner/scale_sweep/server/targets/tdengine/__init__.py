"""TDengine 3.3."""
