"""Starts the agent of a host."""

from scale_sweep.agent.serve import main
from scale_sweep.base.spawning import go_direct

if __name__ == "__main__":
    go_direct()
    main()
