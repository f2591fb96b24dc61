"""Everything that `scale` keeps outside of `results/`: where it lies, who may have made it, and how it is removed."""
