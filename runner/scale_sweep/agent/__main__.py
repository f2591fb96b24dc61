"""Starts the agent of a host."""

from scale_sweep.agent.serve import main

if __name__ == "__main__":
    main()
