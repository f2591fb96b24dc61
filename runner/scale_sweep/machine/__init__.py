"""This machine: its CPUs, memory and disks, samples of their use, and what `scale` keeps on it outside of
`results/`."""
