"""`scale`: how far does one server scale up? The control plane.

Rooms and what each may touch are drawn in docs/architecture.md and held by tests/unit/test_structure.py.
"""

__version__ = "0.1.0"
