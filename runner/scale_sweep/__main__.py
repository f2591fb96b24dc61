"""The command `scale` as `python -m scale_sweep`, for a checkout (PYTHONPATH=runner) without an installation."""

from scale_sweep.cli import main

if __name__ == "__main__":
    main()
