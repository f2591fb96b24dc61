"""The prose check: pages, help texts and messages in plain English. `python -m tools.prose` lists what it refuses."""
